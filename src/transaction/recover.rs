//! Recovery: what a run that was killed has left is finished or undone before anything else happens.
//!
//! It looks before it leaps: where a path is neither as before nor as after, it decides nothing by itself.

use super::entry::{Entry, Method, StagePlace};
use super::error::Kept;
use super::finish::finish;
use super::ground::{Ground, Stage, clear_own, clear_tree_stages, open_stage, stage_of};
use super::journal::{Journal, Verdict};
use super::participant::{Landed, Participant, ParticipantError, Unrecorded};
use super::stage::{JOURNAL, throw_away};
use super::store::Store;
use super::swap::{Prepared, Taken};
use super::sync::{Durability, after_undo};
use super::undo::{Strangers, undo};
use super::{OperationId, TransactionError};
use crate::disk::{Disk, Node, Rename};
use crate::edit::RelPath;
use bstr::{BStr, BString};
use std::io;

/// What became of one interrupted operation.
#[derive(Debug)]
pub struct Recovered {
    /// Its id.
    pub id: OperationId,
    /// What was done.
    pub outcome: RecoveryOutcome,
    /// Versions that were put aside.
    pub kept: Vec<Kept>,
    /// Why the participant could not make its record visible, where it never can; it says what it kept.
    pub unrecorded: Option<ParticipantError>,
}

/// What recovery did, or would do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RecoveryOutcome {
    /// It had not touched the tree: its staged files are removed.
    Discarded,
    /// Every path is as before it.
    RolledBack,
    /// It had reached its commit point: the rest is done.
    Finished,
}

/// How recovery decides.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Decide {
    /// Undo what has not committed, unless a path is neither as before nor as after.
    #[default]
    Carefully,
    /// Undo what has not committed; versions of others stay in place, the old ones are kept aside.
    Back,
    /// Complete what has not committed, unless a path is neither as before nor as after.
    Forward,
}

/// An operation that has not ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pending {
    /// Its id.
    pub id: OperationId,
    /// What recovery would do.
    pub outcome: RecoveryOutcome,
    /// Paths that are neither as before nor as after it, the first few: with any, recovery asks for a decision.
    pub undecided: Vec<RelPath>,
}

/// Ends every interrupted operation, oldest first. The caller holds the lock.
///
/// # Errors
/// The first operation that cannot be ended; its journal stays.
pub fn recover<D: Disk + Clone, P: Participant>(
    ground: Ground<'_, D>,
    decide: Decide,
    mut participant: impl FnMut(&OperationId) -> Option<P>,
) -> Result<Vec<Recovered>, TransactionError> {
    let running = ground.store.running();
    let running = running.map_err(TransactionError::io("list", ground.store.path.display()))?;
    let mut done = Vec::with_capacity(running.len());
    for id in running {
        done.push(recover_one(ground, decide, id, &mut participant)?);
    }
    Ok(done)
}

/// The operations that have not ended, and what recovery would do with each; changes nothing.
///
/// # Errors
/// A state directory that cannot be read.
pub fn pending<D: Disk + Clone>(ground: Ground<'_, D>) -> Result<Vec<Pending>, TransactionError> {
    let at = || ground.store.path.display();
    let running = ground.store.running().map_err(TransactionError::io("list", at()))?;
    let look = |id: OperationId| -> Result<Pending, TransactionError> {
        let own = open_own(ground, &id)?;
        let bytes = read_journal(ground, &own).map_err(TransactionError::io("read the journal of", &id))?;
        let read = bytes.map(|bytes| Journal::decode(&bytes));
        let (outcome, undecided) = match read {
            None => (RecoveryOutcome::Discarded, Vec::new()),
            Some(Ok((_, Verdict::Commit))) => (RecoveryOutcome::Finished, Vec::new()),
            Some(Ok((journal, _))) => {
                let odd = stages_of(ground, &own, &journal, &Verdict::Abort)
                    .and_then(|stages| undecided(ground, &stages, &journal));
                (RecoveryOutcome::RolledBack, odd.map_err(TransactionError::io("look at the paths of", &id))?)
            }
            Some(Err(_)) => (RecoveryOutcome::RolledBack, Vec::new()),
        };
        Ok(Pending { id, outcome, undecided })
    };
    running.into_iter().map(look).collect()
}

fn open_own<D: Disk + Clone>(ground: Ground<'_, D>, id: &OperationId) -> Result<D::Dir, TransactionError> {
    ground
        .store
        .folder(Store::<D>::running_name(id).as_ref())
        .map_err(TransactionError::io("open the folder of the interrupted operation", id))
}

fn read_journal<D: Disk + Clone>(ground: Ground<'_, D>, own: &D::Dir) -> io::Result<Option<Vec<u8>>> {
    match ground.disk().read(own, JOURNAL.into()) {
        Ok((bytes, _)) => Ok(Some(bytes)),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(e),
    }
}

fn recover_one<D: Disk + Clone, P: Participant>(
    ground: Ground<'_, D>,
    decide: Decide,
    id: OperationId,
    participant: &mut impl FnMut(&OperationId) -> Option<P>,
) -> Result<Recovered, TransactionError> {
    let own = open_own(ground, &id)?;
    let bytes = read_journal(ground, &own).map_err(TransactionError::io("read the journal of", &id))?;
    let Some(bytes) = bytes else {
        discard(ground, &id, &own).map_err(TransactionError::io("remove the staged files of", &id))?;
        give_up(participant, &id);
        return Ok(Recovered { id, outcome: RecoveryOutcome::Discarded, kept: Vec::new(), unrecorded: None });
    };
    let (journal, verdict) = match Journal::decode(&bytes) {
        Ok(read) => read,
        Err(why) => return Err(quarantine(ground, id, &why.to_string())),
    };
    if journal.id != id || !is_allowed(&journal) {
        return Err(quarantine(ground, id, "it does not belong here"));
    }
    let stages = stages_of(ground, &own, &journal, &verdict)
        .map_err(TransactionError::io("open the staging folders of", &id))?;
    if verdict == Verdict::Commit {
        let finished = finish(ground, &own, &stages, (&journal, &Taken::new()), participant(&id).as_mut());
        let unrecorded = match finished.participant {
            Ok(()) => None,
            Err(Unrecorded::Waits(cause)) => return Err(TransactionError::Unrecorded { id, cause }),
            Err(Unrecorded::Never(cause)) => Some(cause),
        };
        finished.clean_up?;
        return Ok(Recovered { id, outcome: RecoveryOutcome::Finished, kept: finished.late, unrecorded });
    }
    if decide != Decide::Back {
        let odd = undecided(ground, &stages, &journal)
            .map_err(TransactionError::io("look at the paths of", &id))?;
        if !odd.is_empty() {
            return Err(TransactionError::Undecided { id, paths: odd });
        }
    }
    if decide == Decide::Forward {
        return complete(Prepared::new(ground, own, stages, journal, bytes, Durability::Batch));
    }
    let kept = undo(ground, &stages, &journal, Strangers::Stay)?;
    after_undo(ground, &stages, &journal).map_err(TransactionError::io("sync", "the restored files"))?;
    throw_away(ground, &id, &own)?;
    give_up(participant, &id);
    Ok(Recovered { id, outcome: RecoveryOutcome::RolledBack, kept, unrecorded: None })
}

/// Swaps what has not been swapped and commits. Every path is as before, as after, or on the way between.
fn complete<D: Disk + Clone>(prepared: Prepared<'_, D>) -> Result<Recovered, TransactionError> {
    let id = prepared.journal.id.clone();
    prepared.swap_rest()?;
    let finished = prepared.commit_alone()?.finish(None::<&mut Nobody>);
    finished.clean_up?;
    Ok(Recovered { id, outcome: RecoveryOutcome::Finished, kept: finished.late, unrecorded: None })
}

/// An operation without a record has no participant to finish.
enum Nobody {}

impl Participant for Nobody {
    fn prepare(&mut self, _landed: &dyn Landed) -> Result<Vec<u8>, ParticipantError> {
        match *self {}
    }

    fn finish(&mut self, _record: &[u8]) -> Result<(), Unrecorded> {
        match *self {}
    }

    fn abort(&mut self) {
        match *self {}
    }
}

fn give_up<P: Participant>(participant: &mut impl FnMut(&OperationId) -> Option<P>, id: &OperationId) {
    if let Some(mut participant) = participant(id) {
        participant.abort();
    }
}

/// A journal is data from a disk: no path of it may be one that a plan could not have held.
pub(super) fn is_allowed(journal: &Journal) -> bool {
    journal
        .entries
        .iter()
        .all(|entry| !entry.path.is_root() && !entry.path.names().any(crate::plan::is_git_name))
}

/// Paths whose state is neither before nor after nor on the way between.
fn undecided<D: Disk + Clone>(
    ground: Ground<'_, D>,
    stages: &[Stage<D>],
    journal: &Journal,
) -> io::Result<Vec<RelPath>> {
    const SHOWN: usize = 5;
    let mut odd = Vec::new();
    for entry in &journal.entries {
        let now = ground.node(&entry.path)?;
        let known =
            now == entry.before || now == entry.after || on_the_way(ground, stages, journal, entry, &now)?;
        if !known && odd.len() < SHOWN {
            odd.push(entry.path.clone());
        }
    }
    Ok(odd)
}

fn on_the_way<D: Disk + Clone>(
    ground: Ground<'_, D>,
    stages: &[Stage<D>],
    journal: &Journal,
    entry: &Entry,
    now: &Node,
) -> io::Result<bool> {
    if entry.method() == Method::Delete && *now == Node::Directory {
        return Ok(journal.folders.iter().any(|folder| folder.path == entry.path));
    }
    if !now.is_absent() {
        return Ok(false);
    }
    for slot in [entry.old_slot(), entry.spare_slot()] {
        if Node::at(ground.disk(), stage_of(stages, entry), slot.as_ref())? == entry.before {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Removes what an operation had staged before it had a journal.
fn discard<D: Disk + Clone>(ground: Ground<'_, D>, id: &OperationId, own: &D::Dir) -> io::Result<()> {
    clear_tree_stages(ground, id, own)?;
    clear_own(ground, id, own)
}

/// The staging folders of a journal. One that is missing is over when nothing in it can be needed any more.
fn stages_of<D: Disk + Clone>(
    ground: Ground<'_, D>,
    own: &D::Dir,
    journal: &Journal,
    verdict: &Verdict,
) -> io::Result<Vec<Stage<D>>> {
    let open = |(number, place)| match open_stage(ground, &journal.id, own, place) {
        Err(e) if e.kind() == io::ErrorKind::NotFound && is_over(ground, own, journal, verdict, number)? => {
            Ok(Stage { place: StagePlace::State, dir: own.clone() })
        }
        opened => opened,
    };
    journal.stages.iter().enumerate().map(open).collect()
}

/// After COMMIT all old objects have come home; without it every path is as before.
fn is_over<D: Disk + Clone>(
    ground: Ground<'_, D>,
    own: &D::Dir,
    journal: &Journal,
    verdict: &Verdict,
    stage: usize,
) -> io::Result<bool> {
    for entry in journal.entries.iter().filter(|entry| entry.stage == stage) {
        let over = match (verdict, &entry.before) {
            (Verdict::Commit, Node::File { .. } | Node::Link { .. }) => {
                let is_home = |name: BString| Node::at(ground.disk(), own, name.as_ref());
                is_home(entry.new_slot())? == entry.before || is_home(entry.old_slot())? == entry.before
            }
            (Verdict::Commit, _) => true,
            _ => ground.node(&entry.path)? == entry.before,
        };
        if !over {
            return Ok(false);
        }
    }
    Ok(true)
}

/// A journal that cannot be trusted is moved aside with everything beside it: it may be somebody's only copy.
fn quarantine<D: Disk + Clone>(ground: Ground<'_, D>, id: OperationId, why: &str) -> TransactionError {
    let store = ground.store;
    let aside = || -> io::Result<()> {
        let folder = store.folder("quarantine".into())?;
        let (name, to): (_, &BStr) = (Store::<D>::running_name(&id), id.as_str().into());
        ground.disk().rename((&store.dir, name.as_ref()), (&folder, to), Rename::NoReplace)
    };
    match aside() {
        Ok(()) => {
            let kept = store.path.join("quarantine").join(id.as_str());
            TransactionError::BadJournal { id, why: why.to_owned(), kept }
        }
        Err(e) => TransactionError::io("move aside the damaged journal of", &id)(e),
    }
}
