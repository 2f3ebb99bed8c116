//! `index.lock`, taken so that recovery can tell ours from everybody else's, and the index published under it.
//!
//! The lock names the operation: as the target of a symbolic link that leads nowhere, which is there as a whole or not at
//! all, also after power loss, without a sync. Where there are no such links it is a file that appears in one step with
//! its content (a hard link), which is synced first. A foreign lock is waited for and never removed. Dropping the lock
//! publishes nothing.

use super::{GitError, Repo};
use bstr::ByteVec;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Holds `index.lock`.
#[derive(Debug)]
pub(crate) struct IndexLock {
    index: PathBuf,
    lock: PathBuf,
    content: String,
    draft: PathBuf,
    next: PathBuf,
    /// Tells recovery of an index that is not the work tree's own.
    place: PathBuf,
}

impl IndexLock {
    /// Waits up to `timeout` for the lock of the index at `path`. One that this operation left behind when it was killed
    /// is taken over.
    pub(crate) fn take(
        repo: &Repo,
        path: &Path,
        operation: &str,
        timeout: Duration,
    ) -> Result<Self, GitError> {
        check_operation(operation)?;
        let index = gix::lock::acquire::resolve_symlink(path);
        let folder = repo.own_folder()?;
        let near = if index.parent() == Some(repo.git_dir()) { folder.as_path() } else { parent(&index) };
        let place = folder.join(format!("place-{operation}"));
        if path != repo.git_dir().join("index") {
            fs_err::write(&place, path.as_os_str().as_encoded_bytes())?;
        }
        let held = Self {
            lock: lock_path(&index),
            content: content(operation),
            draft: folder.join(format!("lock-{operation}")),
            next: near.join(format!("index-{operation}")),
            place,
            index,
        };
        if !wait(timeout, || held.try_take())? {
            return Err(locked(&held.lock));
        }
        Ok(held)
    }

    /// Where the new index is written before it is published.
    pub(crate) fn next(&self) -> &Path {
        &self.next
    }

    /// Puts the file at [`next`](Self::next) in the index's place and gives up the lock.
    pub(crate) fn publish(self, sharing: Sharing) -> Result<(), GitError> {
        if let Ok(old) = std::fs::metadata(&self.index) {
            fs_err::set_permissions(&self.next, old.permissions())?;
        }
        sharing.apply(&self.next)?;
        fs_err::rename(&self.next, &self.index)?;
        Ok(())
    }

    fn try_take(&self) -> Result<bool, GitError> {
        if is_ours(&self.lock, &self.content) {
            return Ok(true);
        }
        if let Some(taken) = link(&self.lock, &self.content)? {
            return Ok(taken);
        }
        write_synced(fs_err::File::create(&self.draft)?, &self.content)?;
        let taken = appear(&self.draft, &self.lock, &self.content);
        let _ = std::fs::remove_file(&self.draft);
        taken
    }
}

impl Drop for IndexLock {
    fn drop(&mut self) {
        // The draft may have outlived its use.
        for file in [&self.next, &self.draft, &self.place] {
            let _ = std::fs::remove_file(file);
        }
        if is_ours(&self.lock, &self.content) {
            let _ = std::fs::remove_file(&self.lock);
        }
    }
}

/// Holds `index.lock` while it lives, so that git changes nothing meanwhile; the index stays as it is.
#[must_use = "the lock is given up when this is dropped"]
#[derive(Debug)]
pub struct IndexGuard {
    _lock: IndexLock,
}

/// Takes `index.lock` if it is free; not inside a hook, where git itself is at work on the index.
pub fn guard_index(repo: &Repo, operation_id: &str) -> Option<IndexGuard> {
    if repo.in_hook() {
        return None;
    }
    let lock = IndexLock::take(repo, repo.index_path(), operation_id, Duration::ZERO).ok()?;
    Some(IndexGuard { _lock: lock })
}

/// The operation that `index.lock` names, where it is one of patchmany. It may be over: a run that is killed between its
/// end and giving up the lock leaves nothing else.
pub fn lock_owner(repo: &Repo) -> Option<String> {
    let index = gix::lock::acquire::resolve_symlink(repo.index_path());
    let text = String::from_utf8(text_of(&lock_path(&index))?).ok()?;
    let id = text.strip_prefix("patchmany ")?.strip_suffix('\n')?;
    check_operation(id).ok().map(|()| id.to_owned())
}

/// Removes what a killed operation left behind: `index.lock` if it names this very operation, and our private files.
///
/// Returns whether there was such a lock. Call it only while no other run of patchmany can be alive.
///
/// # Errors
/// A lock of ours that cannot be removed.
pub fn remove_own_lock(repo: &Repo, operation_id: &str) -> Result<bool, GitError> {
    check_operation(operation_id)?;
    let own = repo.git_dir().join("patchmany");
    let place = own.join(format!("place-{operation_id}"));
    let elsewhere = std::fs::read(&place).ok().and_then(|bytes| Vec::into_path_buf(bytes).ok());
    let mut ours = false;
    for index in std::iter::once(repo.git_dir().join("index")).chain(elsewhere) {
        let index = gix::lock::acquire::resolve_symlink(&index);
        for name in ["index", "lock", "ref", "hook-index", "message"] {
            for folder in [own.as_path(), parent(&index)] {
                let _ = std::fs::remove_file(folder.join(format!("{name}-{operation_id}")));
            }
        }
        let lock = lock_path(&index);
        if is_ours(&lock, &content(operation_id)) {
            fs_err::remove_file(lock)?;
            ours = true;
        }
    }
    // It tells of the other index until nothing of ours is left there.
    let _ = std::fs::remove_file(place);
    Ok(ours)
}

/// Tries until `attempt` succeeds, for up to `timeout`; `false` when it never did.
pub(crate) fn wait(
    timeout: Duration,
    mut attempt: impl FnMut() -> Result<bool, GitError>,
) -> Result<bool, GitError> {
    let begun = Instant::now();
    let mut pause = Duration::from_millis(10);
    while !attempt()? {
        let left = timeout.saturating_sub(begun.elapsed());
        if left.is_zero() {
            return Ok(false);
        }
        std::thread::sleep(pause.min(left));
        pause = (pause * 2).min(Duration::from_millis(200));
    }
    Ok(true)
}

/// Makes `lock` appear in one step with the content of `draft`; `false` when it exists.
///
/// Where hard links cannot be made it appears empty and is filled then.
pub(crate) fn appear(draft: &Path, lock: &Path, content: &str) -> Result<bool, GitError> {
    match std::fs::hard_link(draft, lock) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(false),
        Err(_) => create(lock, content),
    }
}

/// What to say when `lock` stays taken.
pub(crate) fn locked(lock: &Path) -> GitError {
    GitError::Locked { path: lock.to_owned(), holder: holder(lock) }
}

/// The lock of the file at `path`.
pub(crate) fn lock_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".lock");
    name.into()
}

/// Whether the lock holds exactly `content`.
pub(crate) fn is_ours(lock: &Path, content: &str) -> bool {
    text_of(lock).is_some_and(|found| found == content.as_bytes())
}

/// What a lock says, with a newline: the target of a link, or the content of a file.
fn text_of(lock: &Path) -> Option<Vec<u8>> {
    match std::fs::read_link(lock) {
        Ok(target) => {
            let mut text = <Vec<u8>>::from_path_buf(target).ok()?;
            text.push(b'\n');
            Some(text)
        }
        Err(_) => std::fs::read(lock).ok(),
    }
}

/// Makes `lock` a link to its content, which is the name of no file; `false` when it exists, `None` where no such link
/// can be made.
fn link(lock: &Path, content: &str) -> Result<Option<bool>, GitError> {
    #[cfg(unix)]
    match std::os::unix::fs::symlink(content.trim_end(), lock) {
        Ok(()) => Ok(Some(true)),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(Some(false)),
        Err(_) => Ok(None),
    }
    #[cfg(not(unix))]
    {
        let _ = (lock, content);
        Ok(None)
    }
}

/// Refuses an id that could leave our folder when it becomes part of a file name.
pub(crate) fn check_operation(operation: &str) -> Result<(), GitError> {
    let good = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_');
    if operation.is_empty() || operation.len() > 100 || !operation.bytes().all(good) {
        return Err(GitError::BadOperation(operation.to_owned()));
    }
    Ok(())
}

/// The permissions of `core.sharedRepository`, in gix's encoding: 0 leaves what the umask gave.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sharing(i32);

impl Sharing {
    pub(crate) fn of(repo: &gix::Repository) -> Result<Self, GitError> {
        let Some(value) = repo.config_snapshot().string("core.sharedRepository") else {
            return Ok(Self(0));
        };
        gix::config::tree::Core::SHARED_REPOSITORY
            .try_into_shared_repository(Some(value))
            .map(Self)
            .map_err(GitError::gix("read core.sharedRepository"))
    }

    /// Gives `path` those permissions.
    pub(crate) fn apply(self, path: &Path) -> Result<(), GitError> {
        if self.0 != 0 {
            let now = fs_err::metadata(path)?.permissions();
            fs_err::set_permissions(path, gix::fs::adjust_shared_repository_permissions(now, self.0))?;
        }
        Ok(())
    }
}

fn content(operation: &str) -> String {
    format!("patchmany {operation}\n")
}

fn parent(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new("."))
}

fn create(lock: &Path, content: &str) -> Result<bool, GitError> {
    match fs_err::OpenOptions::new().write(true).create_new(true).open(lock) {
        Ok(file) => write_synced(file, content).map(|()| true),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// After power loss the lock is there with its content or not at all: an empty one would be nobody's, and stay.
fn write_synced(mut file: fs_err::File, content: &str) -> Result<(), GitError> {
    file.write_all(content.as_bytes())?;
    Ok(file.sync_data()?)
}

fn holder(lock: &Path) -> String {
    let text = text_of(lock).unwrap_or_default();
    match text.strip_prefix(b"patchmany ").and_then(|id| std::str::from_utf8(id).ok()) {
        Some(id) => format!("the patchmany operation {} holds it", id.trim_end()),
        None => "git holds it".to_owned(),
    }
}
