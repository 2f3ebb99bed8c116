//! Staging: every new object is written beside the tree before any path of it is touched.

use super::entry::{Entry, Folder};
use super::ground::{Ground, Room, Stages, clear_own, clear_tree_stages};
use super::journal::Journal;
use super::prelink::prelink;
use super::store::{Store, make_folder};
use super::swap::{Prepared, Times};
use super::sync::{Durability, before_swap};
use super::{Failure, Operation, OperationId, TransactionError, TreeState};
use crate::disk::{Disk, Like, Modified, Node};
use crate::edit::{Pieces, RelPath};
use crate::plan::{Metadata, Resolved, Sink, SinkFull};
use bstr::{BStr, BString, ByteSlice};
use std::collections::BTreeSet;
use std::io;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

/// The name of an empty file: the swap may have begun. Without it a journal that is not whole means that it has not.
pub(super) const SEALED: &str = "sealed";
/// The name of the journal in a transaction's folder.
pub(super) const JOURNAL: &str = "journal";
/// The name of the file with what the journal does not say.
pub(super) const ABOUT: &str = "about";

/// The name of the file with what the operation puts in the place of old texts.
pub(super) const DELTAS: &str = "deltas";

/// A transaction that takes files and has touched no path of the tree. Dropping it throws the staged files away.
#[must_use = "nothing is swapped before the stage is sealed"]
pub struct Staging<'a, D: Disk + Clone> {
    ground: Ground<'a, D>,
    id: OperationId,
    own: D::Dir,
    stages: Option<Stages<'a, D>>,
    entries: Mutex<Vec<Entry>>,
    slots: AtomicU32,
    failure: Mutex<Option<TransactionError>>,
    durability: Durability,
    /// Files of our own that are to be as safe as what is staged.
    papers: Vec<&'static str>,
    /// The operation that is taken back.
    reverses: Option<&'a Operation<D>>,
}

impl<'a, D: Disk + Clone> Staging<'a, D> {
    /// Makes the staging folder. The caller holds the lock.
    ///
    /// # Errors
    /// Nothing is left behind.
    pub fn begin(ground: Ground<'a, D>, durability: Durability) -> Result<Self, TransactionError> {
        let id = OperationId::now();
        let name = Store::<D>::running_name(&id);
        let begin = || -> io::Result<(D::Dir, Stages<'a, D>)> {
            let own = make_folder(ground.disk(), &ground.store.dir, name.as_ref())?;
            Ok((own.clone(), Stages::new(ground, id.clone(), own)?))
        };
        let (own, stages) =
            begin().map_err(TransactionError::io("make a staging folder in", ground.store.path.display()))?;
        Ok(Self {
            ground,
            id,
            own,
            stages: Some(stages),
            entries: Mutex::default(),
            slots: AtomicU32::new(0),
            failure: Mutex::default(),
            durability,
            papers: Vec::new(),
            reverses: None,
        })
    }

    /// Begins a transaction that takes back paths of `operation`: folders that it removed come back with their
    /// permissions, and only folders that it made go when they are emptied.
    ///
    /// # Errors
    /// As [`begin`](Self::begin).
    pub fn reversing(
        ground: Ground<'a, D>,
        durability: Durability,
        operation: &'a Operation<D>,
    ) -> Result<Self, TransactionError> {
        let mut staging = Self::begin(ground, durability)?;
        staging.reverses = Some(operation);
        Ok(staging)
    }

    /// Lets new objects wait in `room`; to be called before the first is put.
    pub fn waiting_in(mut self, room: Room) -> Self {
        self.stages = self.stages.take().map(|stages| stages.in_room(room));
        self
    }

    /// Keeps `about` beside the journal: whatever the caller wants to know of the operation later.
    ///
    /// # Errors
    /// The transaction cannot go on.
    pub fn describe(&mut self, about: &[u8]) -> Result<(), TransactionError> {
        let written = self.ground.disk().create(&self.own, ABOUT.into(), about, 0o600);
        self.papers.push(ABOUT);
        written.map_err(TransactionError::io("describe the operation", &self.id))
    }

    /// Keeps `deltas` beside the journal, without a sync: whoever reads them later must be able to do without.
    ///
    /// # Errors
    /// The transaction cannot go on.
    pub fn note_deltas(&self, deltas: &[u8]) -> Result<(), TransactionError> {
        let written = self.ground.disk().create(&self.own, DELTAS.into(), deltas, 0o600);
        written.map(drop).map_err(TransactionError::io("describe the operation", &self.id))
    }

    /// The id of the operation.
    pub fn id(&self) -> &OperationId {
        &self.id
    }

    /// Ends the transaction because of what [`Sink::put`] met.
    pub fn into_failure(mut self) -> Failure {
        let met = self.failure.lock().unwrap_or_else(PoisonError::into_inner).take();
        let cause = met.unwrap_or_else(|| {
            TransactionError::io("stage", "the batch")(io::Error::other("no cause is known"))
        });
        self.fail(cause)
    }

    fn fail(&mut self, cause: TransactionError) -> Failure {
        let thrown = match self.stages.take() {
            Some(_) => throw_away(self.ground, &self.id, &self.own),
            None => Ok(()),
        };
        Failure::clean(cause, TreeState::RolledBack).cleared(thrown)
    }

    /// Writes the journal and waits until all of it is safe. From here on a crash can be recovered from.
    ///
    /// # Errors
    /// No path of the tree has been touched.
    pub fn seal(mut self) -> Result<Prepared<'a, D>, Failure> {
        let prepared = self.write_journal().map_err(|cause| self.fail(cause))?;
        match self.sync(&prepared) {
            Ok(()) => Ok(prepared),
            Err(cause) => Err(Failure::clean(cause, TreeState::RolledBack).cleared(prepared.discard())),
        }
    }

    /// Waits until the journal and all that it names is safe, and says so.
    fn sync(&self, prepared: &Prepared<'a, D>) -> Result<(), TransactionError> {
        let disk = self.ground.disk();
        before_swap(disk, &self.ground.store.dir, prepared, &self.papers)
            .map_err(TransactionError::io("sync the staged files of", &self.id))?;
        // Needs no sync of its own: after a barrier the journal is whole, and then nobody asks for it.
        disk.create(&self.own, SEALED.into(), b"", 0o600)
            .map_err(TransactionError::io("seal the journal of", &self.id))
    }

    fn write_journal(&mut self) -> Result<Prepared<'a, D>, TransactionError> {
        let mut entries = std::mem::take(&mut *self.entries.lock().unwrap_or_else(PoisonError::into_inner));
        entries.sort_by(|a, b| a.path.cmp(&b.path));
        let stages = self.stages.as_ref().map(|s| s.open()).unwrap_or_default();
        let places = stages.iter().map(|stage| stage.place.clone()).collect();
        let folders = folders_to_make(self.ground, &entries)?;
        let folders = folders.into_iter().map(|path| self.as_it_was(path)).collect::<Vec<_>>();
        let emptied = self.folders_to_go(&entries)?;
        prelink(self.ground, &stages, &mut entries, &folders, self.durability)?;
        let disk = self.ground.disk();
        let journal = Journal {
            id: self.id.clone(),
            created: disk.now(),
            boot: disk.boot(),
            head: self.ground.head.into(),
            stages: places,
            entries,
            folders,
            emptied,
        };
        let bytes = journal.encode();
        disk.create(&self.own, JOURNAL.into(), &bytes, 0o600)
            .map_err(TransactionError::io("write the journal of", &self.id))?;
        self.papers.push(JOURNAL);
        // From here on the folder belongs to the journal: dropping `self` must not clear it.
        self.stages = None;
        let mut prepared =
            Prepared::new(self.ground, self.own.clone(), stages, journal, bytes, self.durability);
        if self.reverses.is_some() {
            prepared.times = Times::AsStaged;
        }
        Ok(prepared)
    }

    /// A folder to make, with the permissions it had before the operation that removed it.
    fn as_it_was(&self, path: RelPath) -> Folder {
        let before = self.reverses.and_then(|operation| operation.removed(&path));
        Folder { mode: before.and_then(|folder| folder.mode), path }
    }

    /// Folders above the files that go, as they are now.
    fn folders_to_go(&self, entries: &[Entry]) -> Result<Vec<Folder>, TransactionError> {
        let mut found = BTreeSet::new();
        for entry in entries.iter().filter(|e| e.after.is_absent()) {
            let mut above = entry.path.parent();
            while let Some(folder) = above.filter(|f| !f.is_root() && !found.contains(f)) {
                above = folder.parent();
                found.insert(folder);
            }
        }
        let may_go = |path: &RelPath| self.reverses.is_none_or(|operation| operation.made(path));
        let look = |path: RelPath| -> io::Result<Folder> {
            let stat = match self.ground.folders.parent(&path) {
                Ok(dir) => self.ground.disk().stat(&dir, path.name())?,
                // Moved away: the check before the swap says so in better words.
                Err(e) if matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => None,
                Err(e) => return Err(e),
            };
            Ok(Folder { mode: stat.map(|stat| stat.mode), path })
        };
        let found = found.into_iter().filter(may_go);
        found.map(|path| look(path.clone()).map_err(TransactionError::io("look at", path))).collect()
    }

    /// Stages the return of an old object of the reversed operation: `file.new` are its bytes, its permissions, owner
    /// and attributes are taken from the undo store.
    ///
    /// # Errors
    /// The transaction cannot go on.
    pub fn put_back(&self, file: &Resolved) -> Result<(), TransactionError> {
        let like = match (&file.after, self.reverses) {
            (Node::File { .. }, Some(operation)) => Some(operation.old_object(&file.path)?),
            _ => None,
        };
        let entry = self.stage(file, like.clone())?;
        if let Some((dir, name)) = like {
            self.date_back(&entry, (&dir, name.as_ref()))
                .map_err(TransactionError::io("set the old time of", &entry.path))?;
        }
        self.entries.lock().unwrap_or_else(PoisonError::into_inner).push(entry);
        Ok(())
    }

    /// What comes back was last modified when the old object was.
    fn date_back(&self, entry: &Entry, (dir, name): (&D::Dir, &BStr)) -> io::Result<()> {
        let disk = self.ground.disk();
        let Some(old) = disk.stat(dir, name)? else { return Ok(()) };
        let stages = self.stages.as_ref().expect("taken by `seal`, which consumes the stage");
        let (_, stage) = stages.stage_for(&entry.path)?;
        disk.set_modified(&stage, entry.new_slot().as_ref(), Modified::At(old.stamp.modified))
    }

    /// The object whose permissions, owner and attributes the new file takes over.
    fn like(&self, file: &Resolved) -> Result<Option<(D::Dir, BString)>, TransactionError> {
        let Metadata::Of(from) = &file.metadata else { return Ok(None) };
        let dir = self.ground.folders.parent(from).map_err(TransactionError::io("stage", &file.path))?;
        Ok(Some((dir, from.name().to_owned())))
    }

    fn stage(&self, file: &Resolved, like: Option<(D::Dir, BString)>) -> Result<Entry, TransactionError> {
        let (disk, path) = (self.ground.disk(), &file.path);
        let slot = self.slots.fetch_add(1, Ordering::Relaxed);
        let stages = self.stages.as_ref().expect("taken by `seal`, which consumes the stage");
        let (stage, dir) = stages.stage_for(path).map_err(TransactionError::io("find the mount of", path))?;
        let mut entry = Entry {
            path: path.clone(),
            before: file.before.clone(),
            after: file.after.clone(),
            seen: file.seen,
            stage,
            slot,
            inode: 0,
        };
        let name = entry.new_slot();
        let write = || -> io::Result<(Node, u64)> {
            match &file.after {
                Node::File { hash, mode, size } => {
                    let none = Pieces::default();
                    let bytes = file.new.as_ref().unwrap_or(&none);
                    let to = (&dir, name.as_ref());
                    let made = match (&like, &file.metadata) {
                        (Some((source, name)), _) => {
                            disk.create_like(to, bytes, Like::File(source, name.as_bstr()), *mode)?
                        }
                        (None, Metadata::Owner(_, owner)) => {
                            disk.create_like(to, bytes, Like::Owner(*owner), *mode)?
                        }
                        (None, _) => disk.create_as_in(to, bytes, *mode | 0o600, &stages.home(path)?)?,
                    };
                    Ok((Node::File { hash: *hash, mode: made.mode, size: *size }, made.inode))
                }
                Node::Link { target } => {
                    disk.create_link(&dir, name.as_ref(), target.as_ref())?;
                    let stat = disk.stat(&dir, name.as_ref())?;
                    Ok((file.after.clone(), stat.map_or(0, |stat| stat.stamp.file.1)))
                }
                other => Ok((other.clone(), 0)),
            }
        };
        (entry.after, entry.inode) = write().map_err(TransactionError::io("stage", path))?;
        Ok(entry)
    }
}

impl<D: Disk + Clone> Sink for Staging<'_, D> {
    fn put(&self, file: &Resolved) -> Result<(), SinkFull> {
        match self.like(file).and_then(|like| self.stage(file, like)) {
            Ok(entry) => {
                self.entries.lock().unwrap_or_else(PoisonError::into_inner).push(entry);
                Ok(())
            }
            Err(error) => {
                self.failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                Err(SinkFull)
            }
        }
    }
}

impl<D: Disk + Clone> Drop for Staging<'_, D> {
    fn drop(&mut self) {
        if self.stages.take().is_some() {
            // Nobody asks any more; the next run tries again.
            let _ = throw_away(self.ground, &self.id, &self.own);
        }
    }
}

/// Removes what a transaction has staged that has touched nothing, or that is undone. What cannot be removed from the
/// state directory now is removed by the next run's recovery, which finds no journal there.
///
/// # Errors
/// A staging folder stays in the tree until then.
pub(super) fn throw_away<D: Disk + Clone>(
    ground: Ground<'_, D>,
    id: &OperationId,
    own: &D::Dir,
) -> Result<(), TransactionError> {
    // The journal goes first: without it the slots are known to be ours alone.
    let _ = ground.disk().remove(own, JOURNAL.into());
    clear_tree_stages(ground, id, own).map_err(TransactionError::io("remove the staged files of", id))?;
    let _ = clear_own(ground, id, own);
    Ok(())
}

/// Folders to be, and parents of new paths, that are not there yet, shallow first; a path that the batch frees counts
/// as not there.
fn folders_to_make<D: Disk + Clone>(
    ground: Ground<'_, D>,
    entries: &[Entry],
) -> Result<Vec<RelPath>, TransactionError> {
    let mut missing: BTreeSet<RelPath> = BTreeSet::new();
    let mut there: BTreeSet<RelPath> = BTreeSet::new();
    missing.extend(entries.iter().filter(|e| e.after == Node::Directory).map(|e| e.path.clone()));
    for entry in entries.iter().filter(|e| e.before.is_absent()) {
        let mut above = entry.path.parent();
        while let Some(folder) = above.filter(|f| !f.is_root() && !missing.contains(f) && !there.contains(f))
        {
            let node = ground.node(&folder).map_err(TransactionError::io("look at", &folder))?;
            above = folder.parent();
            if node == Node::Directory {
                there.insert(folder);
            } else {
                missing.insert(folder);
            }
        }
    }
    Ok(missing.into_iter().collect())
}
