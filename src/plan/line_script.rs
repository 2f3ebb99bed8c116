//! What a block of lines writes: only its removed and added rows; kept rows have the file's bytes.

use super::block::{Block, Ending};
use crate::edit::{LineHunk, Lines, Replacement};
use std::borrow::Cow;
use std::ops::Range;

/// The replacements of one block.
#[derive(Debug, Default)]
pub(super) struct LineScript {
    /// In ascending order; offsets in the text that `lines` indexes.
    pub parts: Vec<Replacement>,
    /// Rows that come.
    pub added: usize,
    /// Rows that go.
    pub removed: usize,
    /// The unterminated last line goes: the line that is the last one then loses its terminator.
    pub bares_end: bool,
}

/// How the text ends where the block is its end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum End {
    /// As before.
    Kept,
    /// With a terminator.
    Terminated,
    /// Without.
    Unterminated,
}

impl End {
    /// What the hunk's markers say.
    pub(super) fn of(hunk: &LineHunk) -> Self {
        match (hunk.old_unterminated, hunk.new_unterminated) {
            (false, false) => Self::Kept,
            (_, false) => Self::Terminated,
            (_, true) => Self::Unterminated,
        }
    }
}

/// The script of `block` with its first old row at line `at` (from 0). `new` are its new rows as they are written.
pub(super) fn script(
    lines: &Lines<'_>,
    (block, new): (&Block<'_>, &[Cow<'_, str>]),
    at: usize,
    end: End,
) -> LineScript {
    let mut script = LineScript::default();
    for run in &block.runs {
        script.added += run.new.len();
        script.removed += run.old.len();
        let part = Part { lines: at + run.old.start..at + run.old.end, added: &new[run.new.clone()] };
        let joined = block.ending == Ending::Joined && run.new.end == block.new.len();
        let last = if joined { Last::Joined } else { Last::Line(end) };
        script.bares_end |= part.bares_end(lines, last);
        part.write(lines, last, &mut script.parts);
    }
    if block.ending == Ending::Joined && block.runs.last().is_none_or(|run| run.new.end < block.new.len()) {
        let last = at + block.old.len() - 1;
        let whole = lines.range(last);
        script
            .parts
            .push(Replacement { range: whole.start + lines.text(last).len()..whole.end, bytes: Vec::new() });
    }
    script
}

/// How the last row of a part ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Last {
    /// As a line; at the end of the text as told.
    Line(End),
    /// Not at all: the next line follows at once.
    Joined,
}

/// Removed lines and the rows that take their place.
#[derive(Debug)]
pub(super) struct Part<'a> {
    /// From 0.
    pub lines: Range<usize>,
    /// Without terminators.
    pub added: &'a [Cow<'a, str>],
}

impl Part<'_> {
    /// Whether the last lines of a text go that shall end without terminator: the line before then loses its own.
    pub(super) fn bares_end(&self, lines: &Lines<'_>, last: Last) -> bool {
        self.added.is_empty() && self.lines.end == lines.len() && !self.terminates(lines, last)
    }

    fn terminates(&self, lines: &Lines<'_>, last: Last) -> bool {
        match last {
            Last::Joined => false,
            Last::Line(_) if self.lines.end < lines.len() => true,
            Last::Line(End::Kept) => lines.is_empty() || lines.terminator(lines.len() - 1).is_some(),
            Last::Line(end) => end == End::Terminated,
        }
    }

    pub(super) fn write(&self, lines: &Lines<'_>, last: Last, parts: &mut Vec<Replacement>) {
        let at_end = self.lines.end == lines.len();
        let terminated = self.terminates(lines, last);
        let range = lines.span(self.lines.clone());
        let mut bytes = Vec::new();
        let before = self.lines.start.checked_sub(1);
        let appended = self.lines.is_empty() && at_end && !lines.is_empty() && !self.added.is_empty();
        if let Some(last) = before.filter(|&l| appended && lines.terminator(l).is_none()) {
            bytes.extend_from_slice(lines.terminator_for(last).as_bytes());
        }
        // A new line ends as the line it replaces; further ones as the line before them.
        let mut end = match before {
            Some(line) if self.lines.is_empty() => lines.terminator_for(line),
            _ => lines.terminator_for(self.lines.start),
        };
        for (i, text) in self.added.iter().enumerate() {
            let own = (i < self.lines.len()).then(|| lines.terminator(self.lines.start + i)).flatten();
            end = own.unwrap_or(end);
            bytes.extend_from_slice(text.as_bytes());
            if terminated || i + 1 < self.added.len() {
                bytes.extend_from_slice(end.as_bytes());
            }
        }
        parts.push(Replacement { range, bytes });
    }
}

/// Drops the terminator at the end.
pub(super) fn unterminate(bytes: &mut Vec<u8>) {
    let cut = [&b"\r\n"[..], b"\n", b"\r"].into_iter().find(|end| bytes.ends_with(end));
    bytes.truncate(bytes.len() - cut.map_or(0, <[u8]>::len));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edit::{Breaks, Row, TextEdit};

    fn hunk(body: &str) -> LineHunk {
        let row = |line: &str| match line.split_at(1) {
            ("+", text) => Row::Add(text.into()),
            ("-", text) => Row::Remove(text.into()),
            (_, text) => Row::Keep(text.into()),
        };
        LineHunk { rows: body.split('|').map(row).collect(), ..LineHunk::default() }
    }

    fn check(file: &str, at: usize, hunk: &LineHunk, expected: &str) {
        let lines = Lines::new(file.as_bytes(), Breaks::Lf);
        let block = Block::of_hunk(hunk);
        let script = script(&lines, (&block, &block.as_given()), at, End::of(hunk));
        let bares_end = script.bares_end;
        let mut result = TextEdit::new(script.parts).expect("disjoint").apply(file.as_bytes());
        if bares_end {
            unterminate(&mut result);
        }
        assert_eq!(String::from_utf8_lossy(&result), expected, "{file:?} {hunk:?}");
    }

    #[test]
    fn terminators_are_those_of_the_neighbours() {
        check("a\nb\r\nc\n", 1, &hunk("-b|+B"), "a\nB\r\nc\n");
        check("a\nb\r\nc\n", 1, &hunk("-b|+B|+B2"), "a\nB\r\nB2\r\nc\n");
        check("a\r\nb\n", 0, &hunk(" a|+x"), "a\r\nx\r\nb\n");
        check("a\r\n", 0, &hunk("+x| a"), "x\r\na\r\n");
        check("", 0, &hunk("+x"), "x\n");
    }

    #[test]
    fn the_state_of_the_final_newline_is_kept() {
        check("a", 0, &hunk("-a|+a|+"), "a\n");
        check("a", 0, &hunk(" a|+b"), "a\nb");
        check("a\nb", 0, &hunk(" a|-b"), "a");
        check("a\r\nb", 0, &hunk(" a|-b"), "a");
        check("b", 0, &hunk("-b"), "");
        check("a\nb\n", 0, &hunk("-a|-b"), "");
        check("a\nb", 1, &hunk("-b|+B"), "a\nB");
    }

    #[test]
    fn the_marker_decides_where_it_stands() {
        let new = LineHunk { new_unterminated: true, ..hunk(" a|-b|+B") };
        check("a\nb\n", 0, &new, "a\nB");
        let old = LineHunk { old_unterminated: true, ..hunk(" a|-b|+B") };
        check("a\nb", 0, &old, "a\nB\n");
    }
}
