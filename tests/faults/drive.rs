//! Runs batches and recovery on any disk, and judges what they leave.

use super::batch::Batch;
use super::tree::{self, Object, Tree, difference};
use patchmany::disk::{Access, Clock, Disk, Folders, SimDir, SimDisk, Tier};
use patchmany::edit::Code;
use patchmany::plan::Sink;
use patchmany::transaction::{
    Change, Decide, Durability, Failure, Ground, Landed, Participant, ParticipantError, Pending, Recovered,
    Room, Staging, Stop, Store, TransactionError, TreeState, Unrecorded,
};
use std::path::Path;
use std::time::Duration;

/// Where the tree lies on a simulated disk.
const WORK: &str = "/work";
/// Where the state directory is made; `home` is there, the rest is not.
const STATE: &str = "/home/state/patchmany";
/// All that may lie in the state directory when nothing runs.
const LASTING: [&str; 2] = ["lock", "undo"];

/// How a run ended.
#[derive(Debug)]
pub(super) enum Ended {
    /// The journal says COMMIT.
    Applied,
    /// It failed and says what the tree is like.
    Failed(Failure),
    /// It failed before it had a transaction.
    NotBegun,
}

impl Ended {
    pub(super) fn is_clean(&self) -> bool {
        !matches!(self, Self::Failed(failure) if failure.tree == TreeState::NeedsRecovery)
    }
}

/// No participant.
pub(super) enum Nobody {}

impl Participant for Nobody {
    fn prepare(&mut self, _: &dyn Landed) -> Result<Vec<u8>, ParticipantError> {
        unreachable!()
    }
    fn finish(&mut self, _: &[u8]) -> Result<(), Unrecorded> {
        unreachable!()
    }
    fn abort(&mut self) {}
}

/// A participant that only fails where it is told to.
pub(super) struct Recorder {
    pub fails: bool,
}

impl Participant for Recorder {
    fn prepare(&mut self, landed: &dyn Landed) -> Result<Vec<u8>, ParticipantError> {
        let changes: &[Change] = landed.changes();
        if self.fails {
            return Err(ParticipantError {
                code: Code::Git,
                message: "the hook says no".to_owned(),
                hint: None,
            });
        }
        Ok(changes.len().to_string().into_bytes())
    }
    fn finish(&mut self, _: &[u8]) -> Result<(), Unrecorded> {
        Ok(())
    }
    fn abort(&mut self) {}
}

/// A simulated disk with the tree before a batch, all of it on the medium.
pub(super) fn before(batch: &Batch, tier: Tier, clock: Clock) -> SimDisk {
    let disk = SimDisk::new(tier, clock);
    for name in ["work", "home"] {
        disk.create_dir(&SimDir::ROOT, name.into(), Access::Shared).unwrap();
    }
    let root = disk.open_root(Path::new(WORK)).unwrap();
    tree::build(&disk, &root, &batch.old);
    disk.settled()
}

/// The same with the tree on a mount of its own: staged files stand in it.
pub(super) fn before_apart(batch: &Batch, tier: Tier) -> SimDisk {
    let disk = before(batch, tier, Clock::Fine);
    disk.mount(&SimDir::ROOT, "work".into(), 7).unwrap();
    disk
}

/// Applies a batch as the program does: recovery first, then stage, seal, swap, commit, finish. `committed` is called
/// right after the commit point.
pub(super) fn apply<D: Disk + Clone>(
    disk: &D,
    batch: &Batch,
    durability: Durability,
    committed: impl FnOnce(),
) -> Ended {
    apply_with(disk, batch, durability, None::<&mut Nobody>, committed)
}

pub(super) fn apply_with<D: Disk + Clone, P: Participant>(
    disk: &D,
    batch: &Batch,
    durability: Durability,
    participant: Option<&mut P>,
    committed: impl FnOnce(),
) -> Ended {
    apply_in(disk, batch, (durability, Room::State), participant, committed)
}

pub(super) fn apply_in<D: Disk + Clone, P: Participant>(
    disk: &D,
    batch: &Batch,
    (durability, room): (Durability, Room),
    mut participant: Option<&mut P>,
    committed: impl FnOnce(),
) -> Ended {
    let Ok(root) = disk.open_root(Path::new(WORK)) else { return Ended::NotBegun };
    let folders = Folders::new(disk.clone(), root);
    let Ok(store) = Store::open(disk.clone(), Path::new(STATE)) else { return Ended::NotBegun };
    let Ok(_lock) = store.lock(Duration::ZERO) else { return Ended::NotBegun };
    let ground = Ground { folders: &folders, store: &store, head: b"" };
    if patchmany::transaction::recover(ground, Decide::Carefully, |_| None::<Nobody>).is_err() {
        return Ended::NotBegun;
    }
    let Ok(staging) = Staging::begin(ground, durability) else { return Ended::NotBegun };
    let staging = staging.waiting_in(room);
    for entry in &batch.entries {
        if staging.put(entry).is_err() {
            return Ended::Failed(staging.into_failure());
        }
    }
    let swapped = staging.seal().and_then(|prepared| prepared.swap(&Stop::new(0)));
    match swapped.and_then(|swapped| swapped.commit(participant.as_deref_mut())) {
        Ok(done) => {
            committed();
            // What fails now is told as a warning; the next run goes on with it.
            let _ = done.finish(participant);
            Ended::Applied
        }
        Err(failure) => Ended::Failed(failure),
    }
}

/// Runs recovery as the program does.
pub(super) fn recover<D: Disk + Clone>(disk: &D, decide: Decide) -> Result<Vec<Recovered>, TransactionError> {
    recover_at(disk, decide, b"")
}

/// Runs recovery where the history that the tree belongs to stands at `head`.
pub(super) fn recover_at<D: Disk + Clone>(
    disk: &D,
    decide: Decide,
    head: &[u8],
) -> Result<Vec<Recovered>, TransactionError> {
    let io = |source| TransactionError::Io { operation: "open", path: String::new(), source };
    let folders = Folders::new(disk.clone(), disk.open_root(Path::new(WORK)).map_err(io)?);
    let Some(store) = Store::find(disk.clone(), Path::new(STATE)).map_err(io)? else {
        return Ok(Vec::new());
    };
    let _lock = store.lock(Duration::ZERO)?;
    let ground = Ground { folders: &folders, store: &store, head };
    patchmany::transaction::recover(ground, decide, |_| None::<Nobody>)
}

/// What waits for recovery.
pub(super) fn waiting(disk: &SimDisk, head: &[u8]) -> Vec<Pending> {
    let folders = Folders::new(disk.clone(), disk.open_root(Path::new(WORK)).unwrap());
    let store = Store::find(disk.clone(), Path::new(STATE)).unwrap().unwrap();
    patchmany::transaction::pending(Ground { folders: &folders, store: &store, head }).unwrap()
}

/// The whole tree.
pub(super) fn work(disk: &SimDisk) -> Tree {
    tree::read(disk, &disk.open_root(Path::new(WORK)).unwrap())
}

/// Which of the two whole states the tree is in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Side {
    Old,
    New,
}

/// What may differ from the two whole states.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Exact {
    /// Nothing.
    Wholly,
    /// A folder that the batch empties may stay: the system refused to remove it after the commit point.
    ButEmptied,
}

/// The state of the tree, byte for byte; what is wrong with it when it is neither.
pub(super) fn side(disk: &SimDisk, batch: &Batch, exact: Exact) -> Result<Side, String> {
    let now = work(disk);
    if now == batch.old {
        return Ok(Side::Old);
    }
    let mut new = batch.new.clone();
    if exact == Exact::ButEmptied {
        let stays = |(path, _): &(&String, &Object)| matches!(batch.old.get(*path), Some(Object::Folder(_)));
        for (path, folder) in now.iter().filter(stays) {
            new.entry(path.clone()).or_insert_with(|| folder.clone());
        }
    }
    if now == new {
        return Ok(Side::New);
    }
    let (old, new) = (difference(&batch.old, &now), difference(&new, &now));
    let nearer = if old.len() < new.len() { format!("old, but {old}") } else { format!("new, but {new}") };
    Err(format!("mixed: {nearer}"))
}

/// Whether nothing of ours waits in the state directory.
pub(super) fn is_tidy(disk: &SimDisk) -> Result<(), String> {
    let Ok(state) = disk.open_root(Path::new(STATE)) else { return Ok(()) };
    let names = disk.list(&state).unwrap();
    let stray: Vec<_> = names.iter().filter(|n| !LASTING.iter().any(|known| *n == known)).collect();
    if stray.is_empty() { Ok(()) } else { Err(format!("left in the state directory: {stray:?}")) }
}

/// Recovers and judges: old or new, and nothing left.
pub(super) fn settle(disk: &SimDisk, batch: &Batch, exact: Exact) -> Result<Side, String> {
    recover(disk, Decide::Carefully).map_err(|e| format!("recovery: {e}"))?;
    let side = side(disk, batch, exact)?;
    is_tidy(disk)?;
    Ok(side)
}
