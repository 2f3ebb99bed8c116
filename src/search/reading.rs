//! Reads a text that comes piece by piece, and keeps of it what an excerpt shows.
//!
//! Holds the rows asked for and the start of one line, however long the text and its lines are. Pure.

use super::Range;
use super::excerpt::{Encoding, Excerpt, LineEnding, MOST_BYTES, Row, TOP_LINES, cut_of, inside, merged};
use crate::edit::{Code, Hasher, split_bom};
use crate::plan::{BINARY_PROBE, Refusal};
use std::ops::{ControlFlow, RangeInclusive};

const MARK: usize = 3;

/// A text of which a part has come.
#[derive(Debug)]
pub struct Reading {
    ranges: Vec<Range>,
    rows: Rows,
    hasher: Hasher,
    /// Bytes that have come.
    seen: usize,
    binary: bool,
    /// The first bytes, until it is known whether they are a byte order mark.
    head: Vec<u8>,
    mark: bool,
    utf8: Utf8,
    line: Line,
    /// Lines that are ended, and those of them that CRLF ends.
    ended: usize,
    crlf: usize,
}

/// The line that has begun.
#[derive(Debug, Default)]
struct Line {
    /// Its first bytes, where it is shown; more than is shown, so that a terminator can be taken off.
    start: Vec<u8>,
    /// Its bytes so far.
    length: usize,
    /// Whether the last of them is a CR.
    cr: bool,
}

impl Reading {
    /// Nothing has come. The lines of `ranges` are shown, by default those at the top, at most `most` of them.
    ///
    /// # Errors
    /// `range` for a range that is reversed.
    pub fn new(ranges: &[Range], most: usize) -> Result<Self, Refusal> {
        let wanted = merged(ranges)?;
        Ok(Self {
            ranges: ranges.to_vec(),
            rows: Rows { wanted, next: 0, most, rows: Vec::new(), left: None },
            hasher: Hasher::default(),
            seen: 0,
            binary: false,
            head: Vec::new(),
            mark: false,
            utf8: Utf8::default(),
            line: Line::default(),
            ended: 0,
            crlf: 0,
        })
    }

    /// Takes the next piece; breaks off when the text is none.
    pub fn take(&mut self, piece: &[u8]) -> ControlFlow<()> {
        let probed = piece.len().min(BINARY_PROBE.saturating_sub(self.seen));
        self.binary |= memchr::memchr(0, &piece[..probed]).is_some();
        if self.binary {
            return ControlFlow::Break(());
        }
        self.hasher.update(piece);
        if self.seen >= MARK {
            self.body(piece);
        } else {
            self.head.extend_from_slice(&piece[..piece.len().min(MARK - self.seen)]);
            if self.head.len() == MARK {
                self.open();
                self.body(&piece[MARK - self.seen..]);
            }
        }
        self.seen += piece.len();
        ControlFlow::Continue(())
    }

    /// The first bytes are there.
    fn open(&mut self) {
        let head = std::mem::take(&mut self.head);
        let (mark, rest) = split_bom(&head);
        self.mark = !mark.is_empty();
        self.body(rest);
    }

    fn body(&mut self, bytes: &[u8]) {
        self.utf8.take(bytes);
        let ends = memchr::memchr_iter(b'\n', bytes).count();
        if self.rows.wants_none(self.ended + ends + 1) {
            self.pass(bytes, ends);
        } else {
            self.split(bytes);
        }
    }

    /// Counts lines none of which is shown.
    fn pass(&mut self, bytes: &[u8], ends: usize) {
        if ends == 0 {
            return self.line.grow(bytes, 0);
        }
        self.ended += ends;
        let opens = bytes.first() == Some(&b'\n');
        self.crlf += usize::from(opens && self.line.cr);
        if memchr::memchr(b'\r', bytes).is_some() {
            self.crlf += memchr::memmem::find_iter(bytes, b"\r\n").count();
        }
        let last = memchr::memrchr(b'\n', bytes).map_or(0, |at| at + 1);
        self.line = Line::default();
        self.line.grow(&bytes[last..], 0);
    }

    fn split(&mut self, bytes: &[u8]) {
        let mut start = 0;
        for at in memchr::memchr_iter(b'\n', bytes) {
            self.line.grow(&bytes[start..at], self.rows.keeps(self.ended + 1));
            self.ended += 1;
            self.crlf += usize::from(self.line.cr);
            let line = std::mem::take(&mut self.line);
            self.rows.add(self.ended, &line.start, line.length - usize::from(line.cr));
            start = at + 1;
        }
        self.line.grow(&bytes[start..], self.rows.keeps(self.ended + 1));
    }

    /// The excerpt of all that has come.
    ///
    /// # Errors
    /// `not-text` for a NUL byte near the start; `range` for a range that begins outside of the text.
    pub fn finish(mut self) -> Result<Excerpt, Refusal> {
        if self.binary {
            let message = "the file is binary: it has a NUL byte in its first 8 KiB";
            return Err(Refusal::new(Code::NotText, message));
        }
        if self.seen < MARK {
            self.open();
        }
        let open = self.line.length > 0;
        let total = self.ended + usize::from(open);
        if open {
            self.rows.add(total, &self.line.start, self.line.length);
        }
        inside(&self.ranges, total)?;
        // Lines below the top were not asked for by number, yet whoever reads on wants to know of them.
        let below = (self.ranges.is_empty() && total > TOP_LINES).then_some((TOP_LINES + 1, total));
        let left = match (self.rows.left, below) {
            (Some((first, _)), Some((_, last))) => Some((first, last)),
            (left, below) => left.or(below),
        };
        Ok(Excerpt {
            hash: self.hasher.finish(),
            encoding: match (self.utf8.is_valid(), self.mark) {
                (false, _) => Encoding::Unknown,
                (true, false) => Encoding::Utf8,
                (true, true) => Encoding::Utf8Bom,
            },
            line_ending: match (self.ended, self.crlf) {
                (0, _) => LineEnding::None,
                (_, 0) => LineEnding::Lf,
                (all, crlf) if all == crlf => LineEnding::CrLf,
                _ => LineEnding::Mixed,
            },
            final_newline: !open && total > 0,
            total_lines: total,
            rows: self.rows.rows,
            left,
        })
    }
}

impl Line {
    /// Adds bytes, of which the first `keep` of the line are kept.
    fn grow(&mut self, bytes: &[u8], keep: usize) {
        let room = keep.saturating_sub(self.start.len()).min(bytes.len());
        self.start.extend_from_slice(&bytes[..room]);
        self.length += bytes.len();
        self.cr = bytes.last().map_or(self.cr, |last| *last == b'\r');
    }
}

/// The rows that are wanted, gathered while the lines come by.
#[derive(Debug)]
struct Rows {
    /// Sorted; none touches another.
    wanted: Vec<RangeInclusive<usize>>,
    /// The first of them that may still come.
    next: usize,
    most: usize,
    rows: Vec<Row>,
    left: Option<(usize, usize)>,
}

impl Rows {
    /// Whether no line up to this one is wanted, those that were added aside.
    fn wants_none(&self, last: usize) -> bool {
        self.wanted.get(self.next).is_none_or(|range| *range.start() > last)
    }

    /// How many bytes of this line are kept.
    fn keeps(&self, number: usize) -> usize {
        let wanted = self.wanted[self.next..].iter().take(2).any(|range| range.contains(&number));
        if wanted && self.rows.len() < self.most { MOST_BYTES + 2 } else { 0 }
    }

    fn add(&mut self, number: usize, start: &[u8], length: usize) {
        while self.wanted.get(self.next).is_some_and(|range| *range.end() < number) {
            self.next += 1;
        }
        if !self.wanted.get(self.next).is_some_and(|range| range.contains(&number)) {
            return;
        }
        if self.rows.len() == self.most {
            let first = self.left.map_or(number, |(first, _)| first);
            self.left = Some((first, number));
            return;
        }
        let (shown, cut) = cut_of(&start[..start.len().min(length)], length);
        self.rows.push(Row { line: number, text: shown.into(), cut });
    }
}

/// Whether bytes that come piece by piece are UTF-8.
#[derive(Debug, Default)]
struct Utf8 {
    /// A character that has begun: up to three bytes.
    begun: Vec<u8>,
    broken: bool,
}

impl Utf8 {
    fn take(&mut self, mut bytes: &[u8]) {
        while !self.broken && !self.begun.is_empty() && !bytes.is_empty() {
            self.begun.push(bytes[0]);
            bytes = &bytes[1..];
            match std::str::from_utf8(&self.begun) {
                Ok(_) => self.begun.clear(),
                Err(error) => self.broken = error.error_len().is_some(),
            }
        }
        if self.broken {
            return;
        }
        if let Err(error) = std::str::from_utf8(bytes) {
            self.broken = error.error_len().is_some();
            self.begun = bytes[error.valid_up_to()..].to_vec();
        }
    }

    fn is_valid(&self) -> bool {
        !self.broken && self.begun.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edit::Hash;
    use proptest::collection::vec;
    use proptest::prelude::*;

    /// What a text is, told in the plainest way.
    fn plain(bytes: &[u8]) -> (Hash, bool, usize, Vec<(usize, Vec<u8>)>) {
        let (mark, body) = split_bom(bytes);
        let lines = body.split_inclusive(|b| *b == b'\n').map(|line| {
            let Some(line) = line.strip_suffix(b"\n") else { return line.to_vec() };
            line.strip_suffix(b"\r").unwrap_or(line).to_vec()
        });
        let lines: Vec<_> = (1..).zip(lines).collect();
        let valid = std::str::from_utf8(body).is_ok();
        (Hash::of(bytes), valid || (mark.is_empty() && body.is_empty()), lines.len(), lines)
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn pieces_make_no_difference(
            parts in vec(proptest::sample::select(&["a", "\r", "\n", "\r\n", "é", "\u{feff}", "€"][..]), 0..12),
            broken in any::<bool>(),
            cuts in vec(0..20usize, 0..6),
            first in 1..6usize,
            more in 0..3usize,
        ) {
            let mut bytes = parts.concat().into_bytes();
            if broken {
                bytes.push(0xc3);
            }
            let (hash, valid, total, lines) = plain(&bytes);
            let range = Range { first, last: Some(first + more) };
            let mut reading = Reading::new(&[range], 100).expect("in order");
            let mut rest = &bytes[..];
            for cut in cuts {
                let (piece, later) = rest.split_at(cut.min(rest.len()));
                prop_assert!(reading.take(piece).is_continue());
                rest = later;
            }
            prop_assert!(reading.take(rest).is_continue());
            let found = reading.finish();
            if first > total {
                prop_assert_eq!(found.expect_err("outside").code, Code::Range);
                return Ok(());
            }
            let found = found.expect("inside");
            let shown: Vec<_> = found.rows.iter().map(|row| (row.line, row.text.to_vec())).collect();
            let wanted: Vec<_> =
                lines.into_iter().filter(|(line, _)| (first..=first + more).contains(line)).collect();
            prop_assert_eq!(shown, wanted);
            prop_assert_eq!((found.hash, found.total_lines), (hash, total));
            prop_assert_eq!(found.encoding != Encoding::Unknown, valid);
        }
    }

    #[test]
    fn of_a_long_line_no_more_is_held_than_is_shown() {
        let mut reading = Reading::new(&[], 10).expect("in order");
        for _ in 0..100 {
            assert!(reading.take(&[b'x'; 10_000]).is_continue());
            assert!(reading.line.start.len() <= MOST_BYTES + 2);
        }
        let row = reading.finish().expect("text").rows.remove(0);
        assert_eq!((row.text.len(), row.cut), (MOST_BYTES, 1_000_000 - MOST_BYTES));
    }
}
