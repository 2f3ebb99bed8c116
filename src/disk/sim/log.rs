//! What happened to a simulated disk, and what of it was synced when.

use super::World;
use super::image::{Content, Image, Ino};
use bstr::BString;
use std::io;
use std::sync::Arc;

/// One name set to an inode, or to nothing.
pub(super) type Assignment = (Ino, BString, Option<Ino>);

/// One step of the log.
#[derive(Clone, Debug)]
pub(super) enum Item {
    /// Names that change in one step; a rename has two, of which a torn one keeps one.
    Names(Vec<Assignment>),
    /// Bytes from an offset on.
    Bytes { ino: Ino, offset: usize, bytes: Arc<Vec<u8>> },
    /// The file is cut to nothing.
    Cut { ino: Ino },
    /// Permission bits.
    Mode { ino: Ino, mode: u32 },
    /// The bytes and bits of this file, so far, are on the medium.
    SyncFile(Ino),
    /// The names in this folder, so far, are on the medium.
    SyncDir(Ino),
    /// Everything so far is on the medium.
    SyncAll,
}

/// The log; `made` are the inodes that did not stand on the disk when it began.
#[derive(Clone, Default, Debug)]
pub(super) struct Log {
    pub items: Arc<Vec<Item>>,
    pub made: Arc<Vec<(Content, u32, u64)>>,
}

impl Log {
    pub(super) fn len(&self) -> usize {
        self.items.len()
    }

    fn push(&mut self, item: Item) {
        Arc::make_mut(&mut self.items).push(item);
    }
}

impl World {
    pub(super) fn time(&self) -> i128 {
        match self.clock {
            super::Clock::Fine => 1_000 + self.log.len() as i128,
            super::Clock::Coarse => 1_000,
        }
    }

    fn make(&mut self, content: Content, mode: u32, mount: u64) -> Ino {
        let time = self.time();
        Arc::make_mut(&mut self.log.made).push((content.clone(), mode, mount));
        self.now.add(content, mode, mount, time)
    }

    pub(super) fn make_file(&mut self, mode: u32) -> Ino {
        self.make(Content::File(Arc::default()), mode, 0)
    }

    pub(super) fn make_link(&mut self, target: BString) -> Ino {
        self.make(Content::Link(target), 0o777, 0)
    }

    pub(super) fn make_dir(&mut self, mode: u32, mount: u64) -> Ino {
        self.make(Content::Dir(std::collections::BTreeMap::new()), mode, mount)
    }

    fn did(&mut self, item: Item) {
        let (time, step) = (self.time(), self.log.len());
        apply(&mut self.now, &item, step, time);
        self.log.push(item);
    }

    /// Changes names in one step.
    pub(super) fn assign(&mut self, names: Vec<Assignment>) -> io::Result<()> {
        // A folder that was removed takes no more names.
        if names.iter().any(|(dir, _, ino)| ino.is_some() && self.now.get(*dir).links == 0) {
            return Err(io::ErrorKind::NotFound.into());
        }
        self.did(Item::Names(names));
        Ok(())
    }

    pub(super) fn write(&mut self, ino: Ino, offset: usize, bytes: &[u8]) {
        if !bytes.is_empty() {
            self.did(Item::Bytes { ino, offset, bytes: Arc::new(bytes.to_vec()) });
        }
    }

    pub(super) fn truncate(&mut self, ino: Ino) {
        self.did(Item::Cut { ino });
    }

    pub(super) fn set_mode(&mut self, ino: Ino, mode: u32) {
        self.did(Item::Mode { ino, mode });
    }

    pub(super) fn sync(&mut self, item: Item) {
        self.log.push(item);
    }
}

/// Plays one item. `step` names the version that new bytes get.
pub(super) fn apply(image: &mut Image, item: &Item, step: usize, time: i128) {
    match item {
        Item::Names(names) => {
            names.iter().for_each(|(dir, name, ino)| apply_name(image, *dir, name, *ino, time));
        }
        Item::Bytes { ino, offset, bytes } => put(image, *ino, *offset, bytes, (step, 0), time),
        Item::Cut { ino } => {
            let inode = image.inode(*ino);
            inode.content = Content::File(Arc::default());
            (inode.modified, inode.changed, inode.version) = (time, time, version(inode.version, step, 1));
        }
        Item::Mode { ino, mode } => {
            let inode = image.inode(*ino);
            (inode.mode, inode.changed) = (*mode, time);
        }
        Item::SyncFile(_) | Item::SyncDir(_) | Item::SyncAll => {}
    }
}

pub(super) fn apply_name(image: &mut Image, dir: Ino, name: &BString, ino: Option<Ino>, time: i128) {
    image.assign(dir, name.as_ref(), ino);
    let folder = image.inode(dir);
    (folder.modified, folder.changed) = (time, time);
    if let Some(ino) = ino {
        image.inode(ino).changed = time;
    }
}

/// Puts bytes into a file; `part` tells versions of one step apart.
pub(super) fn put(
    image: &mut Image,
    ino: Ino,
    offset: usize,
    bytes: &Arc<Vec<u8>>,
    (step, part): (usize, u64),
    time: i128,
) {
    let inode = image.inode(ino);
    let Content::File(old) = &mut inode.content else { return };
    if old.is_empty() && offset == 0 {
        *old = Arc::clone(bytes);
    } else {
        let old = Arc::make_mut(old);
        old.resize(old.len().max(offset + bytes.len()), 0);
        old[offset..offset + bytes.len()].copy_from_slice(bytes);
    }
    (inode.modified, inode.changed, inode.version) = (time, time, version(inode.version, step, part));
}

/// The version of what comes of an earlier one by one more change.
fn version(before: u64, step: usize, part: u64) -> u64 {
    before.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add((step as u64 + 1) * 8 + part)
}
