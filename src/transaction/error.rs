//! What can go wrong in a transaction, and what state the tree is in then.

use super::{Doubt, OperationId, ParticipantError};
use crate::edit::{Code, RelPath};
use std::io;
use std::path::PathBuf;

/// A condition that ends a transaction.
#[derive(Debug, thiserror::Error)]
pub enum TransactionError {
    /// An operation of the file system failed.
    #[error("cannot {operation} {path}: {source}")]
    Io {
        /// What was tried: `stage`, `swap in`, …
        operation: &'static str,
        /// The path, as a person knows it.
        path: String,
        /// What the system said.
        source: io::Error,
    },
    /// Somebody else changed, made or removed a path since it was read.
    #[error("{0} was changed by somebody else during the run")]
    ChangedDuring(RelPath),
    /// Recording failed.
    #[error(transparent)]
    Participant(#[from] ParticipantError),
    /// An operation has passed its commit point, and its record cannot be made visible yet.
    #[error("the files of operation {id} are in place, but it is not recorded yet: {cause}")]
    Unrecorded {
        /// The operation.
        id: OperationId,
        /// What stands in the way.
        cause: ParticipantError,
    },
    /// A signal asked to stop.
    #[error("stopped by signal {0}")]
    Interrupted(usize),
    /// Another process holds the lock.
    #[error("another patchmany works on this tree (lock {})", .0.display())]
    Locked(PathBuf),
    /// A journal cannot be read; it was moved aside.
    #[error("the journal of {id} cannot be read ({why}); it was moved to {}", .kept.display())]
    BadJournal {
        /// The operation.
        id: OperationId,
        /// In words.
        why: String,
        /// Where it lies now.
        kept: PathBuf,
    },
    /// Since an operation was interrupted somebody has gone on: what becomes of it is for a person to say.
    #[error("the interrupted operation {id} needs a decision: {}", show(.doubts))]
    Undecided {
        /// The operation.
        id: OperationId,
        /// What speaks against ending it without one.
        doubts: Vec<Doubt>,
    },
    /// Somebody added to a path of the batch before it could be undone.
    #[error("somebody added to {0} after the batch had changed it")]
    AddedTo(RelPath),
    /// An old object of a finished operation is not in the undo store as it was.
    #[error("{path} cannot be brought back from operation {id}: {why}")]
    NoOldVersion {
        /// The operation.
        id: OperationId,
        /// The path.
        path: RelPath,
        /// In words.
        why: &'static str,
    },
    /// What stood at a path before is nowhere to be found.
    #[error("the old content of {0} is missing from the staging folder")]
    LostPreImage(RelPath),
}

fn show(doubts: &[Doubt]) -> String {
    const SHOWN: usize = 5;
    let mut said: Vec<_> = doubts.iter().take(SHOWN).map(ToString::to_string).collect();
    if doubts.len() > SHOWN {
        said.push(format!("and {} more", doubts.len() - SHOWN));
    }
    said.join("; ")
}

impl TransactionError {
    pub(super) fn io(operation: &'static str, path: impl ToString) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_string();
        move |source| Self::Io { operation, path, source }
    }

    /// The stable code.
    pub fn code(&self) -> Code {
        match self {
            Self::ChangedDuring(_) | Self::AddedTo(_) | Self::Undecided { .. } => Code::ChangedDuring,
            Self::Participant(_) => Code::Git,
            Self::Unrecorded { cause, .. } => cause.code,
            Self::Locked(_) => Code::Locked,
            Self::NoOldVersion { .. } => Code::Missing,
            Self::Io { .. } | Self::Interrupted(_) | Self::BadJournal { .. } | Self::LostPreImage(_) => {
                Code::Io
            }
        }
    }

    /// The path it is about, as a person knows it.
    pub fn path(&self) -> Option<String> {
        match self {
            Self::Io { path, .. } => Some(path.clone()),
            Self::ChangedDuring(path) | Self::AddedTo(path) | Self::LostPreImage(path) => {
                Some(path.to_string())
            }
            Self::NoOldVersion { path, .. } => Some(path.to_string()),
            Self::Undecided { doubts, .. } => doubts.iter().find_map(Doubt::path).map(ToString::to_string),
            _ => None,
        }
    }
}

/// What a move between the tree and a staging folder is called.
pub(super) const MOVES: [&str; 3] = ["swap in", "remove", "put in place"];

impl Failure {
    /// Whether the file system refused to move an object between the tree and the state directory, and everything is
    /// as before: with [`Room::Tree`](super::Room::Tree) the same batch may land.
    pub fn wants_room_in_tree(&self) -> bool {
        let refused = |source: &io::Error| {
            // EPERM is not the lack of a permission bit, which is EACCES.
            let is_eperm =
                source.kind() == io::ErrorKind::PermissionDenied && source.raw_os_error() == Some(1);
            is_eperm || source.kind() == io::ErrorKind::CrossesDevices
        };
        let moving = matches!(&self.cause, TransactionError::Io { operation, source, .. }
            if MOVES.contains(operation) && refused(source));
        moving && self.tree != TreeState::NeedsRecovery && self.kept.is_empty()
    }

    /// A transaction that ended with nothing of it left in the tree.
    pub(super) fn clean(cause: TransactionError, tree: TreeState) -> Self {
        Self { cause, rollback: None, tree, kept: Vec::new() }
    }

    /// What follows when a staging folder could not be removed from the tree.
    pub(super) fn cleared(self, thrown: Result<(), TransactionError>) -> Self {
        match thrown {
            Ok(()) => self,
            Err(e) => Self { rollback: Some(Box::new(e)), tree: TreeState::NeedsRecovery, ..self },
        }
    }
}

/// The state of the tree after a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TreeState {
    /// Nothing was written.
    Untouched,
    /// The batch is in place.
    Applied,
    /// Everything is as before.
    RolledBack,
    /// Old and new may be mixed; the journal knows how to go on.
    NeedsRecovery,
}

impl TreeState {
    /// The word of the JSON result.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Untouched => "untouched",
            Self::Applied => "applied",
            Self::RolledBack => "rolled-back",
            Self::NeedsRecovery => "needs-recovery",
        }
    }
}

/// A transaction that ended before its commit point.
#[derive(Debug)]
pub struct Failure {
    /// Why.
    pub cause: TransactionError,
    /// Why it could not be undone, when it could not.
    pub rollback: Option<Box<TransactionError>>,
    /// What the tree is like now.
    pub tree: TreeState,
    /// Versions that were put aside, since somebody else's stand in their place.
    pub kept: Vec<Kept>,
}

/// A version of a file that was put aside, not lost.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Kept {
    /// Where it belongs.
    pub path: RelPath,
    /// Where it lies.
    pub at: PathBuf,
    /// Whose it is.
    pub whose: Version,
}

/// Which of two versions was put aside.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Version {
    /// The one from before the run; somebody's newer one stands in its place.
    Before,
    /// Somebody else's, made during the run; the old one is back in place.
    Foreign,
    /// The old one with what a program wrote that had it open; the new one is in place.
    Late,
}
