//! What a line hunk writes: only its removed and added rows; context rows keep the file's bytes.

use crate::edit::{LineHunk, Lines, Replacement, Row, Text};
use std::ops::Range;

/// The replacements of one line hunk.
#[derive(Debug, Default)]
pub(super) struct LineScript {
    /// In ascending order; offsets in the text that `lines` indexes.
    pub parts: Vec<Replacement>,
    /// Rows that come.
    pub added: usize,
    /// Rows that go.
    pub removed: usize,
}

/// The script of `hunk` with its first old row at line `at` (from 0).
pub(super) fn script(lines: &Lines<'_>, hunk: &LineHunk, at: usize) -> LineScript {
    let mut runs: Vec<Run<'_>> = Vec::new();
    let mut line = at;
    let mut open = false;
    for row in &hunk.rows {
        if let Row::Keep(_) = row {
            line += 1;
            open = false;
            continue;
        }
        if !open {
            runs.push(Run { lines: line..line, added: Vec::new() });
            open = true;
        }
        let Some(run) = runs.last_mut() else { continue };
        match row {
            Row::Add(text) => run.added.push(text),
            _ => {
                line += 1;
                run.lines.end = line;
            }
        }
    }
    let explicit = (hunk.old_unterminated || hunk.new_unterminated).then_some(!hunk.new_unterminated);
    let mut script = LineScript::default();
    for run in &runs {
        script.added += run.added.len();
        script.removed += run.lines.len();
        run.write(lines, explicit, &mut script.parts);
    }
    script
}

/// Removed lines and the rows that take their place.
#[derive(Debug)]
pub(super) struct Run<'a> {
    pub lines: Range<usize>,
    pub added: Vec<&'a Text>,
}

impl Run<'_> {
    /// `explicit` says whether the text shall end with a terminator, where the hunk says so.
    pub(super) fn write(&self, lines: &Lines<'_>, explicit: Option<bool>, parts: &mut Vec<Replacement>) {
        let at_end = self.lines.end == lines.len();
        let kept_state = lines.is_empty() || lines.terminator(lines.len() - 1).is_some();
        let terminated = if at_end { explicit.unwrap_or(kept_state) } else { true };
        let mut range = lines.span(self.lines.clone());
        let mut bytes = Vec::new();
        let before = self.lines.start.checked_sub(1);
        let appended = self.lines.is_empty() && at_end && !lines.is_empty() && !self.added.is_empty();
        if let Some(last) = before.filter(|&l| appended && lines.terminator(l).is_none()) {
            bytes.extend_from_slice(lines.terminator_for(last).as_bytes());
        }
        // A text without final newline that loses its last lines still has none.
        if let Some(last) = before.filter(|_| at_end && !terminated && self.added.is_empty()) {
            range.start -= lines.terminator(last).map_or(0, |end| end.as_bytes().len());
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edit::{Breaks, TextEdit};

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
        let script = script(&lines, hunk, at);
        let result = TextEdit::new(script.parts).expect("disjoint").apply(file.as_bytes());
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
