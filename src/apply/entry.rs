//! How every command that writes begins: it takes the locks, and ends what interrupted runs have left.
//!
//! Without git, roots that contain one another share both. Locks are taken in the order of the roots' paths, so that no
//! two runs wait for each other, and roots are recovered in this order too, the own one last.

use crate::disk::{Folders, OsDisk};
use crate::edit::RelPath;
use crate::error::Error;
use crate::git::{self, Recorder};
use crate::transaction::{
    Decide, Ground, Locked, OperationId, Pending, Recovered, Store, TransactionError, pending, recover,
};
use crate::workspace::{Neighbour, Workspace};
use std::io;
use std::time::Duration;

/// The locks that a run holds.
type Locks = Vec<Locked<OsDisk>>;

/// Takes the locks and ends every interrupted operation, here and in overlapping roots.
pub(crate) fn enter(
    workspace: &Workspace,
    folders: &Folders<OsDisk>,
    store: Option<&Store<OsDisk>>,
    decide: Decide,
    lock_timeout: Duration,
) -> Result<(Locks, Vec<Recovered>), Error> {
    let neighbours = workspace.neighbours()?;
    let above = neighbours.partition_point(|other| other.root < *workspace.root());
    let mut locks = Vec::with_capacity(neighbours.len() + 1);
    for other in &neighbours[..above] {
        locks.push(lock(other, lock_timeout)?);
    }
    if let Some(store) = store {
        locks.push(store.lock(lock_timeout)?);
    }
    for other in &neighbours[above..] {
        locks.push(lock(other, lock_timeout)?);
    }
    let mut recovered = Vec::new();
    for other in &neighbours {
        recovered.extend(recover_elsewhere(other, decide)?);
    }
    if let Some(store) = store {
        // What cannot be removed now is in nobody's way; the next trial tries again, and says why.
        let _ = workspace.clear_scratch();
        recovered.extend(end_interrupted(workspace, (folders, store), decide, lock_timeout)?);
    }
    Ok((locks, recovered))
}

/// What waits for recovery in overlapping roots.
pub(super) fn pending_elsewhere(workspace: &Workspace) -> Result<Vec<Pending>, Error> {
    let mut found = Vec::new();
    for other in workspace.neighbours()? {
        if let Some(folders) = folders_with_interrupted(&other)? {
            found.extend(pending(Ground { folders: &folders, store: &other.store, head: b"" })?);
        }
    }
    Ok(found)
}

fn lock(other: &Neighbour, lock_timeout: Duration) -> Result<Locked<OsDisk>, Error> {
    other.store.lock(lock_timeout).map_err(|error| elsewhere(other, error))
}

fn recover_elsewhere(other: &Neighbour, decide: Decide) -> Result<Vec<Recovered>, Error> {
    let Some(folders) = folders_with_interrupted(other)? else { return Ok(Vec::new()) };
    let ground = Ground { folders: &folders, store: &other.store, head: b"" };
    recover(ground, decide, |_| None::<Recorder>).map_err(|error| elsewhere(other, error))
}

/// The folders of a root where operations were interrupted. What was interrupted in a root that is gone touches nothing.
fn folders_with_interrupted(other: &Neighbour) -> Result<Option<Folders<OsDisk>>, Error> {
    let running = other.store.running().map_err(Error::io("list interrupted operations"))?;
    if running.is_empty() {
        return Ok(None);
    }
    match other.folders() {
        Err(e) if matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Ok(None),
        opened => Ok(Some(opened.map_err(Error::io(format!("open {}", other.root.display())))?)),
    }
}

fn elsewhere(other: &Neighbour, source: TransactionError) -> Error {
    Error::Elsewhere { root: other.root.clone(), source }
}

fn end_interrupted(
    workspace: &Workspace,
    (folders, store): (&Folders<OsDisk>, &Store<OsDisk>),
    decide: Decide,
    lock_timeout: Duration,
) -> Result<Vec<Recovered>, Error> {
    let repo = workspace.repo();
    let running = store.running().map_err(Error::io("list interrupted operations"))?;
    if let Some(repo) = repo {
        git::remove_own_stash_lock(repo)?;
        for id in &running {
            git::remove_own_lock(repo, id.as_str())?;
        }
        // Whoever runs patchmany holds the lock that the caller holds: this one is nobody's.
        if let Some(id) = git::lock_owner(repo) {
            git::remove_own_lock(repo, &id)?;
        }
    }
    if running.is_empty() {
        return Ok(Vec::new());
    }
    let head = workspace.head();
    let recorder = |_: &OperationId| Some(Recorder::resume(repo?, &RelPath::root(), lock_timeout));
    Ok(recover(Ground { folders, store, head: &head }, decide, recorder)?)
}
