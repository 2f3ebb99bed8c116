//! HEAD: where it points, and moving it by compare-and-swap with its reflogs.

use super::GitError;
use super::lock::Sharing;
use bstr::{BStr, BString, ByteSlice};
use gix::ObjectId;
use gix::lock::acquire::Fail;
use gix::refs::transaction::{PreviousValue, RefEdit};
use gix::refs::{FullName, Target};
use std::path::PathBuf;
use std::time::Duration;

/// Where HEAD points.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Head {
    /// The branch; `None` when HEAD is detached.
    pub(crate) branch: Option<FullName>,
    /// The commit; `None` when there is none yet.
    pub(crate) commit: Option<ObjectId>,
}

/// A step of HEAD, or of the branch it pointed to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Step {
    pub(crate) from: Head,
    pub(crate) to: ObjectId,
    /// Without a line feed.
    pub(crate) reflog: BString,
}

impl Head {
    pub(crate) fn read(repo: &gix::Repository) -> Result<Self, GitError> {
        let head = repo.head().map_err(GitError::gix("read HEAD"))?;
        let branch = head.referent_name().map(ToOwned::to_owned);
        let commit = head.id().map(gix::Id::detach);
        if commit.is_none() && !head.is_unborn() {
            return Err(GitError::Unsupported("a branch that is a symbolic reference".to_owned()));
        }
        Ok(Self { branch, commit })
    }

    /// The tree of its commit.
    pub(crate) fn tree(&self, repo: &gix::Repository) -> Result<Option<ObjectId>, GitError> {
        let read = GitError::gix("read the commit of HEAD");
        let Some(id) = self.commit else { return Ok(None) };
        let tree = repo.find_commit(id).and_then(|commit| commit.tree_id()).map_err(read)?;
        Ok(Some(tree.detach()))
    }

    /// `HEAD`, or the full name of the branch.
    pub(crate) fn reference(&self) -> &BStr {
        self.branch.as_ref().map_or(b"HEAD".as_bstr(), |branch| branch.as_bstr())
    }
}

impl Step {
    /// What the moved reference points to now.
    pub(crate) fn current(&self, repo: &gix::Repository) -> Result<Option<ObjectId>, GitError> {
        let read = GitError::gix("read the branch");
        match &self.from.branch {
            None => {
                let head = Head::read(repo)?;
                Ok(if head.branch.is_none() { head.commit } else { None })
            }
            Some(branch) => {
                let found = repo.try_find_reference(branch.as_ref()).map_err(read)?;
                Ok(found.and_then(|reference| reference.target().try_id().map(ToOwned::to_owned)))
            }
        }
    }

    /// Takes the locks, compares, and gives up again: tells now what [`take`](Self::take) would say later.
    pub(crate) fn rehearse(&self, repo: &gix::Repository) -> Result<(), GitError> {
        self.prepare(repo).map(drop)
    }

    /// Moves the reference and writes the reflogs of it and of HEAD.
    pub(crate) fn take(&self, repo: &gix::Repository, sharing: Sharing) -> Result<(), GitError> {
        let committer = repo.committer().transpose().map_err(GitError::gix("read the committer"))?;
        let prepared = self.prepare(repo)?;
        prepared.commit(committer).map_err(GitError::gix("move the branch"))?;
        let moved = gix::path::from_bstr(self.from.reference()).unwrap_or_default();
        for folder in [repo.common_dir().to_owned(), repo.common_dir().join("logs")] {
            let _ = sharing.apply(&folder.join(&moved));
        }
        Ok(())
    }

    /// Keeps the commit under a name of ours, so that it is not collected.
    pub(crate) fn pin(&self, repo: &gix::Repository, operation: &str) -> Result<String, GitError> {
        let name = format!("refs/patchmany/{operation}");
        repo.reference(name.as_str(), self.to, PreviousValue::Any, "")
            .map_err(GitError::gix("keep the commit"))?;
        Ok(name)
    }

    /// Removes locks that an earlier attempt at this very step left behind when it was killed: they hold the id of
    /// our commit, which nobody else makes.
    pub(crate) fn remove_own_locks(&self, repo: &gix::Repository) {
        let ours = format!("{}\n", self.to);
        let branch =
            self.from.branch.as_ref().map(|branch| repo.common_dir().join(lock_name(branch.as_bstr())));
        for lock in [Some(repo.git_dir().join("HEAD.lock")), branch].into_iter().flatten() {
            if std::fs::read(&lock).is_ok_and(|content| content == ours.as_bytes()) {
                let _ = std::fs::remove_file(lock);
            }
        }
    }

    fn prepare<'r>(&self, repo: &'r gix::Repository) -> Result<Prepared<'r>, GitError> {
        let through_head = Head::read(repo)?.branch == self.from.branch;
        let expected = match self.from.commit {
            Some(id) => PreviousValue::MustExistAndMatch(Target::Object(id)),
            None => PreviousValue::MustNotExist,
        };
        let name = if through_head { b"HEAD".as_bstr() } else { self.from.reference() };
        let name = FullName::try_from(name).map_err(|e| invalid_name(&e))?;
        let edit = RefEdit::update(name, self.to, expected, self.reflog.clone()).with_deref(through_head);
        let wait = Fail::AfterDurationWithBackoff(Duration::from_secs(1));
        repo.refs.transaction().prepare([edit], wait, wait).map_err(|error| self.not_prepared(repo, error))
    }

    fn not_prepared(&self, repo: &gix::Repository, error: gix::Error) -> GitError {
        use gix::refs::file::transaction::prepare::{MustNotExist, ReferenceOutOfDate};
        let moved = error.downcast_any_ref::<ReferenceOutOfDate>().is_some()
            || error.downcast_any_ref::<MustNotExist>().is_some();
        if moved {
            return GitError::HeadMoved;
        }
        if error.is_retryable() {
            let path = repo.common_dir().join(lock_name(self.from.reference()));
            return GitError::Locked { path, holder: format!("{error:#}") };
        }
        GitError::Gix { doing: "lock the branch", source: Box::new(error) }
    }
}

type Prepared<'r> = gix::refs::file::Transaction<'r, 'r>;

fn lock_name(reference: &BStr) -> PathBuf {
    let mut name = reference.to_owned();
    name.extend_from_slice(b".lock");
    gix::path::from_bstring(name).unwrap_or_default()
}

fn invalid_name(error: &dyn std::fmt::Display) -> GitError {
    GitError::Unsupported(format!("a branch whose name is invalid ({error})"))
}
