//! The bytes of a file in pieces: a large text shares what stays as it is with the text it was made from.
//!
//! Cloning copies nothing. It knows nothing of lines.

use super::{Hash, common_prefix, common_suffix};
use bytes::Bytes;
use std::io::{self, Write};
use std::ops::Range;

/// Pieces up to this size (bytes) are written together.
const SMALL: usize = 64 * 1024;

/// The bytes of a file.
#[derive(Clone, Default, Debug)]
pub struct Pieces {
    pieces: Vec<Bytes>,
    len: usize,
}

impl Pieces {
    /// Bytes.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The pieces, none of them empty.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        self.pieces.iter().map(|piece| &piece[..])
    }

    /// All bytes in one piece; copies them where there are several.
    pub fn whole(&self) -> Bytes {
        match &self.pieces[..] {
            [] => Bytes::new(),
            [one] => one.clone(),
            many => many.concat().into(),
        }
    }

    /// All bytes, where they are in one piece.
    pub fn as_one(&self) -> Option<&[u8]> {
        match &self.pieces[..] {
            [] => Some(&[]),
            [one] => Some(one),
            _ => None,
        }
    }

    /// The first `count` bytes, or all when there are fewer.
    pub fn head(&self, count: usize) -> Vec<u8> {
        self.part(0..count.min(self.len))
    }

    /// What is left of `old` and of these bytes without what they have in common at their ends: the range of `old`, and
    /// what stands in its place here.
    pub fn difference(&self, old: &[u8]) -> (Range<usize>, Vec<u8>) {
        let (mut head, mut tail) = (0, 0);
        for piece in self.iter() {
            let same = common_prefix(&old[head..], piece);
            head += same;
            if same < piece.len() {
                break;
            }
        }
        // The ends may overlap no more than the shorter text is long.
        let most = old.len().min(self.len) - head;
        for piece in self.pieces.iter().rev() {
            let same = common_suffix(&old[head..old.len() - tail], piece).min(most - tail);
            tail += same;
            if same < piece.len() {
                break;
            }
        }
        (head..old.len() - tail, self.part(head..self.len - tail))
    }

    /// The bytes of a range, copied.
    fn part(&self, range: Range<usize>) -> Vec<u8> {
        let (mut part, mut at) = (Vec::with_capacity(range.len()), 0);
        for piece in self.iter() {
            let end = at + piece.len();
            if range.start < end && at < range.end {
                part.extend_from_slice(&piece[range.start.max(at) - at..range.end.min(end) - at]);
            }
            at = end;
        }
        part
    }

    /// The hash of all bytes.
    pub fn hash(&self) -> Hash {
        Hash::of_all(self.iter())
    }

    /// Writes all bytes.
    ///
    /// # Errors
    /// Those of `to`.
    pub fn write_to(&self, to: &mut impl Write) -> io::Result<()> {
        if let Some(one) = self.as_one() {
            return to.write_all(one);
        }
        let mut small = Vec::with_capacity(SMALL);
        for piece in self.iter() {
            if small.len() + piece.len() > SMALL {
                to.write_all(&small)?;
                small.clear();
            }
            if piece.len() > SMALL {
                to.write_all(piece)?;
            } else {
                small.extend_from_slice(piece);
            }
        }
        to.write_all(&small)
    }
}

impl FromIterator<Bytes> for Pieces {
    fn from_iter<I: IntoIterator<Item = Bytes>>(pieces: I) -> Self {
        let pieces: Vec<Bytes> = pieces.into_iter().filter(|piece| !piece.is_empty()).collect();
        Self { len: pieces.iter().map(Bytes::len).sum(), pieces }
    }
}

impl From<Bytes> for Pieces {
    fn from(bytes: Bytes) -> Self {
        std::iter::once(bytes).collect()
    }
}

impl From<Vec<u8>> for Pieces {
    fn from(bytes: Vec<u8>) -> Self {
        Bytes::from(bytes).into()
    }
}

impl PartialEq<Bytes> for Pieces {
    fn eq(&self, other: &Bytes) -> bool {
        // One that shares its memory is the same, whatever is in it.
        let shared = matches!(&self.pieces[..], [one] if one.as_ptr() == other.as_ptr());
        self.len == other.len() && (shared || *self == **other)
    }
}

impl PartialEq<[u8]> for Pieces {
    fn eq(&self, other: &[u8]) -> bool {
        let mut rest = other;
        let same = |piece: &[u8]| {
            let Some(after) = rest.strip_prefix(piece) else { return false };
            rest = after;
            true
        };
        self.len == other.len() && self.iter().all(same)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    fn pieces(parts: &[&[u8]]) -> Pieces {
        parts.iter().map(|part| Bytes::copy_from_slice(part)).collect()
    }

    proptest! {
        #[test]
        fn the_difference_leads_from_one_text_to_the_other(old in "[ab]{0,8}", parts in vec("[ab]{0,4}", 0..4)) {
            let new: Pieces = parts.iter().map(|part| Bytes::from(part.clone())).collect();
            let (range, put) = new.difference(old.as_bytes());
            let old = old.as_bytes();
            prop_assert_eq!([&old[..range.start], &put, &old[range.end..]].concat(), new.whole());
            prop_assert!(range.is_empty() || put.is_empty() || old[range.start] != put[0]);
        }
    }

    #[test]
    fn pieces_are_the_bytes_they_make() {
        let large = vec![b'x'; SMALL + 1];
        let cut = pieces(&[b"ab", b"", &large, b"c"]);
        let whole = cut.whole();
        assert_eq!((cut.len(), cut.iter().count()), (SMALL + 4, 3));
        assert!(cut == whole[..] && cut != whole[1..] && cut.as_one().is_none());
        assert_eq!(cut.hash(), Hash::of(&whole));
        assert_eq!(cut.head(3), b"abx");
        let mut written = Vec::new();
        cut.write_to(&mut written).expect("memory takes everything");
        assert_eq!(written, whole);
        assert_eq!(Pieces::default().as_one(), Some(&[][..]));
    }
}
