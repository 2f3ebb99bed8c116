//! One version of a file as hunks see it: byte order mark aside, UTF-8 or not.

use super::view::View;
use super::{Refusal, tally};
use crate::edit::{Breaks, Code, split_bom};
use bstr::ByteSlice;
use std::borrow::Cow;
use std::cell::OnceCell;

/// How far a NUL byte is looked for (matching.md, text model).
pub(crate) const BINARY_PROBE: usize = 8 * 1024;

/// Whether the file counts as binary.
pub(crate) fn is_binary(bytes: &[u8]) -> bool {
    memchr::memchr(0, &bytes[..bytes.len().min(BINARY_PROBE)]).is_some()
}

/// A text and what is found out about it once for all its hunks.
#[derive(Debug)]
pub(super) struct Document<'a> {
    /// The byte order mark, or nothing.
    pub mark: &'a [u8],
    /// Everything after the mark.
    pub body: &'a [u8],
    /// Where the bytes are not UTF-8, in words; `None` for UTF-8.
    pub not_utf8: Option<String>,
    /// For each way to break the text into lines.
    views: [OnceCell<View<'a>>; 3],
    hays: [OnceCell<Haystack<'a>>; 3],
}

impl<'a> Document<'a> {
    /// # Errors
    /// `not-text` for a file with a NUL byte near its start.
    pub(super) fn new(bytes: &'a [u8]) -> Result<Self, Refusal> {
        if is_binary(bytes) {
            let utf16 = bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff");
            let message = match utf16 {
                true => "the file is UTF-16: it has that byte order mark, and NUL bytes",
                false => "the file is binary: it has a NUL byte in its first 8 KiB",
            };
            return Err(Refusal::new(Code::NotText, message)
                .hint("text hunks edit text files only; replace the whole file by delete and create"));
        }
        let (mark, body) = split_bom(bytes);
        let not_utf8 = std::str::from_utf8(body).err().map(|e| first_foreign(body, e.valid_up_to()));
        Ok(Self { mark, body, not_utf8, views: Default::default(), hays: Default::default() })
    }

    /// The text as lines, the same for all hunks.
    pub(super) fn view(&self, breaks: Breaks) -> &View<'a> {
        self.views[breaks as usize].get_or_init(|| View::new(self.body, breaks))
    }

    /// The text as it is searched, the same for all hunks.
    pub(super) fn hay(&self, breaks: Breaks) -> &Haystack<'a> {
        self.hays[breaks as usize].get_or_init(|| Haystack::new(self.body, breaks))
    }

    /// Whether the bytes are UTF-8.
    pub(super) fn is_utf8(&self) -> bool {
        self.not_utf8.is_none()
    }

    /// Whether some lines end with LF and some with CRLF.
    pub(super) fn is_mixed(&self) -> bool {
        let has_cr = |at: usize| at > 0 && self.body[at - 1] == b'\r';
        let mut ends = memchr::memchr_iter(b'\n', self.body).map(has_cr);
        ends.next().is_some_and(|first| ends.any(|other| other != first))
    }

    /// The ways to break the text into lines, in the order they are tried.
    pub(super) fn breaks(&self, loosest: Breaks) -> &'static [Breaks] {
        if loosest == Breaks::Lf {
            return &[Breaks::Lf];
        }
        let mut at = memchr::memchr_iter(b'\r', self.body);
        let lone = at.any(|i| self.body.get(i + 1) != Some(&b'\n'));
        if lone { &[Breaks::Lf, Breaks::LfOrCr] } else { &[Breaks::Lf] }
    }
}

/// The first byte that is not UTF-8, in words.
fn first_foreign(body: &[u8], at: usize) -> String {
    let start = memchr::memrchr(b'\n', &body[..at]).map_or(0, |i| i + 1);
    let line = memchr::memchr_iter(b'\n', &body[..at]).count() + 1;
    let column = body[start..at].chars().count() + 1;
    format!("byte 0x{:02X} at line {line}, column {column}", body[at])
}

/// The text with every terminator written as LF, and the way back.
#[derive(Debug)]
pub(super) struct Haystack<'a> {
    /// What is searched.
    pub text: Cow<'a, [u8]>,
    /// Offsets in `text` of the LFs that stand for CRLF.
    cuts: Vec<usize>,
}

impl<'a> Haystack<'a> {
    pub(super) fn new(body: &'a [u8], breaks: Breaks) -> Self {
        tally::count(body.len());
        if memchr::memchr(b'\r', body).is_none() {
            return Self { text: Cow::Borrowed(body), cuts: Vec::new() };
        }
        let (mut text, mut cuts, mut from) = (Vec::with_capacity(body.len()), Vec::new(), 0);
        for at in memchr::memchr_iter(b'\r', body) {
            let before_lf = body.get(at + 1) == Some(&b'\n');
            if before_lf || breaks == Breaks::LfOrCr {
                text.extend_from_slice(&body[from..at]);
                from = at + 1;
            }
            if before_lf {
                cuts.push(text.len());
            } else if breaks == Breaks::LfOrCr {
                text.push(b'\n');
            }
        }
        text.extend_from_slice(&body[from..]);
        Self { text: Cow::Owned(text), cuts }
    }

    /// The offset in the file's body for an offset in `text`.
    pub(super) fn original(&self, at: usize) -> usize {
        at + self.cuts.partition_point(|&cut| cut < at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_offset_finds_its_way_back(body in "[ab\r\n]{0,40}") {
            for breaks in [Breaks::Lf, Breaks::LfOrCr] {
                let hay = Haystack::new(body.as_bytes(), breaks);
                prop_assert_eq!(hay.original(hay.text.len()), body.len());
                for (at, byte) in hay.text.iter().enumerate() {
                    let there = body.as_bytes()[hay.original(at)];
                    prop_assert!(there == *byte || (*byte == b'\n' && there == b'\r'));
                }
            }
        }
    }

    #[test]
    fn binary_is_refused() {
        assert_eq!(Document::new(b"a\0b").expect_err("binary").code, Code::NotText);
        assert_eq!(Document::new(b"\xff\xfea\0").expect_err("UTF-16").code, Code::NotText);
        let foreign = Document::new(b"x\ncaf\xe9").expect("text of another encoding");
        assert_eq!(foreign.not_utf8.as_deref(), Some("byte 0xE9 at line 2, column 4"));
    }
}
