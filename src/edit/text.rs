//! A shared, immutable piece of the batch: parsers cut it up without copying.

use std::fmt;
use std::ops::{Deref, Range};
use std::sync::Arc;

/// A slice of a shared UTF-8 string. Cloning and slicing copy no text.
#[derive(Clone)]
pub struct Text {
    source: Arc<str>,
    range: Range<usize>,
}

impl Text {
    /// The part of this text at `range` (bytes of this text).
    ///
    /// # Panics
    /// As `str` slicing does, when `range` is outside the text or cuts a character.
    pub fn slice(&self, range: Range<usize>) -> Self {
        let _checked = &self[range.clone()];
        let start = self.range.start;
        Self { source: Arc::clone(&self.source), range: start + range.start..start + range.end }
    }

    /// The text as a string slice.
    pub fn as_str(&self) -> &str {
        &self.source[self.range.clone()]
    }
}

impl From<&str> for Text {
    fn from(s: &str) -> Self {
        Self { range: 0..s.len(), source: Arc::from(s) }
    }
}

impl From<String> for Text {
    fn from(s: String) -> Self {
        Self { range: 0..s.len(), source: Arc::from(s) }
    }
}

impl Deref for Text {
    type Target = str;
    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl PartialEq for Text {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for Text {}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_of_slices_name_the_same_bytes() {
        let all = Text::from("one two three");
        let tail = all.slice(4..13);
        assert_eq!(&*tail.slice(4..9), "three");
        assert_eq!(tail.slice(0..3), Text::from("two"));
    }
}
