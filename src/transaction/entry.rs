//! One path of a transaction: what stands there before and after, and where its new object waits.

use crate::disk::{Node, Stamp};
use crate::edit::RelPath;
use bstr::BString;

/// One path of a transaction. `before` and `after` differ.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Entry {
    pub path: RelPath,
    pub before: Node,
    pub after: Node,
    /// The state in which the old file was read; not kept in the journal.
    pub seen: Option<Stamp>,
    /// Index of the staging folder.
    pub stage: usize,
    /// Number of the slot in the staging folder.
    pub slot: u32,
    /// Inode number of the new object; 0 where there is none, or no such thing.
    pub inode: u64,
}

/// A folder that comes or goes with the files in it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Folder {
    pub path: RelPath,
    /// Permission bits; none where the umask decides.
    pub mode: Option<u32>,
}

/// How an entry gets from before to after.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Method {
    /// A file or link takes the place of another.
    Replace,
    /// A file or link goes.
    Delete,
    /// A file takes the place of a folder that the batch empties.
    ReplaceFolder,
    /// A file or link comes where nothing stood.
    Create,
}

impl Entry {
    pub(super) fn method(&self) -> Method {
        match (&self.before, &self.after) {
            (Node::Absent, _) => Method::Create,
            (Node::Directory, _) => Method::ReplaceFolder,
            (_, Node::Absent | Node::Directory) => Method::Delete,
            _ => Method::Replace,
        }
    }

    /// Whether an object is staged for the path.
    pub(super) fn is_staged(&self) -> bool {
        matches!(self.after, Node::File { .. } | Node::Link { .. })
    }

    /// The name of the new object in the staging folder; after an exchange the old one stands there.
    pub(super) fn new_slot(&self) -> BString {
        format!("n{}", self.slot).into()
    }

    /// A second name of the old object, made before the swap where the swap alone could lose it.
    pub(super) fn spare_slot(&self) -> BString {
        format!("p{}", self.slot).into()
    }

    /// The name of an old object that was moved away, not exchanged.
    pub(super) fn old_slot(&self) -> BString {
        format!("o{}", self.slot).into()
    }
}

/// Where staged objects wait.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum StagePlace {
    /// The transaction's own folder in the state directory.
    State,
    /// `.patchmany-<id>` in this folder of the tree, which lies on another mount than the state directory.
    Tree(RelPath),
}
