//! What can go wrong with git: one variant per condition, with its data, a stable code and a hint.
//!
//! Nothing here says what state the work tree is in; the caller that knows adds it.

use super::refusal::PathRefusal;
use crate::edit::{Code, RelPath};
use crate::transaction::{ParticipantError, Unrecorded};
use bstr::BString;
use std::io;
use std::path::PathBuf;
use std::process::ExitStatus;

/// Why git could not do its part.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// The repository belongs to somebody else and no `safe.directory` names it.
    #[error("the repository found from {} belongs to another user", .0.display())]
    Untrusted(PathBuf),
    /// The repository uses something that would be read or written wrongly.
    #[error("the repository uses {0}, which patchmany cannot handle")]
    Unsupported(String),
    /// The repository could not be opened.
    #[error("cannot open the repository found from {}: {source:#}", path.display())]
    Open {
        /// Where the search began.
        path: PathBuf,
        /// The cause.
        source: Box<gix::Error>,
    },
    /// `GIT_INDEX_FILE` is set: a hook runs us, and a commit is already being made.
    #[error("a commit or stash cannot be recorded while GIT_INDEX_FILE is set, as it is inside a hook")]
    InHook,
    /// A merge, rebase or the like waits for the user.
    #[error("{0} is in progress")]
    InProgress(&'static str),
    /// Author or committer is not configured.
    #[error("git does not know the name and e-mail address of the {0}")]
    NoIdentity(&'static str),
    /// There is no commit yet.
    #[error("the branch has no commit yet")]
    Unborn,
    /// Somebody holds a lock that is needed.
    #[error("{} exists: {holder}", path.display())]
    Locked {
        /// The lock file.
        path: PathBuf,
        /// Who holds it, as far as it tells.
        holder: String,
    },
    /// The operation id could not stand in a file name.
    #[error("{0:?} is no operation id")]
    BadOperation(String),
    /// HEAD is not what it was when recording began.
    #[error("HEAD moved while the batch was applied")]
    HeadMoved,
    /// A new branch would have to be a file and a folder at once.
    #[error("the branch {reference} cannot be made, since {other} exists")]
    NameTaken {
        /// The branch.
        reference: BString,
        /// Another reference, above or below it.
        other: BString,
    },
    /// The branch moved after the commit point; the commit is kept under another name.
    #[error("{reference} moved meanwhile; the commit {commit} is kept as {pinned}")]
    RefMoved {
        /// The branch, or `HEAD`.
        reference: BString,
        /// The commit, in hex.
        commit: String,
        /// The reference that keeps it.
        pinned: String,
    },
    /// A hook said no.
    #[error("the {name} hook failed ({status}){}", after_colon(output))]
    Hook {
        /// Its name.
        name: &'static str,
        /// How it ended.
        status: ExitStatus,
        /// What it wrote.
        output: String,
    },
    /// The pre-commit hook staged a path that is not in the batch.
    #[error("the pre-commit hook staged {0}, which is not part of the batch")]
    HookStaged(BString),
    /// The pre-commit hook staged a version of a path that holds changes of the user's beside the batch.
    #[error(
        "the pre-commit hook staged another version of {0}, in which there are changes that are not part of the batch"
    )]
    HookMixed(RelPath),
    /// The commit could not be signed.
    #[error("cannot sign the commit: {0:#}")]
    Signing(Box<gix::Error>),
    /// The commit would be the same tree again.
    #[error("nothing to commit: git sees no difference")]
    NothingToCommit,
    /// The message is empty, perhaps after a hook edited it.
    #[error("the commit message is empty")]
    EmptyMessage,
    /// Paths of the batch cannot be recorded.
    #[error("{} cannot be recorded: {}", .0.path, .0.message)]
    Path(Box<PathRefusal>),
    /// A clean filter failed.
    #[error("cannot convert {path} to what git stores: {source:#}")]
    Filter {
        /// Relative to the work tree.
        path: RelPath,
        /// The cause.
        source: Box<gix::Error>,
    },
    /// The journal's bytes are no record of ours.
    #[error("the record of the commit cannot be read: {0}")]
    BadRecord(String),
    /// What stands or shall stand at a path could not be compared with what git has.
    #[error("cannot read {path} before the swap: {source}")]
    Weighed {
        /// Relative to the work tree.
        path: RelPath,
        /// The cause.
        source: io::Error,
    },
    /// The landed bytes could not be read.
    #[error("cannot read {path} after the swap: {source}")]
    Landed {
        /// Relative to the work tree.
        path: RelPath,
        /// The cause.
        source: io::Error,
    },
    /// A file operation failed; the error names operation and path.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// Anything else that gix reports.
    #[error("cannot {doing}: {source:#}")]
    Gix {
        /// What was tried.
        doing: &'static str,
        /// The cause.
        source: Box<gix::Error>,
    },
}

impl GitError {
    /// The stable code.
    pub fn code(&self) -> Code {
        match self {
            Self::Locked { .. } => Code::Locked,
            Self::BadOperation(_) => Code::Usage,
            Self::Path(refusal) => refusal.code,
            Self::Weighed { source, .. } if source.kind() == io::ErrorKind::InvalidData => {
                Code::ChangedDuring
            }
            _ => Code::Git,
        }
    }

    /// What to do next, where that is known.
    pub fn hint(&self) -> Option<&'static str> {
        Some(match self {
            Self::Untrusted(_) => "git config --global --add safe.directory <path> trusts it",
            Self::InHook => "apply without recording; the commit that runs the hook records it",
            Self::InProgress(_) => "finish or abort it first, or apply without recording",
            Self::NoIdentity(_) => "set user.name and user.email with git config",
            Self::Unborn => "make a first commit, or record a commit instead of a stash",
            Self::Locked { .. } => "another git command is running; if none is, remove the file",
            Self::HeadMoved => "run the command again",
            Self::RefMoved { .. } => "git cherry-pick the commit, or reset the branch to it",
            Self::Hook { .. } => "repair what it names, or run with --no-hooks",
            Self::HookStaged(_) => "stage it by hand, or run with --no-hooks",
            Self::HookMixed(_) => "commit those changes first, or run with --whole-files or --no-hooks",
            Self::Signing(_) => "repair the signing key, or set commit.gpgSign to false",
            Self::NothingToCommit => "apply without recording",
            _ => return None,
        })
    }

    /// Whether the next run can still record what this one could not: it can, unless somebody else's commit is on the
    /// branch by now, or the record makes no sense.
    pub(crate) fn after_commit_point(self) -> Unrecorded {
        let never = matches!(self, Self::RefMoved { .. } | Self::BadRecord(_) | Self::BadOperation(_));
        if never { Unrecorded::Never(self.into()) } else { Unrecorded::Waits(self.into()) }
    }

    /// For `map_err`: names what was tried.
    pub(crate) fn gix(doing: &'static str) -> impl FnOnce(gix::Error) -> Self {
        move |source| Self::Gix { doing, source: Box::new(source) }
    }
}

impl From<GitError> for ParticipantError {
    fn from(error: GitError) -> Self {
        Self { code: error.code(), message: error.to_string(), hint: error.hint().map(str::to_owned) }
    }
}

fn after_colon(output: &str) -> String {
    let output = output.trim_end();
    if output.is_empty() { String::new() } else { format!(":\n{output}") }
}
