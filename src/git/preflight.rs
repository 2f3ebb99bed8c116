//! What forbids recording anything at all, asked before the first file is staged.

use super::head::Head;
use super::{GitError, Repo, lock};
use gix::state::InProgress;

/// HEAD, when a commit or stash may be recorded now.
pub(crate) fn check(repo: &Repo, local: &gix::Repository, operation: &str) -> Result<Head, GitError> {
    if repo.in_hook() {
        return Err(GitError::InHook);
    }
    check_index(local, operation)?;
    check_identity(local)?;
    Head::read(local)
}

/// Whether the index may be changed now.
pub(crate) fn check_index(local: &gix::Repository, operation: &str) -> Result<(), GitError> {
    lock::check_operation(operation)?;
    in_progress(local).map_or(Ok(()), |what| Err(GitError::InProgress(what)))
}

fn in_progress(local: &gix::Repository) -> Option<&'static str> {
    Some(match local.state() {
        Some(InProgress::Merge) => "a merge",
        Some(InProgress::Rebase | InProgress::RebaseInteractive) => "a rebase",
        Some(InProgress::CherryPick | InProgress::CherryPickSequence) => "a cherry-pick",
        Some(InProgress::Revert | InProgress::RevertSequence) => "a revert",
        Some(InProgress::Bisect) => "a bisection",
        Some(InProgress::ApplyMailbox | InProgress::ApplyMailboxRebase) => "git am",
        None if local.git_dir().join("sequencer").exists() => "a cherry-pick or revert of several commits",
        None => return None,
    })
}

fn check_identity(local: &gix::Repository) -> Result<(), GitError> {
    let read = "read the name and e-mail address";
    let author = local.author().ok_or(GitError::NoIdentity("author"))?;
    author.map_err(GitError::gix(read))?;
    let committer = local.committer().ok_or(GitError::NoIdentity("committer"))?;
    committer.map_err(GitError::gix(read))?;
    Ok(())
}
