//! BLAKE3 hashes of file contents, and the short tags that name a version of a file, ours and those of other tools.

use super::split_bom;
use std::fmt;

/// From this size (bytes) on several threads hash a piece faster than one.
const LARGE: usize = 512 * 1024;

/// The BLAKE3 hash of a file's exact bytes (32 bytes; 64 lower-case hex digits when shown).
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Hash([u8; 32]);

impl Hash {
    /// The hash of `bytes`.
    pub fn of(bytes: &[u8]) -> Self {
        Self::of_all(std::iter::once(bytes))
    }

    /// The hash of `pieces`, one after the other.
    pub fn of_all<'p>(pieces: impl Iterator<Item = &'p [u8]>) -> Self {
        let mut hasher = blake3::Hasher::new();
        pieces.for_each(|piece| add(&mut hasher, piece));
        Self(*hasher.finalize().as_bytes())
    }

    /// The hash of everything that `reader` gives, and how many bytes that were.
    ///
    /// # Errors
    /// Those of `reader`.
    pub fn of_reader(mut reader: impl std::io::Read) -> std::io::Result<(Self, u64)> {
        let mut hasher = blake3::Hasher::new();
        let mut piece = vec![0; 256 * 1024];
        loop {
            match reader.read(&mut piece) {
                Ok(0) => return Ok((Self(*hasher.finalize().as_bytes()), hasher.count())),
                Ok(n) => _ = hasher.update(&piece[..n]),
                Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
    }

    /// A hash from its 32 raw bytes, as stored in a journal.
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The 32 raw bytes.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// The tag of this version: the first 8 hex digits.
    pub fn tag(&self) -> Tag {
        Tag(blake3::Hash::from_bytes(self.0).to_hex()[..8].to_owned())
    }
}

/// All threads help with a large piece.
fn add(hasher: &mut blake3::Hasher, piece: &[u8]) {
    if piece.len() < LARGE {
        hasher.update(piece);
    } else {
        hasher.update_rayon(piece);
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&blake3::Hash::from_bytes(self.0).to_hex())
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Hash({self})")
    }
}

/// A hash of bytes that come piece by piece.
#[derive(Clone, Default, Debug)]
pub struct Hasher(blake3::Hasher);

impl Hasher {
    /// Adds bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The hash of all of them.
    pub fn finish(&self) -> Hash {
        Hash(*self.0.finalize().as_bytes())
    }
}

/// A prefix of a BLAKE3 hash in hex: 8 to 64 lower-case digits (formats.md, hash-anchored line edits).
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Tag(String);

impl Tag {
    /// Reads a tag as written in a batch. `None` unless it is 8 to 64 hex digits; case is folded.
    pub fn parse(written: &str) -> Option<Self> {
        let good = (8..=64).contains(&written.len()) && written.bytes().all(|b| b.is_ascii_hexdigit());
        good.then(|| Self(written.to_ascii_lowercase()))
    }

    /// Whether `hash` starts with this tag.
    pub fn fits(&self, hash: &Hash) -> bool {
        blake3::Hash::from_bytes(*hash.as_bytes()).to_hex().starts_with(&self.0)
    }

    /// The hex digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The short tag of other tools: 16 bits, so that it tells versions apart only by and large (formats.md).
///
/// The low 16 bits of xxHash32 with seed 0 over the text without byte order mark, CRLF as LF, and blanks, tabs and CR
/// off the end of each line.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct WeakTag(u16);

impl WeakTag {
    /// Reads a tag as written in a batch. `None` unless it is 4 hex digits.
    pub fn parse(written: &str) -> Option<Self> {
        let good = written.len() == 4 && written.bytes().all(|b| b.is_ascii_hexdigit());
        good.then(|| u16::from_str_radix(written, 16).ok().map(Self)).flatten()
    }

    /// The tag of a file with these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        let mut text = Vec::with_capacity(bytes.len());
        for line in split_bom(bytes).1.split_inclusive(|b| *b == b'\n') {
            let is_blank = |b: &u8| matches!(b, b' ' | b'\t' | b'\r');
            let bare = line.strip_suffix(b"\n").unwrap_or(line);
            let end = bare.iter().rposition(|b| !is_blank(b)).map_or(0, |at| at + 1);
            text.extend_from_slice(&bare[..end]);
            if bare.len() < line.len() {
                text.push(b'\n');
            }
        }
        let [.., high, low] = twox_hash::XxHash32::oneshot(0, &text).to_be_bytes();
        Self(u16::from_be_bytes([high, low]))
    }
}

impl fmt::Display for WeakTag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04X}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_is_a_prefix_of_the_hash() {
        let hash = Hash::of(b"hello\n");
        assert!(hash.to_string().starts_with(hash.tag().as_str()));
        assert!(hash.tag().fits(&hash));
        assert!(Tag::parse(&hash.to_string().to_uppercase()).is_some_and(|t| t.fits(&hash)));
        assert!(!Hash::of(b"other").tag().fits(&hash));
    }

    #[test]
    fn piece_by_piece_gives_the_same() {
        let bytes: Vec<u8> = (0..600_000u32).map(|i| i.to_le_bytes()[0]).collect();
        let streamed = Hash::of_reader(&bytes[..]).expect("no fault");
        assert_eq!(streamed, (Hash::of(&bytes), 600_000));
    }

    #[test]
    fn only_8_to_64_hex_digits_are_a_tag() {
        for bad in ["", "1234567", "1234567g", &"a".repeat(65)] {
            assert!(Tag::parse(bad).is_none(), "{bad:?}");
        }
    }

    #[test]
    fn weak_tags_are_the_published_vectors() {
        for (text, tag) in
            [("", "5D05"), ("a\n", "9585"), ("hello\n", "5BF9"), ("café\n", "F78F"), ("x\ny\n", "141E")]
        {
            assert_eq!(WeakTag::of(text.as_bytes()).to_string(), tag, "{text:?}");
            assert_eq!(WeakTag::parse(tag), Some(WeakTag::of(text.as_bytes())));
        }
        assert_eq!(WeakTag::of("\u{feff}x  \r\ny\t\n".as_bytes()).to_string(), "141E");
        assert_eq!((WeakTag::parse("5d05"), WeakTag::parse("05D05")), (WeakTag::parse("5D05"), None));
    }

    #[test]
    fn the_empty_hash_is_the_published_vector() {
        let known = "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262";
        assert_eq!(Hash::of(b"").to_string(), known);
    }
}
