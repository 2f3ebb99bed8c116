//! The swap: staged objects take their places, old ones go to the slots; then the commit point.

use super::each::each;
use super::entry::{Entry, Method};
use super::finish::{Finished, finish};
use super::ground::{Ground, Stage, holds_no_file, stage_of};
use super::journal::{Journal, Verdict, record};
use super::participant::{Change, Landed, Participant, Staged};
use super::stage::{JOURNAL, throw_away};
use super::staged::content;
use super::sync::{Durability, after_swap, after_undo};
use super::undo::{Strangers, undo};
use super::{Failure, OperationId, TransactionError, TreeState};
use crate::disk::{Access, Disk, Modified, Node, Rename, Stamp, Stat};
use crate::edit::{Hash, RelPath};
use bstr::{BString, ByteSlice};
use std::collections::HashMap;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Asks a running swap to stop: holds the number of the signal that came, or 0.
pub type Stop = AtomicUsize;

/// So many entries are swapped before what came out of the tree is compared: several threads do that at once.
const CHUNK: usize = 256;

/// The file in which a participant's record waits for the commit point.
pub(super) const RECORD: &str = "record";

/// A sealed transaction: everything is staged and journaled, no path of the tree is touched.
#[must_use = "nothing is swapped yet"]
#[derive(Debug)]
pub struct Prepared<'a, D: Disk> {
    pub(super) ground: Ground<'a, D>,
    pub(super) own: D::Dir,
    pub(super) stages: Vec<Stage<D>>,
    pub(super) journal: Journal,
    bytes: Vec<u8>,
    pub(super) durability: Durability,
    /// What each captured object was when it was compared, by slot: whoever writes to it later had it open.
    taken: Mutex<Taken>,
    pub(super) times: Times,
}

/// When new objects were last modified, as others see it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Times {
    /// When they took their places: a build that began while they were staged must see them as newer.
    Swapped,
    /// As they were staged: old versions come back with their old times.
    AsStaged,
}

/// The state of captured objects, by slot number.
pub(super) type Taken = HashMap<u32, Stamp>;

impl<'a, D: Disk + Clone> Prepared<'a, D> {
    pub(super) fn new(
        ground: Ground<'a, D>,
        own: D::Dir,
        stages: Vec<Stage<D>>,
        journal: Journal,
        bytes: Vec<u8>,
        durability: Durability,
    ) -> Self {
        Self {
            ground,
            own,
            stages,
            journal,
            bytes,
            durability,
            taken: Mutex::default(),
            times: Times::Swapped,
        }
    }

    /// Throws the staged files away.
    ///
    /// # Errors
    /// Some stand in the tree and cannot be removed; the next run tries again.
    pub fn discard(self) -> Result<(), TransactionError> {
        throw_away(self.ground, &self.journal.id, &self.own)
    }

    /// Swaps every path. Each old object is checked after it has been taken: it must be the one that was planned for.
    ///
    /// # Errors
    /// Everything is back as it was, or the failure says that recovery is needed.
    pub fn swap(self, stop: &Stop) -> Result<Swapped<'a, D>, Failure> {
        if let Err(cause) = self.check(stop) {
            return Err(Failure::clean(cause, TreeState::Untouched).cleared(self.discard()));
        }
        match self.swap_all(stop) {
            Ok(()) => {
                let changes = Staged::changes(&self);
                Ok(Swapped { prepared: self, changes })
            }
            Err(cause) => Err(self.roll_back(cause, Strangers::Stay)),
        }
    }

    /// Whether every path is still as it was when it was read; cheap, since the swap checks again. Dates what is staged.
    fn check(&self, stop: &Stop) -> Result<(), TransactionError> {
        asked_to_stop(stop)?;
        each(&self.journal.entries, |entry| self.check_one(entry)).map(drop)
    }

    fn check_one(&self, entry: &Entry) -> Result<(), TransactionError> {
        let path = &entry.path;
        let stat = match self.ground.folders.parent(path) {
            Ok(dir) => self.ground.disk().stat(&dir, path.name()),
            Err(e) if matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Ok(None),
            Err(e) => Err(e),
        };
        let stat = stat.map_err(TransactionError::io("look at", path))?;
        let same = match (&entry.seen, stat) {
            (Some(seen), Some(stat)) => *seen == stat.stamp || self.is_before(entry)?,
            _ => self.is_before(entry)?,
        };
        if same { self.date(entry) } else { Err(TransactionError::ChangedDuring(path.clone())) }
    }

    fn is_before(&self, entry: &Entry) -> Result<bool, TransactionError> {
        let read = || TransactionError::io("read", &entry.path);
        if self.ground.node(&entry.path).map_err(read())? == entry.before {
            return Ok(true);
        }
        // A file that the batch moves to another spelling of its name.
        let other = entry.before.is_absent() && self.frees(&entry.path);
        Ok(other && self.ground.node_as_spelled(&entry.path).map_err(read())?.is_absent())
    }

    /// Whether the batch removes a path that differs from this one by its spelling alone.
    fn frees(&self, path: &RelPath) -> bool {
        let same = |other: &RelPath| other.to_string().to_lowercase() == path.to_string().to_lowercase();
        self.journal.entries.iter().any(|e| e.method() == Method::Delete && e.path != *path && same(&e.path))
    }

    /// Swaps the paths that are still as before; the others are as after already, or on the way.
    pub(super) fn swap_rest(&self) -> Result<(), TransactionError> {
        use Method::{Create, Delete, Replace, ReplaceFolder};
        self.ground.folders.forget();
        for method in [Replace, Delete, ReplaceFolder, Create] {
            if method == Create {
                self.make_folders()?;
            }
            for entry in self.journal.entries.iter().filter(|e| e.method() == method) {
                let now = self.ground.node(&entry.path).map_err(TransactionError::io("read", &entry.path))?;
                match method {
                    _ if now == entry.after => {}
                    Replace | ReplaceFolder if now.is_absent() => self.put_in_place(entry)?,
                    Replace | ReplaceFolder => {
                        self.date(entry)?;
                        self.replace(entry)?.map_or(Ok(()), |slot| self.compare(entry, &slot))?;
                    }
                    // Under another spelling the new file may stand there already.
                    Delete if now == entry.before && !self.is_taken(entry)? => {
                        let slot = self.take_away(entry)?;
                        self.compare(entry, &slot)?;
                    }
                    // A folder of ours stands where the file was.
                    Delete => {}
                    Create => {
                        self.date(entry)?;
                        self.put_in_place(entry)?;
                    }
                }
            }
        }
        after_swap(self.ground.disk(), self).map_err(TransactionError::io("sync", "the swapped files"))
    }

    /// The commit point of an operation that nobody joins.
    pub(super) fn commit_alone(self) -> Result<Committed<'a, D>, TransactionError> {
        let said = self.say(&Verdict::Commit);
        said.map_err(TransactionError::io("write COMMIT to the journal of", &self.journal.id))?;
        Ok(Committed { prepared: self })
    }

    fn swap_all(&self, stop: &Stop) -> Result<(), TransactionError> {
        use Method::{Create, Delete, Replace, ReplaceFolder};
        for method in [Replace, Delete, ReplaceFolder] {
            self.swap_by(method, stop)?;
        }
        self.make_folders()?;
        self.swap_by(Create, stop)?;
        after_swap(self.ground.disk(), self).map_err(TransactionError::io("sync", "the swapped files"))
    }

    fn swap_by(&self, method: Method, stop: &Stop) -> Result<(), TransactionError> {
        let entries: Vec<&Entry> = self.journal.entries.iter().filter(|e| e.method() == method).collect();
        let mut taken = Vec::new();
        for chunk in entries.chunks(CHUNK) {
            let swap = || self.swap_chunk(chunk, method, stop);
            // What came out of the tree is compared while the next ones are swapped.
            let (compared, next) = match taken.is_empty() {
                true => (Ok(()), swap()),
                false => rayon::join(|| self.compare_all(&taken), swap),
            };
            compared?;
            taken = next?;
        }
        self.compare_all(&taken)
    }

    /// Swaps some entries. Those whose old objects are still to be compared, with their slots.
    fn swap_chunk<'e>(
        &self,
        chunk: &[&'e Entry],
        method: Method,
        stop: &Stop,
    ) -> Result<Vec<(&'e Entry, BString)>, TransactionError> {
        let mut taken = Vec::with_capacity(chunk.len());
        for &entry in chunk {
            asked_to_stop(stop)?;
            let slot = match method {
                Method::Replace | Method::ReplaceFolder => self.replace(entry)?,
                Method::Delete => Some(self.take_away(entry)?),
                Method::Create => self.put_in_place(entry).map(|()| None)?,
            };
            taken.extend(slot.map(|slot| (entry, slot)));
        }
        Ok(taken)
    }

    fn compare_all(&self, taken: &[(&Entry, BString)]) -> Result<(), TransactionError> {
        each(taken, |(entry, slot)| self.compare(entry, slot)).map(drop)
    }

    fn make_folders(&self) -> Result<(), TransactionError> {
        for folder in &self.journal.folders {
            let make = || -> io::Result<()> {
                // A path that was freed may be cached as what it was.
                self.ground.folders.forget();
                let (disk, name) = (self.ground.disk(), folder.path.name());
                let dir = self.ground.folders.parent(&folder.path)?;
                disk.create_dir(&dir, name, Access::Shared)?;
                folder.mode.map_or(Ok(()), |mode| disk.set_mode(&dir, name, mode))
            };
            match make() {
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
                done => done.map_err(TransactionError::io("make the folder", &folder.path))?,
            }
        }
        Ok(())
    }

    /// Puts the new object in the place of the old one. The slot of the old one, where it is still to be compared.
    fn replace(&self, entry: &Entry) -> Result<Option<BString>, TransactionError> {
        let (disk, path, stage) = (self.ground.disk(), &entry.path, stage_of(&self.stages, entry));
        let dir = self.ground.folders.parent(path).map_err(|e| moved(entry, "swap in", e))?;
        let (new, place) = (entry.new_slot(), path.name());
        match disk.rename((stage, new.as_ref()), (&dir, place), Rename::Exchange) {
            Ok(()) => Ok(Some(new)),
            // No such thing on this file system: the path is absent for a moment.
            Err(e) if e.kind() == io::ErrorKind::Unsupported => {
                let slot = self.take_away(entry)?;
                self.compare(entry, &slot)?;
                if entry.before == Node::Directory && self.durability.syncs() {
                    // A folder cannot have a second name: it must be safe in its slot before its place is taken.
                    let both = disk.sync_dir(stage).and_then(|()| disk.sync_dir(&dir));
                    both.map_err(TransactionError::io("sync the folder of", path))?;
                }
                self.put_in_place(entry).map(|()| None)
            }
            Err(e) => Err(moved(entry, "swap in", e)),
        }
    }

    /// Moves the old object to its slot, which is returned.
    fn take_away(&self, entry: &Entry) -> Result<BString, TransactionError> {
        let (stage, old) = (stage_of(&self.stages, entry), entry.old_slot());
        let dir = self.ground.folders.parent(&entry.path).map_err(|e| moved(entry, "remove", e))?;
        let from = (&dir, entry.path.name());
        let taken = self.ground.disk().rename(from, (stage, old.as_ref()), Rename::NoReplace);
        taken.map_err(|e| moved(entry, "remove", e))?;
        Ok(old)
    }

    fn is_taken(&self, entry: &Entry) -> Result<bool, TransactionError> {
        let stat = self.ground.disk().stat(stage_of(&self.stages, entry), entry.old_slot().as_ref());
        Ok(stat.map_err(TransactionError::io("look at the old version of", &entry.path))?.is_some())
    }

    fn put_in_place(&self, entry: &Entry) -> Result<(), TransactionError> {
        let (stage, new) = (stage_of(&self.stages, entry), entry.new_slot());
        let dir = self.ground.folders.parent(&entry.path).map_err(|e| moved(entry, "put in place", e))?;
        let to = (&dir, entry.path.name());
        let put = self.ground.disk().rename((stage, new.as_ref()), to, Rename::NoReplace);
        put.map_err(|e| moved(entry, "put in place", e))
    }

    /// Sets the time of what is staged for a path.
    fn date(&self, entry: &Entry) -> Result<(), TransactionError> {
        if self.times == Times::AsStaged || !entry.is_staged() {
            return Ok(());
        }
        let (stage, new) = (stage_of(&self.stages, entry), entry.new_slot());
        let dated = self.ground.disk().set_modified(stage, new.as_ref(), Modified::Now);
        dated.map_err(|e| moved(entry, "set the time of", e))
    }

    /// What came out of the tree must be what the plan saw there; a folder must hold no file any more.
    fn compare(&self, entry: &Entry, slot: &BString) -> Result<(), TransactionError> {
        let (disk, stage) = (self.ground.disk(), stage_of(&self.stages, entry));
        let look = || -> io::Result<bool> {
            let slot = slot.as_bstr();
            let as_file = |(hash, stat): (Hash, Stat)| {
                let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
                taken.insert(entry.slot, stat.stamp);
                Node::File { hash, mode: stat.mode, size: stat.size }
            };
            let found = match &entry.before {
                // One look where it is what it should be.
                Node::File { .. } => {
                    disk.hash(stage, slot).map(as_file).or_else(|_| Node::at(disk, stage, slot))?
                }
                _ => Node::at(disk, stage, slot)?,
            };
            if found != entry.before {
                return Ok(false);
            }
            if entry.before != Node::Directory {
                return Ok(true);
            }
            let inner = disk.open_dir(stage, &RelPath::new(slot).map_err(io::Error::other)?)?;
            holds_no_file(disk, &inner)
        };
        if look().map_err(TransactionError::io("read the old version of", &entry.path))? {
            Ok(())
        } else {
            Err(TransactionError::ChangedDuring(entry.path.clone()))
        }
    }

    pub(super) fn roll_back(self, cause: TransactionError, strangers: Strangers) -> Failure {
        let undone = undo(self.ground, &self.stages, &self.journal, strangers).and_then(|kept| {
            if self.durability.syncs() {
                after_undo(self.ground, &self.stages, &self.journal)
                    .map_err(TransactionError::io("sync", "the restored files"))?;
            }
            Ok(kept)
        });
        match undone {
            Ok(kept) => {
                Failure { cause, rollback: None, tree: TreeState::RolledBack, kept }.cleared(self.discard())
            }
            Err(e) => Failure {
                cause,
                rollback: Some(Box::new(e)),
                tree: TreeState::NeedsRecovery,
                kept: Vec::new(),
            },
        }
    }

    fn say(&self, verdict: &Verdict) -> io::Result<()> {
        let (at, sector) = record(&self.bytes, verdict);
        self.ground.disk().overwrite_synced(&self.own, JOURNAL.into(), at, &sector)
    }
}

fn asked_to_stop(stop: &Stop) -> Result<(), TransactionError> {
    match stop.load(Ordering::Relaxed) {
        0 => Ok(()),
        signal => Err(TransactionError::Interrupted(signal)),
    }
}

/// A path that appeared, vanished or became another kind is somebody else's doing.
fn moved(entry: &Entry, operation: &'static str, error: io::Error) -> TransactionError {
    use io::ErrorKind::{AlreadyExists, DirectoryNotEmpty, IsADirectory, NotADirectory, NotFound};
    match error.kind() {
        AlreadyExists | NotFound | NotADirectory | IsADirectory | DirectoryNotEmpty => {
            TransactionError::ChangedDuring(entry.path.clone())
        }
        _ => TransactionError::io(operation, &entry.path)(error),
    }
}

impl From<&Entry> for Change {
    fn from(entry: &Entry) -> Self {
        Self { path: entry.path.clone(), before: entry.before.clone(), after: entry.after.clone() }
    }
}

/// All paths are swapped and on the medium; the journal does not say COMMIT yet.
#[must_use = "without COMMIT the next run rolls it back"]
#[derive(Debug)]
pub struct Swapped<'a, D: Disk> {
    prepared: Prepared<'a, D>,
    changes: Vec<Change>,
}

impl<'a, D: Disk + Clone> Swapped<'a, D> {
    /// The commit point: the participant prepares, the journal says COMMIT.
    ///
    /// # Errors
    /// Everything is back as it was, or the failure says that recovery is needed.
    pub fn commit<P: Participant>(self, participant: Option<&mut P>) -> Result<Committed<'a, D>, Failure> {
        if let Some(participant) = participant {
            let recorded = participant.prepare(&self).map_err(TransactionError::from);
            if let Err(cause) = recorded.and_then(|bytes| self.keep_record(&bytes)) {
                participant.abort();
                return Err(self.prepared.roll_back(cause, Strangers::MoveAside));
            }
        }
        match self.prepared.say(&Verdict::Commit) {
            Ok(()) => Ok(Committed { prepared: self.prepared }),
            Err(e) => Err(self.commit_unknown(e)),
        }
    }

    /// The record is on the medium before COMMIT: a journal with COMMIT has a whole record.
    fn keep_record(&self, bytes: &[u8]) -> Result<(), TransactionError> {
        let (disk, own) = (self.prepared.ground.disk(), &self.prepared.own);
        let keep = || -> io::Result<()> {
            disk.create(own, RECORD.into(), bytes, 0o600)?;
            if !self.prepared.durability.syncs() {
                return Ok(());
            }
            // Everything, since the participant has written objects beside the record.
            match disk.sync_all(own) {
                Err(e) if e.kind() == io::ErrorKind::Unsupported => {
                    disk.sync_file(own, RECORD.into())?;
                    disk.sync_dir(own)
                }
                done => done,
            }
        };
        keep().map_err(TransactionError::io("write the record of", &self.prepared.journal.id))
    }

    /// Whether COMMIT is on the medium is unknown, and asking again may get a lie. Only an ABORT that is surely there
    /// allows to undo.
    fn commit_unknown(self, error: io::Error) -> Failure {
        let id = self.prepared.journal.id.clone();
        let cause = TransactionError::io("write COMMIT to the journal of", id)(error);
        match self.prepared.say(&Verdict::Abort) {
            Ok(()) => self.prepared.roll_back(cause, Strangers::Stay),
            Err(_) => Failure::clean(cause, TreeState::NeedsRecovery),
        }
    }
}

impl<D: Disk + Clone> Landed for Swapped<'_, D> {
    fn changes(&self) -> &[Change] {
        &self.changes
    }

    fn content(&self, change: &Change) -> io::Result<Vec<u8>> {
        let ground = self.prepared.ground;
        let dir = ground.folders.parent(&change.path)?;
        content(ground.disk(), &dir, change.path.name(), &change.after)
    }
}

/// The batch is in place and stays.
#[must_use = "the participant and the clean-up are still to come"]
#[derive(Debug)]
pub struct Committed<'a, D: Disk> {
    prepared: Prepared<'a, D>,
}

impl<D: Disk + Clone> Committed<'_, D> {
    /// The id of the operation.
    pub fn id(&self) -> &OperationId {
        &self.prepared.journal.id
    }

    /// Lets the participant finish, removes emptied folders and moves the old files to the undo store.
    ///
    /// Nothing that fails here takes the batch back; it is told.
    pub fn finish<P: Participant>(self, participant: Option<&mut P>) -> Finished {
        let Prepared { ground, own, stages, journal, taken, .. } = self.prepared;
        finish(
            ground,
            &own,
            &stages,
            (&journal, &taken.into_inner().unwrap_or_else(PoisonError::into_inner)),
            participant,
        )
    }
}
