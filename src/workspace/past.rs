//! Earlier versions of files: those that were shown, those that our own operations wrote, and those that git holds.
//!
//! Reads only. Nothing is opened before somebody asks; what cannot be read is not known.

use super::Workspace;
use crate::disk::OsDisk;
use crate::edit::{Hash, RelPath, WeakTag};
use crate::git::merge;
use crate::history::Log;
use crate::plan::{Chunk, Known, Sides, VersionTag, Versions};
use crate::search::Snapshots;
use std::collections::HashMap;
use std::sync::OnceLock;

/// What tells which version the author of a batch has seen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Author {
    /// The run: it names the base.
    NamedBase,
    /// The bytes that `read` showed last, and those that our own last operation on a path wrote.
    SawLast,
}

/// The earlier versions of files in a workspace.
pub(crate) struct Past<'a> {
    workspace: &'a Workspace,
    author: Author,
    snapshots: OnceLock<Option<Snapshots<OsDisk>>>,
    written: OnceLock<HashMap<RelPath, Option<Hash>>>,
}

impl<'a> Past<'a> {
    pub(super) fn new(workspace: &'a Workspace, author: Author) -> Self {
        Self { workspace, author, snapshots: OnceLock::new(), written: OnceLock::new() }
    }

    fn snapshots(&self) -> Option<&Snapshots<OsDisk>> {
        self.snapshots.get_or_init(|| self.workspace.existing_snapshots()).as_ref()
    }

    fn shown_as(&self, path: &RelPath, tag: &VersionTag) -> Known {
        match (self.snapshots(), tag) {
            (None, _) => Known::Nothing,
            (Some(snapshots), VersionTag::Strong(tag)) => snapshots.find(tag).unwrap_or(Known::Nothing),
            (_, VersionTag::Weak(tag)) => self.shown(path, *tag).into_iter().fold(Known::Nothing, Known::and),
        }
    }
}

/// What the last operation on each path made of it.
fn last_written(workspace: &Workspace) -> Option<HashMap<RelPath, Option<Hash>>> {
    let log = Log::read(&workspace.existing_store().ok()??).ok()?;
    let mut written = HashMap::new();
    for change in log.newest_first().flat_map(|past| past.operation.changes()) {
        written.entry(change.path.clone()).or_insert_with(|| change.after.hash());
    }
    Some(written)
}

impl Versions for Past<'_> {
    fn find(&self, path: &RelPath, tag: &VersionTag) -> Known {
        let shown = self.shown_as(path, tag);
        if shown != Known::Nothing {
            return shown;
        }
        let stored = self.workspace.repo().map(|repo| repo.stored(path)).unwrap_or_default();
        // HEAD's comes first: a short tag does not tell LF from CRLF.
        stored.into_iter().find(|bytes| tag.fits(bytes)).map_or(Known::Nothing, Known::Version)
    }

    fn shown(&self, path: &RelPath, tag: WeakTag) -> Vec<Vec<u8>> {
        self.snapshots().and_then(|snapshots| snapshots.shown(path, tag).ok()).unwrap_or_default()
    }

    fn was_seen(&self, path: &RelPath, present: &[u8]) -> bool {
        if self.author == Author::NamedBase {
            return false;
        }
        let hash = Hash::of(present);
        let written = || self.written.get_or_init(|| last_written(self.workspace).unwrap_or_default());
        self.snapshots().is_some_and(|snapshots| snapshots.showed_last(path, &hash))
            || written().get(path).is_some_and(|last| last.as_ref() == Some(&hash))
    }

    fn merge(&self, sides: Sides<'_>) -> Vec<Chunk> {
        merge(sides)
    }
}
