//! The paths of a batch that is in place: what of each goes into the commit, and what into the index.
//!
//! Writes the blobs, which nobody sees. What is not split holds no other changes, or is wanted with them: then the file
//! counts as it stands on disk.

use super::clean::Cleaner;
use super::object::{self, Recording};
use super::record::{Entry, Landing, Side};
use super::refusal::below;
use super::split::{Split, Version};
use super::{GitError, RecordKind, Repo, index};
use crate::disk::Node;
use crate::edit::RelPath;
use crate::transaction::{Change, Landed};
use gix::ObjectId;
use gix::index::entry::Mode;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What becomes of one path.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    /// Relative to the work tree.
    pub(crate) path: RelPath,
    /// What the index holds so far.
    pub(crate) before: Option<Side>,
    /// What the commit gets.
    pub(crate) committed: Option<Side>,
    /// What the index gets.
    pub(crate) indexed: Option<Side>,
    /// What git would store for the file as it stands on disk.
    pub(crate) on_disk: Option<Side>,
    /// The file as it was when its bytes were read.
    pub(crate) landed: Option<Landing>,
}

impl Part {
    /// Whether commit, index and disk get the same.
    pub(crate) fn is_whole(&self) -> bool {
        self.committed == self.on_disk && self.indexed == self.on_disk
    }
}

impl From<&Part> for Entry {
    fn from(part: &Part) -> Self {
        Self {
            path: part.path.clone(),
            before: part.before,
            after: part.indexed,
            landed: part.landed.filter(|_| part.indexed == part.on_disk),
        }
    }
}

/// Stores the parts of a batch.
pub(crate) struct Parts<'a> {
    repo: &'a Repo,
    local: &'a gix::Repository,
    root: &'a RelPath,
    kind: RecordKind,
    /// The tree of HEAD.
    tree: Option<ObjectId>,
    index: Arc<gix::index::File>,
    recording: Recording,
    cleaner: Cleaner,
    /// Over the index that HEAD would have; made when first needed.
    of_head: Option<Cleaner>,
}

impl<'a> Parts<'a> {
    pub(crate) fn new(
        repo: &'a Repo,
        local: &'a gix::Repository,
        root: &'a RelPath,
        (kind, tree): (RecordKind, Option<ObjectId>),
    ) -> Result<Self, GitError> {
        let index = Arc::new(index::open(local, repo.index_path())?);
        let cleaner = Cleaner::new(repo.local(), Arc::clone(&index))?;
        let recording = Recording::of(local)?;
        Ok(Self { repo, local, root, kind, tree, index, recording, cleaner, of_head: None })
    }

    /// Writes the blobs of all changed paths, as they stand in the work tree now or as they are split.
    pub(crate) fn store(
        mut self,
        landed: &dyn Landed,
        splits: &BTreeMap<RelPath, Split>,
    ) -> Result<Vec<Part>, GitError> {
        let mut parts = Vec::new();
        for change in landed.changes().iter().filter(|change| concerns_git(change)) {
            let path = below(self.root, &change.path);
            let mut stat = None;
            let mut bytes = Vec::new();
            if matches!(change.after, Node::File { .. } | Node::Link { .. }) {
                stat = index::stat(&self.repo.work_tree().join(path.to_path()));
                let failed = |source| GitError::Landed { path: path.clone(), source };
                bytes = landed.content(change).map_err(failed)?;
            }
            let part = match splits.get(&change.path) {
                Some(split) => self.split(path, (&change.after, &bytes), split)?,
                None => self.whole(path, (&change.after, &bytes))?,
            };
            parts.extend(part.map(|part| Part { landed: stat.as_ref().map(Into::into), ..part }));
        }
        Ok(parts)
    }

    /// As the path stands on disk; nothing where git knows nothing of it, before or after.
    fn whole(&mut self, path: RelPath, file: (&Node, &[u8])) -> Result<Option<Part>, GitError> {
        let before = index::side(&self.index, &path);
        let on_disk = self.recording.store(&mut self.cleaner, &path, file, mode(before))?;
        let mut committed = on_disk;
        if self.kind == RecordKind::WholeFiles {
            let in_head = object::side(self.local, self.tree, &path)?;
            if before.is_none() && on_disk.is_none() && in_head.is_none() {
                return Ok(None);
            }
            if in_head != before {
                committed = self.as_over_head(&path, file, mode(in_head))?;
            }
        } else if before.is_none() && on_disk.is_none() {
            return Ok(None);
        }
        Ok(Some(Part { path, before, committed, indexed: on_disk, on_disk, landed: None }))
    }

    /// git makes the commit over an index of HEAD: where the user has staged something else, line endings that a file
    /// has there, or its mode where the file system has none, may make a difference.
    fn as_over_head(
        &mut self,
        path: &RelPath,
        file: (&Node, &[u8]),
        known: Option<Mode>,
    ) -> Result<Option<Side>, GitError> {
        let cleaner = match &mut self.of_head {
            Some(cleaner) => cleaner,
            None => {
                let tree = self.tree.unwrap_or_else(|| ObjectId::empty_tree(self.local.object_hash()));
                let index =
                    self.local.index_from_tree(&tree).map_err(GitError::gix("read the tree of HEAD"))?;
                self.of_head.insert(Cleaner::new(self.repo.local(), Arc::new(index))?)
            }
        };
        self.recording.store(cleaner, path, file, known)
    }

    fn split(
        &mut self,
        path: RelPath,
        file: (&Node, &[u8]),
        split: &Split,
    ) -> Result<Option<Part>, GitError> {
        let before = index::side(&self.index, &path);
        let on_disk = self.recording.name(&mut self.cleaner, &path, file, mode(before))?;
        let committed = self.version(&path, file, &split.committed)?;
        let indexed = self.version(&path, file, &split.indexed)?;
        Ok(Some(Part { path, before, committed, indexed, on_disk, landed: None }))
    }

    fn version(
        &mut self,
        path: &RelPath,
        file: (&Node, &[u8]),
        version: &Version,
    ) -> Result<Option<Side>, GitError> {
        Ok(match version {
            Version::Landed => {
                let known = mode(index::side(&self.index, path));
                self.recording.store(&mut self.cleaner, path, file, known)?
            }
            Version::Stays(side) => *side,
            Version::Merged { mode, text } => {
                Some(Side { mode: *mode, id: self.cleaner.store_verbatim(text)? })
            }
        })
    }
}

/// Folders are no business of git's, unless a tracked file gave way to one.
pub(crate) fn concerns_git(change: &Change) -> bool {
    let tracked = |node: &Node| matches!(node, Node::File { .. } | Node::Link { .. });
    tracked(&change.before) || tracked(&change.after)
}

fn mode(side: Option<Side>) -> Option<Mode> {
    side.map(|side| side.mode)
}
