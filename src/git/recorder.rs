//! Recording a batch as one commit on HEAD, or in the index alone: exactly its changes, everything else staged or
//! unstaged as it was.
//!
//! `begin` takes `index.lock` and everything up to `finish` is invisible. `finish` moves the branch, then writes the
//! index, then gives up the lock; it can be repeated from the record alone after a crash between any two steps. With
//! clean batch paths the outcome equals `git commit --only -- <paths>`; with whole files always.

use super::clean::Cleaner;
use super::head::{Head, Step};
use super::hook;
use super::lock::{IndexLock, Sharing};
use super::object::{self, Signature};
use super::part::{Part, Parts};
use super::record::{Entry, Record};
use super::refusal::{PathRefusal, copied, look};
use super::split::{Split, Splitter};
use super::{GitError, RecordKind, Recorded, Repo, index, message, preflight};
use crate::edit::RelPath;
use crate::transaction::{Landed, Participant, ParticipantError, Staged, Unrecorded};
use bstr::{BString, ByteSlice};
use gix::ObjectId;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// How to record.
#[derive(Clone, Debug)]
pub struct RecordOptions {
    /// What the batch becomes; a stash entry is made elsewhere.
    pub kind: RecordKind,
    /// The message of a commit; `None` for one that counts the files.
    pub message: Option<String>,
    /// Whether `pre-commit`, `commit-msg` and `post-commit` run.
    pub hooks: Hooks,
    /// How long to wait for `index.lock`.
    pub lock_timeout: Duration,
    /// Letters, digits, `-` and `_`: names the lock and our private files.
    pub operation_id: String,
}

/// Whether the hooks of a commit run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Hooks {
    /// As for `git commit --only`.
    Run,
    /// As for `git commit --no-verify`, and without `post-commit`.
    Skip,
}

/// Joins a transaction and records it.
#[derive(Debug)]
pub struct Recorder {
    repo: Repo,
    root: RelPath,
    options: RecordOptions,
    /// Where HEAD pointed at the beginning; `None` after a resume.
    head: Option<Head>,
    lock: Option<IndexLock>,
    /// Paths with changes that are not recorded, relative to the root.
    dirty: BTreeSet<RelPath>,
    /// What becomes of them.
    splits: BTreeMap<RelPath, Split>,
    recorded: Option<Recorded>,
}

impl Recorder {
    /// Makes sure that the batch can be recorded now and takes `index.lock`. `root` is the tool's root relative to the
    /// work tree.
    ///
    /// # Errors
    /// [`Locked`](GitError::Locked) when the lock stays taken, and whatever forbids it.
    pub fn begin(repo: &Repo, root: &RelPath, options: RecordOptions) -> Result<Self, GitError> {
        match options.kind {
            RecordKind::Stage => preflight::check_index(&repo.local(), &options.operation_id)?,
            _ => drop(preflight::check(repo, &repo.local(), &options.operation_id)?),
        }
        let lock = IndexLock::take(repo, repo.index_path(), &options.operation_id, options.lock_timeout)?;
        let head = Head::read(&repo.local())?;
        Ok(Self { head: Some(head), lock: Some(lock), ..Self::new(repo, root, options) })
    }

    /// For recovery: only [`finish`](Participant::finish) may be called, with the journal's record.
    pub fn resume(repo: &Repo, root: &RelPath, lock_timeout: Duration) -> Self {
        let options = RecordOptions {
            kind: RecordKind::Commit,
            message: None,
            hooks: Hooks::Skip,
            lock_timeout,
            operation_id: String::new(),
        };
        Self::new(repo, root, options)
    }

    /// The paths (relative to the root, with whether they exist now) that cannot be recorded, and why. Which of them
    /// have changes of their own is remembered for [`weigh`](Self::weigh).
    ///
    /// # Errors
    /// An index, tree or attributes file that cannot be read.
    pub fn check(&mut self, paths: &[(RelPath, bool)]) -> Result<Vec<PathRefusal>, GitError> {
        let found = look(&self.repo, &self.root, self.options.kind, paths)?;
        self.dirty = found.dirty;
        Ok(found.refusals)
    }

    /// The paths among `sources` (relative to the root) that the batch cannot copy, and why.
    ///
    /// # Errors
    /// As [`check`](Self::check).
    pub fn check_copied(&self, sources: &[RelPath]) -> Result<Vec<PathRefusal>, GitError> {
        copied(&self.repo, &self.root, self.options.kind, sources)
    }

    /// Parts the batch from the user's changes in its files, and returns the paths where it cannot be done. `moves` are
    /// the old and new paths of moved files, relative to the root.
    ///
    /// # Errors
    /// Anything that cannot be read.
    pub fn weigh(
        &mut self,
        staged: &dyn Staged,
        moves: &[(RelPath, RelPath)],
    ) -> Result<Vec<PathRefusal>, GitError> {
        if self.dirty.is_empty() {
            return Ok(Vec::new());
        }
        let local = self.repo.local();
        let tree = self.begun()?.tree(&local)?;
        let mut splitter = Splitter::new(&self.repo, &local, &self.root, (self.options.kind, tree))?;
        let (splits, refusals) = splitter.split(staged, moves, &self.dirty)?;
        self.splits = splits;
        Ok(refusals)
    }

    /// What was recorded, once [`finish`](Participant::finish) has succeeded.
    pub fn recorded(&self) -> Option<Recorded> {
        self.recorded.clone()
    }

    fn new(repo: &Repo, root: &RelPath, options: RecordOptions) -> Self {
        Self {
            repo: repo.clone(),
            root: root.clone(),
            options,
            head: None,
            lock: None,
            dirty: BTreeSet::new(),
            splits: BTreeMap::new(),
            recorded: None,
        }
    }

    fn begun(&self) -> Result<&Head, GitError> {
        self.head.as_ref().ok_or_else(|| GitError::BadRecord("nothing was begun".to_owned()))
    }

    fn prepare_record(&self, landed: &dyn Landed) -> Result<Record, GitError> {
        let local = self.repo.local();
        let head = self.begun()?.clone();
        let commits = self.options.kind != RecordKind::Stage;
        if commits && Head::read(&local)? != head {
            return Err(GitError::HeadMoved);
        }
        let tree = head.tree(&local)?;
        let mut parts = Parts::new(&self.repo, &local, &self.root, (self.options.kind, tree))?
            .store(landed, &self.splits)?;
        let step = if commits { Some(self.commit(&local, head, tree, &mut parts)?) } else { None };
        Ok(Record {
            operation: self.options.operation_id.clone(),
            step,
            index: self.other_index(),
            entries: parts.iter().map(Entry::from).collect(),
        })
    }

    /// Makes the commit, and rehearses the step to it.
    fn commit(
        &self,
        local: &gix::Repository,
        head: Head,
        base: Option<ObjectId>,
        parts: &mut [Part],
    ) -> Result<Step, GitError> {
        let (tree, text) = self.vet(local, base, parts)?;
        let reflog = reflog(&head, &text);
        let to = object::commit(local, tree, head.commit.as_slice(), text, Signature::AsConfigured)?;
        let step = Step { from: head, to, reflog };
        step.rehearse(local)?;
        Ok(step)
    }

    /// The tree and the message to commit, after the hooks had their say.
    fn vet(
        &self,
        local: &gix::Repository,
        base: Option<ObjectId>,
        parts: &mut [Part],
    ) -> Result<(ObjectId, BString), GitError> {
        let write = |parts: &[Part]| object::tree(local, base, parts.iter().map(|p| (&p.path, p.committed)));
        let unchanged = base.unwrap_or_else(|| ObjectId::empty_tree(local.object_hash()));
        let mut tree = write(parts)?;
        let mut text = self.message(parts);
        if self.options.hooks == Hooks::Run && tree != unchanged {
            let hooks = hook::Hooks::new(&self.repo, local, &self.options.operation_id)?;
            let vetted = hooks.vet(tree, parts, text)?;
            text = message::clean(&vetted.message);
            tree = if vetted.replaced { write(parts)? } else { tree };
        }
        if tree == unchanged {
            return Err(GitError::NothingToCommit);
        }
        if text.is_empty() {
            return Err(GitError::EmptyMessage);
        }
        Ok((tree, text))
    }

    fn message(&self, parts: &[Part]) -> BString {
        match &self.options.message {
            Some(given) => message::clean(given.as_bytes()),
            None => message::default(&parts.iter().map(|part| &part.path).collect::<Vec<_>>()),
        }
    }

    /// The index, where it is not the work tree's own.
    fn other_index(&self) -> Option<PathBuf> {
        let path = self.repo.index_path();
        (path != self.repo.git_dir().join("index")).then(|| path.to_owned())
    }

    fn finish_record(&mut self, record: &Record) -> Result<(), GitError> {
        let local = self.repo.local();
        let index = record.index.clone().unwrap_or_else(|| self.repo.git_dir().join("index"));
        let lock = match self.lock.take() {
            Some(lock) => lock,
            None => IndexLock::take(&self.repo, &index, &record.operation, self.options.lock_timeout)?,
        };
        let moved = match &record.step {
            Some(step) => self.move_branch(&local, step, &record.operation)?,
            None => false,
        };
        self.write_index(&local, &index, &record.entries, lock)?;
        self.recorded = Some(record.recorded());
        if moved && self.options.hooks == Hooks::Run {
            hook::Hooks::new(&self.repo, &local, &record.operation)?.post_commit();
        }
        Ok(())
    }

    /// Moves the branch from the old to the new commit; `false` when that was done before.
    fn move_branch(&self, local: &gix::Repository, step: &Step, operation: &str) -> Result<bool, GitError> {
        step.remove_own_locks(local, operation)?;
        let current = step.current(local)?;
        if current == Some(step.to) {
            return Ok(false);
        }
        let draft = self.repo.own_folder()?.join(format!("ref-{operation}"));
        let taken = if current == step.from.commit {
            step.take(local, draft.clone(), self.options.lock_timeout)
        } else {
            Err(GitError::HeadMoved)
        };
        match taken {
            Err(GitError::HeadMoved) => Err(GitError::RefMoved {
                reference: step.from.reference().to_owned(),
                commit: step.to.to_string(),
                pinned: step.pin(local, operation, draft)?,
            }),
            other => other.map(|()| true),
        }
    }

    fn write_index(
        &self,
        local: &gix::Repository,
        path: &std::path::Path,
        entries: &[Entry],
        lock: IndexLock,
    ) -> Result<(), GitError> {
        let mut index = index::open(local, path)?;
        let mut cleaner = Cleaner::new(self.repo.local(), Arc::new(index.clone()))?;
        let work_tree = self.repo.work_tree();
        let options = local.stat_options().map_err(GitError::gix("read the configuration"))?;
        index::smudge(&mut index, entries, &mut cleaner, work_tree, options)?;
        index::apply(&mut index, entries, work_tree);
        index::write(local, &index, lock.next())?;
        lock.publish(Sharing::of(local)?)
    }
}

impl Participant for Recorder {
    fn prepare(&mut self, landed: &dyn Landed) -> Result<Vec<u8>, ParticipantError> {
        Ok(self.prepare_record(landed)?.to_bytes())
    }

    fn finish(&mut self, record: &[u8]) -> Result<(), Unrecorded> {
        let record = Record::from_bytes(record).map_err(GitError::after_commit_point)?;
        self.finish_record(&record).map_err(GitError::after_commit_point)
    }

    fn abort(&mut self) {
        self.lock = None;
    }
}

fn reflog(head: &Head, message: &BString) -> BString {
    let kind = if head.commit.is_some() { "commit" } else { "commit (initial)" };
    let mut line = BString::from(format!("{kind}: "));
    line.extend_from_slice(message.lines().next().unwrap_or_default());
    line
}
