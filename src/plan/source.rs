//! Where a plan reads from: the work tree, or a tree of a repository.

use super::Refusal;
use super::versions::{NoVersions, Versions};
use crate::disk::{Stamp, Stat};
use crate::edit::{BatchPath, RelPath};
use bstr::BString;
use std::io;

/// What the planner may ask about paths. Reads only; asked from several threads.
pub trait Source: Sync {
    /// Resolves a path as the batch spells it: one file has one canonical path, whatever its spelling.
    ///
    /// # Errors
    /// `outside-root`, `protected-path`, or `not-regular` for a link that leads nowhere. Entry, line and path are added
    /// by the caller: the path as the batch writes it, so that a program finds its entry.
    fn resolve(&self, written: &BatchPath, last: LastLink) -> Result<Target, Refusal>;

    /// What stands at `path`; `None` when nothing does, or when a parent is no folder.
    fn stat(&self, path: &RelPath) -> io::Result<Option<Stat>>;

    /// The bytes of the regular file `path`, with its state when it was read.
    fn read(&self, path: &RelPath) -> io::Result<(Vec<u8>, Stat)>;

    /// The target of the symbolic link `path`.
    fn read_link(&self, path: &RelPath) -> io::Result<BString>;

    /// The names in the folder `path`.
    fn list(&self, path: &RelPath) -> io::Result<Vec<BString>>;

    /// Whether the user's attributes declare the file binary.
    fn is_binary(&self, path: &RelPath) -> bool;

    /// Whether the missing file `path` is tracked and left out of the tree by sparse-checkout.
    fn is_left_out(&self, _path: &RelPath) -> bool {
        false
    }

    /// Whether the content of `path` is kept by Git LFS: a pointer in its place is no text of the user.
    fn is_in_lfs(&self, _path: &RelPath) -> bool {
        false
    }

    /// What knows earlier versions of files.
    fn versions(&self) -> &dyn Versions {
        &NoVersions
    }

    /// The text of `path` in the base, the version that the author of a batch may have seen, where it differs from
    /// the `present` bytes, which were read as `seen`.
    fn base(&self, _path: &RelPath, _present: &[u8], _seen: Option<&Stamp>) -> Option<Vec<u8>> {
        None
    }
}

/// What to do when the last name of a path is a symbolic link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LastLink {
    /// Go on to the file it names: an edit changes the file and keeps the link.
    Follow,
    /// Stop at the link itself: creating, deleting and moving are about the name.
    Keep,
}

/// A resolved path.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Target {
    /// Canonical, relative to the root.
    pub path: RelPath,
    /// The link that stands at the end of the written path, when it was followed.
    pub via: Option<RelPath>,
}
