//! The operation log, undo and redo: which operations there are, which are undone, and what takes one back.
//!
//! An undo is a transaction like any other, from the state after an operation to the state before it, and so an
//! operation itself: undoing it is redo. Nothing here writes to the tree.

mod about;
mod deltas;
mod error;
mod log;
mod merged;
mod retention;
mod reversal;

pub use about::{About, Command};
pub use deltas::Deltas;
pub use error::{HistoryError, Unmerged};
pub use log::{Log, Past, Undone, Versions};
pub use retention::Retention;
pub use reversal::{Reversal, Wanted};
