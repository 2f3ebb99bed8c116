//! Which paths hold work that is not committed: what `git status` shows of them.

use super::refusal::below;
use super::status::{PathStatus, StatusReader, Tracking};
use super::{GitError, PathRefusal, Repo};
use crate::edit::{Code, RelPath};

/// The paths among `paths` (relative to `root`, which is relative to the work tree) that have uncommitted changes, in
/// their order. A file that git does not know counts; one that it ignores does not, as in `git status`.
///
/// # Errors
/// An index, tree or file that cannot be read.
pub fn dirty(repo: &Repo, root: &RelPath, paths: &[RelPath]) -> Result<Vec<PathRefusal>, GitError> {
    let mut reader = StatusReader::open(repo)?;
    let mut found = Vec::new();
    for path in paths {
        if let Some(message) = what(reader.status(&below(root, path))?) {
            let hint = Some("commit or stash it first, or run without --require-clean".to_owned());
            found.push(PathRefusal {
                path: path.clone(),
                code: Code::Git,
                message: message.to_owned(),
                hint,
            });
        }
    }
    Ok(found)
}

fn what(status: PathStatus) -> Option<&'static str> {
    Some(match status {
        PathStatus { tracking: Tracking::Unmerged, .. } => "is in conflict",
        PathStatus { tracking: Tracking::IntentToAdd, .. } => "is not committed yet",
        PathStatus { staged: true, unstaged: true, .. } => "has staged and unstaged changes",
        PathStatus { staged: true, .. } => "has staged changes",
        PathStatus { tracking: Tracking::Ignored, .. } => return None,
        PathStatus { tracking: Tracking::Untracked, unstaged: true, .. } => "is not tracked by git",
        PathStatus { unstaged: true, .. } => "has uncommitted changes",
        _ => return None,
    })
}
