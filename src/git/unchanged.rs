//! Which files are as the base has them, by what the index remembers of them: no file is read.
//!
//! It answers yes only where git itself would not look at the file again. Its checksum is not compared: that would cost
//! what this saves, and a wrong yes takes away one warning at most.

use crate::disk::Stamp;
use crate::edit::RelPath;
use gix::index::entry::{Flags, Stage};

/// An index that holds the tree of the base.
pub(super) struct Unchanged {
    index: gix::index::File,
}

impl Unchanged {
    /// Bytes of the index: what it costs to ask it.
    pub(super) fn cost(repo: &gix::Repository) -> u64 {
        repo.index_path().metadata().map_or(u64::MAX, |metadata| metadata.len())
    }

    /// The index, where its cached trees say that it holds the tree `base`.
    pub(super) fn read(repo: &gix::Repository, base: gix::ObjectId) -> Option<Self> {
        let index = gix::index::File::at(repo.index_path(), repo.object_hash(), true, Default::default());
        let index = index.ok()?;
        let cached = index.tree()?;
        (cached.num_entries.is_some() && cached.id == base).then_some(Self { index })
    }

    /// Whether the regular file `path` that was read as `seen` is known to be as in the base.
    pub(super) fn is_as_base(&self, path: &RelPath, seen: &Stamp) -> bool {
        let Some(entry) = self.index.entry_by_path_and_stage(path.as_bstr(), Stage::Unconflicted) else {
            return false;
        };
        let unsure = Flags::ASSUME_VALID | Flags::SKIP_WORKTREE | Flags::INTENT_TO_ADD | Flags::UPDATE;
        let (stat, written) = (&entry.stat, self.index.timestamp());
        let nanoseconds = |secs: i128, nanos: u32| secs * 1_000_000_000 + i128::from(nanos);
        let modified = nanoseconds(stat.mtime.secs.into(), stat.mtime.nsecs);
        // A file written in the moment of the index may have changed after it was looked at.
        let is_older = modified < nanoseconds(written.unix_seconds().into(), written.nanoseconds());
        let short = |wide: u64| wide as u32; // the index keeps the lower 32 bits only
        !entry.flags.intersects(unsure)
            && is_older
            && seen.modified == modified
            && seen.changed == nanoseconds(stat.ctime.secs.into(), stat.ctime.nsecs)
            && short(seen.size) == stat.size
            && short(seen.file.1) == stat.ino
    }
}
