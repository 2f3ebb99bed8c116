//! Which paths of a batch cannot be recorded, and why: asked before anything is staged, all answered at once.

use super::clean::is_unsafe_encoding;
use super::status::{PathStatus, StatusReader, Tracking};
use super::{GitError, Repo};
use crate::edit::{Code, RelPath};
use bstr::ByteSlice;
use std::collections::HashSet;
use std::io::Read;

/// A path that cannot be recorded.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PathRefusal {
    /// Relative to the root.
    pub path: RelPath,
    /// The stable code.
    pub code: Code,
    /// In words, without the path.
    pub message: String,
    /// What to do next.
    pub hint: Option<String>,
}

impl From<PathRefusal> for GitError {
    fn from(refusal: PathRefusal) -> Self {
        Self::Path(Box::new(refusal))
    }
}

/// The refusals among `paths` (relative to the root, with whether the path exists now), in their order.
pub(crate) fn refusals(
    repo: &Repo,
    root: &RelPath,
    paths: &[(RelPath, bool)],
) -> Result<Vec<PathRefusal>, GitError> {
    let mut reader = StatusReader::open(repo)?;
    let full: Vec<_> = paths.iter().map(|(path, _)| below(root, path)).collect();
    let batch: HashSet<_> = full.iter().collect();
    let mut found = Vec::new();
    for ((path, exists), full) in paths.iter().zip(&full) {
        if let Some(Reason { code, message, hint }) = reason(&mut reader, full, *exists, &batch)? {
            found.push(PathRefusal { path: path.clone(), code, message, hint: hint.map(str::to_owned) });
        }
    }
    Ok(found)
}

/// `path` (relative to the root) relative to the work tree.
pub(crate) fn below(root: &RelPath, path: &RelPath) -> RelPath {
    path.names().fold(root.clone(), |folder, name| folder.join(name).expect("names of a path are names"))
}

struct Reason {
    code: Code,
    message: String,
    hint: Option<&'static str>,
}

impl Reason {
    fn new(message: impl Into<String>, hint: &'static str) -> Self {
        Self { code: Code::Git, message: message.into(), hint: Some(hint) }
    }

    fn protected(message: &str, hint: &'static str) -> Self {
        Self { code: Code::ProtectedPath, ..Self::new(message, hint) }
    }
}

fn reason(
    reader: &mut StatusReader,
    path: &RelPath,
    exists: bool,
    batch: &HashSet<&RelPath>,
) -> Result<Option<Reason>, GitError> {
    let status = reader.status(path)?;
    // A folder gives way to a file only when the batch empties it.
    let exists = exists && !reader.on_disk(path).symlink_metadata().is_ok_and(|found| found.is_dir());
    if let Some(reason) = by_status(status, exists && !reader.is_unborn()) {
        return Ok(Some(reason));
    }
    if let Some(rival) = reader.rivals(path).into_iter().find(|rival| !exists && !batch.contains(rival)) {
        let message = format!("stands in the way of {rival}, which git tracks");
        return Ok(Some(Reason::new(message, "commit the removal of that path first")));
    }
    by_attributes(reader, path, exists)
}

/// `in_doubt` when the path exists beside a commit that does not hold it: without any commit there is nothing that the
/// file's own text could be told apart from, so it is recorded whole.
fn by_status(status: PathStatus, in_doubt: bool) -> Option<Reason> {
    const COMMIT: &str = "commit or undo those changes first";
    Some(match status.tracking {
        Tracking::Gitlink => {
            Reason::protected("belongs to a submodule", "run patchmany inside the submodule")
        }
        Tracking::NestedRepository => {
            Reason::protected("belongs to another repository", "run patchmany inside that repository")
        }
        Tracking::SkipWorktree | Tracking::SparseFolder => {
            let message = "is left out of the work tree by sparse-checkout";
            Reason::new(message, "git sparse-checkout add its folder")
        }
        Tracking::Unmerged => Reason::new("is in conflict", "resolve the conflict first"),
        Tracking::Ignored => {
            Reason::new("is ignored by git", "git add --force it, or apply without recording")
        }
        Tracking::IntentToAdd => Reason::new("is not committed yet", "commit it first"),
        Tracking::Untracked if in_doubt => {
            Reason::new("is not tracked by git", "git add and commit it first")
        }
        Tracking::Untracked => return None,
        _ if status.is_clean() => return None,
        _ if status.staged && status.unstaged => {
            Reason::new("has staged and unstaged changes of its own", COMMIT)
        }
        _ if status.staged => Reason::new("has staged changes of its own", COMMIT),
        _ => Reason::new("has uncommitted changes of its own", COMMIT),
    })
}

fn by_attributes(
    reader: &mut StatusReader,
    path: &RelPath,
    exists: bool,
) -> Result<Option<Reason>, GitError> {
    if reader.has_misranked_attributes(path) {
        let message = "may be governed by info/attributes against a .gitattributes of a sub-folder";
        return Ok(Some(Reason::new(
            message,
            "move the rules of info/attributes, or apply without recording",
        )));
    }
    let attributes = reader.attributes(path)?;
    if let Some(encoding) = attributes.encoding.filter(|name| is_unsafe_encoding(name.as_bstr())) {
        let message = format!("has the working-tree-encoding {encoding}, which cannot be converted safely");
        return Ok(Some(Reason::new(message, "apply without recording, then git add it")));
    }
    if exists && attributes.filter.is_some_and(|name| name == "lfs") && is_lfs_pointer(reader, path)? {
        return Ok(Some(Reason::new("is an LFS pointer whose content is not here", "git lfs pull it first")));
    }
    Ok(None)
}

fn is_lfs_pointer(reader: &StatusReader, path: &RelPath) -> Result<bool, GitError> {
    let mut start = Vec::new();
    fs_err::File::open(reader.on_disk(path))?.take(64).read_to_end(&mut start)?;
    Ok(start.starts_with(b"version https://git-lfs.github.com/spec/"))
}
