//! The line model (matching.md, text model): a line is its text plus its own terminator, LF or CRLF.
//!
//! Form feeds, NEL and U+2028 never split a line. A lone CR does so only when [`Breaks::LfOrCr`] asks for it.

use memchr::memchr2_iter;
use std::ops::Range;

const BOM: &[u8] = b"\xef\xbb\xbf";

/// Splits a leading UTF-8 byte order mark off: it belongs to the file, not to line 1.
pub fn split_bom(bytes: &[u8]) -> (&[u8], &[u8]) {
    bytes.split_at(if bytes.starts_with(BOM) { BOM.len() } else { 0 })
}

/// What ends a line.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Terminator {
    /// `\n`
    Lf,
    /// `\r\n`
    CrLf,
    /// `\r`, only with [`Breaks::LfOrCr`]
    Cr,
}

impl Terminator {
    /// The bytes of the terminator.
    pub fn as_bytes(self) -> &'static [u8] {
        match self {
            Self::Lf => b"\n",
            Self::CrLf => b"\r\n",
            Self::Cr => b"\r",
        }
    }
}

/// Which bytes end a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Breaks {
    /// LF and CRLF: the rule.
    Lf,
    /// LF alone, and a CR before it is text: for diffs that tell which lines have one.
    BareLf,
    /// A lone CR too: for text-placed forms that match nowhere otherwise.
    LfOrCr,
}

/// The lines of a text, found once. Lines count from 0 here; [`Lines::number`] gives the number people see.
#[derive(Clone, Debug)]
pub struct Lines<'a> {
    bytes: &'a [u8],
    /// End of each line, its terminator included (byte offsets).
    ends: Vec<usize>,
    breaks: Breaks,
}

impl<'a> Lines<'a> {
    /// Indexes `bytes` (without the byte order mark).
    pub fn new(bytes: &'a [u8], breaks: Breaks) -> Self {
        let mut ends = Vec::new();
        for at in memchr2_iter(b'\n', b'\r', bytes) {
            let lone_cr = bytes[at] == b'\r' && bytes.get(at + 1) != Some(&b'\n');
            if bytes[at] == b'\n' || (lone_cr && breaks == Breaks::LfOrCr) {
                ends.push(at + 1);
            }
        }
        if ends.last().copied().unwrap_or(0) < bytes.len() {
            ends.push(bytes.len());
        }
        Self { bytes, ends, breaks }
    }

    /// The text that was indexed.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The number of lines. An empty text has none; a final newline starts no further line.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether the text is empty.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Where line `line` stands, its terminator included (bytes). `len()` gives the empty range at the end.
    pub fn range(&self, line: usize) -> Range<usize> {
        let start = if line == 0 { 0 } else { self.ends[line - 1] };
        start..self.ends.get(line).copied().unwrap_or(self.bytes.len())
    }

    /// Where the lines of `lines` stand together, terminators included (bytes).
    pub fn span(&self, lines: Range<usize>) -> Range<usize> {
        let start = self.range(lines.start).start;
        start..if lines.is_empty() { start } else { self.range(lines.end - 1).end }
    }

    /// The terminator of line `line`; `None` for an unterminated last line.
    pub fn terminator(&self, line: usize) -> Option<Terminator> {
        let whole = &self.bytes[self.range(line)];
        if whole.ends_with(b"\r\n") && self.breaks != Breaks::BareLf {
            Some(Terminator::CrLf)
        } else if whole.ends_with(b"\n") {
            Some(Terminator::Lf)
        } else {
            (self.breaks == Breaks::LfOrCr && whole.ends_with(b"\r")).then_some(Terminator::Cr)
        }
    }

    /// Line `line` without its terminator.
    pub fn text(&self, line: usize) -> &'a [u8] {
        let range = self.range(line);
        let cut = self.terminator(line).map_or(0, |t| t.as_bytes().len());
        &self.bytes[range.start..range.end - cut]
    }

    /// All lines in order, without terminators.
    pub fn texts(&self) -> impl Iterator<Item = &'a [u8]> + '_ {
        (0..self.len()).map(|i| self.text(i))
    }

    /// The line that holds byte `offset`; the end of the text belongs to the last line unless that is terminated.
    pub fn at(&self, offset: usize) -> usize {
        self.ends.partition_point(|&end| end <= offset)
    }

    /// The number, from 1, of the line that holds byte `offset`.
    pub fn number(&self, offset: usize) -> usize {
        let line = self.at(offset);
        let inside_last = line == self.len() && line > 0 && self.terminator(line - 1).is_none();
        if inside_last { line } else { line + 1 }
    }

    /// The terminator to write after line `line`: its own, else that of the line before, else the next one that
    /// the text has, else the most frequent, else LF (matching.md, bytes written).
    pub fn terminator_for(&self, line: usize) -> Terminator {
        let own = (line < self.len()).then(|| self.terminator(line)).flatten();
        own.or_else(|| line.checked_sub(1).and_then(|l| self.terminator(l)))
            .unwrap_or_else(|| self.dominant())
    }

    /// The most frequent terminator; LF where there is none.
    pub fn dominant(&self) -> Terminator {
        let mut counts = [(Terminator::Lf, 0usize), (Terminator::CrLf, 0), (Terminator::Cr, 0)];
        for found in (0..self.len()).filter_map(|line| self.terminator(line)) {
            for (kind, count) in &mut counts {
                *count += usize::from(*kind == found);
            }
        }
        // The first of equals wins, so that ties end with LF.
        counts.iter().rev().max_by_key(|(_, n)| *n).map_or(Terminator::Lf, |(kind, _)| *kind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(bytes: &[u8], breaks: Breaks) -> Vec<&[u8]> {
        Lines::new(bytes, breaks).texts().collect()
    }

    #[test]
    fn only_lf_and_crlf_end_a_line() {
        assert_eq!(texts(b"a\nb\r\nc", Breaks::Lf), [b"a", b"b", b"c"]);
        assert_eq!(texts("a\u{c}b\u{85}c\u{2028}d\re\n".as_bytes(), Breaks::Lf).len(), 1);
        assert_eq!(texts(b"a\rb\r\nc\r", Breaks::LfOrCr), [b"a", b"b", b"c"]);
        assert_eq!(texts(b"a\r\nb\n", Breaks::BareLf), [&b"a\r"[..], b"b"]);
        assert!(texts(b"", Breaks::Lf).is_empty());
        assert_eq!(texts(b"\n\n", Breaks::Lf), [b"", b""]);
    }

    #[test]
    fn numbers_count_from_one() {
        let lines = Lines::new(b"ab\ncd\nef", Breaks::Lf);
        let numbers: Vec<_> = [0, 2, 3, 5, 6, 8].map(|o| lines.number(o)).to_vec();
        assert_eq!(numbers, [1, 1, 2, 2, 3, 3]);
    }

    #[test]
    fn a_line_without_terminator_takes_that_of_its_neighbour() {
        let lines = Lines::new(b"a\r\nb\nc", Breaks::Lf);
        assert_eq!(lines.terminator_for(0), Terminator::CrLf);
        assert_eq!(lines.terminator_for(2), Terminator::Lf);
        assert_eq!(Lines::new(b"x", Breaks::Lf).terminator_for(0), Terminator::Lf);
    }

    #[test]
    fn the_mark_is_split_off_once() {
        assert_eq!(split_bom(b"\xef\xbb\xbfx"), (&b"\xef\xbb\xbf"[..], &b"x"[..]));
        assert_eq!(split_bom(b"x").0, b"");
    }
}
