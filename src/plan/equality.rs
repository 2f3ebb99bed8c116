//! When two lines are equal: each rule as a key, so that equal lines are found by looking keys up.
//!
//! Keys are of lines without terminators. Nothing here is similarity: a rule equates, or it does not.

use super::fold::fold;
use std::borrow::Cow;

/// A rule of line equality.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Key {
    /// The bytes.
    Bytes,
    /// The bytes without trailing blanks.
    Trimmed,
    /// The characters composed, typographic ones folded, without trailing blanks.
    Folded,
    /// As folded, without the indent.
    Body,
}

impl Key {
    /// How many rules there are.
    pub(super) const COUNT: usize = 4;

    /// What equal lines share.
    pub(super) fn of(self, line: &[u8]) -> Cow<'_, [u8]> {
        match self {
            Self::Bytes => Cow::Borrowed(line),
            Self::Trimmed => Cow::Borrowed(trim_end(line)),
            Self::Folded => folded(line),
            Self::Body => folded(&line[indent_len(line)..]),
        }
    }
}

/// Text that is not UTF-8 is never folded: only its trailing blanks go.
fn folded(line: &[u8]) -> Cow<'_, [u8]> {
    match std::str::from_utf8(line) {
        Ok(text) if !line.is_ascii() => {
            let mut folded: Vec<u8> = fold(text).into_bytes();
            folded.truncate(trim_end(&folded).len());
            Cow::Owned(folded)
        }
        _ => Cow::Borrowed(trim_end(line)),
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

#[cfg(test)]
mod tests {
    use super::*;

    fn equal(key: Key, a: &str, b: &str) -> bool {
        key.of(a.as_bytes()) == key.of(b.as_bytes())
    }

    #[test]
    fn each_rule_equates_what_it_names() {
        assert!(equal(Key::Trimmed, "a \t", "a") && !equal(Key::Trimmed, " a", "a"));
        assert!(equal(Key::Folded, "say “go”\u{a0}", "say \"go\"") && !equal(Key::Folded, "A", "a"));
        assert!(equal(Key::Body, "\t– a", "  - a ") && !equal(Key::Body, "a b", "a  b"));
        assert!(equal(Key::Folded, "cafe\u{301}", "café"));
        assert_eq!(Key::Folded.of(b"\xe9  "), &b"\xe9"[..]);
    }
}
