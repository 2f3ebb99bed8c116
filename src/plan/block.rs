//! A hunk as whole lines: its old rows, its new rows, and the runs of them that differ. Equal rows are kept from the
//! file, whatever the pass.

use super::equality::is_blank_line;
use super::text_script::line_diff;
use crate::edit::{LineHunk, Row};
use similar::DiffOp;
use std::borrow::Cow;
use std::ops::Range;

/// Rows that go and rows that come in their place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Run {
    /// Indices of old rows.
    pub old: Range<usize>,
    /// Indices of new rows.
    pub new: Range<usize>,
}

/// What follows the last new row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Ending {
    /// What follows the last old row.
    Same,
    /// The text of the line after it: the old text ends with a newline and the new one does not.
    Joined,
}

/// A hunk of whole lines; rows have no terminator.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Block<'a> {
    /// The rows that must stand in the file.
    pub old: Vec<&'a str>,
    /// The rows that stand there afterwards.
    pub new: Vec<&'a str>,
    /// Where they differ, in order; all other rows are equal pairs.
    pub runs: Vec<Run>,
    /// How the last row ends.
    pub ending: Ending,
    /// Outer blank rows left out at the start.
    pub lead: usize,
}

impl<'a> Block<'a> {
    /// The block of a line hunk. A row that goes and comes back as it was has stayed.
    pub(super) fn of_hunk(hunk: &'a LineHunk) -> Self {
        let mut block = Self::of_rows(&hunk.rows);
        // A last line that gets or loses its terminator changes although its text does not.
        let whole = usize::from(hunk.old_unterminated != hunk.new_unterminated);
        let (runs, last) = block.runs.split_at(block.runs.len().saturating_sub(whole));
        let parts = runs.iter().flat_map(|run| parted(&block.old, &block.new, run));
        block.runs = parts.chain(last.iter().cloned()).collect();
        block
    }

    /// Rows as they stand in the hunk.
    fn of_rows(rows: &'a [Row]) -> Self {
        let mut block =
            Self { old: Vec::new(), new: Vec::new(), runs: Vec::new(), ending: Ending::Same, lead: 0 };
        let mut open = false;
        for row in rows {
            if matches!(row, Row::Keep(_)) {
                open = false;
            } else if !open {
                let (old, new) = (block.old.len(), block.new.len());
                block.runs.push(Run { old: old..old, new: new..new });
                open = true;
            }
            match row {
                Row::Keep(text) => {
                    block.old.push(text);
                    block.new.push(text);
                }
                Row::Remove(text) => block.old.push(text),
                Row::Add(text) => block.new.push(text),
            }
            if let Some(run) = block.runs.last_mut().filter(|_| open) {
                (run.old.end, run.new.end) = (block.old.len(), block.new.len());
            }
        }
        block
    }

    /// The block of a text hunk whose old text (not empty) is whole lines.
    pub(super) fn of_texts(old: &'a str, new: &'a str) -> Self {
        let ends = |text: &'a str| text.strip_suffix('\n');
        let (old, new, ending) = match (ends(old), ends(new)) {
            (Some(o), Some(n)) => (o, Some(n), Ending::Same),
            (Some(o), None) if new.is_empty() => (o, None, Ending::Same),
            (Some(o), None) => (o, Some(new), Ending::Joined),
            (None, _) => (old, Some(new), Ending::Same),
        };
        let old: Vec<&str> = old.split('\n').collect();
        let new: Vec<&str> = new.map_or_else(Vec::new, |new| new.split('\n').collect());
        let runs = parted(&old, &new, &Run { old: 0..old.len(), new: 0..new.len() });
        Self { runs, old, new, ending, lead: 0 }
    }

    /// The new rows as the batch has them.
    pub(super) fn as_given(&self) -> Vec<Cow<'a, str>> {
        self.new.iter().map(|row| Cow::Borrowed(*row)).collect()
    }

    /// The changed old rows: the first of them, and how many there are from the first to the last.
    pub(super) fn core(&self) -> (usize, usize) {
        match (self.runs.first(), self.runs.last()) {
            (Some(first), Some(last)) => (first.old.start, last.old.end - first.old.start),
            _ => (self.old.len(), 0),
        }
    }

    /// The block without its outer blank rows; `None` when it has none, or nothing else.
    pub(super) fn without_edge_blanks(&self) -> Option<Self> {
        let front = blank_edge(&self.old, &self.new, &self.runs);
        let rest = self.cut(front, (0, 0));
        let back = blank_edge(&reversed(&rest.old), &reversed(&rest.new), &mirrored(&rest));
        let cut = self.cut(front, back);
        (!cut.old.is_empty() && front.0 + back.0 > 0).then_some(cut)
    }

    /// Leaves out so many old and new rows at both ends.
    fn cut(&self, front: (usize, usize), back: (usize, usize)) -> Self {
        let old = front.0..self.old.len() - back.0;
        let new = front.1..self.new.len() - back.1;
        let within = |r: &Range<usize>, part: &Range<usize>| {
            let clip = |at: usize| at.clamp(part.start, part.end) - part.start;
            clip(r.start)..clip(r.end)
        };
        let runs = self.runs.iter().map(|r| Run { old: within(&r.old, &old), new: within(&r.new, &new) });
        Self {
            runs: runs.filter(|r| !(r.old.is_empty() && r.new.is_empty())).collect(),
            old: self.old[old].to_vec(),
            new: self.new[new.clone()].to_vec(),
            // Nothing is left that the next line could be joined to.
            ending: if back.0 > 0 || new.is_empty() { Ending::Same } else { self.ending },
            lead: self.lead + front.0,
        }
    }
}

/// The parts of `run` that differ; deleted and inserted rows side by side are one run.
fn parted(old: &[&str], new: &[&str], run: &Run) -> Vec<Run> {
    let moved = |range: Range<usize>, by: usize| range.start + by..range.end + by;
    let mut runs: Vec<Run> = Vec::new();
    for op in line_diff(&old[run.old.clone()], &new[run.new.clone()]) {
        let part =
            Run { old: moved(op.old_range(), run.old.start), new: moved(op.new_range(), run.new.start) };
        if matches!(op, DiffOp::Equal { .. }) || (part.old.is_empty() && part.new.is_empty()) {
            continue;
        }
        match runs.last_mut() {
            Some(last) if last.old.end == part.old.start && last.new.end == part.new.start => {
                (last.old.end, last.new.end) = (part.old.end, part.new.end);
            }
            _ => runs.push(part),
        }
    }
    runs
}

/// How many old rows at the start are blank, and how many new rows go with them. Nothing that is not blank stands
/// before any of them.
fn blank_edge(old: &[&str], new: &[&str], runs: &[Run]) -> (usize, usize) {
    let blank = |row: &&&str| is_blank_line(row.as_bytes());
    let (mut o, mut n) = (0, 0);
    let mut runs = runs.iter().peekable();
    while o < old.len() {
        let Some(run) = runs.next_if(|run| run.old.start == o && run.new.start == n) else {
            if !is_blank_line(old[o].as_bytes()) {
                break;
            }
            (o, n) = (o + 1, n + 1);
            continue;
        };
        let gone = old[run.old.clone()].iter().take_while(blank).count();
        let come = new[run.new.clone()].iter().take_while(blank).count().min(gone);
        (o, n) = (o + gone, n + come);
        if gone < run.old.len() || come < run.new.len() {
            break;
        }
    }
    (o, n)
}

fn reversed<'a>(rows: &[&'a str]) -> Vec<&'a str> {
    rows.iter().rev().copied().collect()
}

fn mirrored(block: &Block<'_>) -> Vec<Run> {
    let flip = |r: &Range<usize>, len: usize| len - r.end..len - r.start;
    let run = |r: &Run| Run { old: flip(&r.old, block.old.len()), new: flip(&r.new, block.new.len()) };
    block.runs.iter().rev().map(run).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(body: &str) -> Vec<Row> {
        let row = |line: &str| match line.split_at(1) {
            ("+", text) => Row::Add(text.into()),
            ("-", text) => Row::Remove(text.into()),
            (_, text) => Row::Keep(text.into()),
        };
        body.split('|').map(row).collect()
    }

    fn trimmed(body: &str, old: &[&str], new: &[&str]) {
        let rows = rows(body);
        let block = Block::of_rows(&rows).without_edge_blanks().expect("has outer blank rows");
        assert_eq!((&block.old[..], &block.new[..]), (old, new), "{body}");
    }

    #[test]
    fn outer_blank_rows_go_on_both_sides() {
        trimmed(" |-a|+A| ", &["a"], &["A"]);
        trimmed("- |-a|+A", &["a"], &["A"]);
        trimmed("-|-a|+|+A", &["a"], &["A"]);
        trimmed("-a|-|+A|+|+", &["a"], &["A", ""]);
    }

    #[test]
    fn blank_rows_behind_others_stay() {
        for body in ["+x| | a", " a|+b", "-a|-|-b", " | "] {
            assert_eq!(Block::of_rows(&rows(body)).without_edge_blanks(), None, "{body}");
        }
    }

    #[test]
    fn a_row_that_goes_and_comes_back_stays() {
        let mut hunk = LineHunk { rows: rows(" x|-a|-b|-c|+A|+b|+C"), ..LineHunk::default() };
        let runs = Block::of_hunk(&hunk).runs;
        assert_eq!(runs, [Run { old: 1..2, new: 1..2 }, Run { old: 3..4, new: 3..4 }]);
        hunk.rows = rows(" x|-a|+a");
        assert_eq!(Block::of_hunk(&hunk).runs, []);
        hunk.new_unterminated = true;
        assert_eq!(Block::of_hunk(&hunk).runs, [Run { old: 1..2, new: 1..2 }]);
    }

    #[test]
    fn texts_become_rows_that_differ_and_rows_that_stay() {
        let block = Block::of_texts("a\nb\nc\n", "a\nX\nc\n");
        assert_eq!((block.old.len(), block.runs), (3, vec![Run { old: 1..2, new: 1..2 }]));
        assert_eq!(Block::of_texts("a\n", "").new, Vec::<&str>::new());
        assert_eq!(Block::of_texts("a", "").new, [""]);
        assert_eq!(Block::of_texts("a", "b\n").new, ["b", ""]);
        assert_eq!(Block::of_texts("a\n", "b").ending, Ending::Joined);
    }
}
