//! Recording a batch as one commit on HEAD: exactly its paths, everything else staged or unstaged as it was.
//!
//! `begin` takes `index.lock` and everything up to `finish` is invisible. `finish` moves the branch, then writes the
//! index, then gives up the lock; it can be repeated from the record alone after a crash between any two steps. With
//! clean batch paths the outcome equals `git commit --only -- <paths>`.

use super::clean::Cleaner;
use super::head::{Head, Step};
use super::hook;
use super::lock::{IndexLock, Sharing};
use super::object::{self, Recording, Signature};
use super::record::{Entry, Record};
use super::refusal::{PathRefusal, below, refusals};
use super::{GitError, Recorded, Repo, index, message, preflight};
use crate::disk::Node;
use crate::edit::RelPath;
use crate::transaction::{Change, Landed, Participant, ParticipantError, Unrecorded};
use bstr::{BString, ByteSlice};
use gix::ObjectId;
use std::sync::Arc;
use std::time::Duration;

/// How to commit.
#[derive(Clone, Debug)]
pub struct RecordOptions {
    /// The message; `None` for one that counts the files.
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

/// Joins a transaction and turns it into a commit.
#[derive(Debug)]
pub struct Recorder {
    repo: Repo,
    root: RelPath,
    options: RecordOptions,
    /// Where HEAD pointed at the beginning; `None` after a resume.
    head: Option<Head>,
    lock: Option<IndexLock>,
    recorded: Option<Recorded>,
}

impl Recorder {
    /// Makes sure that a commit can be made now and takes `index.lock`. `root` is the tool's root relative to the
    /// work tree.
    ///
    /// # Errors
    /// [`Locked`](GitError::Locked) when the lock stays taken, and whatever forbids a commit.
    pub fn begin(repo: &Repo, root: &RelPath, options: RecordOptions) -> Result<Self, GitError> {
        preflight::check(repo, &repo.local(), &options.operation_id)?;
        let lock = IndexLock::take(repo, &options.operation_id, options.lock_timeout)?;
        let head = Head::read(&repo.local())?;
        Ok(Self {
            repo: repo.clone(),
            root: root.clone(),
            options,
            head: Some(head),
            lock: Some(lock),
            recorded: None,
        })
    }

    /// For recovery: only [`finish`](Participant::finish) may be called, with the journal's record.
    pub fn resume(repo: &Repo, root: &RelPath, lock_timeout: Duration) -> Self {
        let options =
            RecordOptions { message: None, hooks: Hooks::Skip, lock_timeout, operation_id: String::new() };
        Self { repo: repo.clone(), root: root.clone(), options, head: None, lock: None, recorded: None }
    }

    /// The paths (relative to the root, with whether they exist now) that cannot be committed, and why.
    ///
    /// # Errors
    /// An index, tree or attributes file that cannot be read.
    pub fn check(&self, paths: &[(RelPath, bool)]) -> Result<Vec<PathRefusal>, GitError> {
        refusals(&self.repo, &self.root, paths)
    }

    /// The commit, once [`finish`](Participant::finish) has succeeded.
    pub fn recorded(&self) -> Option<Recorded> {
        self.recorded.clone()
    }

    fn prepare_record(&self, landed: &dyn Landed) -> Result<Record, GitError> {
        let local = self.repo.local();
        let head = self.head.clone().ok_or_else(|| GitError::BadRecord("nothing was begun".to_owned()))?;
        if Head::read(&local)? != head {
            return Err(GitError::HeadMoved);
        }
        let mut entries = self.store(&local, landed)?;
        let (tree, text) = self.vet(&local, head.tree(&local)?, &mut entries)?;
        let reflog = reflog(&head, &text);
        let to = object::commit(&local, tree, head.commit.as_slice(), text, Signature::AsConfigured)?;
        let step = Step { from: head, to, reflog };
        step.rehearse(&local)?;
        Ok(Record { operation: self.options.operation_id.clone(), step, entries })
    }

    /// The tree and the message to commit, after the hooks had their say.
    fn vet(
        &self,
        local: &gix::Repository,
        base: Option<ObjectId>,
        entries: &mut [Entry],
    ) -> Result<(ObjectId, BString), GitError> {
        let write = |entries: &[Entry]| object::tree(local, base, entries.iter().map(|e| (&e.path, e.after)));
        let unchanged = base.unwrap_or_else(|| ObjectId::empty_tree(local.object_hash()));
        let mut tree = write(entries)?;
        let mut text = self.message(entries);
        if self.options.hooks == Hooks::Run && tree != unchanged {
            let hooks = hook::Hooks::new(&self.repo, local, &self.options.operation_id)?;
            let vetted = hooks.vet(tree, entries, text)?;
            text = message::clean(&vetted.message);
            tree = if vetted.replaced { write(entries)? } else { tree };
        }
        if tree == unchanged {
            return Err(GitError::NothingToCommit);
        }
        if text.is_empty() {
            return Err(GitError::EmptyMessage);
        }
        Ok((tree, text))
    }

    /// Writes the blobs of all changed paths, as they stand in the work tree now.
    fn store(&self, local: &gix::Repository, landed: &dyn Landed) -> Result<Vec<Entry>, GitError> {
        let index = Arc::new(index::open(local)?);
        let mut cleaner = Cleaner::new(self.repo.local(), Arc::clone(&index))?;
        let recording = Recording::of(local)?;
        let mut entries = Vec::new();
        for change in landed.changes().iter().filter(|change| concerns_git(change)) {
            let path = below(&self.root, &change.path);
            let before = index::side(&index, &path);
            let mut stat = None;
            let mut bytes = Vec::new();
            if matches!(change.after, Node::File { .. } | Node::Link { .. }) {
                stat = index::stat(&self.repo.work_tree().join(path.to_path()));
                let failed = |source| GitError::Landed { path: path.clone(), source };
                bytes = landed.content(change).map_err(failed)?;
            }
            let known = before.map(|side| side.mode);
            let after = recording.store(&mut cleaner, &path, &change.after, &bytes, known)?;
            if before.is_some() || after.is_some() {
                entries.push(Entry { path, before, after, landed: stat.as_ref().map(Into::into) });
            }
        }
        Ok(entries)
    }

    fn message(&self, entries: &[Entry]) -> BString {
        match &self.options.message {
            Some(given) => message::clean(given.as_bytes()),
            None => message::default(&entries.iter().map(|entry| &entry.path).collect::<Vec<_>>()),
        }
    }

    fn finish_record(&mut self, record: &Record) -> Result<(), GitError> {
        let local = self.repo.local();
        let lock = match self.lock.take() {
            Some(lock) => lock,
            None => IndexLock::take(&self.repo, &record.operation, self.options.lock_timeout)?,
        };
        let moved = self.move_branch(&local, record)?;
        self.write_index(&local, record, lock)?;
        self.recorded = Some(record.recorded());
        if moved && self.options.hooks == Hooks::Run {
            hook::Hooks::new(&self.repo, &local, &record.operation)?.post_commit();
        }
        Ok(())
    }

    /// Moves the branch from the old to the new commit; `false` when that was done before.
    fn move_branch(&self, local: &gix::Repository, record: &Record) -> Result<bool, GitError> {
        let (step, operation) = (&record.step, &record.operation);
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

    fn write_index(&self, local: &gix::Repository, record: &Record, lock: IndexLock) -> Result<(), GitError> {
        let mut index = index::open(local)?;
        let mut cleaner = Cleaner::new(self.repo.local(), Arc::new(index.clone()))?;
        let work_tree = self.repo.work_tree();
        let options = local.stat_options().map_err(GitError::gix("read the configuration"))?;
        index::smudge(&mut index, &record.entries, &mut cleaner, work_tree, options)?;
        index::apply(&mut index, &record.entries, work_tree);
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

/// Folders are no business of git's, unless a tracked file gave way to one.
fn concerns_git(change: &Change) -> bool {
    let tracked = |node: &Node| matches!(node, Node::File { .. } | Node::Link { .. });
    tracked(&change.before) || tracked(&change.after)
}

fn reflog(head: &Head, message: &BString) -> BString {
    let kind = if head.commit.is_some() { "commit" } else { "commit (initial)" };
    let mut line = BString::from(format!("{kind}: "));
    line.extend_from_slice(message.lines().next().unwrap_or_default());
    line
}
