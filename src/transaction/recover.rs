//! Recovery: what a run that was killed has left is finished or undone before anything else happens.
//!
//! It looks before it leaps: where somebody may have gone on since, it decides nothing by itself, but lets a person say
//! `back` or `forward` ([`Doubt`]). What can be known soundly:
//!
//! - Where the caller's history stood is in the journal.
//! - A path is as before, as after, or on the way between; any other content is somebody's.
//! - A path that is as after holds the very object that was staged, by its inode number, which is in the journal. It is
//!   asked for only where such numbers last: within one start of the system, or on a file system that keeps them.
//!
//! A file that somebody wrote in place, with just the bytes of the batch, is not told from ours: undoing it loses
//! nothing that is not in the batch. Times decide nothing: the new object gets its own when it takes its place, and
//! recovery that dies half-way changes others.

use super::entry::{Entry, Method, StagePlace};
use super::error::Kept;
use super::finish::finish;
use super::ground::{Ground, Stage, clear_own, clear_tree_stages, open_stage, stage_of};
use super::journal::{Journal, Verdict};
use super::participant::{Landed, Participant, ParticipantError, Unrecorded};
use super::stage::{JOURNAL, SEALED, throw_away};
use super::store::Store;
use super::swap::{Prepared, Taken};
use super::sync::{Durability, after_undo};
use super::undo::{Strangers, undo};
use super::{OperationId, TransactionError};
use crate::disk::{Disk, Medium, Node, Rename, Stat};
use crate::edit::RelPath;
use bstr::{BStr, BString};
use std::fmt;
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
    /// Undo what has not committed, unless somebody may have gone on since.
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
    /// When its journal was written, or else when it began, in UTC: `2026-11-30T15:04:05Z`.
    pub since: String,
    /// What recovery would do.
    pub outcome: RecoveryOutcome,
    /// With any of these recovery asks for a decision.
    pub doubts: Vec<Doubt>,
}

/// Why recovery does not decide by itself.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Doubt {
    /// The history that the tree belongs to has moved.
    HeadMoved,
    /// The path is neither as before nor as after.
    Changed(RelPath),
    /// The path is as after, but another file stands there than the one that was staged.
    Replaced(RelPath),
}

impl Doubt {
    /// The path it is about.
    pub fn path(&self) -> Option<&RelPath> {
        match self {
            Self::HeadMoved => None,
            Self::Changed(path) | Self::Replaced(path) => Some(path),
        }
    }
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::HeadMoved => write!(f, "HEAD has moved since"),
            Self::Changed(path) => write!(f, "{path} is neither as before nor as after it"),
            Self::Replaced(path) => write!(f, "{path} was written again since"),
        }
    }
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
        let began = has_begun(ground, &own).map_err(TransactionError::io("look at the journal of", &id))?;
        let since = match &read {
            Some(Ok((journal, _))) => OperationId::time_of(journal.created),
            _ => id.time(),
        };
        let (outcome, doubts) = match read {
            None => (RecoveryOutcome::Discarded, Vec::new()),
            Some(Ok((_, Verdict::Commit))) => (RecoveryOutcome::Finished, Vec::new()),
            Some(Ok((journal, _))) => {
                let found = stages_of(ground, &own, &journal, &Verdict::Abort)
                    .and_then(|stages| doubts(ground, &stages, &journal));
                let found = found.map_err(TransactionError::io("look at the paths of", &id))?;
                (RecoveryOutcome::RolledBack, found)
            }
            Some(Err(_)) if !began => (RecoveryOutcome::Discarded, Vec::new()),
            Some(Err(_)) => (RecoveryOutcome::RolledBack, Vec::new()),
        };
        Ok(Pending { id, since, outcome, doubts })
    };
    running.into_iter().map(look).collect()
}

fn open_own<D: Disk + Clone>(ground: Ground<'_, D>, id: &OperationId) -> Result<D::Dir, TransactionError> {
    ground
        .store
        .folder(Store::<D>::running_name(id).as_ref())
        .map_err(TransactionError::io("open the folder of the interrupted operation", id))
}

/// Whether the swap may have begun, if the journal does not tell.
fn has_begun<D: Disk + Clone>(ground: Ground<'_, D>, own: &D::Dir) -> io::Result<bool> {
    Ok(ground.disk().stat(own, SEALED.into())?.is_some())
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
    let read = bytes.as_deref().map(Journal::decode);
    let began = has_begun(ground, &own).map_err(TransactionError::io("look at the journal of", &id))?;
    let (bytes, journal, verdict) = match (bytes, read) {
        (Some(bytes), Some(Ok((journal, verdict)))) => (bytes, journal, verdict),
        (Some(_), Some(Err(why))) if began => return Err(quarantine(ground, id, &why.to_string())),
        _ => {
            discard(ground, &id, &own).map_err(TransactionError::io("remove the staged files of", &id))?;
            give_up(participant, &id);
            return Ok(Recovered {
                id,
                outcome: RecoveryOutcome::Discarded,
                kept: Vec::new(),
                unrecorded: None,
            });
        }
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
        let mut doubts =
            doubts(ground, &stages, &journal).map_err(TransactionError::io("look at the paths of", &id))?;
        if decide == Decide::Forward {
            // The person has decided; but nobody can complete what is neither.
            doubts.retain(|doubt| matches!(doubt, Doubt::Changed(_)));
        }
        if !doubts.is_empty() {
            return Err(TransactionError::Undecided { id, doubts });
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

/// Whatever tells that somebody has gone on since the operation was interrupted.
fn doubts<D: Disk + Clone>(
    ground: Ground<'_, D>,
    stages: &[Stage<D>],
    journal: &Journal,
) -> io::Result<Vec<Doubt>> {
    let mut found: Vec<Doubt> =
        (journal.head != ground.head).then_some(Doubt::HeadMoved).into_iter().collect();
    let numbers_last = numbers_last(ground, journal)?;
    for entry in &journal.entries {
        let now = ground.node(&entry.path)?;
        if now == entry.after {
            if numbers_last && is_replaced(ground, stages, entry)? {
                found.push(Doubt::Replaced(entry.path.clone()));
            }
        } else if now != entry.before
            && !on_the_way(ground, stages, journal, entry, &now)?
            && !is_other_spelling(ground, entry)?
        {
            found.push(Doubt::Changed(entry.path.clone()));
        }
    }
    Ok(found)
}

/// Whether the path is as before or as after, and what was found stands there under another spelling.
fn is_other_spelling<D: Disk + Clone>(ground: Ground<'_, D>, entry: &Entry) -> io::Result<bool> {
    let spelled = ground.node_as_spelled(&entry.path)?;
    Ok(spelled.is_absent() && (entry.before.is_absent() || entry.after.is_absent()))
}

/// Whether inode numbers of the journal still mean the same objects.
fn numbers_last<D: Disk + Clone>(ground: Ground<'_, D>, journal: &Journal) -> io::Result<bool> {
    let boot = ground.disk().boot();
    if boot == journal.boot && boot != [0; 16] {
        return Ok(true);
    }
    Ok(ground.disk().medium(ground.folders.root())? != Medium::Fragile)
}

/// Whether another object stands at a path that is as after than the one that was staged for it.
fn is_replaced<D: Disk + Clone>(
    ground: Ground<'_, D>,
    stages: &[Stage<D>],
    entry: &Entry,
) -> io::Result<bool> {
    if entry.inode == 0 {
        return Ok(false);
    }
    let disk = ground.disk();
    let number = |stat: Option<Stat>| stat.map_or(0, |stat| stat.stamp.file.1);
    let dir = ground.folders.parent(&entry.path)?;
    let there = number(disk.stat(&dir, entry.path.name())?);
    // While the staged object waits, nothing at the path is ours, and nothing there is touched.
    Ok(there != entry.inode
        && number(disk.stat(stage_of(stages, entry), entry.new_slot().as_ref())?) != entry.inode)
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
