//! Which paths of a batch cannot be recorded, and why: asked before anything is staged, all answered at once.

use super::clean::is_unsafe_encoding;
use super::status::{PathStatus, StatusReader, Tracking};
use super::{GitError, RecordKind, Repo};
use crate::edit::{Code, RelPath};
use bstr::ByteSlice;
use std::collections::{BTreeSet, HashSet};
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

/// What was found of the paths of a batch.
#[derive(Default)]
pub(crate) struct Found {
    /// Paths that cannot be recorded.
    pub(crate) refusals: Vec<PathRefusal>,
    /// Paths with changes that are not recorded, relative to the root.
    pub(crate) dirty: BTreeSet<RelPath>,
}

/// Looks at `paths` (relative to the root, with whether the path exists now); the refusals come in their order.
pub(crate) fn look(
    repo: &Repo,
    root: &RelPath,
    kind: RecordKind,
    paths: &[(RelPath, bool)],
) -> Result<Found, GitError> {
    let mut reader = StatusReader::open(repo)?;
    let full: Vec<_> = paths.iter().map(|(path, _)| below(root, path)).collect();
    let batch: HashSet<_> = full.iter().collect();
    let mut found = Found::default();
    for ((path, exists), full) in paths.iter().zip(&full) {
        match verdict(&mut reader, kind, (full, *exists), &batch)? {
            Verdict::Fits => {}
            Verdict::Dirty => drop(found.dirty.insert(path.clone())),
            Verdict::Refused(reason) => found.refusals.push(reason.of(path)),
        }
    }
    Ok(found)
}

/// The refusals among `sources` (relative to the root), which the batch copies: a copy would hold what is not recorded of
/// them.
pub(crate) fn copied(
    repo: &Repo,
    root: &RelPath,
    kind: RecordKind,
    sources: &[RelPath],
) -> Result<Vec<PathRefusal>, GitError> {
    if sources.is_empty() || kind == RecordKind::WholeFiles {
        return Ok(Vec::new());
    }
    let mut reader = StatusReader::open(repo)?;
    let mut refusals = Vec::new();
    for path in sources {
        let status = reader.status(&below(root, path))?;
        let recorded = match kind {
            RecordKind::Stage => status.tracking == Tracking::Tracked && !status.unstaged,
            _ => status.is_clean(),
        };
        if !recorded {
            let message = "has changes of its own, and the batch copies it";
            refusals.push(Reason::new(message, "commit or undo those changes first").of(path));
        }
    }
    Ok(refusals)
}

/// `path` (relative to the root) relative to the work tree.
pub(crate) fn below(root: &RelPath, path: &RelPath) -> RelPath {
    path.names().fold(root.clone(), |folder, name| folder.join(name).expect("names of a path are names"))
}

enum Verdict {
    Fits,
    Dirty,
    Refused(Reason),
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

    fn of(self, path: &RelPath) -> PathRefusal {
        let hint = self.hint.map(str::to_owned);
        PathRefusal { path: path.clone(), code: self.code, message: self.message, hint }
    }
}

fn verdict(
    reader: &mut StatusReader,
    kind: RecordKind,
    (path, exists): (&RelPath, bool),
    batch: &HashSet<&RelPath>,
) -> Result<Verdict, GitError> {
    let status = reader.status(path)?;
    // A folder gives way to a file only when the batch empties it.
    let exists = exists && !reader.on_disk(path).symlink_metadata().is_ok_and(|found| found.is_dir());
    if let Some(reason) = by_status(status, kind, exists, reader.is_unborn()) {
        return Ok(Verdict::Refused(reason));
    }
    if let Some(rival) = reader.rivals(path).into_iter().find(|rival| !exists && !batch.contains(rival)) {
        let message = format!("stands in the way of {rival}, which git tracks");
        return Ok(Verdict::Refused(Reason::new(message, "commit the removal of that path first")));
    }
    if let Some(reason) = by_attributes(reader, path, exists)? {
        return Ok(Verdict::Refused(reason));
    }
    let tracked = status.tracking == Tracking::Tracked;
    Ok(match kind {
        RecordKind::Commit if tracked && !status.is_clean() => Verdict::Dirty,
        RecordKind::Stage if tracked && status.unstaged => Verdict::Dirty,
        _ => Verdict::Fits,
    })
}

/// What forbids recording whatever the batch does. Changes of the user's in a tracked file are compared with the batch
/// later, but for a stash entry, which has no place for them.
fn by_status(status: PathStatus, kind: RecordKind, exists: bool, unborn: bool) -> Option<Reason> {
    use RecordKind::{Commit, Stage, Stash, WholeFiles};
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
        // git commits it too: it is in HEAD, and was taken out of the index.
        Tracking::Ignored if kind == WholeFiles && status.staged => return None,
        Tracking::Ignored => {
            Reason::new("is ignored by git", "git add --force it, or apply without recording")
        }
        Tracking::IntentToAdd => match kind {
            WholeFiles => return None,
            Commit => Reason::new("is not committed yet", "commit it first, or run with --whole-files"),
            Stage => Reason::new("is only announced to git", "git add it first"),
            Stash => Reason::new("is not committed yet", "commit it first"),
        },
        Tracking::Untracked => return untracked(status, kind, exists, unborn),
        Tracking::Tracked if kind != Stash || status.is_clean() => return None,
        Tracking::Tracked => {
            let message = match (status.staged, status.unstaged) {
                (true, true) => "has staged and unstaged changes of its own",
                (true, false) => "has staged changes of its own",
                (false, _) => "has uncommitted changes of its own",
            };
            Reason::new(message, "commit or undo those changes first")
        }
    })
}

/// Without any commit there is nothing that the text of an untracked file could be told apart from: it is committed
/// whole.
fn untracked(status: PathStatus, kind: RecordKind, exists: bool, unborn: bool) -> Option<Reason> {
    use RecordKind::{Commit, Stage, Stash, WholeFiles};
    Some(match kind {
        WholeFiles => return None,
        Commit if status.staged => {
            Reason::new("is staged for removal", "git reset it, or run with --whole-files")
        }
        Stash if status.staged => Reason::new("is staged for removal", "git reset it first"),
        Stage if exists => Reason::new("is not tracked by git", "git add it first, or apply without --stage"),
        Commit if exists && !unborn => {
            Reason::new("is not tracked by git", "git add and commit it first, or run with --whole-files")
        }
        Stash if exists && !unborn => Reason::new("is not tracked by git", "git add and commit it first"),
        Commit | Stage | Stash => return None,
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
