//! Objects carried between mounts by copy: whole, or the next attempt starts over. Folders stay: their files are objects
//! of their own.

use crate::disk::{Disk, Modified, Node};
use bstr::BStr;
use std::io;

/// Copies the file or link `from` to `to`; what an interrupted attempt has left there is replaced. The copy is not
/// synced, and the original stays.
pub(super) fn carry<D: Disk>(disk: &D, from: (&D::Dir, &BStr), to: (&D::Dir, &BStr)) -> io::Result<()> {
    let node = Node::at(disk, from.0, from.1)?;
    if matches!(node, Node::Absent | Node::Directory | Node::Special) {
        return Ok(());
    }
    let there = Node::at(disk, to.0, to.1)?;
    if let Node::Link { target } = &node {
        return match there {
            there if there == node => Ok(()),
            Node::Absent => disk.create_link(to.0, to.1, target.as_ref()),
            _ => disk.remove(to.0, to.1).and_then(|()| disk.create_link(to.0, to.1, target.as_ref())),
        };
    }
    if !there.is_absent() {
        disk.remove(to.0, to.1)?;
    }
    let (bytes, stat) = disk.read(from.0, from.1)?;
    disk.create(to.0, to.1, &bytes, 0o600)?;
    disk.set_mode(to.0, to.1, stat.mode)?;
    disk.set_modified(to.0, to.1, Modified::At(stat.stamp.modified))
}
