//! The transaction: all paths of a batch change, or none does, whatever happens on the way.
//!
//! ```text
//!              put            seal              swap             commit             finish
//! (lock) ── Staging ────── Prepared ───────── Swapped ───────── Committed ───────── Finished
//!              │               │                 │                  ╎
//!              └── dropped ────┴── checks fail   └── any failure    ╎ crash: the next run finishes
//!                  nothing was touched               everything is undone; a crash: the next run undoes
//! ```
//!
//! Invariants, named by the tests that guard them:
//!
//! 1. Before `swap` no path of the tree is touched.
//! 2. Before the first path is touched, every new object and a journal that names every path are complete.
//! 3. An old object leaves the tree only into a slot of the staging folder; nothing old is deleted before COMMIT.
//! 4. What is taken from the tree is compared with what the plan saw; if it differs, it goes back.
//! 5. A newer version of somebody else is never overwritten: theirs stays or is kept aside, and is named.
//! 6. Without COMMIT in the journal everything is undone; with it, everything stays.
//! 7. Undoing is decided by what is on disk alone, so it can stop anywhere and go on.
//! 8. After any end but a crash nothing of ours is left in the tree; after a crash, nothing once recovery has run.
//!
//! A program that had a file open when it was replaced goes on writing to the old object. What it has written before the
//! clean-up is found by size and time of the object, and by its bytes where the time proves nothing; it is kept under
//! `recovered/` and named. Who has a file open and has not written yet is not known: asking the kernel (a lease) takes
//! a call that no safe interface offers. What such a program writes later lands in the undo store, where undo notices
//! it by its size; so does what it writes through a mapping into a page that it had changed before.

mod carry;
mod each;
mod entry;
mod error;
mod finish;
mod ground;
mod id;
mod journal;
mod operation;
mod participant;
mod prelink;
mod recover;
mod stage;
mod staged;
mod store;
mod swap;
mod sync;
mod undo;

#[cfg(test)]
mod tests;

pub use error::{Failure, Kept, TransactionError, TreeState, Version};
pub use finish::Finished;
pub use ground::{Ground, Room};
pub use id::OperationId;
pub use operation::Operation;
pub use participant::{Change, Landed, Participant, ParticipantError, Staged, Unrecorded};
pub use recover::{Decide, Doubt, Pending, Recovered, RecoveryOutcome, pending, recover};
pub use stage::Staging;
pub use store::{Locked, Store};
pub use swap::{Committed, Prepared, Stop, Swapped};
pub use sync::Durability;
