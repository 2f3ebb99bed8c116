//! The operations of a work tree, which of them are undone, and which one `undo` and `redo` mean.

use super::{About, Command, Deltas, HistoryError};
use crate::disk::{Disk, Folders, Kind, Node};
use crate::edit::{Hash, RelPath};
use crate::git::{Recorded, recorded_in};
use crate::transaction::{Change, Operation, OperationId, Store, TransactionError};
use std::collections::BTreeSet;
use std::io;

/// One operation with what is known of it.
#[derive(Debug)]
pub struct Past<D: Disk> {
    /// The operation.
    pub operation: Operation<D>,
    /// What it was.
    pub about: About,
    /// The commit that it made.
    pub recorded: Option<Recorded>,
    /// Its paths that no later operation has taken back.
    left: BTreeSet<RelPath>,
}

/// How much of an operation is undone.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Undone {
    /// Nothing.
    No,
    /// Some paths.
    Partly,
    /// All of it.
    Yes,
}

impl Undone {
    /// The word of the log.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::No => "no",
            Self::Partly => "partly",
            Self::Yes => "yes",
        }
    }
}

impl<D: Disk> Past<D> {
    /// Its id.
    pub fn id(&self) -> &OperationId {
        self.operation.id()
    }

    /// How much of it is undone.
    pub fn undone(&self) -> Undone {
        match self.left.len() {
            0 => Undone::Yes,
            n if n == self.operation.changes().len() => Undone::No,
            _ => Undone::Partly,
        }
    }

    /// Whether a path of it is still to be undone.
    pub(super) fn has_left(&self, path: &RelPath) -> bool {
        self.left.contains(path)
    }
}

/// A path before and after an operation: bytes of a file, target of a link, nothing for anything else.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Versions {
    /// Before it.
    pub old: Option<Vec<u8>>,
    /// After it.
    pub new: Option<Vec<u8>>,
}

/// All operations in an undo store.
#[derive(Debug)]
pub struct Log<D: Disk> {
    /// Oldest first.
    past: Vec<Past<D>>,
}

impl<D: Disk + Clone> Log<D> {
    /// Reads the undo store. An operation that cannot be read is left out.
    ///
    /// # Errors
    /// An undo store that cannot be read.
    pub fn read(store: &Store<D>) -> Result<Self, HistoryError> {
        let ids = store.finished().map_err(HistoryError::io("list the operations"))?;
        let mut past = Vec::with_capacity(ids.len());
        for id in ids {
            let failed = || HistoryError::io(format!("read the operation {id}"));
            let Some(operation) = store.operation(&id).map_err(failed())? else { continue };
            let about = operation.about().map_err(failed())?;
            let record = operation.record().map_err(failed())?;
            past.push(Past {
                left: operation.changes().iter().map(|change| change.path.clone()).collect(),
                about: about.map(|bytes| About::from_bytes(&bytes)).unwrap_or_default(),
                recorded: record.and_then(|bytes| recorded_in(&bytes)),
                operation,
            });
        }
        let mut log = Self { past };
        log.cross_out();
        Ok(log)
    }

    /// What an operation took back is not left of the other, unless it was taken back itself. Later ones first: only
    /// they can have changed that.
    fn cross_out(&mut self) {
        for at in (0..self.past.len()).rev() {
            let (earlier, later) = self.past.split_at_mut(at);
            let undoing = &later[0];
            let undone = undoing.about.undoes.as_ref();
            if let Some(undone) = undone.and_then(|id| earlier.iter_mut().find(|past| past.id() == id)) {
                undone.left.retain(|path| !undoing.left.contains(path));
            }
        }
    }
}

impl<D: Disk> Log<D> {
    /// All operations, newest first.
    pub fn newest_first(&self) -> impl Iterator<Item = &Past<D>> {
        self.past.iter().rev()
    }

    /// The operation with the id `text`, or the only one whose id begins so.
    ///
    /// # Errors
    /// None, or more than one.
    pub fn find(&self, text: &str) -> Result<&Past<D>, HistoryError> {
        let starts = |past: &&Past<D>| !text.is_empty() && past.id().as_str().starts_with(text);
        let mut found = self.past.iter().filter(starts);
        match (found.next(), found.count()) {
            (Some(past), 0) => Ok(past),
            (Some(_), more) => Err(HistoryError::ManyOperations { text: text.to_owned(), count: more + 1 }),
            (None, _) => Err(HistoryError::NoOperation(text.to_owned())),
        }
    }

    /// A path before and after an operation: from the undo store, where a later operation
    /// may have put the new version, or from the tree, where it still stands. Nothing where one is not known any more.
    ///
    /// # Errors
    /// A tree or an undo store that cannot be read.
    pub fn versions(
        &self,
        folders: &Folders<D>,
        past: &Past<D>,
        change: &Change,
    ) -> Result<Option<Versions>, HistoryError> {
        let path = &change.path;
        let Some(old) = known(past.operation.old_bytes(path))? else { return Ok(None) };
        let new = match &change.after {
            Node::File { hash, .. } => {
                let found = self.kept_later(past, change)?.or(standing(folders, change)?);
                found.or_else(|| told(past, change, old.as_deref()).filter(|new| Hash::of(new) == *hash))
            }
            Node::Link { target } => Some(target.to_vec()),
            _ => return Ok(Some(Versions { old, new: None })),
        };
        Ok(new.map(|new| Versions { old, new: Some(new) }))
    }

    /// The version that `past` made of a path, where a later operation has replaced it.
    pub(super) fn kept_later(
        &self,
        past: &Past<D>,
        change: &Change,
    ) -> Result<Option<Vec<u8>>, HistoryError> {
        let later = self.newest_first().take_while(|other| other.id() != past.id());
        for other in later {
            let took =
                other.operation.changes().iter().any(|c| c.path == change.path && c.before == change.after);
            if took && let Some(Some(bytes)) = known(other.operation.old_bytes(&change.path))? {
                return Ok(Some(bytes));
            }
        }
        Ok(None)
    }

    /// The newest operation that is not undone and takes back no other.
    ///
    /// # Errors
    /// There is none.
    pub fn to_undo(&self) -> Result<&Past<D>, HistoryError> {
        let fits = |past: &&Past<D>| past.about.command == Command::Apply && past.undone() != Undone::Yes;
        self.newest_first().find(fits).ok_or(HistoryError::NothingToUndo)
    }

    /// The newest undo that is not taken back, where only undos and redos have followed it.
    ///
    /// # Errors
    /// There is none.
    pub fn to_redo(&self) -> Result<&Past<D>, HistoryError> {
        let mut after_the_batch = self.newest_first().take_while(|past| past.about.command != Command::Apply);
        let fits = |past: &&Past<D>| past.about.command == Command::Undo && past.undone() != Undone::Yes;
        after_the_batch.find(fits).ok_or(HistoryError::NothingToRedo)
    }
}

/// What is not in the store any more is no error here.
fn known<T>(found: Result<T, TransactionError>) -> Result<Option<T>, HistoryError> {
    match found {
        Ok(found) => Ok(Some(found)),
        Err(TransactionError::NoOldVersion { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// The new version as the operation has noted it down.
fn told<D: Disk>(past: &Past<D>, change: &Change, old: Option<&[u8]>) -> Option<Vec<u8>> {
    let deltas = past.operation.deltas().ok()??;
    Deltas::from_bytes(&deltas).new_version(&change.path, old.unwrap_or_default())
}

/// The file in the tree, where it is the one that the change made.
fn standing<D: Disk>(folders: &Folders<D>, change: &Change) -> Result<Option<Vec<u8>>, HistoryError> {
    let (path, disk) = (&change.path, folders.disk());
    let read = || -> io::Result<Option<Vec<u8>>> {
        let dir = folders.parent(path)?;
        let is_file = disk.stat(&dir, path.name())?.is_some_and(|stat| stat.kind == Kind::File);
        let bytes = if is_file { Some(disk.read(&dir, path.name())?.0) } else { None };
        Ok(bytes.filter(|bytes| change.after.hash() == Some(Hash::of(bytes))))
    };
    match read() {
        Err(e) if matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Ok(None),
        read => read.map_err(HistoryError::io(format!("read {path}"))),
    }
}
