//! The bytes of a file in pieces: a large text shares what stays as it is with the text it was made from.
//!
//! Cloning copies nothing. It knows nothing of lines.

use super::Hash;
use bytes::Bytes;
use std::io::{self, Write};

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
        self.iter().flatten().take(count).copied().collect()
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

    fn pieces(parts: &[&[u8]]) -> Pieces {
        parts.iter().map(|part| Bytes::copy_from_slice(part)).collect()
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
