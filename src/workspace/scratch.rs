//! A copy of the work tree as a batch will leave it, elsewhere, to try it out; gone when it is dropped.
//!
//! It lies in the user's state directory, always at the same place, so that build tools find what they know; a run that
//! is killed leaves it to the next one. Files are copies: nothing that is done there reaches the work tree, but for the
//! paths that the caller wants shared. Nothing is ever written through a link.

use super::{Workspace, name_of};
use crate::disk::Node;
use crate::edit::RelPath;
use crate::error::Error;
use crate::git::Copied;
use crate::plan::{Resolved, Sink, SinkFull};
use bstr::{ByteSlice, ByteVec};
use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The folder of the copy in the state directory of a root.
const SCRATCH: &str = "scratch";

/// A tree in the making. As a [`Sink`] it takes what the batch makes of its files.
#[derive(Debug)]
pub(crate) struct Scratch<'a> {
    workspace: &'a Workspace,
    place: PathBuf,
    tree: PathBuf,
    /// Paths that are links to those of the work tree.
    shared: Vec<RelPath>,
    taken: Mutex<HashSet<RelPath>>,
    failed: Mutex<Option<io::Error>>,
}

impl<'a> Scratch<'a> {
    /// An empty one. What a killed run has left is removed; the caller holds the lock.
    pub(crate) fn new(workspace: &'a Workspace, shared: Vec<RelPath>) -> Result<Self, Error> {
        workspace.clear_scratch()?;
        let place = workspace.scratch_place()?;
        // Tools that name things after the folder find the usual name.
        let name = workspace.root.file_name().unwrap_or("tree".as_ref());
        let tree = place.join(name);
        let scratch =
            Self { workspace, tree, shared, taken: Mutex::default(), failed: Mutex::default(), place };
        make_private(&scratch.place)
            .and_then(|()| fs_err::create_dir(&scratch.tree))
            .map_err(scratch.failed())?;
        Ok(scratch)
    }

    /// The folder above the tree.
    pub(crate) fn place(&self) -> &Path {
        &self.place
    }

    /// The top of the tree.
    pub(crate) fn tree(&self) -> &Path {
        &self.tree
    }

    /// Why [`put`](Sink::put) gave up, when it did.
    pub(crate) fn take_error(&self) -> Option<Error> {
        let failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner).take();
        failed.map(self.failed())
    }

    /// Copies everything that the batch leaves alone, and links what is shared.
    pub(crate) fn fill(&self) -> Result<(), Error> {
        let mut copied = self.workspace.repo.as_ref().map(Copied::of).transpose()?;
        let taken = std::mem::take(&mut *self.taken.lock().unwrap_or_else(PoisonError::into_inner));
        self.copy(&RelPath::root(), &taken, &mut copied)?;
        for path in &taken {
            self.remove_emptied(path);
        }
        for path in &self.shared {
            self.share(path).map_err(self.failed())?;
        }
        match &self.workspace.repo {
            Some(repo) => Ok(repo.make_private(&self.tree)?),
            None => Ok(()),
        }
    }

    fn copy(
        &self,
        folder: &RelPath,
        taken: &HashSet<RelPath>,
        copied: &mut Option<Copied>,
    ) -> Result<(), Error> {
        let real = self.workspace.root.join(folder.to_path());
        for entry in fs_err::read_dir(&real).map_err(self.failed())? {
            let entry = entry.map_err(self.failed())?;
            let (from, kind) = (entry.path(), entry.file_type().map_err(self.failed())?);
            let Some(path) = name(entry.file_name()).and_then(|name| folder.join(name.as_ref()).ok()) else {
                continue;
            };
            let is_own = entry.file_name() == ".git"
                || entry.file_name().as_encoded_bytes().starts_with(b".patchmany-");
            if is_own || taken.contains(&path) && !kind.is_dir() || self.shared.contains(&path) {
                continue;
            }
            let to = self.tree.join(path.to_path());
            if kind.is_dir() {
                // A file of the batch stands in its place.
                let is_replaced = to.symlink_metadata().is_ok_and(|found| !found.is_dir());
                let enters = copied.as_mut().map_or(Ok(true), |copied| copied.enters(&path))?;
                if !is_replaced && enters {
                    make(&to).map_err(self.failed())?;
                    self.copy(&path, taken, copied)?;
                }
            } else if copied.as_mut().map_or(Ok(true), |copied| copied.takes_file(&path))? {
                copy_one(&from, &to, kind).map_err(self.failed())?;
            }
        }
        Ok(())
    }

    /// Folders that the batch leaves empty go, as they will in the work tree.
    fn remove_emptied(&self, path: &RelPath) {
        if self.tree.join(path.to_path()).symlink_metadata().is_ok() {
            return;
        }
        let mut above = path.parent();
        while let Some(folder) = above.filter(|folder| !folder.is_root()) {
            // One that is not empty stays, and all above it.
            if std::fs::remove_dir(self.tree.join(folder.to_path())).is_err() {
                return;
            }
            above = folder.parent();
        }
    }

    fn share(&self, path: &RelPath) -> io::Result<()> {
        let (from, to) = (self.workspace.root.join(path.to_path()), self.tree.join(path.to_path()));
        // What is not there yet is made in the copy.
        if !from.exists() {
            return Ok(());
        }
        if let Some(above) = to.parent() {
            fs_err::create_dir_all(above)?;
        }
        link(&from, &to)
    }

    fn write(&self, file: &Resolved) -> io::Result<()> {
        let to = self.tree.join(file.path.to_path());
        if let (Node::File { .. } | Node::Link { .. }, Some(above)) = (&file.after, to.parent()) {
            fs_err::create_dir_all(above)?;
        }
        match &file.after {
            Node::File { mode, .. } => {
                let mut made = create(&to, *mode)?;
                file.new.as_ref().map_or(Ok(()), |bytes| bytes.write_to(&mut made))?;
                // Where it takes no other file's place, the umask has had its say.
                if file.metadata.from().is_some() { set_mode(&to, *mode) } else { Ok(()) }
            }
            Node::Link { target } => link(&target.to_path_lossy(), &to),
            _ => Ok(()),
        }
    }

    fn failed(&self) -> impl FnOnce(io::Error) -> Error + use<> {
        Error::io(format!("copy the work tree to {}", self.place.display()))
    }
}

impl Sink for Scratch<'_> {
    fn put(&self, file: &Resolved) -> Result<(), SinkFull> {
        let written = self.write(file);
        self.taken.lock().unwrap_or_else(PoisonError::into_inner).insert(file.path.clone());
        written.map_err(|error| {
            self.failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
            SinkFull
        })
    }
}

impl Drop for Scratch<'_> {
    fn drop(&mut self) {
        // The next run tries again.
        let _ = self.workspace.clear_scratch();
    }
}

impl Workspace {
    fn scratch_place(&self) -> Result<PathBuf, Error> {
        Ok(self.user_state()?.join(name_of(&self.root)).join(SCRATCH))
    }

    /// Removes the copy that a killed run has left, if there is one. The caller holds the lock.
    pub(crate) fn clear_scratch(&self) -> Result<(), Error> {
        // Without a state directory there is none.
        let Ok(place) = self.scratch_place() else { return Ok(()) };
        if place.symlink_metadata().is_err() {
            return Ok(());
        }
        let removed = fs_err::remove_dir_all(&place).or_else(|_| {
            open_all(&place);
            fs_err::remove_dir_all(&place)
        });
        removed.map_err(Error::io(format!("remove the copy of the work tree in {}", place.display())))?;
        // Folders that hold nothing else go too.
        for above in place.ancestors().skip(1).take(2) {
            if std::fs::remove_dir(above).is_err() {
                break;
            }
        }
        Ok(())
    }
}

fn name(name: std::ffi::OsString) -> Option<bstr::BString> {
    Vec::from_os_string(name).ok().map(Into::into)
}

fn make(folder: &Path) -> io::Result<()> {
    match fs_err::create_dir(folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    }
}

/// A file with its mode and time, so that build tools see no change, or a link; nothing else can be copied.
fn copy_one(from: &Path, to: &Path, kind: std::fs::FileType) -> io::Result<()> {
    if kind.is_symlink() {
        return link(&fs_err::read_link(from)?, to);
    }
    if !kind.is_file() {
        return Ok(());
    }
    let modified = match fs_err::copy(from, to) {
        // Gone meanwhile: whoever removed it did so for the tree after the batch too.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
        Ok(_) => from.metadata()?.modified()?,
    };
    // A file that must not be written to keeps the time of the copy.
    if let Ok(file) = fs_err::OpenOptions::new().write(true).open(to) {
        file.file().set_modified(modified)?;
    }
    Ok(())
}

/// Makes a folder for the owner alone, and those above it.
fn make_private(folder: &Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(folder)
}

#[cfg(unix)]
fn link(target: &Path, at: &Path) -> io::Result<()> {
    fs_err::os::unix::fs::symlink(target, at)
}

#[cfg(windows)]
fn link(target: &Path, at: &Path) -> io::Result<()> {
    match target.is_dir() {
        true => fs_err::os::windows::fs::symlink_dir(target, at),
        false => fs_err::os::windows::fs::symlink_file(target, at),
    }
}

/// A new file; its owner may write to it.
fn create(file: &Path, mode: u32) -> io::Result<fs_err::File> {
    let mut options = fs_err::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    fs_err::os::unix::fs::OpenOptionsExt::mode(&mut options, mode & 0o777 | 0o600);
    #[cfg(not(unix))]
    let _ = mode;
    options.open(file)
}

#[cfg(unix)]
fn set_mode(file: &Path, mode: u32) -> io::Result<()> {
    fs_err::set_permissions(file, std::os::unix::fs::PermissionsExt::from_mode(mode & 0o777 | 0o600))
}

#[cfg(not(unix))]
fn set_mode(_file: &Path, _mode: u32) -> io::Result<()> {
    Ok(())
}

/// Lets everything below `folder` be removed: tools make folders that not even their owner may change.
fn open_all(folder: &Path) {
    let _ = set_mode(folder, 0o700);
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            open_all(&entry.path());
        }
    }
}
