//! Recording a batch as a stash entry on HEAD: work tree, index and HEAD stay untouched.
//!
//! The entry is built from objects alone: its index is the tree of HEAD, its work tree the tree of HEAD with the
//! batch. `.gitattributes` that the batch itself changes do not count yet: they are read from the work tree.

use super::clean::Cleaner;
use super::head::Head;
use super::object::{self, Recording, Signature};
use super::record::Side;
use super::reference::{Place, RefLock};
use super::reflog::{Line, Missing};
use super::refusal::{PathRefusal, below, copied, look};
use super::{GitError, RecordKind, Recorded, Repo, index, message, preflight};
use crate::edit::{Pieces, RelPath};
use crate::plan::{Resolved, Sink, SinkFull};
use bstr::{BString, ByteSlice};
use gix::ObjectId;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

const STASH: &str = "refs/stash";
/// What the names of our drafts begin with.
const DRAFT: &str = "stash-";

/// How to stash.
#[derive(Clone, Debug)]
pub struct StashOptions {
    /// The message; `None` for one that counts the files.
    pub message: Option<String>,
    /// Letters, digits, `-` and `_`.
    pub operation_id: String,
}

/// Takes resolved files from all threads and turns them into a stash entry.
pub struct StashRecorder {
    repo: Repo,
    root: RelPath,
    options: StashOptions,
    head: Head,
    index: Arc<gix::index::File>,
    recording: Recording,
    /// One cleaner per thread at work.
    idle: Mutex<Vec<Cleaner>>,
    taken: Mutex<Taken>,
}

#[derive(Default)]
struct Taken {
    paths: BTreeMap<RelPath, Option<Side>>,
    failed: Option<GitError>,
}

impl std::fmt::Debug for StashRecorder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StashRecorder").field("repo", &self.repo).field("options", &self.options).finish()
    }
}

impl StashRecorder {
    /// Makes sure that a stash can be made now. `root` is the tool's root relative to the work tree.
    ///
    /// # Errors
    /// [`Unborn`](GitError::Unborn) without a first commit, and whatever else forbids it.
    pub fn begin(repo: &Repo, root: &RelPath, options: StashOptions) -> Result<Self, GitError> {
        let local = repo.local();
        let head = preflight::check(repo, &local, &options.operation_id)?;
        if head.commit.is_none() {
            return Err(GitError::Unborn);
        }
        Ok(Self {
            repo: repo.clone(),
            root: root.clone(),
            options,
            head,
            index: Arc::new(index::open(&local, repo.index_path())?),
            recording: Recording::of(&local)?,
            idle: Mutex::default(),
            taken: Mutex::default(),
        })
    }

    /// The paths (relative to the root, with whether they exist now) that cannot be stashed, and why.
    ///
    /// # Errors
    /// An index, tree or attributes file that cannot be read.
    pub fn check(&self, paths: &[(RelPath, bool)]) -> Result<Vec<PathRefusal>, GitError> {
        Ok(look(&self.repo, &self.root, RecordKind::Stash, paths)?.refusals)
    }

    /// The paths among `sources` (relative to the root) that the batch cannot copy, and why.
    ///
    /// # Errors
    /// As [`check`](Self::check).
    pub fn check_copied(&self, sources: &[RelPath]) -> Result<Vec<PathRefusal>, GitError> {
        copied(&self.repo, &self.root, RecordKind::Stash, sources)
    }

    /// Why [`put`](Sink::put) ended the plan, when it did.
    pub fn take_error(&self) -> Option<GitError> {
        lock(&self.taken).failed.take()
    }

    /// Makes the entry of all files that were put.
    ///
    /// # Errors
    /// What `put` met, a batch that changes nothing, or a reference that cannot be written.
    pub fn finish(self) -> Result<Recorded, GitError> {
        let Taken { paths, failed } = self.taken.into_inner().unwrap_or_else(PoisonError::into_inner);
        if let Some(error) = failed {
            return Err(error);
        }
        let local = self.repo.local();
        let base = self.head.tree(&local)?;
        let tree = object::tree(&local, base, paths.iter().map(|(path, side)| (path, *side)))?;
        let (Some(parent), Some(base)) = (self.head.commit, base) else {
            return Err(GitError::Unborn);
        };
        if tree == base {
            return Err(GitError::NothingToCommit);
        }
        let given = self.options.message.as_ref().map(|given| message::clean(given.as_bytes()));
        let names: Vec<_> = paths.keys().collect();
        let text = given.filter(|text| !text.is_empty()).unwrap_or_else(|| message::default(&names));
        let branch = branch_name(&self.head);
        let on_index = format!("index on {branch}: {}\n", short(&local, parent)?);
        let staged = object::commit(&local, base, &[parent], on_index.into(), Signature::Never)?;
        let mut title = BString::from(format!("On {branch}: "));
        title.extend_from_slice(text.trim_end());
        let stash = object::commit(&local, tree, &[parent, staged], title.clone(), Signature::Never)?;
        let draft = self.repo.own_folder()?.join(format!("{DRAFT}{}", self.options.operation_id));
        push(&local, stash, &title, draft)?;
        Ok(Recorded::Stash { commit: stash.to_string(), reference: STASH.to_owned() })
    }

    fn store(&self, file: &Resolved) -> Result<(RelPath, Option<Side>), GitError> {
        let path = below(&self.root, &file.path);
        let known = index::side(&self.index, &path).map(|side| side.mode);
        let idle = lock(&self.idle).pop();
        let mut cleaner = match idle {
            Some(cleaner) => cleaner,
            None => Cleaner::new(self.repo.local(), Arc::clone(&self.index))?,
        };
        let bytes = file.new.as_ref().map(Pieces::whole).unwrap_or_default();
        let side = self.recording.store(&mut cleaner, &path, (&file.after, &bytes), known)?;
        lock(&self.idle).push(cleaner);
        Ok((path, side))
    }
}

impl Sink for StashRecorder {
    fn put(&self, file: &Resolved) -> Result<(), SinkFull> {
        let stored = self.store(file);
        let mut taken = lock(&self.taken);
        match stored {
            Ok((path, side)) => {
                taken.paths.insert(path, side);
                Ok(())
            }
            Err(error) => {
                taken.failed.get_or_insert(error);
                Err(SinkFull)
            }
        }
    }
}

/// Removes the lock of `refs/stash` that a killed run of ours left behind, if there is one.
///
/// Call it only while no other run of patchmany can be alive in this work tree.
///
/// # Errors
/// A draft of ours that cannot be removed.
pub fn remove_own_stash_lock(repo: &Repo) -> Result<(), GitError> {
    let Ok(own) = std::fs::read_dir(repo.git_dir().join("patchmany")) else { return Ok(()) };
    let drafts =
        own.flatten().filter(|entry| entry.file_name().as_encoded_bytes().starts_with(DRAFT.as_bytes()));
    for draft in drafts {
        RefLock::remove_left(&Place::of(&repo.local(), STASH.into())?, &draft.path())?;
    }
    Ok(())
}

/// Puts the commit on top of the stash, whose entries are the lines of a reflog.
fn push(local: &gix::Repository, stash: ObjectId, title: &BString, draft: PathBuf) -> Result<(), GitError> {
    let lock = RefLock::take(Place::of(local, STASH.into())?, stash, draft, Duration::from_secs(1))?;
    let found = local.try_find_reference(STASH).map_err(GitError::gix("read refs/stash"))?;
    let now = found.map(|reference| reference.target().try_id().map(ToOwned::to_owned));
    if now == Some(None) {
        return Err(GitError::Unsupported("a stash that is a symbolic reference".to_owned()));
    }
    let line = Line::new(local, now.flatten(), stash, title.as_ref())?;
    line.append(local, STASH.into(), Missing::Create)?;
    lock.publish()
}

fn branch_name(head: &Head) -> String {
    head.branch.as_ref().map_or_else(|| "(no branch)".to_owned(), |name| name.shorten().to_string())
}

/// The abbreviated id and the subject of a commit.
fn short(local: &gix::Repository, id: ObjectId) -> Result<String, GitError> {
    let read = GitError::gix("read the commit of HEAD");
    let commit = local.find_commit(id).map_err(read)?;
    let text = commit.message_raw().map_err(GitError::gix("read the commit of HEAD"))?;
    Ok(format!("{} {}", commit.id().shorten_or_id(), message::subject(text)))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
