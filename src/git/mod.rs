//! All of git: opening the repository, the status of paths, clean filters, and recording a batch as a commit or stash.
//!
//! Every gix call of the project is below this folder, and so is every start of the `git` program (hooks only). The
//! rule above all others: the user's uncommitted work never moves, in the work tree or in the index. Recording writes
//! objects first, which nobody sees, and then moves one reference by compare-and-swap.

mod clean;
mod error;
mod head;
mod hook;
mod index;
mod lock;
mod merge;
mod message;
mod naming;
mod object;
mod preflight;
mod record;
mod recorder;
mod reference;
mod reflog;
mod refusal;
mod repo;
mod rules;
mod stash;
mod status;
mod stored;
mod unchanged;

pub use clean::Attributes;
pub use error::GitError;
pub use head::head_mark;
pub use lock::{IndexGuard, guard_index, lock_owner, remove_own_lock};
pub use merge::merge;
pub use naming::Naming;
pub use record::recorded_in;
pub use recorder::{Hooks, RecordOptions, Recorder};
pub use refusal::PathRefusal;
pub use repo::{Discovery, Environment, Repo};
pub use rules::GitRules;
pub use stash::{StashOptions, StashRecorder, remove_own_stash_lock};
pub use status::{PathStatus, StatusReader, Tracking};

/// What was recorded.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Recorded {
    /// The commit, in hex.
    pub commit: String,
    /// The branch that names it now, or `refs/stash`; `None` when HEAD is detached.
    pub reference: Option<String>,
}
