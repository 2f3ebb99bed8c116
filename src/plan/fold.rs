//! Folding a text for pass `unicode`: characters composed (NFC), typographic ones replaced by what keyboards have, and
//! the way back from the folded text to the one it was made of.

use std::ops::Range;
use unicode_normalization::char::canonical_combining_class;
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

/// The folded text.
pub(super) fn fold(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    for c in text.nfc() {
        push(&mut folded, c);
    }
    folded
}

/// The punctuation map of matching.md.
fn push(folded: &mut String, c: char) {
    match c {
        '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{fe58}' | '\u{fe63}' | '\u{ff0d}' => folded.push('-'),
        '\u{2018}'..='\u{201b}' | '\u{2032}' => folded.push('\''),
        '\u{201c}'..='\u{201f}' | '\u{2033}' | '\u{ab}' | '\u{bb}' => folded.push('"'),
        '\u{a0}' | '\u{2002}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' => folded.push(' '),
        '\u{2026}' => folded.push_str("..."),
        c => folded.push(c),
    }
}

/// Parts of two texts that fold to the same: byte ranges in the first and in the second, in order. Parts with the same
/// bytes are joined.
pub(super) fn aligned(a: &str, b: &str) -> Vec<(Range<usize>, Range<usize>)> {
    let mut pairs: Vec<(Range<usize>, Range<usize>)> = Vec::new();
    // Whether the last pair has the same bytes on both sides.
    let mut alike = false;
    let (mut left, mut right) = (Parts::new(a), Parts::new(b));
    loop {
        let (from_a, from_b) = (left.at, right.at);
        if !left.advance() || !right.advance() {
            return pairs;
        }
        while left.folded != right.folded {
            let behind = if left.folded < right.folded { &mut left } else { &mut right };
            if !behind.advance() {
                return pairs;
            }
        }
        let (one, other) = (from_a..left.at, from_b..right.at);
        let same = a[one.clone()] == b[other.clone()];
        match pairs.last_mut().filter(|_| alike && same) {
            Some(last) => (last.0.end, last.1.end) = (one.end, other.end),
            None => pairs.push((one, other)),
        }
        alike = same;
    }
}

/// A walk through a text by parts that fold on their own.
struct Parts<'a> {
    text: &'a str,
    /// Where the next part begins.
    at: usize,
    /// How long the parts so far are when folded.
    folded: usize,
}

impl<'a> Parts<'a> {
    fn new(text: &'a str) -> Self {
        Self { text, at: 0, folded: 0 }
    }

    fn advance(&mut self) -> bool {
        let rest = &self.text[self.at..];
        let Some(first) = rest.chars().next() else {
            return false;
        };
        let tail = &rest[first.len_utf8()..];
        let len = first.len_utf8() + tail.find(starts_part).unwrap_or(tail.len());
        self.folded += if first.is_ascii() && len == 1 { 1 } else { fold(&rest[..len]).len() };
        self.at += len;
        true
    }
}

/// Whether no character before `c` composes with it.
fn starts_part(c: char) -> bool {
    c.is_ascii()
        || (canonical_combining_class(c) == 0 && is_nfc_quick(std::iter::once(c)) != IsNormalized::Maybe)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_map_is_that_of_the_specification() {
        assert_eq!(fold("‐–—―−﹘﹣－"), "--------");
        assert_eq!(fold("‘’‚‛′ “”„‟″«»"), "''''' \"\"\"\"\"\"\"");
        assert_eq!(fold("\u{a0}\u{2002}\u{200a}\u{202f}\u{205f}\u{3000}…"), "      ...");
        assert_eq!(fold("\u{200b}\u{2011}\u{2016}"), "\u{200b}-\u{2016}");
    }

    #[test]
    fn parts_are_as_small_as_they_can_be() {
        let parts = aligned("a…b", "a...b");
        assert_eq!(parts, [(0..1, 0..1), (1..4, 1..4), (4..5, 4..5)]);
        assert_eq!(aligned("abc", "abc"), [(0..3, 0..3)]);
    }

    proptest! {
        #[test]
        fn parts_fold_alike_and_cover_both(text in "[a…\u{301}é’\u{a0}가\u{11a8} .]{0,12}") {
            let folded = fold(&text);
            let parts = aligned(&text, &folded);
            let (mut a, mut b) = (0, 0);
            for (one, other) in parts {
                prop_assert_eq!((one.start, other.start), (a, b));
                prop_assert_eq!(fold(&text[one.clone()]), fold(&folded[other.clone()]));
                (a, b) = (one.end, other.end);
            }
            prop_assert_eq!((a, b), (text.len(), folded.len()));
        }
    }
}
