//! Placing hunks of whole lines: all places of each, narrowed by anchors, end of file, hint and order.

use super::document::Document;
use super::line_script;
use super::pass::{PASSES, Pass};
use super::search::{LineIndex, only_order};
use super::step::Located;
use super::{Refusal, explain};
use crate::edit::{Code, LineHunk, Lines, Row, Text, WarningCode};

/// An anchor with fewer characters must be a whole line.
const SHORTEST_PREFIX: usize = 4;

/// Places each of `hunks`, which see the same text and must not change the same lines.
pub(super) fn locate(doc: &Document<'_>, hunks: &[&LineHunk]) -> Vec<Result<Located, Refusal>> {
    if hunks.is_empty() {
        return Vec::new();
    }
    let mut first: Option<Vec<Result<Located, Refusal>>> = None;
    for pass in PASSES {
        for &breaks in doc.breaks() {
            let lines = Lines::new(doc.body, breaks);
            let found = Search::new(doc, &lines, pass).run(hunks);
            if found.iter().all(Result::is_ok) {
                return found;
            }
            first.get_or_insert(found);
        }
    }
    first.unwrap_or_default()
}

struct Search<'a> {
    doc: &'a Document<'a>,
    lines: &'a Lines<'a>,
    pass: &'a Pass,
    index: LineIndex<'a>,
}

/// Where a hunk may stand: first lines from 0, with what a person should know.
struct Places {
    starts: Vec<usize>,
    pass: &'static str,
    notes: Vec<WarningCode>,
}

impl<'a> Search<'a> {
    fn new(doc: &'a Document<'a>, lines: &'a Lines<'a>, pass: &'a Pass) -> Self {
        let index = LineIndex::new(lines.texts().map(|line| (pass.key)(line)));
        Self { doc, lines, pass, index }
    }

    fn run(&self, hunks: &[&LineHunk]) -> Vec<Result<Located, Refusal>> {
        let mut places: Vec<_> = hunks.iter().map(|hunk| self.places(hunk)).collect();
        follow_hints(hunks, &mut places);
        choose_by_order(hunks, &mut places);
        hunks.iter().zip(places).map(|(hunk, found)| found.and_then(|p| self.take(hunk, p))).collect()
    }

    /// All places of one hunk that its own words allow.
    fn places(&self, hunk: &LineHunk) -> Result<Places, Refusal> {
        let regions = self.regions(&hunk.anchors)?;
        let rows: Vec<_> = hunk.old_rows().map(|row| (self.pass.key)(row.as_bytes())).collect();
        if rows.is_empty() {
            return self.gap(hunk, &regions);
        }
        let mut starts = self.index.find(&rows);
        if starts.is_empty() {
            return Err(explain::absent_lines(self.doc, self.lines, &self.index, hunk));
        }
        if let Some(regions) = &regions {
            starts = inside(&starts, regions);
            if starts.is_empty() {
                return Err(self.not_below_anchor(hunk, &rows));
            }
        }
        let mut notes = Vec::new();
        if hunk.at_end {
            let at_end = self.at_end(&starts, rows.len());
            if !at_end.is_empty() {
                starts = at_end;
            } else if starts.len() == 1 {
                notes.push(WarningCode::EofNotAtEnd);
            }
        }
        if hunk.rows.iter().all(|row| matches!(row, Row::Keep(_))) {
            // Nothing is written: that the lines stand there is all that was asked.
            starts.truncate(1);
        }
        Ok(Places { starts, pass: self.pass.name, notes })
    }

    /// The places that only blank lines follow.
    fn at_end(&self, starts: &[usize], rows: usize) -> Vec<usize> {
        let blank = |line: usize| self.lines.text(line).trim_ascii().is_empty();
        let tail = (0..self.lines.len()).rev().take_while(|&line| blank(line)).count();
        let first_of_tail = self.lines.len() - tail;
        starts.iter().copied().filter(|start| start + rows >= first_of_tail).collect()
    }

    fn not_below_anchor(&self, hunk: &LineHunk, rows: &[impl AsRef<[u8]>]) -> Refusal {
        let line = self.index.find(rows).first().map_or(0, |l| l + 1);
        let anchor = hunk.anchors.last().map_or("", Text::as_str);
        Refusal::new(Code::NoMatch, format!("the lines do not stand below the anchor {anchor:?}"))
            .hint(format!("they stand at line {line}, above it: correct or drop the anchor"))
    }

    /// Where the text below the anchors stands: `None` without anchors.
    fn regions(&self, anchors: &[Text]) -> Result<Option<Vec<Region>>, Refusal> {
        let mut regions: Option<Vec<Region>> = None;
        for anchor in anchors {
            let mut found = self.anchor_lines(anchor);
            if let Some(outer) = &regions {
                found = inside(&found, outer);
            }
            if found.is_empty() {
                return Err(Refusal::new(
                    Code::AnchorNotFound,
                    format!("the anchor {:?} stands nowhere", &**anchor),
                )
                .hint("an anchor is a line of the file or its beginning, blanks at both ends aside"));
            }
            regions =
                Some(found.into_iter().map(|line| Region { line, end: self.scope_end(line) }).collect());
        }
        Ok(regions)
    }

    /// The lines equal to `anchor`, else those equal but for blanks at both ends, else those that start with it.
    fn anchor_lines(&self, anchor: &str) -> Vec<usize> {
        let exact = self.index.lines_of(anchor.as_bytes());
        if !exact.is_empty() {
            return exact.to_vec();
        }
        let wanted = anchor.trim().as_bytes();
        let lines = |rule: &dyn Fn(&[u8]) -> bool| -> Vec<usize> {
            let found = self.lines.texts().enumerate().filter(|(_, text)| rule(text.trim_ascii()));
            found.map(|(line, _)| line).collect()
        };
        let trimmed = lines(&|text| text == wanted);
        if trimmed.is_empty() && wanted.len() >= SHORTEST_PREFIX {
            return lines(&|text| text.starts_with(wanted));
        }
        trimmed
    }

    /// The first line after `line` that is not blank and indented no deeper.
    fn scope_end(&self, line: usize) -> usize {
        let depth = indent(self.lines.text(line));
        let outside = |&l: &usize| {
            let text = self.lines.text(l);
            !text.trim_ascii().is_empty() && indent(text) <= depth
        };
        (line + 1..self.lines.len()).find(outside).unwrap_or(self.lines.len())
    }

    /// The gap where a hunk without old rows goes: below its anchor, at its numbers, or at the end.
    fn gap(&self, hunk: &LineHunk, regions: &Option<Vec<Region>>) -> Result<Places, Refusal> {
        let end = self.lines.len();
        let (starts, notes) = match (regions, hunk.hint) {
            (Some(regions), _) => (regions.iter().map(|r| r.line + 1).collect(), Vec::new()),
            (None, Some((after, 0))) if !hunk.at_end => {
                if after > end {
                    let message = format!("the header names line {after}, and the file has {end}");
                    return Err(Refusal::new(Code::Range, message).hint(format!("valid are 0 to {end}")));
                }
                (vec![after], Vec::new())
            }
            _ => (vec![end], vec![WarningCode::AppendEof]),
        };
        Ok(Places { starts, pass: "insert", notes })
    }

    fn take(&self, hunk: &LineHunk, places: Places) -> Result<Located, Refusal> {
        let rows = hunk.old_rows().count();
        let &[start] = places.starts.as_slice() else {
            let offsets = places.starts.iter().map(|&line| self.lines.range(line).start);
            let total = places.starts.len();
            let once = crate::edit::Occurrence::Once;
            return Err(explain::several_places(self.doc.body, offsets, total, rows, places.pass, once));
        };
        let script = line_script::script(self.lines, hunk, start);
        let (added, removed) = (script.added, script.removed);
        Ok(Located {
            parts: script.parts,
            line: start,
            rank: 0,
            old_count: rows,
            new_count: hunk.new_rows().count(),
            added,
            removed,
            pass: places.pass,
            notes: places.notes,
        })
    }
}

/// An anchor line and the end of its scope.
#[derive(Clone, Copy)]
struct Region {
    line: usize,
    end: usize,
}

/// The lines inside the scope of an anchor; without any, all lines below one.
fn inside(lines: &[usize], regions: &[Region]) -> Vec<usize> {
    let within = |rule: fn(&Region, usize) -> bool| -> Vec<usize> {
        lines.iter().copied().filter(|&l| regions.iter().any(|r| rule(r, l))).collect()
    };
    let scoped = within(|r, l| (r.line..r.end).contains(&l));
    if scoped.is_empty() { within(|r, l| l >= r.line) } else { scoped }
}

fn indent(text: &[u8]) -> usize {
    text.iter().take_while(|b| matches!(b, b' ' | b'\t')).count()
}

/// Among equal places the one exactly at the header's line is meant, or at that line moved as a uniquely placed
/// neighbour is (drift).
fn follow_hints(hunks: &[&LineHunk], places: &mut [Result<Places, Refusal>]) {
    let drift = |hunk: &LineHunk, found: &Result<Places, Refusal>| match (hunk.hint, found) {
        (Some((line, _)), Ok(p)) if p.starts.len() == 1 => {
            Some((p.starts[0] + 1).cast_signed() - line.cast_signed())
        }
        _ => None,
    };
    let drifts: Vec<_> = hunks.iter().zip(places.iter()).map(|(h, p)| drift(h, p)).collect();
    for (i, found) in places.iter_mut().enumerate() {
        let (Some((line, _)), Ok(found)) = (hunks[i].hint, found) else {
            continue;
        };
        if found.starts.len() < 2 || line == 0 {
            continue;
        }
        let before = drifts[..i].iter().rev().flatten().next();
        let after = drifts[i..].iter().flatten().next();
        let guesses = [Some(&0), before, after].into_iter().flatten();
        let meant = guesses
            .filter_map(|d| (line - 1).checked_add_signed(*d))
            .find(|at| found.starts.binary_search(at).is_ok());
        if let Some(at) = meant {
            found.starts = vec![at];
        }
    }
}

/// Hunks stand in the order of the batch: where only one choice of places does, it is taken. Where all are unique
/// anyway, another order is taken too, with a note.
fn choose_by_order(hunks: &[&LineHunk], places: &mut [Result<Places, Refusal>]) {
    let cores: Vec<(usize, usize)> = hunks.iter().map(|hunk| core(hunk)).collect();
    let found: Vec<usize> = (0..places.len()).filter(|&i| places[i].is_ok()).collect();
    let starts: Vec<Vec<usize>> = found
        .iter()
        .filter_map(|&i| places[i].as_ref().ok().map(|p| (i, p)))
        .map(|(i, p)| p.starts.iter().map(|s| s + cores[i].0).collect())
        .collect();
    let lengths: Vec<usize> = found.iter().map(|&i| cores[i].1).collect();
    let order = only_order(&starts, &lengths);
    let all_unique = starts.iter().all(|s| s.len() == 1);
    for (k, &i) in found.iter().enumerate() {
        let Ok(place) = &mut places[i] else { continue };
        match &order {
            Some(chosen) => place.starts = vec![chosen[k] - cores[i].0],
            None if all_unique && k > 0 && starts[k][0] < starts[k - 1][0] => {
                place.notes.push(WarningCode::OutOfOrder);
            }
            None => {}
        }
    }
}

/// The changed lines of a hunk: how far below its first old row they start, and how many there are.
fn core(hunk: &LineHunk) -> (usize, usize) {
    let is_keep = |row: &&Row| matches!(row, Row::Keep(_));
    let head = hunk.rows.iter().take_while(is_keep).count();
    let tail = hunk.rows.iter().rev().take_while(is_keep).count();
    let old = hunk.old_rows().count();
    (head, old.saturating_sub(head + tail))
}
