//! All of git: opening the repository, the status of paths, clean filters, and recording a batch: commit, stash, index.
//!
//! Every gix call of the project is below this folder, and so is every start of the `git` program (hooks only). The
//! rule above all others: the user's uncommitted work never moves, in the work tree or in the index. Recording writes
//! objects first, which nobody sees, and then moves one reference by compare-and-swap.

mod clean;
mod copy;
mod dirty;
mod error;
mod head;
mod hook;
mod index;
mod lock;
mod merge;
mod message;
mod naming;
mod object;
mod part;
mod preflight;
mod record;
mod recorder;
mod reference;
mod reflog;
mod refusal;
mod repo;
mod rules;
mod split;
mod stash;
mod status;
mod stored;
mod unchanged;

pub use clean::Attributes;
pub use copy::{Configured, Copied};
pub use dirty::dirty;
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

/// What a batch becomes in git.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RecordKind {
    /// A commit of its hunks; other changes in its files stay staged or unstaged as they are.
    Commit,
    /// A commit of its files as they stand on disk.
    WholeFiles,
    /// Its hunks are staged; other changes in its files stay as they are.
    Stage,
    /// A stash entry.
    Stash,
}

/// What was recorded.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Recorded {
    /// A commit on HEAD.
    Commit {
        /// Its id, in hex.
        commit: String,
        /// The branch that names it now; `None` when HEAD is detached.
        reference: Option<String>,
    },
    /// An entry of the stash.
    Stash {
        /// The id of its commit, in hex.
        commit: String,
        /// `refs/stash`.
        reference: String,
    },
    /// The batch is in the index.
    Stage,
}

impl Recorded {
    /// The word of the JSON result.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Commit { .. } => "commit",
            Self::Stash { .. } => "stash",
            Self::Stage => "stage",
        }
    }

    /// The id of the commit, in hex.
    pub fn commit(&self) -> Option<&str> {
        match self {
            Self::Commit { commit, .. } | Self::Stash { commit, .. } => Some(commit),
            Self::Stage => None,
        }
    }

    /// The reference that names the commit.
    pub fn reference(&self) -> Option<&str> {
        match self {
            Self::Commit { reference, .. } => reference.as_deref(),
            Self::Stash { reference, .. } => Some(reference),
            Self::Stage => None,
        }
    }
}
