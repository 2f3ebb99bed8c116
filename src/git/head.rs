//! HEAD: where it points, and moving it by compare-and-swap with its reflogs.
//!
//! The rehearsal takes no lock, so that a kill before the commit point leaves none behind.

use super::lock;
use super::reference::{Place, RefLock};
use super::reflog::{Line, Missing};
use super::{GitError, Repo};
use bstr::{BStr, BString, ByteSlice};
use gix::ObjectId;
use gix::refs::FullName;
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

/// Where HEAD points, in bytes that can be compared; nothing where it cannot be read.
pub fn head_mark(repo: &Repo) -> Vec<u8> {
    let Ok(head) = Head::read(&repo.local()) else { return Vec::new() };
    let commit = head.commit.map_or_else(|| "no commit".to_owned(), |id| id.to_string());
    [head.reference().as_bytes(), b" ", commit.as_bytes()].concat()
}

impl Step {
    /// What the moved reference points to now; the null id when that is no commit but another reference.
    pub(crate) fn current(&self, repo: &gix::Repository) -> Result<Option<ObjectId>, GitError> {
        let elsewhere = ObjectId::null(self.to.kind());
        let Some(branch) = &self.from.branch else {
            let head = Head::read(repo)?;
            return Ok(if head.branch.is_none() { head.commit } else { Some(elsewhere) });
        };
        let found = repo.try_find_reference(branch.as_ref()).map_err(GitError::gix("read the branch"))?;
        Ok(found.map(|reference| reference.target().try_id().map_or(elsewhere, ToOwned::to_owned)))
    }

    /// Tells now, without a lock, what [`take`](Self::take) would say later.
    pub(crate) fn rehearse(&self, repo: &gix::Repository) -> Result<(), GitError> {
        // Somebody may have changed branches, too.
        if self.current(repo)? != self.from.commit || Head::read(repo)? != self.from {
            return Err(GitError::HeadMoved);
        }
        if self.from.commit.is_none() {
            self.check_name(repo)?;
        }
        for reference in [self.from.reference(), "HEAD".into()] {
            let lock = Place::of(repo, reference)?.lock();
            if !lock::wait(Duration::from_secs(1), || Ok(lock.symlink_metadata().is_err()))? {
                return Err(lock::locked(&lock));
            }
        }
        Ok(())
    }

    /// Moves the reference and writes the reflogs of it and of HEAD. The lock is known by the `draft`, a name of ours.
    pub(crate) fn take(
        &self,
        repo: &gix::Repository,
        draft: PathBuf,
        timeout: Duration,
    ) -> Result<(), GitError> {
        let reference = self.from.reference();
        let lock = RefLock::take(Place::of(repo, reference)?, self.to, draft, timeout)?;
        if self.current(repo)? != self.from.commit {
            return Err(GitError::HeadMoved);
        }
        let line = Line::new(repo, self.from.commit, self.to, self.reflog.as_ref())?;
        line.append(repo, reference, Missing::AsConfigured)?;
        if self.from.branch.is_some() && Head::read(repo)?.branch == self.from.branch {
            line.append(repo, "HEAD".into(), Missing::AsConfigured)?;
        }
        lock.publish()
    }

    /// Keeps the commit under a name of ours, so that it is not collected.
    pub(crate) fn pin(
        &self,
        repo: &gix::Repository,
        operation: &str,
        draft: PathBuf,
    ) -> Result<String, GitError> {
        let name = pinned(operation);
        let place = Place::of(repo, name.as_str().into())?;
        RefLock::take(place, self.to, draft, Duration::from_secs(1))?.publish()?;
        Ok(name)
    }

    /// Removes locks that an earlier attempt at this very step left behind when it was killed: they hold the id of
    /// our commit, which nobody else makes.
    pub(crate) fn remove_own_locks(&self, repo: &gix::Repository, operation: &str) -> Result<(), GitError> {
        for reference in [self.from.reference(), pinned(operation).as_str().into()] {
            Place::of(repo, reference)?.remove_own_lock(self.to);
        }
        Ok(())
    }

    /// A new branch cannot lie below another one, nor above.
    fn check_name(&self, repo: &gix::Repository) -> Result<(), GitError> {
        let failed = || GitError::gix("look for branches in the way of the new one");
        let reference = self.from.reference();
        let taken =
            |other: &BStr| GitError::NameTaken { reference: reference.to_owned(), other: other.to_owned() };
        for end in reference.find_iter("/") {
            let above = reference[..end].as_bstr();
            let found = FullName::try_from(above).ok().map(|name| repo.try_find_reference(name.as_ref()));
            if found.transpose().map_err(failed())?.flatten().is_some_and(|f| f.name().as_bstr() == above) {
                return Err(taken(above));
            }
        }
        let below = bstr::concat([reference.as_bytes(), b"/"]);
        let references = repo.references().map_err(failed())?;
        let mut found = references.prefixed(below.as_bstr()).map_err(failed())?;
        match found.next() {
            Some(Ok(other)) => Err(taken(other.name().as_bstr())),
            _ => Ok(()),
        }
    }
}

fn pinned(operation: &str) -> String {
    format!("refs/patchmany/{operation}")
}
