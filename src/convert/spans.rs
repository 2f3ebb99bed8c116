//! Which lines of a file a change takes the place of, with as many lines around them as one place needs.

use similar::{Algorithm, DiffOp};
use std::collections::HashMap;
use std::ops::Range;

/// Lines around a change to begin with, as in a diff.
const CONTEXT: usize = 3;
/// A text with fewer letters and digits says too little to be placed by.
const FEW: usize = 3;

/// Lines of the old file, and the lines of the new one in their place; from 0.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Span {
    pub(super) old: Range<usize>,
    pub(super) new: Range<usize>,
}

impl Span {
    /// Whether the changed part belongs to this one.
    pub(super) fn holds(&self, part: &Self) -> bool {
        self.old.start <= part.old.start && part.old.end <= self.old.end
    }
}

/// Two files as lines with their terminators, and where they differ.
pub(super) struct Spans<'a> {
    pub(super) old: Vec<&'a [u8]>,
    pub(super) new: Vec<&'a [u8]>,
    /// In order, disjoint, equal lines between them.
    pub(super) changed: Vec<Span>,
}

/// A line without its terminator.
pub(super) fn bare(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// Whether the last line has a terminator, or there is none.
pub(super) fn is_ended(lines: &[&[u8]]) -> bool {
    lines.last().is_none_or(|line| line.ends_with(b"\n"))
}

impl<'a> Spans<'a> {
    pub(super) fn of(old: &'a [u8], new: &'a [u8]) -> Self {
        let lines = |bytes: &'a [u8]| bytes.split_inclusive(|b| *b == b'\n').collect::<Vec<_>>();
        let (old, new) = (lines(old), lines(new));
        let ops = similar::capture_diff_slices(Algorithm::Myers, &old, &new);
        let mut changed: Vec<Span> = Vec::new();
        for op in ops.iter().filter(|op| !matches!(op, DiffOp::Equal { .. })) {
            match changed.last_mut().filter(|last| last.old.end == op.old_range().start) {
                Some(last) => (last.old.end, last.new.end) = (op.old_range().end, op.new_range().end),
                None => changed.push(Span { old: op.old_range(), new: op.new_range() }),
            }
        }
        Self { old, new, changed }
    }

    /// Spans whose old lines stand together in one place only.
    pub(super) fn placed_as_lines(&self) -> Vec<Span> {
        let bare: Vec<&[u8]> = self.old.iter().map(|line| bare(line)).collect();
        let mut places: HashMap<&[u8], Vec<usize>> = HashMap::new();
        for (at, line) in bare.iter().enumerate() {
            places.entry(line).or_default().push(at);
        }
        self.placed(|span| {
            let wanted = &bare[span.old.clone()];
            let rarest = wanted.iter().enumerate().min_by_key(|(_, line)| places[*line].len());
            let Some((offset, line)) = rarest else { return false };
            let starts = places[line].iter().filter_map(|at| at.checked_sub(offset));
            starts.filter(|&start| bare[start..].starts_with(wanted)).count() == 1
        })
    }

    /// Spans whose old text stands in one place only, whether the spans before are changed or not.
    pub(super) fn placed_as_text(&self) -> Vec<Span> {
        let (old, new) = (self.old.concat(), self.new.concat());
        self.placed(|span| {
            let text = self.old[span.old.clone()].concat();
            let text = text.strip_suffix(b"\n").unwrap_or(&text);
            !text.is_empty() && occurrences(&old, text) == 1 && occurrences(&new, text) <= 1
        })
    }

    /// Spans with context around the changed parts, grown until each has one place. The whole file has one.
    fn placed(&self, has_one_place: impl Fn(&Span) -> bool) -> Vec<Span> {
        let mut margins = vec![CONTEXT; self.changed.len()];
        loop {
            let spans = self.with_margins(&margins);
            let is_whole = |span: &Span| span.old.len() == self.old.len();
            let stands = |span: &&Span| is_whole(span) || (self.says_enough(span) && has_one_place(span));
            let poor: Vec<&Span> = spans.iter().filter(|span| !stands(span)).collect();
            if poor.is_empty() {
                return spans;
            }
            for (part, margin) in self.changed.iter().zip(&mut margins) {
                if poor.iter().any(|span| span.holds(part)) {
                    *margin = *margin * 2 + 1;
                }
            }
        }
    }

    fn says_enough(&self, span: &Span) -> bool {
        let bytes = self.old[span.old.clone()].iter().flat_map(|line| line.iter());
        bytes.filter(|b| b.is_ascii_alphanumeric() || **b >= 0x80).take(FEW).count() == FEW
    }

    /// The changed parts with so many lines around them; those that touch are one.
    fn with_margins(&self, margins: &[usize]) -> Vec<Span> {
        // Each with the parts that it holds: equal lines stand before, between and after those.
        let mut joined: Vec<(Range<usize>, Range<usize>)> = Vec::new();
        for (index, (part, &margin)) in self.changed.iter().zip(margins).enumerate() {
            let end = self.old.len().min(part.old.end.saturating_add(margin));
            let mut old = part.old.start.saturating_sub(margin)..end;
            let mut parts = index..index + 1;
            while let Some((last, held)) = joined.pop_if(|(last, _)| old.start <= last.end) {
                old = last.start.min(old.start)..last.end.max(old.end);
                parts.start = held.start;
            }
            joined.push((old, parts));
        }
        let span = |(old, parts): (Range<usize>, Range<usize>)| {
            let (first, last) = (&self.changed[parts.start], &self.changed[parts.end - 1]);
            let new =
                first.new.start - (first.old.start - old.start)..last.new.end + (old.end - last.old.end);
            Span { old, new }
        };
        joined.into_iter().map(span).collect()
    }
}

/// How often `text` stands in `bytes`, overlaps included; two stand for more.
fn occurrences(bytes: &[u8], text: &[u8]) -> usize {
    let Some(first) = memchr::memmem::find(bytes, text) else { return 0 };
    1 + usize::from(memchr::memmem::find(&bytes[first + 1..], text).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(
        old: &str,
        new: &str,
        lines: &[(Range<usize>, Range<usize>)],
        text: &[(Range<usize>, Range<usize>)],
    ) {
        let spans = Spans::of(old.as_bytes(), new.as_bytes());
        let found = |spans: Vec<Span>| spans.into_iter().map(|s| (s.old, s.new)).collect::<Vec<_>>();
        assert_eq!(found(spans.placed_as_lines()), lines, "lines of {old:?}");
        assert_eq!(found(spans.placed_as_text()), text, "text of {old:?}");
    }

    #[test]
    fn spans_have_one_place() {
        let one = [(0..4, 0..4)];
        check("aaa\nbbb\nccc\nddd\neee\n", "AAA\nbbb\nccc\nddd\neee\n", &one, &one);
        // The same three lines twice: more are needed.
        let far = "x\ny\nz\nold\nx\ny\nz\nold\nx\ny\nz\nend\n";
        let changed = far.replacen("old", "new", 1);
        check(far, &changed, &[(0..11, 0..11)], &[(0..11, 0..11)]);
        // A part of a line counts for a text, and not for lines.
        check("key\nxkey\n", "new\nxkey\n", &[(0..2, 0..2)], &[(0..2, 0..2)]);
    }

    #[test]
    fn margins_that_touch_are_joined() {
        let old: String = (0..20).map(|n| format!("line {n}\n")).collect();
        let near = old.replace("line 3\n", "three\n").replace("line 8\n", "");
        check(&old, &near, &[(0..12, 0..11)], &[(0..12, 0..11)]);
        let close = old.replace("line 3\n", "three\n").replace("line 5\n", "").replace("line 7\n", "7\n7\n");
        check(&old, &close, &[(0..11, 0..11)], &[(0..11, 0..11)]);
        let apart = old.replace("line 3\n", "three\n").replace("line 15\n", "");
        let spans = [(0..7, 0..7), (12..19, 12..18)];
        check(&old, &apart, &spans, &spans);
    }
}
