//! The plan: what will happen to each path, in names, hashes and line numbers, never contents.

use crate::disk::Node;
use crate::edit::{Origin, RelPath, Warning, WarningCode};

/// A batch that fits, resolved.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[must_use = "a plan does nothing until it is applied"]
pub struct Plan {
    /// In the order in which the batch first mentions them.
    pub files: Vec<PlannedFile>,
    /// What a person should know.
    pub warnings: Vec<Warning>,
}

impl Plan {
    /// Whether nothing would change.
    pub fn is_no_op(&self) -> bool {
        self.files.iter().all(|f| f.action == FileAction::None)
    }
}

/// One path of a plan.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PlannedFile {
    /// Canonical; the destination of a move.
    pub path: RelPath,
    /// Where a moved file comes from.
    pub from: Option<RelPath>,
    /// What happens.
    pub action: FileAction,
    /// What stands at `from`, or else at `path`, now.
    pub before: Node,
    /// What shall stand at `path`.
    pub after: Node,
    /// Lines that come: as many as in the diff, however many hunks make them; for very different long texts the sum
    /// of the hunks.
    pub added: usize,
    /// Lines that go, in the same way.
    pub removed: usize,
    /// The hunks, in batch order.
    pub hunks: Vec<PlacedHunk>,
}

/// What happens to a path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FileAction {
    /// New bytes, perhaps new permissions.
    Modify,
    /// New permissions only.
    Mode,
    /// A new file.
    Create,
    /// The file goes.
    Delete,
    /// The file comes from another path, perhaps edited.
    Rename,
    /// Nothing: the result equals what is there.
    None,
}

impl FileAction {
    /// The word of the JSON result.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Modify => "modify",
            Self::Mode => "mode",
            Self::Create => "create",
            Self::Delete => "delete",
            Self::Rename => "rename",
            Self::None => "none",
        }
    }
}

/// Where a hunk was placed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PlacedHunk {
    /// Where it stands in the batch.
    pub origin: Origin,
    /// The name of the pass that found the place.
    pub pass: &'static str,
    /// The lines of the old text in the file as it is on disk.
    pub old_lines: LineRange,
    /// The lines that the new text has in the result.
    pub new_lines: LineRange,
    /// Lines that come.
    pub added: usize,
    /// Lines that go.
    pub removed: usize,
    /// What a person should know about it.
    pub notes: Vec<WarningCode>,
    /// The places that are equal to the chosen one.
    pub twins: Twins,
}

/// Places of the old text that are equal to the chosen one under the pass that found it: an anchor, a line number, the
/// end of the file or the other hunks spoke against them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Twins {
    /// Their first lines, from 1, in the file as it is on disk; the first few.
    pub lines: Vec<usize>,
    /// How many there are.
    pub total: usize,
}

impl Twins {
    pub(super) fn note(&self) -> Option<WarningCode> {
        (self.total > 0).then_some(WarningCode::Twins)
    }
}

/// Lines from 1, inclusive; `first == last + 1` stands for the gap before `first`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LineRange {
    /// First line.
    pub first: usize,
    /// Last line.
    pub last: usize,
}

impl LineRange {
    /// `count` lines from `first` on.
    pub fn new(first: usize, count: usize) -> Self {
        Self { first, last: (first + count).saturating_sub(1) }
    }

    /// The number of lines.
    pub fn len(&self) -> usize {
        (self.last + 1).saturating_sub(self.first)
    }

    /// Whether it is a gap between two lines.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn moved(self, by: isize) -> Self {
        let shift = |n: usize| n.saturating_add_signed(by);
        Self { first: shift(self.first), last: shift(self.last) }
    }
}

/// Appends the hunks of a later step: both sides are told in the numbering of the whole entry, old lines as they
/// stand on disk, new lines as they stand in the end.
pub(super) fn append_step(all: &mut Vec<PlacedHunk>, step: Vec<PlacedHunk>) {
    // As the step finds them, not as its own hunks move them.
    let found: Vec<LineRange> = all.iter().map(|hunk| hunk.new_lines).collect();
    for mut hunk in step {
        let grown =
            |hunk: &PlacedHunk| hunk.new_lines.len().cast_signed() - hunk.old_lines.len().cast_signed();
        let (growth, at) = (grown(&hunk), hunk.old_lines);
        let back = |line: usize| -> isize {
            let above = all.iter().zip(&found).filter(|(_, lines)| lines.last < line);
            -above.map(|(earlier, _)| grown(earlier)).sum::<isize>()
        };
        hunk.old_lines = at.moved(back(at.first));
        hunk.twins.lines.iter_mut().for_each(|line| *line = line.saturating_add_signed(back(*line)));
        for (earlier, lines) in all.iter_mut().zip(&found) {
            if lines.first > at.last && lines.last >= at.first {
                earlier.new_lines = earlier.new_lines.moved(growth);
            }
        }
        all.push(hunk);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hunk(first: usize, old: usize, new: usize) -> PlacedHunk {
        PlacedHunk {
            origin: Origin { entry: 1, hunk: 1, line: 1 },
            pass: "exact",
            old_lines: LineRange::new(first, old),
            new_lines: LineRange::new(first, new),
            added: 0,
            removed: 0,
            notes: Vec::new(),
            twins: Twins::default(),
        }
    }

    #[test]
    fn later_steps_move_the_lines_of_earlier_ones() {
        let mut all = Vec::new();
        append_step(&mut all, vec![hunk(10, 1, 3)]);
        append_step(&mut all, vec![hunk(2, 1, 2)]);
        append_step(&mut all, vec![hunk(20, 1, 1)]);
        let shown: Vec<_> = all.iter().map(|h| (h.old_lines.first, h.new_lines.first)).collect();
        assert_eq!(shown, [(10, 11), (2, 2), (17, 20)]);
    }

    #[test]
    fn hunks_of_one_step_do_not_move_each_other() {
        let mut all = vec![hunk(20, 1, 1)];
        let step = [(hunk(5, 1, 1), 7), (hunk(1, 1, 3), 1)];
        let step = step.map(|(hunk, first)| PlacedHunk {
            new_lines: LineRange::new(first, hunk.new_lines.len()),
            ..hunk
        });
        append_step(&mut all, step.to_vec());
        let shown: Vec<_> = all.iter().map(|h| (h.old_lines.first, h.new_lines.first)).collect();
        assert_eq!(shown, [(20, 22), (5, 7), (1, 1)]);
    }
}
