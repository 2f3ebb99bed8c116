//! A sealed batch before the swap: the bytes that stand at its paths, and those that shall.
//!
//! Both are compared with what the plan knew. Nothing is changed.

use super::Change;
use super::ground::stage_of;
use super::participant::Staged;
use super::swap::Prepared;
use crate::disk::{Disk, Node};
use crate::edit::Hash;
use bstr::BStr;
use std::io;

impl<D: Disk + Clone> Staged for Prepared<'_, D> {
    fn changes(&self) -> Vec<Change> {
        self.journal.entries.iter().map(Change::from).collect()
    }

    fn old_content(&self, change: &Change) -> io::Result<Vec<u8>> {
        let dir = self.ground.folders.parent(&change.path)?;
        content(self.ground.disk(), &dir, change.path.name(), &change.before)
    }

    fn new_content(&self, change: &Change) -> io::Result<Vec<u8>> {
        let found = self.journal.entries.binary_search_by(|entry| entry.path.cmp(&change.path));
        let entry = &self.journal.entries[found.map_err(|_| io::ErrorKind::NotFound)?];
        let stage = stage_of(&self.stages, entry);
        content(self.ground.disk(), stage, entry.new_slot().as_ref(), &change.after)
    }
}

/// The bytes of the file `name` in `dir` (the target for a link); `InvalidData` when it is not `node`.
pub(super) fn content<D: Disk>(disk: &D, dir: &D::Dir, name: &BStr, node: &Node) -> io::Result<Vec<u8>> {
    let (bytes, found) = match node {
        Node::Link { .. } => {
            let target = disk.read_link(dir, name)?;
            (target.to_vec(), Node::Link { target })
        }
        _ => {
            let (bytes, stat) = disk.read(dir, name)?;
            let (hash, size) = (Hash::of(&bytes), bytes.len() as u64);
            (bytes, Node::File { hash, mode: stat.mode, size })
        }
    };
    if found == *node { Ok(bytes) } else { Err(io::ErrorKind::InvalidData.into()) }
}
