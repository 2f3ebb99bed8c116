//! An operation in the undo store: what it changed, the old objects, and what was kept beside its journal.
//!
//! Operations are read, and removed as a whole; nothing in one is ever changed.

use super::entry::{Entry, Folder, Method};
use super::journal::{Journal, Verdict};
use super::participant::Change;
use super::recover::is_allowed;
use super::stage::{ABOUT, DELTAS, JOURNAL};
use super::store::Store;
use super::swap::RECORD;
use super::{OperationId, TransactionError};
use crate::disk::{Disk, Kind, Node};
use crate::edit::{Hash, RelPath};
use bstr::{BStr, BString, ByteSlice};
use std::collections::HashSet;
use std::io;

/// The folder of the undo store in the state directory.
pub(super) const UNDO: &str = "undo";

/// An operation that has ended.
#[derive(Debug)]
pub struct Operation<D: Disk> {
    disk: D,
    dir: D::Dir,
    journal: Journal,
    changes: Vec<Change>,
}

impl<D: Disk + Clone> Store<D> {
    /// The ids in the undo store, oldest first.
    ///
    /// # Errors
    /// An undo store that cannot be listed.
    pub fn finished(&self) -> io::Result<Vec<OperationId>> {
        let Some(undo) = self.undo()? else { return Ok(Vec::new()) };
        let names = self.disk.list(&undo)?;
        let mut ids: Vec<_> = names.iter().filter_map(|n| OperationId::parse(n.to_str().ok()?)).collect();
        ids.sort();
        Ok(ids)
    }

    /// The operation `id`; nothing where there is none that can be read, for example since it is being removed.
    ///
    /// # Errors
    /// An undo store that cannot be read.
    pub fn operation(&self, id: &OperationId) -> io::Result<Option<Operation<D>>> {
        let Some(dir) = self.open_finished(id)? else { return Ok(None) };
        let Some(bytes) = or_nothing(self.disk.read(&dir, JOURNAL.into()))? else { return Ok(None) };
        let journal = match Journal::decode(&bytes.0) {
            Ok((journal, Verdict::Commit)) if journal.id == *id && is_allowed(&journal) => journal,
            _ => return Ok(None),
        };
        let changes = journal.entries.iter().map(Change::from).collect();
        Ok(Some(Operation { disk: self.disk.clone(), dir, journal, changes }))
    }

    /// What was described before the operation `id` was sealed.
    ///
    /// # Errors
    /// An undo store that cannot be read.
    pub fn described(&self, id: &OperationId) -> io::Result<Option<Vec<u8>>> {
        let Some(dir) = self.open_finished(id)? else { return Ok(None) };
        Ok(or_nothing(self.disk.read(&dir, ABOUT.into()))?.map(|(bytes, _)| bytes))
    }

    /// What an operation in the undo store takes, in bytes of its files. Looks at each of them.
    ///
    /// # Errors
    /// An undo store that cannot be read.
    pub fn stored_bytes(&self, id: &OperationId) -> io::Result<u64> {
        let Some(dir) = self.open_finished(id)? else { return Ok(0) };
        let mut counted = HashSet::new();
        let mut bytes = 0;
        for name in self.disk.list(&dir)? {
            let stat = self.disk.stat(&dir, name.as_ref())?;
            if let Some(stat) = stat.filter(|s| s.stamp.file == (0, 0) || counted.insert(s.stamp.file)) {
                bytes += stat.size;
            }
        }
        Ok(bytes)
    }

    /// Removes an operation from the undo store. Can be interrupted and repeated.
    ///
    /// # Errors
    /// What is left is no operation any more.
    pub fn forget(&self, id: &OperationId) -> io::Result<()> {
        let (Some(undo), Some(dir)) = (self.undo()?, self.open_finished(id)?) else { return Ok(()) };
        // Without its journal it is none, whatever happens next.
        or_nothing(self.disk.remove(&dir, JOURNAL.into()))?;
        remove_all(&self.disk, &undo, id.as_str().into())
    }

    fn undo(&self) -> io::Result<Option<D::Dir>> {
        or_nothing(self.disk.open_dir(&self.dir, &RelPath::new(UNDO).map_err(io::Error::other)?))
    }

    fn open_finished(&self, id: &OperationId) -> io::Result<Option<D::Dir>> {
        let Some(undo) = self.undo()? else { return Ok(None) };
        or_nothing(self.disk.open_dir(&undo, &RelPath::new(id.as_str()).map_err(io::Error::other)?))
    }
}

impl<D: Disk> Operation<D> {
    /// Its id.
    pub fn id(&self) -> &OperationId {
        &self.journal.id
    }

    /// All paths that it changed, sorted.
    pub fn changes(&self) -> &[Change] {
        &self.changes
    }

    /// Whether it made the folder `path`.
    pub fn made(&self, path: &RelPath) -> bool {
        self.journal.folders.iter().any(|folder| folder.path == *path)
    }

    /// The folder `path` as it was before the operation, where that may have removed it.
    pub(super) fn removed(&self, path: &RelPath) -> Option<&Folder> {
        self.journal.emptied.iter().find(|folder| folder.path == *path)
    }

    /// What was described before it was sealed.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub fn about(&self) -> io::Result<Option<Vec<u8>>> {
        Ok(or_nothing(self.disk.read(&self.dir, ABOUT.into()))?.map(|(bytes, _)| bytes))
    }

    /// What was noted of its new texts.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub fn deltas(&self) -> io::Result<Option<Vec<u8>>> {
        Ok(or_nothing(self.disk.read(&self.dir, DELTAS.into()))?.map(|(bytes, _)| bytes))
    }

    /// What its participant prepared.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub fn record(&self) -> io::Result<Option<Vec<u8>>> {
        Ok(or_nothing(self.disk.read(&self.dir, RECORD.into()))?.map(|(bytes, _)| bytes))
    }

    /// The bytes of the file that stood at `path` before, or the target of the link; nothing where neither stood there.
    ///
    /// # Errors
    /// `NoOldVersion` when it is not in the store as it was.
    pub fn old_bytes(&self, path: &RelPath) -> Result<Option<Vec<u8>>, TransactionError> {
        let entry = self.entry(path)?;
        match &entry.before {
            Node::Link { target } => Ok(Some(target.to_vec())),
            Node::File { hash, .. } => {
                let (dir, name) = self.old_object(path)?;
                let read = self.disk.read(&dir, name.as_ref());
                let (bytes, _) = read.map_err(TransactionError::io("read the old version of", path))?;
                if Hash::of(&bytes) == *hash { Ok(Some(bytes)) } else { Err(self.no_old(path, CHANGED)) }
            }
            _ => Ok(None),
        }
    }

    /// Where the file lies that stood at `path` before.
    pub(super) fn old_object(&self, path: &RelPath) -> Result<(D::Dir, BString), TransactionError> {
        let entry = self.entry(path)?;
        let mut there = false;
        for name in slots(entry) {
            let stat = self.disk.stat(&self.dir, name.as_ref());
            let stat = stat.map_err(TransactionError::io("look at the old version of", path))?;
            let Some(stat) = stat.filter(|stat| stat.kind == Kind::File) else { continue };
            there = true;
            // Who writes to it had it open since before the operation: then it is not what stood there.
            if matches!(entry.before, Node::File { size, .. } if size == stat.size) {
                return Ok((self.dir.clone(), name));
            }
        }
        Err(self.no_old(path, if there { CHANGED } else { "it was put aside, or removed" }))
    }

    fn entry(&self, path: &RelPath) -> Result<&Entry, TransactionError> {
        let at = self.journal.entries.binary_search_by(|entry| entry.path.cmp(path));
        let at = at.map_err(|_| self.no_old(path, "it was no part of the operation"))?;
        Ok(&self.journal.entries[at])
    }

    fn no_old(&self, path: &RelPath, why: &'static str) -> TransactionError {
        TransactionError::NoOldVersion { id: self.id().clone(), path: path.clone(), why }
    }
}

const CHANGED: &str = "a program that had it open has written to it since";

/// Where the old object may lie, the likeliest first.
fn slots(entry: &Entry) -> impl Iterator<Item = BString> {
    let first = if entry.method() == Method::Delete { None } else { Some(entry.new_slot()) };
    // Moved away, not exchanged: then nothing of ours is left in the slot of the new object.
    [Some(entry.old_slot()), first, Some(entry.spare_slot())].into_iter().flatten()
}

fn or_nothing<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Ok(found) => Ok(Some(found)),
        Err(e) if matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Ok(None),
        Err(e) => Err(e),
    }
}

fn remove_all<D: Disk>(disk: &D, dir: &D::Dir, name: &BStr) -> io::Result<()> {
    if !disk.stat(dir, name)?.is_some_and(|stat| stat.kind == Kind::Directory) {
        return disk.remove(dir, name);
    }
    let folder = disk.open_dir(dir, &RelPath::new(name).map_err(io::Error::other)?)?;
    for inner in disk.list(&folder)? {
        remove_all(disk, &folder, inner.as_ref())?;
    }
    disk.remove_dir(dir, name)
}
