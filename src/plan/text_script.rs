//! What a text hunk writes: a line script, so that lines equal on both sides keep the file's bytes.
//!
//! The old text stands in the file already, terminators aside; only what differs from the new text is replaced,
//! and new lines end as their neighbours do (matching.md, bytes written).

use super::document::Haystack;
use crate::edit::{Breaks, Replacement, Terminator};
use similar::{Algorithm, DiffOp};
use std::hash::Hash;
use std::ops::Range;

/// Above this product of line counts the lines in the middle are replaced as a whole: a line diff of two long texts
/// that share little takes time that grows with it.
const DIFF_LIMIT: usize = 4_000_000;

/// The replacements of one text hunk and how many lines they add and remove.
#[derive(Debug, Default)]
pub(super) struct Script {
    /// In ascending order; offsets in the file's body.
    pub parts: Vec<Replacement>,
    /// Lines that come.
    pub added: usize,
    /// Lines that go.
    pub removed: usize,
}

/// What stands where: the body, its searchable form, and which bytes end a line.
#[derive(Debug)]
pub(super) struct Place<'a> {
    pub body: &'a [u8],
    pub hay: &'a Haystack<'a>,
    pub breaks: Breaks,
    /// Offset of the old text in the searchable form.
    pub start: usize,
}

/// The script that turns `old`, which stands at `place`, into `new`. Both have LF terminators only.
pub(super) fn script(place: &Place<'_>, old: &str, new: &str) -> Script {
    let mut writer = Writer::new(place, old, new);
    for op in line_diff(&writer.old, &writer.new) {
        writer.put(op);
    }
    writer.script
}

fn bare(token: &str) -> &str {
    token.strip_suffix('\n').unwrap_or(token)
}

/// Differences by whole lines, terminators aside.
pub(super) fn line_diff(old: &[&str], new: &[&str]) -> Vec<DiffOp> {
    let texts = |tokens: &[&str]| tokens.iter().map(|t| bare(t).to_owned()).collect::<Vec<_>>();
    diff(&texts(old), &texts(new))
}

/// Differences by whole lines; equal lines at both ends are found first.
pub(super) fn diff<T: Clone + Hash + Ord>(old: &[T], new: &[T]) -> Vec<DiffOp> {
    let same = |(a, b): &(&T, &T)| a == b;
    let head = old.iter().zip(new).take_while(same).count();
    let most = old.len().min(new.len()) - head;
    let tail = old.iter().rev().zip(new.iter().rev()).take(most).take_while(same).count();
    let (o, n) = (head..old.len() - tail, head..new.len() - tail);
    if o.len().saturating_mul(n.len()) > DIFF_LIMIT {
        let middle = DiffOp::Replace { old_index: head, old_len: o.len(), new_index: head, new_len: n.len() };
        return [DiffOp::Equal { old_index: 0, new_index: 0, len: head }, middle]
            .into_iter()
            .chain([DiffOp::Equal { old_index: o.end, new_index: n.end, len: tail }])
            .collect();
    }
    similar::capture_diff_slices(Algorithm::Myers, old, new)
}

struct Writer<'a> {
    place: &'a Place<'a>,
    old: Vec<&'a str>,
    new: Vec<&'a str>,
    /// Where each old line stands in the body, its terminator included; one empty range more at the end.
    spans: Vec<Range<usize>>,
    script: Script,
}

impl<'a> Writer<'a> {
    fn new(place: &'a Place<'a>, old: &'a str, new: &'a str) -> Self {
        let lines: Vec<&str> = old.split_inclusive('\n').collect();
        let mut spans = Vec::with_capacity(lines.len() + 1);
        let mut at = place.start;
        for line in &lines {
            spans.push(place.hay.original(at)..place.hay.original(at + line.len()));
            at += line.len();
        }
        let end = place.hay.original(at);
        spans.push(end..end);
        Self { place, old: lines, new: new.split_inclusive('\n').collect(), spans, script: Script::default() }
    }

    fn put(&mut self, op: DiffOp) {
        let (old, new) = (op.old_range(), op.new_range());
        if matches!(op, DiffOp::Equal { .. }) {
            old.zip(new).for_each(|(o, n)| self.keep(o, n));
            return;
        }
        self.script.removed += old.len();
        self.script.added += new.len();
        let paired = old.len().min(new.len());
        for i in 0..paired {
            let (o, n) = (old.start + i, new.start + i);
            self.replace(self.spans[o].clone(), n..n + 1, Near::Own(self.spans[o].start));
        }
        for o in old.start + paired..old.end {
            self.replace(self.spans[o].clone(), 0..0, Near::Own(0));
        }
        if new.len() > paired {
            let at = self.spans[old.end].start;
            // Further lines end as the line before them does, be it replaced or kept.
            let near =
                if old.is_empty() { Near::Before(at) } else { Near::Own(self.spans[old.end - 1].start) };
            self.replace(at..at, new.start + paired..new.end, near);
        }
    }

    /// A line that stays; only a terminator may come or go at the end of the hunk's text.
    fn keep(&mut self, o: usize, n: usize) {
        let (old, new) = (self.old[o], self.new[n]);
        let span = self.spans[o].clone();
        match (old.ends_with('\n'), new.ends_with('\n')) {
            (false, true) => {
                let end = self.terminator(Near::Own(span.start)).as_bytes().to_vec();
                self.script.parts.push(Replacement { range: span.end..span.end, bytes: end });
            }
            (true, false) => {
                let text_end = span.start + old.len() - 1;
                self.script.parts.push(Replacement { range: text_end..span.end, bytes: Vec::new() });
            }
            _ => {}
        }
    }

    fn replace(&mut self, range: Range<usize>, new: Range<usize>, near: Near) {
        let end = if new.is_empty() { Terminator::Lf } else { self.terminator(near) };
        let mut bytes = Vec::new();
        for line in &self.new[new] {
            bytes.extend_from_slice(bare(line).as_bytes());
            if line.ends_with('\n') {
                bytes.extend_from_slice(end.as_bytes());
            }
        }
        self.script.parts.push(Replacement { range, bytes });
    }

    fn terminator(&self, near: Near) -> Terminator {
        let (body, breaks) = (self.place.body, self.place.breaks);
        let (before, after) = match near {
            Near::Own(at) => (None, at),
            Near::Before(at) => (last_terminator(&body[..at], breaks), at),
        };
        before
            .or_else(|| next_terminator(body, after, breaks))
            .or_else(|| last_terminator(&body[..after], breaks))
            .unwrap_or(Terminator::Lf)
    }
}

/// Whose terminator a new line takes.
#[derive(Clone, Copy)]
enum Near {
    /// That of the line at this offset.
    Own(usize),
    /// That of the line before this offset.
    Before(usize),
}

fn terminator_at(body: &[u8], at: usize) -> Terminator {
    match body[at] {
        b'\r' if body.get(at + 1) == Some(&b'\n') => Terminator::CrLf,
        b'\r' => Terminator::Cr,
        _ if at > 0 && body[at - 1] == b'\r' => Terminator::CrLf,
        _ => Terminator::Lf,
    }
}

fn next_terminator(body: &[u8], from: usize, breaks: Breaks) -> Option<Terminator> {
    let found = match breaks {
        Breaks::Lf | Breaks::BareLf => memchr::memchr(b'\n', &body[from..]),
        Breaks::LfOrCr => memchr::memchr2(b'\n', b'\r', &body[from..]),
    };
    found.map(|at| terminator_at(body, from + at))
}

fn last_terminator(before: &[u8], breaks: Breaks) -> Option<Terminator> {
    let found = match breaks {
        Breaks::Lf | Breaks::BareLf => memchr::memrchr(b'\n', before),
        Breaks::LfOrCr => memchr::memrchr2(b'\n', b'\r', before),
    };
    found.map(|at| terminator_at(before, at))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edit::TextEdit;

    fn check(body: &str, old: &str, new: &str, expected: &str, counts: (usize, usize)) {
        let hay = Haystack::new(body.as_bytes(), Breaks::Lf);
        let start = memchr::memmem::find(&hay.text, old.as_bytes()).expect("stands there");
        let place = Place { body: body.as_bytes(), hay: &hay, breaks: Breaks::Lf, start };
        let script = script(&place, old, new);
        assert_eq!((script.added, script.removed), counts, "{old:?} -> {new:?}");
        let result = TextEdit::new(script.parts).expect("disjoint").apply(body.as_bytes());
        assert_eq!(String::from_utf8_lossy(&result), expected, "{old:?} -> {new:?}");
    }

    #[test]
    fn a_replaced_line_keeps_its_terminator_and_further_lines_take_it() {
        check("a\r\nb\nc\r\n", "a\nb", "A\nA2\nB", "A\r\nA2\nB\nc\r\n", (3, 2));
        check("a\nb\r\nc\n", "b", "B\nB2", "a\nB\r\nB2\r\nc\n", (2, 1));
        check("a", "a", "a\nb", "a\nb", (1, 0));
        check("x\r\na", "a", "a\nb", "x\r\na\r\nb", (1, 0));
    }

    #[test]
    fn kept_lines_keep_their_bytes() {
        check("a\r\nb\nc\r\n", "a\nb\nc", "a\nX\nc", "a\r\nX\nc\r\n", (1, 1));
        check("a\r\nb\nc\r\n", "a\nb\nc\n", "a\nc\n", "a\r\nc\r\n", (0, 1));
    }

    #[test]
    fn parts_of_lines() {
        check("one two three\n", "two", "2", "one 2 three\n", (1, 1));
        check("a\nb\nc\n", "b\n", "", "a\nc\n", (0, 1));
        // The end of one line and the text of another: both lines are touched.
        check("a\nb\nc\n", "\nb", "", "a\nc\n", (0, 2));
        check("ab\ncd\n", "b\nc", "b c", "ab cd\n", (1, 2));
    }
}
