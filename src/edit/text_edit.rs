//! A checked set of replacements in one text: sorted, disjoint, applied in one pass.

use bytes::Bytes;
use std::ops::Range;

/// New bytes for a byte range of the old text; an empty range is an insertion.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Replacement {
    /// Byte range of the old text.
    pub range: Range<usize>,
    /// What stands there afterwards.
    pub bytes: Vec<u8>,
}

/// Replacements in ascending order, none overlapping another.
///
/// Ranges may touch. Insertions at one offset keep the order in which they were given.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TextEdit {
    // Sorted by start, disjoint: checked in `new`.
    parts: Vec<Replacement>,
}

/// Two replacements want the same bytes; both as indices into the list given to [`TextEdit::new`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("replacements {first} and {second} overlap")]
pub struct Overlap {
    /// The one that starts first.
    pub first: usize,
    /// The other.
    pub second: usize,
}

impl TextEdit {
    /// Sorts and checks `parts`.
    ///
    /// # Errors
    /// [`Overlap`] names the first two that share a byte, or an insertion inside another's range.
    pub fn new(parts: Vec<Replacement>) -> Result<Self, Overlap> {
        let mut order: Vec<usize> = (0..parts.len()).collect();
        order.sort_by_key(|&i| (parts[i].range.start, parts[i].range.end, i));
        for pair in order.windows(2) {
            let (a, b) = (&parts[pair[0]].range, &parts[pair[1]].range);
            if a.end > b.start {
                return Err(Overlap { first: pair[0], second: pair[1] });
            }
        }
        let mut taken: Vec<Option<Replacement>> = parts.into_iter().map(Some).collect();
        Ok(Self { parts: order.into_iter().filter_map(|i| taken[i].take()).collect() })
    }

    /// The replacements in ascending order.
    pub fn parts(&self) -> &[Replacement] {
        &self.parts
    }

    /// Whether nothing is replaced.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// The new text. Bytes outside the ranges are those of `old`.
    pub fn apply(&self, old: &[u8]) -> Vec<u8> {
        let mut new = Vec::new();
        self.apply_to(old, &mut new);
        new
    }

    /// Puts the new text behind `new`. Bytes outside the ranges are those of `old`.
    pub fn apply_to(&self, old: &[u8], new: &mut Vec<u8>) {
        let grown: usize = self.parts.iter().map(|p| p.bytes.len()).sum();
        new.reserve_exact(old.len() + grown);
        let mut from = 0;
        for part in &self.parts {
            new.extend_from_slice(&old[from..part.range.start]);
            new.extend_from_slice(&part.bytes);
            from = part.range.end;
        }
        new.extend_from_slice(&old[from..]);
    }

    /// The new text in pieces: those outside the ranges are shared with `old`.
    pub fn into_pieces(self, old: &Bytes) -> Vec<Bytes> {
        let mut new = Vec::with_capacity(2 * self.parts.len() + 1);
        let mut from = 0;
        for part in self.parts {
            new.extend([old.slice(from..part.range.start), part.bytes.into()]);
            from = part.range.end;
        }
        new.push(old.slice(from..));
        new
    }

    /// Where byte `offset` of the old text, not inside a replaced range, stands in the new one.
    pub fn moved(&self, offset: usize) -> usize {
        let before = self.parts.iter().take_while(|p| p.range.end <= offset && p.range.start < offset.max(1));
        let (cut, put) = before.fold((0, 0), |(c, p), part| (c + part.range.len(), p + part.bytes.len()));
        offset + put - cut
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn part(range: Range<usize>, bytes: &str) -> Replacement {
        Replacement { range, bytes: bytes.into() }
    }

    #[test]
    fn parts_are_sorted_and_insertions_keep_their_order() {
        let edit = TextEdit::new(vec![part(3..4, "D"), part(1..1, "x"), part(1..1, "y"), part(1..2, "B")]);
        assert_eq!(edit.expect("disjoint").apply(b"abcd"), b"axyBcD");
    }

    #[test]
    fn an_overlap_is_named() {
        let clash = TextEdit::new(vec![part(2..4, ""), part(0..3, "")]);
        assert_eq!(clash, Err(Overlap { first: 1, second: 0 }));
        assert!(TextEdit::new(vec![part(0..3, ""), part(1..1, "x")]).is_err());
    }

    proptest! {
        #[test]
        fn bytes_outside_the_ranges_stay(old in "[a-z]{0,40}", cuts in proptest::collection::vec((0usize..40, 0usize..5), 0..6)) {
            let parts = cuts.iter().map(|&(at, n)| {
                let start = at.min(old.len());
                part(start..(start + n).min(old.len()), "#")
            }).collect();
            if let Ok(edit) = TextEdit::new(parts) {
                let kept: String = String::from_utf8_lossy(&edit.apply(old.as_bytes())).replace('#', "");
                let removed: usize = edit.parts().iter().map(|p| p.range.len()).sum();
                prop_assert_eq!(kept.len() + removed, old.len());
            }
        }
    }
}
