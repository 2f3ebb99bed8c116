//! Open folders below a root, kept for the next call; never more than a fixed number at once.

use super::Disk;
use crate::edit::RelPath;
use std::collections::HashMap;
use std::io;
use std::sync::{Mutex, PoisonError};

/// Folders kept open. Far below the usual limit of 1,024 descriptors, far above what neighbouring files need.
const MOST: usize = 256;

/// Opens folders beneath one root, without following links.
#[derive(Debug)]
pub struct Folders<D: Disk> {
    disk: D,
    root: D::Dir,
    open: Mutex<HashMap<RelPath, D::Dir>>,
}

impl<D: Disk> Folders<D> {
    /// Folders beneath `root`.
    pub fn new(disk: D, root: D::Dir) -> Self {
        Self { disk, root, open: Mutex::default() }
    }

    /// The disk.
    pub fn disk(&self) -> &D {
        &self.disk
    }

    /// The root itself.
    pub fn root(&self) -> &D::Dir {
        &self.root
    }

    /// The folder `path`.
    ///
    /// # Errors
    /// As [`Disk::open_dir`].
    pub fn open(&self, path: &RelPath) -> io::Result<D::Dir> {
        if path.is_root() {
            return Ok(self.root.clone());
        }
        if let Some(dir) = self.locked().get(path) {
            return Ok(dir.clone());
        }
        let dir = self.disk.open_dir(&self.root, path)?;
        let mut open = self.locked();
        if open.len() >= MOST {
            open.clear();
        }
        open.insert(path.clone(), dir.clone());
        Ok(dir)
    }

    /// The folder that holds `path`.
    ///
    /// # Errors
    /// As [`Disk::open_dir`]; `InvalidInput` for the root.
    pub fn parent(&self, path: &RelPath) -> io::Result<D::Dir> {
        let folder = path.parent_bytes().ok_or(io::ErrorKind::InvalidInput)?;
        if let Some(dir) = self.locked().get(folder) {
            return Ok(dir.clone());
        }
        self.open(&path.parent().ok_or(io::ErrorKind::InvalidInput)?)
    }

    /// Whether the name of `path` stands in its folder just so: some file systems take names that differ in case, or in
    /// the form of a letter, for one. Reads the whole folder.
    ///
    /// # Errors
    /// As [`Disk::open_dir`] and [`Disk::list`].
    pub fn is_spelled(&self, path: &RelPath) -> io::Result<bool> {
        let names = self.disk.list(&self.parent(path)?)?;
        Ok(names.iter().any(|name| name == path.name()))
    }

    /// Forgets what is open: the folders may be others now.
    pub fn forget(&self) {
        self.locked().clear();
    }

    fn locked(&self) -> std::sync::MutexGuard<'_, HashMap<RelPath, D::Dir>> {
        // A panic elsewhere cannot leave a map of open folders half-changed.
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
