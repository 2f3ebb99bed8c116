//! What stands at a path, as far as a transaction has to tell two states apart.

use super::{Disk, Kind};
use crate::edit::Hash;
use bstr::{BStr, BString};
use std::io;

/// What stands at a path. Two equal nodes are the same state: bytes, permission bits and kind.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Node {
    /// Nothing.
    Absent,
    /// A regular file.
    File {
        /// Of the exact bytes.
        hash: Hash,
        /// Permission bits (`0o7777`).
        mode: u32,
        /// Bytes.
        size: u64,
    },
    /// A symbolic link.
    Link {
        /// As stored, not resolved.
        target: BString,
    },
    /// A folder; its contents are other paths.
    Directory,
    /// A pipe, socket or device: never ours.
    Special,
}

impl Node {
    /// What stands at `name` in `dir`, read and hashed; links are not followed.
    pub fn at<D: Disk>(disk: &D, dir: &D::Dir, name: &BStr) -> io::Result<Self> {
        Ok(match disk.stat(dir, name)?.map(|stat| stat.kind) {
            None => Self::Absent,
            Some(Kind::Directory) => Self::Directory,
            Some(Kind::Special) => Self::Special,
            Some(Kind::Link) => Self::Link { target: disk.read_link(dir, name)? },
            Some(Kind::File) => {
                let (hash, stat) = disk.hash(dir, name)?;
                Self::File { hash, mode: stat.mode, size: stat.size }
            }
        })
    }

    /// Whether nothing stands there.
    pub fn is_absent(&self) -> bool {
        matches!(self, Self::Absent)
    }

    /// The hash of a regular file.
    pub fn hash(&self) -> Option<Hash> {
        if let Self::File { hash, .. } = self { Some(*hash) } else { None }
    }

    /// The mode as git writes it: `100644`, `100755`, `120000`; `None` for nothing and for folders.
    pub fn git_mode(&self) -> Option<&'static str> {
        match self {
            Self::File { mode, .. } if mode & 0o100 != 0 => Some("100755"),
            Self::File { .. } => Some("100644"),
            Self::Link { .. } => Some("120000"),
            Self::Absent | Self::Directory | Self::Special => None,
        }
    }
}
