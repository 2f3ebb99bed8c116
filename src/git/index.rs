//! Reading the index, and changing single entries so that git sees exactly that change.
//!
//! gix writes an index as it is told; three things are therefore done here that git does by itself: the cached trees
//! above a changed path are made invalid (else the user's next commit reverts the path), entries whose file may have
//! changed within the clock's granularity are marked for a fresh look (else their changes vanish from `git status`),
//! and an entry never claims a file that was written after its bytes were read.

use super::GitError;
use super::clean::Cleaner;
use super::record::{Entry, Landing, Side};
use super::status::id_on_disk;
use crate::edit::RelPath;
use bstr::{BStr, ByteSlice};
use gix::index::entry::{Flags, Mode, Stage, Stat};
use std::collections::HashSet;
use std::io::Write;
use std::path::Path;

/// A private copy of the index at `path` as it is on disk now; an empty one when there is none.
pub(crate) fn open(repo: &gix::Repository, path: &Path) -> Result<gix::index::File, GitError> {
    if !path.exists() {
        let empty = gix::index::State::new(repo.object_hash());
        return Ok(gix::index::File::from_state(empty, path.to_owned()));
    }
    let many = repo.config_snapshot().boolean("feature.manyFiles").unwrap_or(false);
    let skip_hash = repo.config_snapshot().boolean("index.skipHash").unwrap_or(many);
    gix::index::File::at(path, repo.object_hash(), skip_hash, gix::index::decode::Options::default())
        .map_err(GitError::gix("read the index"))
}

/// What the index holds of a path; nothing for one that is only announced (`git add --intent-to-add`).
pub(crate) fn known_side(index: &gix::index::State, path: &RelPath) -> Option<Side> {
    let entry = index.entry_by_path_and_stage(path.as_bstr(), Stage::Unconflicted)?;
    let announced = entry.flags.contains(Flags::INTENT_TO_ADD);
    (!announced).then_some(Side { mode: entry.mode, id: entry.id })
}

/// What the index holds of a path.
pub(crate) fn side(index: &gix::index::State, path: &RelPath) -> Option<Side> {
    let entry = index.entry_by_path_and_stage(path.as_bstr(), Stage::Unconflicted)?;
    Some(Side { mode: entry.mode, id: entry.id })
}

/// The facts of the file at `on_disk` that an index entry keeps; `None` when there is none.
pub(crate) fn stat(on_disk: &Path) -> Option<Stat> {
    let metadata = gix::index::fs::Metadata::from_path_no_follow(on_disk).ok()?;
    Stat::from_fs(&metadata).ok()
}

/// Brings `entries` from their old to their new version.
///
/// An entry that is neither is the user's, made after a crash, and stays.
pub(crate) fn apply(index: &mut gix::index::State, entries: &[Entry], work_tree: &Path) {
    let pending: Vec<_> = entries
        .iter()
        .filter(|entry| {
            let now = side(index, &entry.path);
            now == entry.before || now == entry.after
        })
        .collect();
    let mut new = Vec::new();
    for entry in &pending {
        let Some(after) = entry.after else { continue };
        let stat = verified_stat(entry, work_tree);
        let path = entry.path.as_bstr();
        match index.entry_mut_by_path_and_stage(path, Stage::Unconflicted) {
            Some(existing) => {
                existing.mode = after.mode;
                existing.id = after.id;
                existing.stat = stat;
                existing.flags.remove(Flags::INTENT_TO_ADD | Flags::EXTENDED);
                if entry.landed.is_some() {
                    // As git does it. A file that stays different on disk stays out of sight.
                    existing.flags.remove(Flags::ASSUME_VALID);
                }
            }
            None => new.push((path, after, stat)),
        }
    }
    let gone: HashSet<&BStr> =
        pending.iter().filter(|entry| entry.after.is_none()).map(|entry| entry.path.as_bstr()).collect();
    if !gone.is_empty() {
        index.remove_entries(|_, path, _| gone.contains(path));
    }
    let grown = !new.is_empty();
    for (path, after, stat) in new {
        index.dangerously_push_entry(stat, after.id, Flags::empty(), after.mode, path);
    }
    if grown {
        index.sort_entries();
    }
    for entry in pending {
        invalidate_trees(index, entry.path.as_bstr());
    }
}

/// Marks the entries (outside of `batch`) for a fresh look whose file differs although its facts agree.
pub(crate) fn smudge(
    index: &mut gix::index::State,
    batch: &[Entry],
    cleaner: &mut Cleaner,
    work_tree: &Path,
    options: gix::index::entry::stat::Options,
) -> Result<(), GitError> {
    let batch: HashSet<&BStr> = batch.iter().map(|entry| entry.path.as_bstr()).collect();
    let mut differing = Vec::new();
    for (at, entry) in index.entries().iter().enumerate() {
        let path = entry.path(index);
        let plain = entry.stage() == Stage::Unconflicted
            && !entry.flags.intersects(Flags::INTENT_TO_ADD | Flags::SKIP_WORKTREE)
            && matches!(entry.mode, Mode::FILE | Mode::FILE_EXECUTABLE | Mode::SYMLINK);
        if !plain || !entry.stat.is_racy(index.timestamp(), options) || batch.contains(path) {
            continue;
        }
        let Ok(path) = RelPath::new(path.to_owned()) else {
            continue;
        };
        let on_disk = work_tree.join(path.to_path());
        if stat(&on_disk).is_some_and(|now| entry.stat.matches(&now, options))
            && id_on_disk(cleaner, &path, &on_disk, entry.mode)? != entry.id
        {
            differing.push(at);
        }
    }
    for at in differing {
        index.entries_mut()[at].stat.size = 0;
    }
    Ok(())
}

/// Writes the index to a new file at `to`.
pub(crate) fn write(repo: &gix::Repository, index: &gix::index::File, to: &Path) -> Result<(), GitError> {
    let config = repo.config_snapshot();
    let many = config.boolean("feature.manyFiles").unwrap_or(false);
    let options = gix::index::write::Options {
        skip_hash: config.boolean("index.skipHash").unwrap_or(many),
        ..Default::default()
    };
    let mut file = std::io::BufWriter::new(fs_err::File::create(to)?);
    index.write_to(&mut file, options).map_err(GitError::gix("write the index"))?;
    file.flush()?;
    Ok(())
}

/// The facts of the file, or none when somebody wrote it after its bytes were read: git then looks again.
fn verified_stat(entry: &Entry, work_tree: &Path) -> Stat {
    let now = stat(&work_tree.join(entry.path.to_path()));
    match (now, entry.landed) {
        (Some(now), Some(landed)) if Landing::from(&now) == landed => now,
        _ => Stat::default(),
    }
}

/// Makes the cached trees from the root down to `path` invalid; a folder that became a file loses its tree.
fn invalidate_trees(index: &mut gix::index::State, path: &BStr) {
    let Some(mut tree) = index.tree_mut() else { return };
    let mut names = path.split_str("/").peekable();
    tree.num_entries = None;
    while let Some(name) = names.next() {
        let Some(at) = tree.children.iter().position(|child| child.name.as_slice() == name) else {
            return;
        };
        if names.peek().is_none() {
            tree.children.remove(at);
            return;
        }
        tree = &mut tree.children[at];
        tree.num_entries = None;
    }
}
