//! Where a block stands, and what it writes at one of these places under the pass that found it.

use super::block::Block;
use super::explain::LISTED;
use super::indent::{Indents, Relation, indent};
use super::line_script::{self, End, LineScript};
use super::outcome::Twins;
use super::pass::{Added, Pass};
use super::refusal::{Evidence, Refusal, Retry};
use super::retype::retype;
use super::view::{Starts, View};
use super::{evidence, explain};
use crate::edit::{Code, WarningCode};
use bstr::ByteSlice;
use std::borrow::Cow;

/// Where a block stands.
#[derive(Debug)]
pub(super) struct Places<'a> {
    /// The pass that found it.
    pub pass: &'static Pass,
    /// The block as found: perhaps without its outer blank rows.
    pub block: Block<'a>,
    /// Never empty.
    pub starts: Starts,
    /// All that the pass finds, before anything else narrows them.
    pub all: Starts,
    /// What a person should know.
    pub notes: Vec<WarningCode>,
}

impl<'a> Places<'a> {
    /// The places that equal the one at `start` and were not chosen.
    pub(super) fn twins(&self, start: usize) -> Twins {
        if self.block.runs.is_empty() {
            return Twins::default();
        }
        let others = self.all.iter().filter(|line| **line != start);
        Twins { lines: others.take(LISTED).map(|line| line + 1).collect(), total: self.all.len() - 1 }
    }

    /// The places as evidence of a refusal.
    pub(super) fn evidence(&self, view: &View<'_>) -> Evidence {
        explain::line_candidates(view, &self.starts, self.block.old.len(), self.pass.name)
    }

    /// # Errors
    /// `low-evidence` where the old text says too little for the pass.
    pub(super) fn check_evidence(&self, view: &View<'_>) -> Result<(), Refusal> {
        let words = evidence::word_characters(&self.block.old);
        if words >= self.pass.words {
            return Ok(());
        }
        let message = format!(
            "the old text has {words} letters and digits, too few to place it with pass {}, which asks for {}",
            self.pass.name, self.pass.words
        );
        let hint = "add lines before or after it, or send the file's line as it is";
        Err(Refusal::new(Code::LowEvidence, message).hint(hint).with(self.evidence(view)))
    }

    /// The script of the block at `start`, one of its places.
    ///
    /// # Errors
    /// `indent-uncertain` where the indent of an added line is not determined, with the hunk rewritten.
    pub(super) fn script(&self, view: &View<'_>, start: usize, end: End) -> Result<LineScript, Refusal> {
        let file: Option<Vec<&str>> = match self.pass.added {
            Added::AsGiven => None,
            Added::Retyped => {
                (start..start + self.block.old.len()).map(|l| view.lines.text(l).to_str().ok()).collect()
            }
        };
        let new = match file {
            None => self.block.as_given(),
            Some(file) => self.retyped(&file, start)?,
        };
        Ok(line_script::script(&view.lines, (&self.block, &new), start, end))
    }

    /// The new rows typed as the file is.
    fn retyped(&self, file: &[&str], start: usize) -> Result<Vec<Cow<'a, str>>, Refusal> {
        let (block, mut new) = (&self.block, self.block.as_given());
        let pairs = block.old.iter().copied().zip(file.iter().copied());
        let relation = Relation::find(self.pass.indents, pairs);
        let mut uncertain = Vec::new();
        let mut old: Vec<Cow<'_, str>> = block.old.iter().map(|row| Cow::Borrowed(*row)).collect();
        if self.pass.indents != Indents::Same {
            for (row, line) in old.iter_mut().zip(file) {
                let body = &row[indent(row).len()..];
                *row = Cow::Owned(format!("{}{body}", indent(line)));
            }
            for row in block.runs.iter().flat_map(|run| run.new.clone()) {
                match relation.as_ref().and_then(|relation| indented(block.new[row], relation)) {
                    Some(typed) => new[row] = typed.into(),
                    None => uncertain.push(row),
                }
            }
        }
        for run in &block.runs {
            let old: Vec<&str> = old[run.old.clone()].iter().map(AsRef::as_ref).collect();
            let given: Vec<&str> = new[run.new.clone()].iter().map(AsRef::as_ref).collect();
            if let Some(typed) = retype(&file[run.old.clone()], &old, &given) {
                run.new.clone().zip(typed).for_each(|(row, text)| new[row] = text.into());
            }
        }
        match uncertain.first() {
            None => Ok(new),
            Some(&row) => Err(self.uncertain(row, start, self.rewritten(file, &new))),
        }
    }

    /// The hunk with the file's lines as old text, and with added lines as far as their indent is determined.
    fn rewritten(&self, file: &[&str], new: &[Cow<'_, str>]) -> Retry {
        let mut text: Vec<&str> = Vec::new();
        let (mut old_at, mut new_at) = (0, 0);
        for run in &self.block.runs {
            text.extend(&file[old_at..run.old.start]);
            text.extend(new[run.new.clone()].iter().map(AsRef::as_ref));
            (old_at, new_at) = (run.old.end, run.new.end);
        }
        debug_assert_eq!(self.block.new.len() - new_at, file.len() - old_at, "equal rows come in pairs");
        text.extend(&file[old_at..]);
        Retry { old: file.join("\n"), new: text.join("\n") }
    }

    fn uncertain(&self, row: usize, start: usize, retry: Retry) -> Refusal {
        let last = start + self.block.old.len();
        let message = format!(
            "the lines stand at {}-{last} with other indents, which do not tell the indent of the added line {:?}",
            start + 1,
            super::excerpt::excerpt(self.block.new[row].as_bytes()),
        );
        let evidence = Evidence { pass: self.pass.name, retry: Some(retry), ..Evidence::default() };
        Refusal::new(Code::IndentUncertain, message)
            .hint(
                "send the hunk again as given here (`retry`), with the indents of the added lines set right",
            )
            .with(evidence)
    }
}

/// A new row with the indent that it has in the file; blank rows have none.
fn indented(row: &str, relation: &Relation<'_>) -> Option<String> {
    let given = indent(row);
    if given.len() == row.len() {
        return Some(row.to_owned());
    }
    relation.image(given).map(|image| image + &row[given.len()..])
}

/// Whether a pass allows the indents of `rows` where they stand as `file`.
pub(super) fn allows<'l>(indents: Indents, rows: &[&'l str], file: impl Iterator<Item = &'l [u8]>) -> bool {
    let lines = file.map(|line| line.to_str().unwrap_or_default());
    Relation::find(indents, rows.iter().copied().zip(lines)).is_some()
}

/// # Errors
/// `ambiguous` where the block says little and its only place under a strict pass is so by luck.
pub(super) fn by_luck(view: &View<'_>, places: &Places<'_>) -> Result<(), Refusal> {
    let rivals = evidence::unlucky(view, places.pass, &places.block.old);
    if rivals.is_empty() {
        return Ok(());
    }
    let evidence = explain::line_candidates(view, &rivals, places.block.old.len(), places.pass.name);
    let message = format!(
        "the old text says little, and stands in {} places but for blanks or typography: {}",
        rivals.len(),
        explain::places(&evidence.candidates, rivals.len())
    );
    Err(Refusal::new(Code::Ambiguous, message)
        .hint("add lines before or after it, or an anchor above it")
        .with(evidence))
}
