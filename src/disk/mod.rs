//! The only place that touches files: `trait Disk`, its implementation for the operating system, and [`Node`]; for
//! fault tests a disk in memory ([`SimDisk`]) and one with faults ([`Faulty`]).
//!
//! Every call names an open folder and one name in it, so that a folder swapped for a link cannot redirect a
//! write. Calls report plain [`std::io::Error`]s; callers add the operation and the path.

mod faulty;
mod folders;
mod node;
mod os;
mod sim;
mod stat;

use crate::edit::{Hash, Pieces, RelPath};
use bstr::{BStr, BString};
use std::io;
use std::ops::ControlFlow;
use std::path::Path;

pub use faulty::{Call, CallKind, Fault, Faulty, Lasts, When};
pub use folders::Folders;
pub use node::Node;
pub use os::OsDisk;
pub use sim::{Clock, Crash, Handle, Loss, Points, SimDir, SimDisk, SimLock, Tier};
pub use stat::{Kind, Owner, Stamp, Stat, kept_mode};

/// How [`Disk::rename`] treats a destination that exists.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rename {
    /// Fails with `AlreadyExists`.
    NoReplace,
    /// Both names must exist and trade places in one step.
    Exchange,
}

/// Files and folders, one system call a method.
///
/// `Dir` is an open folder; it stays valid when the folder is renamed.
pub trait Disk: Send + Sync {
    /// An open folder.
    type Dir: Clone + std::fmt::Debug + Send + Sync;

    /// A held lock; dropping it, or the end of the process however it comes, releases it.
    type Lock: std::fmt::Debug + Send;

    /// Opens a folder that the user or the program itself named; links in `path` are followed.
    fn open_root(&self, path: &Path) -> io::Result<Self::Dir>;

    /// Opens the folder `path` below `base`. A link or anything else that is no folder on the way is an error
    /// of kind `NotADirectory`; nothing can lead out of `base`.
    fn open_dir(&self, base: &Self::Dir, path: &RelPath) -> io::Result<Self::Dir>;

    /// What stands at `name`, links not followed; `None` when nothing does.
    fn stat(&self, dir: &Self::Dir, name: &BStr) -> io::Result<Option<Stat>>;

    /// What the open folder is.
    fn stat_dir(&self, dir: &Self::Dir) -> io::Result<Stat>;

    /// The whole regular file `name` with what it was when it was read. Links are not followed. Call it only where
    /// [`stat`](Self::stat) has found a regular file: a pipe might be opened, and its writer would notice.
    fn read(&self, dir: &Self::Dir, name: &BStr) -> io::Result<(Vec<u8>, Stat)>;

    /// As [`read`](Self::read), in the place of what `bytes` holds: the memory is used again.
    fn read_into(&self, dir: &Self::Dir, name: &BStr, bytes: &mut Vec<u8>) -> io::Result<Stat> {
        let (read, stat) = self.read(dir, name)?;
        *bytes = read;
        Ok(stat)
    }

    /// The hash of the regular file `name`, with what it was when it was read. Holds a piece of it at a time. To be
    /// called as [`read`](Self::read) is.
    fn hash(&self, dir: &Self::Dir, name: &BStr) -> io::Result<(Hash, Stat)> {
        self.read(dir, name).map(|(bytes, stat)| (Hash::of(&bytes), stat))
    }

    /// Gives the regular file `name` to `take` in order, piece by piece, until that breaks off; what it was when it was
    /// read. Holds a piece of it at a time. To be called as [`read`](Self::read) is.
    fn read_pieces(
        &self,
        dir: &Self::Dir,
        name: &BStr,
        take: &mut dyn FnMut(&[u8]) -> ControlFlow<()>,
    ) -> io::Result<Stat> {
        let (bytes, stat) = self.read(dir, name)?;
        let _all_is_given = take(&bytes);
        Ok(stat)
    }

    /// What keeps the files of `dir`: how much is to be synced depends on it.
    fn medium(&self, _dir: &Self::Dir) -> io::Result<Medium> {
        Ok(Medium::Journaled)
    }

    /// The target of the symbolic link `name`.
    fn read_link(&self, dir: &Self::Dir, name: &BStr) -> io::Result<BString>;

    /// The names in `dir` without `.` and `..`, in no order.
    fn list(&self, dir: &Self::Dir) -> io::Result<Vec<BString>>;

    /// Makes the new file `name` with `bytes`. `mode` is what a plain program would ask for (0o666 or 0o777);
    /// the umask applies.
    fn create(&self, dir: &Self::Dir, name: &BStr, bytes: &[u8], mode: u32) -> io::Result<()>;

    /// Makes the new file `name` with `bytes`, owned and guarded as if it were made in the folder `home` of the same
    /// mount: with the group and the access list that new files get there. `mode` as for [`create`](Self::create).
    fn create_as_in(
        &self,
        (dir, name): (&Self::Dir, &BStr),
        bytes: &Pieces,
        mode: u32,
        _home: &Self::Dir,
    ) -> io::Result<Made> {
        self.create(dir, name, &bytes.whole(), mode)?;
        self.stat(dir, name)?.map(Made::from).ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    /// Makes the new file `name` with `bytes` and `mode`, and what else `like` says.
    ///
    /// # Errors
    /// As [`create`](Self::create) and [`copy_metadata`](Self::copy_metadata).
    fn create_like(
        &self,
        (dir, name): (&Self::Dir, &BStr),
        bytes: &Pieces,
        like: Like<'_, Self::Dir>,
        mode: u32,
    ) -> io::Result<Made> {
        self.create(dir, name, &bytes.whole(), 0o600)?;
        if let Like::File(from, source) = like {
            self.copy_metadata((from, source), (dir, name))?;
        }
        self.set_mode(dir, name, mode)?;
        self.stat(dir, name)?.map(Made::from).ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    /// Replaces bytes of the existing file `name` from `offset` on and waits until they are on the medium.
    fn overwrite_synced(&self, dir: &Self::Dir, name: &BStr, offset: u64, bytes: &[u8]) -> io::Result<()>;

    /// Makes the symbolic link `name`.
    fn create_link(&self, dir: &Self::Dir, name: &BStr, target: &BStr) -> io::Result<()>;

    /// Makes the folder `name`; `private` folders are for the owner alone.
    fn create_dir(&self, dir: &Self::Dir, name: &BStr, access: Access) -> io::Result<()>;

    /// A second name for the same file.
    fn hard_link(&self, from: (&Self::Dir, &BStr), to: (&Self::Dir, &BStr)) -> io::Result<()>;

    /// Moves a name.
    fn rename(&self, from: (&Self::Dir, &BStr), to: (&Self::Dir, &BStr), how: Rename) -> io::Result<()>;

    /// Removes a name that is no folder.
    fn remove(&self, dir: &Self::Dir, name: &BStr) -> io::Result<()>;

    /// Removes an empty folder.
    fn remove_dir(&self, dir: &Self::Dir, name: &BStr) -> io::Result<()>;

    /// Gives the file `to` the mode, owner, access lists and attributes of the file `from`.
    ///
    /// # Errors
    /// Any of them that cannot be set; a file without its owner or access list is not the same file.
    fn copy_metadata(&self, from: (&Self::Dir, &BStr), to: (&Self::Dir, &BStr)) -> io::Result<()>;

    /// Sets the permission bits of the file `name`.
    fn set_mode(&self, dir: &Self::Dir, name: &BStr, mode: u32) -> io::Result<()>;

    /// Sets when `name` was last modified; a link itself, not what it leads to. Does nothing where files have no times.
    fn set_modified(&self, _dir: &Self::Dir, _name: &BStr, _when: Modified) -> io::Result<()> {
        Ok(())
    }

    /// The present time, in nanoseconds since 1970.
    fn now(&self) -> u64 {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        since.ok().and_then(|since| u64::try_from(since.as_nanos()).ok()).unwrap_or(0)
    }

    /// Tells one start of the system from another; zeros where nothing tells.
    fn boot(&self) -> [u8; 16] {
        [0; 16]
    }

    /// Takes the lock that the file `name` stands for, making the file where it is missing; `None` while another
    /// process holds it.
    fn try_lock(&self, dir: &Self::Dir, name: &BStr) -> io::Result<Option<Self::Lock>>;

    /// Waits until the file `name` is on the medium.
    fn sync_file(&self, dir: &Self::Dir, name: &BStr) -> io::Result<()>;

    /// Waits until the names in `dir` are on the medium.
    fn sync_dir(&self, dir: &Self::Dir) -> io::Result<()>;

    /// Waits until everything on the file system of `dir` is on the medium.
    fn sync_all(&self, dir: &Self::Dir) -> io::Result<()>;
}

/// What a new file takes over from another one beside the mode.
#[derive(Clone, Copy, Debug)]
pub enum Like<'a, Dir> {
    /// The owner, access lists and attributes of this file.
    File(&'a Dir, &'a BStr),
    /// The owner, of a file that has nothing else.
    Owner(Owner),
}

/// A file that was made just now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Made {
    /// Its inode number; 0 where there is no such thing.
    pub inode: u64,
    /// Its permission bits (`0o7777`).
    pub mode: u32,
}

impl From<Stat> for Made {
    fn from(stat: Stat) -> Self {
        Self { inode: stat.stamp.file.1, mode: stat.mode }
    }
}

/// A time of last modification to set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Modified {
    /// The present moment, by the clock of the file system.
    Now,
    /// Nanoseconds since 1970, as in [`Stamp::modified`].
    At(i128),
}

/// Who may use a new folder.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Access {
    /// As the umask says.
    Shared,
    /// The owner alone; files in it inherit neither group nor access lists.
    Private,
}

/// What keeps the files of a folder.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Medium {
    /// Memory: there is nothing to sync.
    Memory,
    /// A file system that orders its own metadata: one barrier serves all files.
    Journaled,
    /// A network, a file system without a journal, or an unknown one: every file is synced by itself.
    Fragile,
}
