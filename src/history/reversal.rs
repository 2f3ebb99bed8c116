//! What takes an operation back: for each path what stands there now and what shall stand there again.
//!
//! A path that is not as the operation left it is somebody's newer work: it is never touched, or, where the caller wants
//! that, merged so that their work stays.

use super::merged::Merger;
use super::{HistoryError, Log, Past};
use crate::disk::{Disk, Folders, Kind, Node, Stamp};
use crate::edit::{Hash, RelPath};
use crate::plan::{Metadata, Resolved};
use crate::transaction::{Change, Operation, TransactionError};
use std::collections::{BTreeMap, BTreeSet};
use std::io;

/// Which paths of an operation to take back.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Wanted {
    /// All that are left.
    All,
    /// These files, and all below these folders.
    Only(Vec<RelPath>),
}

/// An operation that can be taken back.
#[derive(Debug)]
#[must_use = "nothing is taken back before it is staged"]
pub struct Reversal<'a, D: Disk> {
    folders: &'a Folders<D>,
    operation: &'a Operation<D>,
    changes: Vec<&'a Change>,
    /// What is made of paths that were edited since.
    merged: BTreeMap<RelPath, Resolved>,
}

impl<'a, D: Disk> Reversal<'a, D> {
    /// Looks at every wanted path.
    ///
    /// # Errors
    /// All paths that are not as the operation left them, or that it did not change.
    pub fn new(folders: &'a Folders<D>, past: &'a Past<D>, wanted: &Wanted) -> Result<Self, HistoryError> {
        let (reversal, changed) = Self::look(folders, past, wanted)?;
        if changed.is_empty() {
            Ok(reversal)
        } else {
            let paths = changed.into_iter().map(|change| change.path.clone()).collect();
            Err(HistoryError::Changed { id: past.id().clone(), paths })
        }
    }

    /// The wanted paths, and those of them that are not as the operation left them.
    fn look(
        folders: &'a Folders<D>,
        past: &'a Past<D>,
        wanted: &Wanted,
    ) -> Result<(Self, Vec<&'a Change>), HistoryError> {
        let changes = select(past, wanted)?;
        let reversal = Self { folders, operation: &past.operation, changes, merged: BTreeMap::new() };
        let mut changed = Vec::new();
        for &change in &reversal.changes {
            let fits = reversal.fits(change).map_err(HistoryError::io(format!("look at {}", change.path)))?;
            if !fits {
                changed.push(change);
            }
        }
        Ok((reversal, changed))
    }

    /// The operation.
    pub fn operation(&self) -> &'a Operation<D> {
        self.operation
    }

    /// The paths, sorted.
    pub fn paths(&self) -> impl Iterator<Item = &'a RelPath> {
        self.changes.iter().map(|change| &change.path)
    }

    /// Every path, resolved: what stands there now, with its bytes, and what shall stand there.
    pub fn files(&self) -> impl Iterator<Item = Result<Resolved, HistoryError>> {
        self.changes.iter().map(|change| self.resolve(change))
    }

    /// Whether somebody has edited the path since, so that it was merged.
    pub fn is_merged(&self, path: &RelPath) -> bool {
        self.merged.contains_key(path)
    }

    fn resolve(&self, change: &Change) -> Result<Resolved, HistoryError> {
        let path = &change.path;
        if let Some(merged) = self.merged.get(path) {
            return Ok(merged.clone());
        }
        let (before, old, seen) = self.read(path).map_err(HistoryError::io(format!("read {path}")))?;
        if before != change.after && !self.is_own_folder(change, &before) {
            return Err(TransactionError::ChangedDuring(path.clone()).into());
        }
        let new = self.operation.old_bytes(path)?;
        Ok(Resolved {
            path: path.clone(),
            before,
            after: change.before.clone(),
            seen,
            old: old.map(Into::into),
            new: new.map(Into::into),
            metadata: Metadata::New,
        })
    }

    /// What stands at `path`, with its bytes and the state in which they were read.
    fn read(&self, path: &RelPath) -> io::Result<(Node, Option<Vec<u8>>, Option<Stamp>)> {
        let node = self.stat(path)?;
        let disk = self.folders.disk();
        Ok(match node {
            Some(Kind::File) => {
                let (bytes, stat) = disk.read(&self.folders.parent(path)?, path.name())?;
                let node = Node::File { hash: Hash::of(&bytes), mode: stat.mode, size: bytes.len() as u64 };
                (node, Some(bytes), Some(stat.stamp))
            }
            Some(_) => match Node::at(disk, &self.folders.parent(path)?, path.name())? {
                Node::Link { target } => (Node::Link { target: target.clone() }, Some(target.into()), None),
                other => (other, None, None),
            },
            None => (Node::Absent, None, None),
        })
    }

    /// What stands at `path`; nothing where a folder above it is missing, or is none, and where a name that the
    /// operation freed stands again under the other spelling that it was moved to.
    fn stat(&self, path: &RelPath) -> io::Result<Option<Kind>> {
        match self.folders.parent(path) {
            Ok(dir) => {
                let found = self.folders.disk().stat(&dir, path.name())?.map(|stat| stat.kind);
                let freed = self.change(path).is_some_and(|change| change.after.is_absent());
                Ok(if freed && found.is_some() && !self.folders.is_spelled(path)? { None } else { found })
            }
            Err(e) if matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Ok(None),
            Err(e) => Err(e),
        }
    }

    /// Whether `change.path` is as the operation left it, and there is room for what shall stand there.
    fn fits(&self, change: &Change) -> io::Result<bool> {
        let path = &change.path;
        let now = match self.stat(path)? {
            None => Node::Absent,
            Some(_) => Node::at(self.folders.disk(), &self.folders.parent(path)?, path.name())?,
        };
        if now == Node::Directory && self.is_own_folder(change, &now) {
            return self.will_be_empty(path);
        }
        Ok(now == change.after && (!now.is_absent() || self.has_room(path)?))
    }

    /// A file was removed to make room for the folder that stands in its place.
    fn is_own_folder(&self, change: &Change, now: &Node) -> bool {
        *now == Node::Directory && change.after.is_absent() && self.operation.made(&change.path)
    }

    /// Whether everything in the folder goes when the operation is taken back.
    fn will_be_empty(&self, folder: &RelPath) -> io::Result<bool> {
        let disk = self.folders.disk();
        let dir = self.folders.open(folder)?;
        for name in disk.list(&dir)? {
            let path = folder.join(name.as_ref()).map_err(io::Error::other)?;
            let is_folder = disk.stat(&dir, name.as_ref())?.is_some_and(|s| s.kind == Kind::Directory);
            let goes = match self.change(&path) {
                Some(change) => change.before.is_absent(),
                None => is_folder && self.operation.made(&path) && self.will_be_empty(&path)?,
            };
            if !goes {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether `path` can be made: what stands above it is a folder, or gives way to one.
    fn has_room(&self, path: &RelPath) -> io::Result<bool> {
        let mut above = path.parent();
        while let Some(folder) = above.filter(|f| !f.is_root()) {
            match self.stat(&folder)? {
                Some(Kind::Directory) => return Ok(true),
                Some(_) => {
                    let gives_way = |c: &Change| matches!(c.before, Node::Directory | Node::Absent);
                    return Ok(self.change(&folder).is_some_and(gives_way));
                }
                None => above = folder.parent(),
            }
        }
        Ok(true)
    }

    fn change(&self, path: &RelPath) -> Option<&'a Change> {
        let at = self.changes.binary_search_by(|change| change.path.cmp(path));
        at.ok().map(|at| self.changes[at])
    }
}

impl<'a, D: Disk + Clone> Reversal<'a, D> {
    /// As [`new`](Self::new), but a file that was edited since is merged, where that goes without a conflict.
    ///
    /// # Errors
    /// All paths that cannot be merged, or that the operation did not change.
    pub fn merging(
        folders: &'a Folders<D>,
        log: &'a Log<D>,
        past: &'a Past<D>,
        wanted: &Wanted,
    ) -> Result<Self, HistoryError> {
        let (mut reversal, changed) = Self::look(folders, past, wanted)?;
        if changed.is_empty() {
            return Ok(reversal);
        }
        let merger = Merger::new(log, past)?;
        let mut paths = Vec::new();
        for change in changed {
            let path = &change.path;
            let now = reversal.read(path).map_err(HistoryError::io(format!("read {path}")))?;
            match merger.merge(change, now)? {
                Ok(files) => reversal.merged.extend(files.into_iter().map(|file| (file.path.clone(), file))),
                Err(why) => paths.push((path.clone(), why)),
            }
        }
        if paths.is_empty() {
            Ok(reversal)
        } else {
            Err(HistoryError::Unmerged { id: past.id().clone(), paths })
        }
    }
}

/// The wanted changes that are left, sorted by path.
fn select<'a, D: Disk>(past: &'a Past<D>, wanted: &Wanted) -> Result<Vec<&'a Change>, HistoryError> {
    let all = past.operation.changes();
    let chosen: BTreeSet<&RelPath> = match wanted {
        Wanted::All => all.iter().map(|change| &change.path).collect(),
        Wanted::Only(asked) => {
            let hit = |path: &RelPath, one: &RelPath| path == one || path.is_below(one);
            let unknown = asked.iter().filter(|one| !all.iter().any(|change| hit(&change.path, one)));
            let unknown: Vec<_> = unknown.cloned().collect();
            if !unknown.is_empty() {
                return Err(HistoryError::NoSuchPaths { id: past.id().clone(), paths: unknown });
            }
            let paths = all.iter().map(|change| &change.path);
            let mut chosen = paths.filter(|path| asked.iter().any(|one| hit(path, one))).collect();
            with_both_ends(past, &mut chosen);
            chosen
        }
    };
    let left = all.iter().filter(|change| chosen.contains(&change.path) && past.has_left(&change.path));
    let left: Vec<_> = left.collect();
    if left.is_empty() { Err(HistoryError::Undone(past.id().clone())) } else { Ok(left) }
}

/// A moved file goes back as one: without its other end it would stand in both places, or in none.
fn with_both_ends<'a, D: Disk>(past: &'a Past<D>, chosen: &mut BTreeSet<&'a RelPath>) {
    loop {
        let moves = past.about.moves.iter();
        let half = moves.filter(|(from, to)| chosen.contains(from) != chosen.contains(to));
        let missing: Vec<_> = half.flat_map(|(from, to)| [from, to]).collect();
        if missing.is_empty() {
            return;
        }
        chosen.extend(missing);
    }
}
