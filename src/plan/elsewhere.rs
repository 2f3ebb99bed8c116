//! Whether lines that stand nowhere in their file stand in another file of the batch: told, never edited there.
//!
//! Each file is read once and each of its lines looked up once.

use super::equality::Key;
use super::evidence::{FEW, word_characters};
use super::{Refusal, Source};
use crate::edit::{Breaks, ChangeSet, Code, Hunk, Lines, Locator, Origin, RelPath, split_bom};
use std::collections::HashMap;

/// Places of one hunk that are compared.
const TRIED: usize = 64;

/// Adds to each refusal of lines that stand nowhere the first of `paths` in which they stand.
pub(super) fn tell(source: &dyn Source, batch: &ChangeSet, paths: &[RelPath], refusals: &mut [Refusal]) {
    let absent = |(_, refusal): &(usize, &Refusal)| refusal.code == Code::NoMatch;
    if !refusals.iter().enumerate().any(|r| absent(&r)) {
        return;
    }
    let hunks: HashMap<Origin, &Hunk> = all_hunks(batch).map(|hunk| (hunk.origin, hunk)).collect();
    let mut sought: Vec<Sought<'_>> = refusals
        .iter()
        .enumerate()
        .filter(absent)
        .filter_map(|(at, refusal)| Some(Sought::new(at, rows(hunks.get(&refusal.origin?)?)?)))
        .collect();
    let mut by_key: HashMap<Vec<u8>, Vec<usize>> = HashMap::new();
    for (i, hunk) in sought.iter().enumerate() {
        let key = Key::Trimmed.of(hunk.rows[hunk.row].as_bytes()).into_owned();
        by_key.entry(key).or_default().push(i);
    }
    let mut found: Vec<(usize, String)> = Vec::new();
    for path in paths {
        let Ok((bytes, _)) = source.read(path) else { continue };
        let lines = Lines::new(split_bom(&bytes).1, Breaks::Lf);
        for line in 0..lines.len() {
            let Some(here) = by_key.get_mut(&*Key::Trimmed.of(lines.text(line))) else { continue };
            here.retain(|i| sought[*i].tries > 0);
            for &i in &*here {
                let hunk = &mut sought[i];
                let own = refusals[hunk.refusal].path.as_deref().is_some_and(|p| p == path.as_bstr());
                if !own && hunk.stands_at(&lines, line) {
                    found.push((
                        hunk.refusal,
                        format!("the same lines stand in {path}, line {}", line - hunk.row + 1),
                    ));
                }
            }
        }
    }
    for (at, told) in found {
        let hint = refusals[at].hint.take();
        refusals[at].hint = Some(hint.map_or_else(|| told.clone(), |hint| format!("{told}; else {hint}")));
    }
}

/// A hunk whose lines are looked for.
struct Sought<'b> {
    refusal: usize,
    rows: Vec<&'b str>,
    /// The row that says most.
    row: usize,
    tries: usize,
}

impl<'b> Sought<'b> {
    fn new(refusal: usize, rows: Vec<&'b str>) -> Self {
        let says = |row: &usize| (word_characters(&rows[*row..=*row]), std::cmp::Reverse(*row));
        let row = (0..rows.len()).max_by_key(says).unwrap_or(0);
        Self { refusal, rows, row, tries: TRIED }
    }

    /// Whether all rows stand there; a hunk is found once.
    fn stands_at(&mut self, lines: &Lines<'_>, line: usize) -> bool {
        let Some(first) = line.checked_sub(self.row).filter(|first| first + self.rows.len() <= lines.len())
        else {
            return false;
        };
        self.tries = self.tries.saturating_sub(1);
        let same = |(i, row): (usize, &&str)| {
            Key::Trimmed.of(row.as_bytes()) == Key::Trimmed.of(lines.text(first + i))
        };
        let all = self.rows.iter().enumerate().all(same);
        if all {
            self.tries = 0;
        }
        all
    }
}

fn all_hunks(batch: &ChangeSet) -> impl Iterator<Item = &Hunk> {
    batch.operations.iter().flat_map(|op| op.action.steps()).flat_map(|step| &step.hunks)
}

/// The old rows of a hunk, where they say something.
fn rows(hunk: &Hunk) -> Option<Vec<&str>> {
    let rows: Vec<&str> = match &hunk.locator {
        Locator::Lines(hunk) => hunk.old_rows().map(|row| row.as_str()).collect(),
        Locator::Text { old, .. } => old.lines().collect(),
        _ => return None,
    };
    (word_characters(&rows) >= FEW).then_some(rows)
}
