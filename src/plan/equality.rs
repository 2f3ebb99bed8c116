//! When two lines are equal: each rule as a key, so that equal lines are found by looking keys up.
//!
//! Keys are of lines without terminators. Nothing here is similarity: a rule equates, or it does not.

use std::borrow::Cow;

/// A rule of line equality.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Key {
    /// The bytes.
    Bytes,
    /// The bytes without trailing blanks.
    Trimmed,
}

impl Key {
    /// How many rules there are.
    pub(super) const COUNT: usize = 2;

    /// What equal lines share.
    pub(super) fn of(self, line: &[u8]) -> Cow<'_, [u8]> {
        match self {
            Self::Bytes => Cow::Borrowed(line),
            Self::Trimmed => Cow::Borrowed(trim_end(line)),
        }
    }
}

/// The line without trailing blanks and tabs.
pub(super) fn trim_end(line: &[u8]) -> &[u8] {
    let end = line.iter().rposition(|b| !is_blank(*b)).map_or(0, |last| last + 1);
    &line[..end]
}

/// The length of the leading blanks and tabs.
pub(super) fn indent_len(line: &[u8]) -> usize {
    line.iter().take_while(|b| is_blank(**b)).count()
}

/// Whether a line holds blanks and tabs only.
pub(super) fn is_blank_line(line: &[u8]) -> bool {
    line.iter().all(|b| is_blank(*b))
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}
