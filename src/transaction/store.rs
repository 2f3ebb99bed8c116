//! The state directory: the lock, running transactions, the undo store, and what was put aside.
//!
//! Journals are trusted only here, in a folder that the program made for its owner alone; none is ever looked for in
//! a work tree.

use super::{OperationId, TransactionError};
use crate::disk::{Access, Disk};
use crate::edit::RelPath;
use bstr::{BStr, BString, ByteSlice, ByteVec};
use std::io;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

const LOCK: &str = "lock";
const RUNNING: &[u8] = b"t-";

/// An open state directory.
#[derive(Debug)]
pub struct Store<D: Disk> {
    pub(super) disk: D,
    pub(super) dir: D::Dir,
    pub(super) path: PathBuf,
}

/// The right to write, held until dropped.
#[must_use = "the lock is released when this is dropped"]
#[derive(Debug)]
pub struct Locked<D: Disk> {
    _lock: D::Lock,
}

impl<D: Disk + Clone> Store<D> {
    /// Opens the state directory at `path`, making it and its parents where they are missing.
    pub fn open(disk: D, path: &Path) -> io::Result<Self> {
        let dir = make_path(&disk, path)?;
        Ok(Self { disk, dir, path: path.to_owned() })
    }

    /// Opens the state directory if it is there; makes nothing.
    pub fn find(disk: D, path: &Path) -> io::Result<Option<Self>> {
        match disk.open_root(path) {
            Ok(dir) => Ok(Some(Self { disk, dir, path: path.to_owned() })),
            Err(e) if matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Ok(None),
            Err(e) => Err(e),
        }
    }

    /// Takes the lock, waiting for at most `timeout`.
    ///
    /// # Errors
    /// [`TransactionError::Locked`] when it is still held then.
    pub fn lock(&self, timeout: Duration) -> Result<Locked<D>, TransactionError> {
        let path = self.path.join(LOCK);
        let deadline = Instant::now() + timeout;
        let mut pause = Duration::from_millis(2);
        loop {
            let lock = self.disk.try_lock(&self.dir, LOCK.into());
            if let Some(lock) = lock.map_err(TransactionError::io("lock", path.display()))? {
                return Ok(Locked { _lock: lock });
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(TransactionError::Locked(path));
            }
            sleep(pause.min(left));
            pause = (pause * 2).min(Duration::from_millis(100));
        }
    }

    /// The transactions that have not ended, oldest first.
    pub fn running(&self) -> io::Result<Vec<OperationId>> {
        let names = self.disk.list(&self.dir)?;
        let ids = names.iter().filter_map(|name| name.strip_prefix(RUNNING)?.to_str().ok());
        let mut ids: Vec<OperationId> = ids.filter_map(OperationId::parse).collect();
        ids.sort();
        Ok(ids)
    }

    pub(super) fn running_name(id: &OperationId) -> BString {
        [RUNNING, id.as_str().as_bytes()].concat().into()
    }

    /// The folder `name` in the state directory; where it is missing it is made, and survives power loss from then on.
    pub(super) fn lasting_folder(&self, name: &BStr) -> io::Result<D::Dir> {
        if self.disk.stat(&self.dir, name)?.is_some() {
            return self.folder(name);
        }
        let made = self.folder(name)?;
        self.disk.sync_dir(&self.dir)?;
        Ok(made)
    }

    /// The folder `name` in the state directory, if it is there.
    pub(crate) fn existing_folder(&self, name: &BStr) -> io::Result<Option<D::Dir>> {
        let path = RelPath::new(name.to_owned()).map_err(io::Error::other)?;
        match self.disk.open_dir(&self.dir, &path) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
            opened => opened.map(Some),
        }
    }

    /// The folder `name` in the state directory, made where it is missing.
    pub(crate) fn folder(&self, name: &BStr) -> io::Result<D::Dir> {
        make_folder(&self.disk, &self.dir, name)
    }
}

/// The folder `name` in `dir`, made for the owner alone where it is missing.
pub(super) fn make_folder<D: Disk>(disk: &D, dir: &D::Dir, name: &BStr) -> io::Result<D::Dir> {
    let path = RelPath::new(name.to_owned()).map_err(io::Error::other)?;
    match disk.open_dir(dir, &path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => {
            match disk.create_dir(dir, name, Access::Private) {
                Err(e) if e.kind() != io::ErrorKind::AlreadyExists => return Err(e),
                _ => {}
            }
            disk.open_dir(dir, &path)
        }
        opened => opened,
    }
}

fn make_path<D: Disk>(disk: &D, path: &Path) -> io::Result<D::Dir> {
    match (disk.open_root(path), path.parent(), path.file_name()) {
        (Err(e), Some(parent), Some(name)) if e.kind() == io::ErrorKind::NotFound => {
            let above = make_path(disk, parent)?;
            let name = Vec::from_os_string(name.to_owned());
            let name = name.map_err(|_| io::Error::from(io::ErrorKind::InvalidFilename))?;
            let made = make_folder(disk, &above, name.as_bstr())?;
            // The journals in it are worth nothing when the folder itself does not survive.
            disk.sync_dir(&above)?;
            Ok(made)
        }
        (opened, _, _) => opened,
    }
}
