//! A path below the root, as bytes: never absolute, never with `.` or `..`, always with `/`.

use bstr::{BStr, BString, ByteSlice};
use std::borrow::{Borrow, Cow};
use std::fmt;
use std::path::Path;

/// A path relative to the root: one or more names joined by `/`, or empty for the root itself.
///
/// Bytes, not text: names need not be UTF-8. No name is empty, `.`, `..`, or holds `/` or NUL.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct RelPath(BString);

/// Why bytes are no path below the root.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum PathError {
    /// A name is empty, `.`, `..`, or holds a NUL byte.
    #[error("the name {0:?} cannot stand in a path")]
    BadName(BString),
}

impl RelPath {
    /// The root itself.
    pub fn root() -> Self {
        Self::default()
    }

    /// Checks `bytes` (names joined by `/`).
    pub fn new(bytes: impl Into<BString>) -> Result<Self, PathError> {
        let bytes = bytes.into();
        if !bytes.is_empty() {
            for name in bytes.split_str("/") {
                check_name(name.as_bstr())?;
            }
        }
        Ok(Self(bytes))
    }

    /// This path with `name` below it.
    pub fn join(&self, name: &BStr) -> Result<Self, PathError> {
        check_name(name)?;
        let mut bytes = self.0.clone();
        if !bytes.is_empty() {
            bytes.push(b'/');
        }
        bytes.extend_from_slice(name);
        Ok(Self(bytes))
    }

    /// Whether this is the root.
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// The last name; empty for the root.
    pub fn name(&self) -> &BStr {
        self.0.rfind_byte(b'/').map_or(self.0.as_bstr(), |at| self.0[at + 1..].as_bstr())
    }

    /// The folder that holds this path; `None` for the root.
    pub fn parent(&self) -> Option<Self> {
        self.parent_bytes().map(|bytes| Self(bytes.to_owned()))
    }

    /// As [`parent`](Self::parent), without a copy.
    pub fn parent_bytes(&self) -> Option<&BStr> {
        let end = self.0.rfind_byte(b'/').unwrap_or(0);
        (!self.is_root()).then(|| self.0[..end].as_bstr())
    }

    /// The names from the root downwards.
    pub fn names(&self) -> impl Iterator<Item = &BStr> {
        self.0.split_str("/").map(ByteSlice::as_bstr).filter(|n| !n.is_empty())
    }

    /// Whether `self` lies below `folder` (a path does not lie below itself).
    pub fn is_below(&self, folder: &Self) -> bool {
        if folder.is_root() {
            return !self.is_root();
        }
        self.0.len() > folder.0.len() && self.0.starts_with(&folder.0) && self.0[folder.0.len()] == b'/'
    }

    /// The path as bytes.
    pub fn as_bstr(&self) -> &BStr {
        self.0.as_bstr()
    }

    /// The path in the form of the operating system, relative to the root.
    pub fn to_path(&self) -> Cow<'_, Path> {
        self.0.to_path_lossy()
    }
}

fn check_name(name: &BStr) -> Result<(), PathError> {
    let bad = name.is_empty() || name == "." || name == ".." || name.contains(&0) || name.contains(&b'/');
    if bad { Err(PathError::BadName(name.to_owned())) } else { Ok(()) }
}

/// Hashes and compares as its bytes do.
impl Borrow<BStr> for RelPath {
    fn borrow(&self) -> &BStr {
        self.as_bstr()
    }
}

impl fmt::Display for RelPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_root() { f.write_str(".") } else { fmt::Display::fmt(&self.0, f) }
    }
}

impl fmt::Debug for RelPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_could_leave_the_root_are_no_path() {
        for bad in ["..", "a/..", "./a", "a//b", "/a", "a/", "a\0b"] {
            assert!(RelPath::new(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn parents_and_names() {
        let path = RelPath::new("a/b/c").expect("a good path");
        assert_eq!(path.name(), "c");
        assert_eq!(path.parent().expect("has one").as_bstr(), "a/b");
        assert!(path.is_below(&RelPath::new("a").expect("good")));
        assert!(!RelPath::new("ab").expect("good").is_below(&RelPath::new("a").expect("good")));
        assert_eq!(RelPath::root().parent(), None);
    }
}
