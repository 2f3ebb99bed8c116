//! Why an operation cannot be shown or taken back. Nothing has been written then.

use crate::edit::RelPath;
use crate::transaction::{OperationId, TransactionError};
use std::io;

/// Why an operation cannot be shown or taken back.
#[derive(Debug, thiserror::Error)]
pub enum HistoryError {
    /// No operation has this id.
    #[error("no operation of this work tree has the id {0}")]
    NoOperation(String),
    /// More than one id begins so.
    #[error("the ids of {count} operations begin with {text}")]
    ManyOperations {
        /// As it was asked for.
        text: String,
        /// So many fit.
        count: usize,
    },
    /// There is no operation that is not undone.
    #[error("there is no operation to undo")]
    NothingToUndo,
    /// There is no undo that nothing has followed.
    #[error("there is no undo to take back: nothing was undone, or another operation has followed")]
    NothingToRedo,
    /// It is undone already.
    #[error("the operation {0} is undone already")]
    Undone(OperationId),
    /// The operation did not change these paths.
    #[error("{} paths were not changed by {id}", paths.len())]
    NoSuchPaths {
        /// The operation.
        id: OperationId,
        /// As they were asked for.
        paths: Vec<RelPath>,
    },
    /// These paths are not as the operation left them. Never empty.
    #[error("{} paths were changed since {id}", paths.len())]
    Changed {
        /// The operation.
        id: OperationId,
        /// What has changed, sorted.
        paths: Vec<RelPath>,
    },
    /// These paths are not as the operation left them, and cannot be merged. Never empty.
    #[error("{} paths were changed since {id} and cannot be merged", paths.len())]
    Unmerged {
        /// The operation.
        id: OperationId,
        /// What has changed, sorted, and why it cannot be merged.
        paths: Vec<(RelPath, Unmerged)>,
    },
    /// The undo store does not have what is needed.
    #[error(transparent)]
    Transaction(#[from] TransactionError),
    /// Something cannot be read.
    #[error("cannot {doing}: {source}")]
    Io {
        /// What was tried.
        doing: String,
        /// What the system said.
        source: io::Error,
    },
}

/// Why what was done to a path since an operation cannot be merged with taking that back.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Unmerged {
    /// Both change the same lines.
    #[error("both change the same lines")]
    Conflict,
    /// Both change the mode, to different ones.
    #[error("both change its mode")]
    Modes,
    /// It is binary.
    #[error("it is binary")]
    Binary,
    /// It is not a file all the time.
    #[error("it was removed, made, or replaced by something else")]
    NoFile,
    /// A version that is needed is not kept any more.
    #[error("the version that the operation left is not known any more")]
    Unknown,
}

impl HistoryError {
    pub(super) fn io(doing: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let doing = doing.into();
        move |source| Self::Io { doing, source }
    }
}
