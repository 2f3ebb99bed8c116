//! The barriers: what must be on the medium before the next thing may happen.

use super::TransactionError;
use super::ground::{Ground, Stage};
use super::journal::Journal;
use super::swap::Prepared;
use crate::disk::{Disk, Medium, Node};
use std::io;

/// What a run guarantees after power loss. Against `kill -9`, full disks and other programs all levels guard alike.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Durability {
    /// Every file and folder is synced by itself.
    Full,
    /// One barrier before the swap and one after it; files are synced by themselves where there are few.
    Batch,
    /// No barrier. Power loss may leave empty files.
    None,
}

/// Up to this many files, syncing each is cheaper than the whole file system.
const FEW: usize = 32;

impl Durability {
    /// What the file systems of a ground need: nothing in memory, one barrier with a journal, every file without.
    ///
    /// # Errors
    /// A file system that does not tell what it is.
    pub fn fitting<D: Disk + Clone>(ground: Ground<'_, D>) -> Result<Self, TransactionError> {
        let (tree, state) = (ground.folders.root(), &ground.store.dir);
        let ask = |dir| ground.disk().medium(dir);
        let media = ask(tree).and_then(|tree| Ok(tree.max(ask(state)?)));
        let worst =
            media.map_err(TransactionError::io("ask for the file system of", ground.store.path.display()))?;
        Ok(match worst {
            Medium::Memory => Self::None,
            Medium::Journaled => Self::Batch,
            Medium::Fragile => Self::Full,
        })
    }

    /// Whether anything is synced at all.
    pub(super) fn syncs(self) -> bool {
        self != Self::None
    }

    fn one_by_one(self, files: usize) -> bool {
        self == Self::Full || files <= FEW
    }
}

/// Barrier B1: staged objects, the journal and the other `papers` beside it are on the medium before any path of the tree
/// is touched.
pub(super) fn before_swap<D: Disk + Clone>(
    disk: &D,
    state: &D::Dir,
    prepared: &Prepared<'_, D>,
    papers: &[&str],
) -> io::Result<()> {
    let durability = prepared.durability;
    if !durability.syncs() {
        return Ok(());
    }
    let one_by_one = durability.one_by_one(prepared.journal.entries.len());
    if !one_by_one && sync_systems(disk, &prepared.stages)? {
        return Ok(());
    }
    for name in papers {
        disk.sync_file(&prepared.own, (*name).into())?;
    }
    for entry in &prepared.journal.entries {
        if matches!(entry.after, Node::File { .. }) {
            // A second name of an old file needs no sync of its own: its bytes have been there.
            disk.sync_file(&prepared.stages[entry.stage].dir, entry.new_slot().as_ref())?;
        }
    }
    prepared.stages.iter().try_for_each(|stage| disk.sync_dir(&stage.dir))?;
    disk.sync_dir(state)
}

/// Syncs the file systems of all staging folders as wholes; `false` where the system has no such call.
fn sync_systems<D: Disk>(disk: &D, stages: &[Stage<D>]) -> io::Result<bool> {
    match stages.iter().try_for_each(|stage| disk.sync_all(&stage.dir)) {
        Err(e) if e.kind() == io::ErrorKind::Unsupported => Ok(false),
        done => done.map(|()| true),
    }
}

/// Barrier B2: every rename is on the medium before COMMIT is.
pub(super) fn after_swap<D: Disk + Clone>(disk: &D, prepared: &Prepared<'_, D>) -> io::Result<()> {
    let durability = prepared.durability;
    if !durability.syncs() {
        return Ok(());
    }
    if !durability.one_by_one(prepared.journal.entries.len()) && sync_systems(disk, &prepared.stages)? {
        return Ok(());
    }
    sync_folders(prepared.ground, &prepared.stages, &prepared.journal)
}

/// The barrier of an undo: what came back is on the medium before the journal goes, or power loss could take both.
pub(super) fn after_undo<D: Disk + Clone>(
    ground: Ground<'_, D>,
    stages: &[Stage<D>],
    journal: &Journal,
) -> io::Result<()> {
    ground.folders.forget();
    sync_folders(ground, stages, journal)
}

/// Syncs every folder in which a name of the batch changes, and the staging folders.
fn sync_folders<D: Disk + Clone>(
    ground: Ground<'_, D>,
    stages: &[Stage<D>],
    journal: &Journal,
) -> io::Result<()> {
    let folders = journal.entries.iter().filter_map(|entry| entry.path.parent());
    let mut folders: Vec<_> = folders.chain(journal.folders.iter().filter_map(|f| f.path.parent())).collect();
    folders.sort();
    folders.dedup();
    for folder in folders {
        match ground.folders.open(&folder) {
            Ok(dir) => ground.disk().sync_dir(&dir)?,
            // A folder that stood here is a file now; its parent is synced too.
            Err(e) if matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {}
            Err(e) => return Err(e),
        }
    }
    stages.iter().try_for_each(|stage| ground.disk().sync_dir(&stage.dir))
}
