//! Who joins the commit point: git, when the batch is recorded.
//!
//! The order (transaction.md, amendment 1): all paths are swapped and on the medium, then `prepare`, then the
//! journal's COMMIT, then `finish`. Up to COMMIT any failure rolls everything back; after it only forward.

use crate::disk::Node;
use crate::edit::{Code, RelPath};
use std::io;

/// One path that the transaction has changed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Change {
    /// Relative to the root.
    pub path: RelPath,
    /// What stood there.
    pub before: Node,
    /// What stands there now.
    pub after: Node,
}

/// The batch before the swap, as a participant may look at it: nothing is touched yet, and it may still be refused.
pub trait Staged {
    /// All paths that will change, sorted.
    fn changes(&self) -> Vec<Change>;

    /// The bytes that stand at the path of a change (the target for a link).
    ///
    /// # Errors
    /// `InvalidData` when they are no longer the ones that the plan saw.
    fn old_content(&self, change: &Change) -> io::Result<Vec<u8>>;

    /// The bytes that shall stand there.
    ///
    /// # Errors
    /// `InvalidData` when they are no longer the ones that were staged.
    fn new_content(&self, change: &Change) -> io::Result<Vec<u8>>;
}

/// The swapped tree, as a participant may look at it.
pub trait Landed {
    /// All changed paths, sorted.
    fn changes(&self) -> &[Change];

    /// The bytes that stand at a changed path now (the target for a link).
    ///
    /// # Errors
    /// `InvalidData` when they are no longer the ones that the transaction put there.
    fn content(&self, change: &Change) -> io::Result<Vec<u8>>;
}

/// Something else that shall happen if and only if the files are swapped.
pub trait Participant {
    /// Does everything that can fail, visibly to nobody: objects are written, hooks run, locks held.
    ///
    /// Returns what the journal keeps so that [`finish`](Self::finish) can be repeated after a crash, as bytes that
    /// only the participant reads.
    ///
    /// # Errors
    /// Rolls the whole transaction back.
    fn prepare(&mut self, landed: &dyn Landed) -> Result<Vec<u8>, ParticipantError>;

    /// Makes the prepared record visible. Idempotent: after a crash it runs again with the journal's bytes.
    ///
    /// # Errors
    /// The files stay as they are; the caller reports it.
    fn finish(&mut self, record: &[u8]) -> Result<(), Unrecorded>;

    /// Gives up what `prepare` holds. Idempotent.
    fn abort(&mut self);
}

/// Why a participant could not do its part.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct ParticipantError {
    /// The stable code.
    pub code: Code,
    /// In words, with the output of a hook or signer where there is one.
    pub message: String,
    /// What to do next.
    pub hint: Option<String>,
}

/// Why a record could not be made visible after the commit point.
#[derive(Debug, thiserror::Error)]
pub enum Unrecorded {
    /// What stands in the way may go. The record stays in the journal, and the next run tries again.
    #[error(transparent)]
    Waits(ParticipantError),
    /// It can never be made visible as it was meant. What could be kept of it is kept; the error says where.
    #[error(transparent)]
    Never(ParticipantError),
}
