//! A loose reference, moved under a lock that appears in one step with the new value in it.
//!
//! To git it is a lock like its own. After a kill it is known by its content: the id of a commit that nobody else
//! makes. Foreign locks are waited for and never removed; packed-refs is read, never locked or written. Whoever holds
//! the lock compares the present value: nothing is compared here. Where hard links cannot be made, a kill between the
//! creation of the lock and its content leaves an empty one, which nobody can tell from git's.

use super::GitError;
use super::lock::{self, Sharing};
use bstr::BStr;
use gix::ObjectId;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Where a reference and its log lie as files.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    base: PathBuf,
    name: PathBuf,
    sharing: Sharing,
}

impl Place {
    /// The place of `HEAD` or of a reference by its full name. Linked work trees share all but a few of them.
    pub(crate) fn of(repo: &gix::Repository, reference: &BStr) -> Result<Self, GitError> {
        let own = [&b"refs/bisect/"[..], b"refs/worktree/", b"refs/rewritten/"];
        let is_own = reference == "HEAD" || own.iter().any(|folder| reference.starts_with(folder));
        let base = if is_own { repo.git_dir() } else { repo.common_dir() };
        let name = gix::path::from_bstr(reference)
            .map_err(|_| GitError::Unsupported("a branch whose name is no path here".to_owned()))?;
        Ok(Self { base: base.to_owned(), name: name.into_owned(), sharing: Sharing::of(repo)? })
    }

    /// Where the value is, if not in packed-refs.
    pub(crate) fn file(&self) -> PathBuf {
        self.base.join(&self.name)
    }

    pub(crate) fn lock(&self) -> PathBuf {
        lock::lock_path(&self.file())
    }

    pub(crate) fn log(&self) -> PathBuf {
        self.base.join("logs").join(&self.name)
    }

    /// Makes the folders above `file`, one of the files of this place.
    pub(crate) fn make_folders(&self, file: &Path) -> Result<(), GitError> {
        let missing = file.ancestors().skip(1).take_while(|folder| *folder != self.base && !folder.is_dir());
        for folder in missing.collect::<Vec<_>>().into_iter().rev() {
            match fs_err::create_dir(folder) {
                Err(error) if error.kind() != ErrorKind::AlreadyExists || !folder.is_dir() => {
                    return Err(error.into());
                }
                _ => self.share(folder)?,
            }
        }
        Ok(())
    }

    /// Gives `path` the permissions of a shared repository.
    pub(crate) fn share(&self, path: &Path) -> Result<(), GitError> {
        self.sharing.apply(path)
    }

    /// Removes the lock if it holds `new`.
    pub(crate) fn remove_own_lock(&self, new: ObjectId) {
        if lock::is_ours(&self.lock(), &content(new)) {
            let _ = std::fs::remove_file(self.lock());
        }
    }
}

/// Holds the lock of a reference. Dropping it leaves the reference as it is.
#[must_use = "the lock is given up when this is dropped"]
#[derive(Debug)]
pub(crate) struct RefLock {
    place: Place,
    /// Stays as long as the lock does, so that the next run finds what a kill leaves behind.
    draft: PathBuf,
    content: String,
}

impl RefLock {
    /// Waits up to `timeout` for the lock that says `new`. The `draft` is a name of ours for this one lock.
    pub(crate) fn take(
        place: Place,
        new: ObjectId,
        draft: PathBuf,
        timeout: Duration,
    ) -> Result<Self, GitError> {
        let held = Self { place, draft, content: content(new) };
        held.write_draft()?;
        if !lock::wait(timeout, || held.try_take())? {
            return Err(lock::locked(&held.place.lock()));
        }
        held.place.share(&held.place.lock())?;
        Ok(held)
    }

    /// Gives the reference its new value.
    pub(crate) fn publish(self) -> Result<(), GitError> {
        let (lock, file) = (self.place.lock(), self.place.file());
        if file.is_dir() {
            // What is left of branches below this name.
            let _ = gix::fs::dir::remove::empty_depth_first(file.clone());
        }
        Ok(fs_err::rename(lock, file)?)
    }

    /// Removes the lock that belongs to a `draft`, and the draft. Call it only when its run is dead.
    pub(crate) fn remove_left(place: &Place, draft: &Path) -> Result<(), GitError> {
        let id =
            std::fs::read(draft).ok().and_then(|text| ObjectId::from_hex(text.strip_suffix(b"\n")?).ok());
        if let Some(id) = id {
            place.remove_own_lock(id);
        }
        Ok(fs_err::remove_file(draft)?)
    }

    /// Always a new file: an old draft may be the very file that a reference is by now.
    fn write_draft(&self) -> Result<(), GitError> {
        let _ = std::fs::remove_file(&self.draft);
        let mut file = fs_err::OpenOptions::new().write(true).create_new(true).open(&self.draft)?;
        file.write_all(self.content.as_bytes())?;
        // A branch that a power failure leaves empty costs more than this.
        Ok(file.sync_all()?)
    }

    fn try_take(&self) -> Result<bool, GitError> {
        let lock = self.place.lock();
        self.place.make_folders(&lock)?;
        match lock::appear(&self.draft, &lock, &self.content) {
            // Git has removed the folder again, since it was empty.
            Err(GitError::Io(error)) if error.kind() == ErrorKind::NotFound => Ok(false),
            done => done,
        }
    }
}

impl Drop for RefLock {
    fn drop(&mut self) {
        if lock::is_ours(&self.place.lock(), &self.content) {
            let _ = std::fs::remove_file(self.place.lock());
        }
        let _ = std::fs::remove_file(&self.draft);
    }
}

fn content(id: ObjectId) -> String {
    format!("{id}\n")
}
