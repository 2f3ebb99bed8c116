//! Some lines of a text file with their numbers, and what is known of the whole: its hash, its number of lines.
//!
//! Lines are those of hash-anchored edits: ended by LF or CRLF only, the byte order mark aside. The text comes piece by
//! piece and is gone through once: the time does not depend on which lines are shown, nor the memory on the file.

use super::Range;
use super::reading::Reading;
use crate::edit::{Code, Hash};
use crate::plan::Refusal;
use bstr::BString;
use std::ops::RangeInclusive;

/// Lines that one call shows at most.
pub const MOST_LINES: usize = 2_000;

/// Lines that are shown from the top where no range is given.
pub const TOP_LINES: usize = 500;

/// Bytes of one line that are shown at most.
pub const MOST_BYTES: usize = 2_000;

/// Lines of one version of a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Excerpt {
    /// The hash of the whole file, byte order mark included.
    pub hash: Hash,
    /// How the text is encoded.
    pub encoding: Encoding,
    /// What ends its lines.
    pub line_ending: LineEnding,
    /// Whether the last line is ended.
    pub final_newline: bool,
    /// The lines of the whole file.
    pub total_lines: usize,
    /// The lines asked for, as far as the limits go, in the order of the file.
    pub rows: Vec<Row>,
    /// The lines asked for that the limits kept out: the first of them, and the last.
    pub left: Option<(usize, usize)>,
}

/// How the text of a file is encoded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Encoding {
    /// UTF-8.
    Utf8,
    /// UTF-8 with a byte order mark.
    Utf8Bom,
    /// Bytes that are not UTF-8.
    Unknown,
}

/// What ends the lines of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LineEnding {
    /// No line is ended.
    None,
    /// LF.
    Lf,
    /// CRLF.
    CrLf,
    /// Both occur.
    Mixed,
}

/// One line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Row {
    /// Its number, from 1.
    pub line: usize,
    /// Its text without terminator, cut when long.
    pub text: BString,
    /// Bytes that were cut off.
    pub cut: usize,
}

/// The start of `line` that is shown, and the number of bytes left off; no character is cut in two.
pub fn cut(line: &[u8]) -> (&[u8], usize) {
    cut_of(line, line.len())
}

/// The same for a line of `length` bytes that starts with `start`: all of it, or more than is shown.
pub(super) fn cut_of(start: &[u8], length: usize) -> (&[u8], usize) {
    if length <= MOST_BYTES {
        return (start, 0);
    }
    let inside = |at: usize| start[at] & 0b1100_0000 == 0b1000_0000;
    // A character has at most four bytes; what is longer is none.
    let end = (MOST_BYTES - 3..=MOST_BYTES).rev().find(|&at| !inside(at)).unwrap_or(MOST_BYTES);
    (&start[..end], length - end)
}

impl Excerpt {
    /// The lines of `ranges`, by default those at the top, at most `most` of them.
    ///
    /// # Errors
    /// `not-text` for a file with a NUL byte near its start; `range` for one that is reversed or begins outside of the
    /// file.
    pub fn of(bytes: &[u8], ranges: &[Range], most: usize) -> Result<Self, Refusal> {
        let mut reading = Reading::new(ranges, most)?;
        let _all_is_given = reading.take(bytes);
        reading.finish()
    }
}

pub(super) fn merged(ranges: &[Range]) -> Result<Vec<RangeInclusive<usize>>, Refusal> {
    if ranges.is_empty() {
        return Ok(vec![1..=TOP_LINES]);
    }
    let mut sorted = ranges.to_vec();
    sorted.sort();
    let mut merged: Vec<RangeInclusive<usize>> = Vec::new();
    for Range { first, last } in sorted {
        if let Some(last) = last.filter(|last| *last < first) {
            let message = format!("the range {first}-{last} is reversed");
            return Err(Refusal::new(Code::Range, message).hint(format!("write {last}-{first}")));
        }
        let last = last.unwrap_or(usize::MAX);
        match merged.last_mut() {
            Some(before) if first <= before.end().saturating_add(1) => {
                *before = *before.start()..=last.max(*before.end());
            }
            _ => merged.push(first..=last),
        }
    }
    Ok(merged)
}

/// Every range begins inside; one that ends behind the last line ends there.
pub(super) fn inside(ranges: &[Range], total: usize) -> Result<(), Refusal> {
    let Some(outside) = ranges.iter().find(|range| !(1..=total).contains(&range.first)) else {
        return Ok(());
    };
    let valid = match total {
        0 => "the file has no lines".to_owned(),
        1 => "the file has line 1 only".to_owned(),
        n => format!("valid are 1 to {n}"),
    };
    Err(Refusal::new(Code::Range, format!("line {} lies outside the file: {valid}", outside.first)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn excerpt(bytes: &[u8], ranges: &[(usize, usize)]) -> Excerpt {
        let ranges: Vec<_> = ranges.iter().map(|(a, b)| Range { first: *a, last: Some(*b) }).collect();
        Excerpt::of(bytes, &ranges, MOST_LINES).expect("text with such lines")
    }

    #[track_caller]
    fn check(bytes: &[u8], ranges: &[(usize, usize)], rows: &[(usize, &str)]) {
        let found = excerpt(bytes, ranges);
        let found: Vec<_> = found.rows.iter().map(|row| (row.line, row.text.to_string())).collect();
        assert_eq!(found, rows.iter().map(|(n, text)| (*n, (*text).to_owned())).collect::<Vec<_>>());
    }

    #[test]
    fn lines_are_those_of_numbered_edits() {
        check(b"", &[], &[]);
        check(b"\xef\xbb\xbfa\r\n\rb\n\n", &[], &[(1, "a"), (2, "\rb"), (3, "")]);
        check("a\u{2028}\u{c}b\r".as_bytes(), &[], &[(1, "a\u{2028}\u{c}b\r")]);
        check(b"1\n2\n3\n4\n5", &[(4, 9), (1, 1)], &[(1, "1"), (4, "4"), (5, "5")]);
        check(b"1\n2\n3\n4\n", &[(1, 3), (2, 2), (4, 4)], &[(1, "1"), (2, "2"), (3, "3"), (4, "4")]);
    }

    #[test]
    fn the_whole_is_told_too() {
        let told = |bytes: &[u8]| {
            let e = excerpt(bytes, &[]);
            (e.encoding, e.line_ending, e.final_newline, e.total_lines)
        };
        assert_eq!(told(b""), (Encoding::Utf8, LineEnding::None, false, 0));
        assert_eq!(told(b"a"), (Encoding::Utf8, LineEnding::None, false, 1));
        assert_eq!(told(b"\xef\xbb\xbfa\r\nb\r\n"), (Encoding::Utf8Bom, LineEnding::CrLf, true, 2));
        assert_eq!(told(b"\xe9\nb\r\nc"), (Encoding::Unknown, LineEnding::Mixed, false, 3));
        assert_eq!(excerpt(b"\xef\xbb\xbfa\n", &[]).hash, Hash::of(b"\xef\xbb\xbfa\n"));
    }

    #[test]
    fn the_limits_say_what_they_left_out() {
        let text = "x\n".repeat(3_000);
        let top = excerpt(text.as_bytes(), &[]);
        assert_eq!((top.rows.len(), top.left), (TOP_LINES, Some((501, 3_000))));
        let most = excerpt(text.as_bytes(), &[(11, 2_500)]);
        assert_eq!((most.rows.len(), most.left), (MOST_LINES, Some((2_011, 2_500))));
        let few = Excerpt::of(text.as_bytes(), &[], 3).expect("text");
        assert_eq!((few.rows.len(), few.left), (3, Some((4, 3_000))));
        assert_eq!(excerpt(text.as_bytes(), &[(1, 5)]).left, None);
    }

    #[test]
    fn long_lines_are_cut_between_characters() {
        let line = format!("x{}", "é".repeat(1_500));
        let row = excerpt(line.as_bytes(), &[]).rows.remove(0);
        assert_eq!((row.text.len(), row.cut), (1_999, 1_002));
        assert_eq!(cut(&[0x80; 2_100]), (&[0x80; 2_000][..], 100));
        assert_eq!(cut(&[b'a'; 2_000]).1, 0);
    }

    #[test]
    fn ranges_begin_inside_the_file() {
        let code = |bytes: &[u8], first, last| {
            let range = Range { first, last: Some(last) };
            Excerpt::of(bytes, &[range], MOST_LINES).expect_err("refused").code
        };
        assert_eq!(code(b"a\nb\n", 3, 3), Code::Range);
        assert_eq!(code(b"a\nb\n", 0, 1), Code::Range);
        assert_eq!(code(b"a\nb\n", 2, 1), Code::Range);
        assert_eq!(code(b"", 1, 1), Code::Range);
        assert_eq!(code(b"a\0", 1, 1), Code::NotText);
    }
}
