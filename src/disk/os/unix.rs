//! Files by `*at` calls on open folders: no link on the way is followed, nothing leads out of the folder.

use super::super::{Access, Disk, Kind, Like, Made, Modified, Owner, Rename, Stamp, Stat, kept_mode};
use super::xattr;
use crate::edit::{Hash, Pieces, RelPath};
use bstr::{BStr, BString, ByteSlice};
use rustix::fs::{AtFlags, FileType, Mode, OFlags, RenameFlags};
use rustix::io::{Errno, retry_on_intr};
use std::fs::File;
use std::io::{self, Read, Write};
use std::ops::ControlFlow;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

/// The disk of a Unix system.
#[derive(Clone, Copy, Default, Debug)]
pub struct OsDisk;

/// A file up to this size (bytes) is hashed in one piece.
const SMALL: u64 = 256 * 1024;

const DIR: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

impl Disk for OsDisk {
    type Dir = Arc<OwnedFd>;
    type Lock = File;

    fn open_root(&self, path: &Path) -> io::Result<Self::Dir> {
        open_folder(|flags| rustix::fs::open(path, flags, Mode::empty()))
    }

    fn open_dir(&self, base: &Self::Dir, path: &RelPath) -> io::Result<Self::Dir> {
        if path.is_root() {
            return Ok(Arc::clone(base));
        }
        open_folder(|flags| open_beneath(base, path, flags)).map_err(|e| match e.raw_os_error() {
            // Both mean: a link stands where a folder was expected.
            Some(code) if code == Errno::LOOP.raw_os_error() => io::ErrorKind::NotADirectory.into(),
            _ => e,
        })
    }

    fn stat(&self, dir: &Self::Dir, name: &BStr) -> io::Result<Option<Stat>> {
        match stat_at(dir, name.as_bytes(), AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(stat)),
            Err(Errno::NOENT) => Ok(None),
            Err(e) => Err(e.into()),
        }
    }

    fn stat_dir(&self, dir: &Self::Dir) -> io::Result<Stat> {
        Ok(stat_at(dir, b".", AtFlags::empty())?)
    }

    fn read(&self, dir: &Self::Dir, name: &BStr) -> io::Result<(Vec<u8>, Stat)> {
        let (file, stat) = open_known(dir, name)?;
        let mut bytes = Vec::new();
        read_all(&file, stat.size, &mut bytes)?;
        Ok((bytes, Stat { bare: xattr::has_none(&file), ..stat }))
    }

    fn read_into(&self, dir: &Self::Dir, name: &BStr, bytes: &mut Vec<u8>) -> io::Result<Stat> {
        let (file, stat) = open_known(dir, name)?;
        bytes.clear();
        read_all(&file, stat.size, bytes)?;
        Ok(stat)
    }

    fn hash(&self, dir: &Self::Dir, name: &BStr) -> io::Result<(Hash, Stat)> {
        let (file, stat) = open_known(dir, name)?;
        let (hash, size) = if stat.size <= SMALL {
            let mut bytes = Vec::new();
            read_all(&file, stat.size, &mut bytes)?;
            (Hash::of(&bytes), bytes.len() as u64)
        } else {
            Hash::of_reader(file)?
        };
        Ok((hash, Stat { size, ..stat }))
    }

    fn read_pieces(
        &self,
        dir: &Self::Dir,
        name: &BStr,
        take: &mut dyn FnMut(&[u8]) -> ControlFlow<()>,
    ) -> io::Result<Stat> {
        let (mut file, stat) = open_known(dir, name)?;
        let mut piece = vec![0; 256 * 1024];
        loop {
            match file.read(&mut piece) {
                Ok(0) => return Ok(stat),
                Ok(n) if take(&piece[..n]).is_break() => return Ok(stat),
                Ok(_) => {}
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
    }

    #[cfg(target_os = "linux")]
    fn medium(&self, dir: &Self::Dir) -> io::Result<super::super::Medium> {
        super::medium::of(dir)
    }

    fn read_link(&self, dir: &Self::Dir, name: &BStr) -> io::Result<BString> {
        Ok(rustix::fs::readlinkat(&**dir, name.as_bytes(), Vec::new())?.into_bytes().into())
    }

    fn list(&self, dir: &Self::Dir) -> io::Result<Vec<BString>> {
        let mut names = Vec::new();
        for entry in rustix::fs::Dir::read_from(&**dir)? {
            let name = entry?.file_name().to_bytes().to_vec();
            if name != b"." && name != b".." {
                names.push(name.into());
            }
        }
        Ok(names)
    }

    fn create(&self, dir: &Self::Dir, name: &BStr, bytes: &[u8], mode: u32) -> io::Result<()> {
        new_file(dir, name, mode)?.write_all(bytes)
    }

    #[cfg(target_os = "linux")]
    fn create_as_in(
        &self,
        (dir, name): (&Self::Dir, &BStr),
        bytes: &Pieces,
        mode: u32,
        home: &Self::Dir,
    ) -> io::Result<Made> {
        let unnamed = if hands_down(home)? { create_unnamed(home, bytes, mode, (dir, name))? } else { None };
        match unnamed {
            Some(made) => Ok(made),
            None => made(&create_file(dir, name, bytes, mode)?),
        }
    }

    fn create_like(
        &self,
        (dir, name): (&Self::Dir, &BStr),
        bytes: &Pieces,
        like: Like<'_, Self::Dir>,
        mode: u32,
    ) -> io::Result<Made> {
        match like {
            Like::Owner(owner) => give(owner, &create_file(dir, name, bytes, mode)?, mode),
            Like::File(folder, source) => {
                let source = open_file(folder, source, OFlags::RDONLY | OFlags::NONBLOCK)?;
                take_over(&source, &create_file(dir, name, bytes, 0o600)?, Some(mode))
            }
        }
    }

    fn overwrite_synced(&self, dir: &Self::Dir, name: &BStr, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let file = open_file(dir, name, OFlags::WRONLY)?;
        file.write_all_at(bytes, offset)?;
        file.sync_data()
    }

    fn create_link(&self, dir: &Self::Dir, name: &BStr, target: &BStr) -> io::Result<()> {
        Ok(rustix::fs::symlinkat(target.as_bytes(), &**dir, name.as_bytes())?)
    }

    fn create_dir(&self, dir: &Self::Dir, name: &BStr, access: Access) -> io::Result<()> {
        let mode = match access {
            Access::Shared => 0o777,
            Access::Private => 0o700,
        };
        rustix::fs::mkdirat(&**dir, name.as_bytes(), permissions(mode))?;
        if access == Access::Private { seclude(dir, name) } else { Ok(()) }
    }

    fn hard_link(&self, from: (&Self::Dir, &BStr), to: (&Self::Dir, &BStr)) -> io::Result<()> {
        Ok(rustix::fs::linkat(&**from.0, from.1.as_bytes(), &**to.0, to.1.as_bytes(), AtFlags::empty())?)
    }

    fn rename(&self, from: (&Self::Dir, &BStr), to: (&Self::Dir, &BStr), how: Rename) -> io::Result<()> {
        let flags = match how {
            Rename::NoReplace => RenameFlags::NOREPLACE,
            Rename::Exchange => RenameFlags::EXCHANGE,
        };
        match rustix::fs::renameat_with(&**from.0, from.1.as_bytes(), &**to.0, to.1.as_bytes(), flags) {
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => match how {
                Rename::NoReplace => self.rename_without_flags(from, to),
                Rename::Exchange => Err(io::ErrorKind::Unsupported.into()),
            },
            done => Ok(done?),
        }
    }

    fn remove(&self, dir: &Self::Dir, name: &BStr) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(&**dir, name.as_bytes(), AtFlags::empty())?)
    }

    fn remove_dir(&self, dir: &Self::Dir, name: &BStr) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(&**dir, name.as_bytes(), AtFlags::REMOVEDIR)?)
    }

    fn copy_metadata(&self, from: (&Self::Dir, &BStr), to: (&Self::Dir, &BStr)) -> io::Result<()> {
        let source = open_file(from.0, from.1, OFlags::RDONLY | OFlags::NONBLOCK)?;
        take_over(&source, &open_file(to.0, to.1, OFlags::RDONLY | OFlags::NONBLOCK)?, None).map(drop)
    }

    fn set_mode(&self, dir: &Self::Dir, name: &BStr, mode: u32) -> io::Result<()> {
        let file = open_file(dir, name, OFlags::RDONLY | OFlags::NONBLOCK)?;
        Ok(rustix::fs::fchmod(&file, permissions(mode))?)
    }

    fn set_modified(&self, dir: &Self::Dir, name: &BStr, when: Modified) -> io::Result<()> {
        use rustix::fs::{Timespec, Timestamps, UTIME_NOW, UTIME_OMIT};
        let special = |nanoseconds| Timespec { tv_sec: 0, tv_nsec: nanoseconds };
        let (accessed, modified) = match when {
            // Both now needs no more than the right to write.
            Modified::Now => (special(UTIME_NOW), special(UTIME_NOW)),
            Modified::At(time) => (special(UTIME_OMIT), time_of(time).ok_or(io::ErrorKind::InvalidInput)?),
        };
        let times = Timestamps { last_access: accessed, last_modification: modified };
        Ok(rustix::fs::utimensat(&**dir, name.as_bytes(), &times, AtFlags::SYMLINK_NOFOLLOW)?)
    }

    #[cfg(target_os = "linux")]
    fn boot(&self) -> [u8; 16] {
        super::medium::boot()
    }

    fn try_lock(&self, dir: &Self::Dir, name: &BStr) -> io::Result<Option<Self::Lock>> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let fd = retry_on_intr(|| rustix::fs::openat(&**dir, name.as_bytes(), flags, permissions(0o600)))?;
        super::try_lock(File::from(fd))
    }

    fn sync_file(&self, dir: &Self::Dir, name: &BStr) -> io::Result<()> {
        open_file(dir, name, OFlags::RDONLY | OFlags::NONBLOCK)?.sync_all()
    }

    fn sync_dir(&self, dir: &Self::Dir) -> io::Result<()> {
        match retry_on_intr(|| rustix::fs::fsync(&**dir)) {
            // Opened for passing through only, since it cannot be read.
            Err(Errno::BADF) => Ok(()),
            done => Ok(done?),
        }
    }

    fn sync_all(&self, dir: &Self::Dir) -> io::Result<()> {
        #[cfg(target_os = "linux")]
        return Ok(retry_on_intr(|| rustix::fs::syncfs(&**dir))?);
        #[cfg(not(target_os = "linux"))]
        {
            let _ = dir;
            Err(io::ErrorKind::Unsupported.into())
        }
    }
}

impl OsDisk {
    /// [`Rename::NoReplace`] where the file system has no such thing: a file moves by a second name. A folder can have
    /// none; a plain rename replaces nothing but an empty folder that came up between the look and the move.
    pub(super) fn rename_without_flags(
        &self,
        from: (&Arc<OwnedFd>, &BStr),
        to: (&Arc<OwnedFd>, &BStr),
    ) -> io::Result<()> {
        let stat = self.stat(from.0, from.1)?.ok_or(io::ErrorKind::NotFound)?;
        if stat.kind != Kind::Directory {
            self.hard_link(from, to)?;
            return self.remove(from.0, from.1);
        }
        if self.stat(to.0, to.1)?.is_some() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        Ok(rustix::fs::renameat(&**from.0, from.1.as_bytes(), &**to.0, to.1.as_bytes())?)
    }
}

#[allow(clippy::useless_conversion)] // the width differs by system
fn bits(stat: &rustix::fs::Stat) -> u32 {
    stat.st_mode.into()
}

fn time_of(nanoseconds: i128) -> Option<rustix::fs::Timespec> {
    Some(rustix::fs::Timespec {
        tv_sec: nanoseconds.div_euclid(1_000_000_000).try_into().ok()?,
        tv_nsec: nanoseconds.rem_euclid(1_000_000_000).try_into().ok()?,
    })
}

fn permissions(mode: u32) -> Mode {
    // `RawMode` is narrower than 32 bits on some systems; permission bits always fit.
    Mode::from_bits_truncate((mode & 0o7777) as rustix::fs::RawMode)
}

fn open_folder(open: impl Fn(OFlags) -> rustix::io::Result<OwnedFd>) -> io::Result<Arc<OwnedFd>> {
    match retry_on_intr(|| open(DIR)) {
        #[cfg(target_os = "linux")]
        Err(Errno::ACCESS) => Ok(Arc::new(retry_on_intr(|| open(DIR | OFlags::PATH))?)),
        done => Ok(Arc::new(done?)),
    }
}

#[cfg(target_os = "linux")]
fn open_beneath(base: &OwnedFd, path: &RelPath, flags: OFlags) -> rustix::io::Result<OwnedFd> {
    use rustix::fs::ResolveFlags;
    let rule = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    for _ in 0..16 {
        match rustix::fs::openat2(base, path.as_bstr().as_bytes(), flags, Mode::empty(), rule) {
            // Somebody renames on the way: the kernel asks to try again.
            Err(Errno::AGAIN) => {}
            // An old kernel, or a sandbox that knows no such call.
            Err(Errno::NOSYS | Errno::PERM) => break,
            done => return done,
        }
    }
    open_stepwise(base, path, flags)
}

#[cfg(not(target_os = "linux"))]
fn open_beneath(base: &OwnedFd, path: &RelPath, flags: OFlags) -> rustix::io::Result<OwnedFd> {
    open_stepwise(base, path, flags)
}

fn open_stepwise(base: &OwnedFd, path: &RelPath, flags: OFlags) -> rustix::io::Result<OwnedFd> {
    let mut at: Option<OwnedFd> = None;
    for name in path.names() {
        let here = at.as_ref().unwrap_or(base);
        at = Some(rustix::fs::openat(here, name.as_bytes(), flags | OFlags::NOFOLLOW, Mode::empty())?);
    }
    at.ok_or(Errno::INVAL)
}

/// Opens what was a regular file a moment ago.
fn open_known(dir: &OwnedFd, name: &BStr) -> io::Result<(File, Stat)> {
    let file = open_file(dir, name, OFlags::RDONLY | OFlags::NONBLOCK)?;
    let stat = regular(stat_at(&file, b"", AtFlags::EMPTY_PATH)?)?;
    Ok((file, stat))
}

fn regular(stat: Stat) -> io::Result<Stat> {
    if stat.kind == Kind::File {
        return Ok(stat);
    }
    Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"))
}

/// Puts the bytes of an open regular file of about `size` bytes behind `bytes`.
fn read_all(file: &File, size: u64, bytes: &mut Vec<u8>) -> io::Result<()> {
    let end = bytes.len() + usize::try_from(size).map_err(io::Error::other)?;
    // Room for one more: where it stays free the end has been seen, and need not be asked for.
    bytes.reserve_exact(end + 1 - bytes.len());
    loop {
        let got = retry_on_intr(|| rustix::io::read(file, rustix::buffer::spare_capacity(bytes)))?;
        if got == 0 || bytes.len() == end {
            return Ok(());
        }
        bytes.reserve(1);
    }
}

fn new_file(dir: &OwnedFd, name: &BStr, mode: u32) -> io::Result<File> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(File::from(retry_on_intr(|| rustix::fs::openat(dir, name.as_bytes(), flags, permissions(mode)))?))
}

fn create_file(dir: &OwnedFd, name: &BStr, bytes: &Pieces, mode: u32) -> io::Result<File> {
    let mut file = new_file(dir, name, mode)?;
    bytes.write_to(&mut file)?;
    Ok(file)
}

/// Takes away what a new folder has inherited and would hand down: its setgid bit and its default access list.
fn seclude(dir: &OwnedFd, name: &BStr) -> io::Result<()> {
    let folder = open_file(dir, name, DIR)?;
    if bits(&rustix::fs::fstat(&folder)?) & 0o2000 != 0 {
        rustix::fs::fchmod(&folder, permissions(0o700))?;
    }
    #[cfg(target_os = "linux")]
    xattr::drop_default_list(&folder)?;
    Ok(())
}

/// Whether new files in `dir` get a group or an access list from it.
#[cfg(target_os = "linux")]
fn hands_down(dir: &OwnedFd) -> io::Result<bool> {
    Ok(bits(&rustix::fs::fstat(dir)?) & 0o2000 != 0 || xattr::has_default_list(dir))
}

/// Makes a file without a name in `home`, where the kernel gives it what it gives to all new files there, and then a
/// name in another folder of the mount. Until then nothing of it is left if the process dies. `None` where the system has
/// no such way.
#[cfg(target_os = "linux")]
fn create_unnamed(
    home: &OwnedFd,
    bytes: &Pieces,
    mode: u32,
    (dir, name): (&OwnedFd, &BStr),
) -> io::Result<Option<Made>> {
    use std::os::fd::AsRawFd;
    let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
    let mut file = match retry_on_intr(|| rustix::fs::openat(home, c".", flags, permissions(mode))) {
        Ok(fd) => File::from(fd),
        Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::INVAL | Errno::NOENT) => return Ok(None),
        Err(e) => return Err(e.into()),
    };
    bytes.write_to(&mut file)?;
    let own = format!("/proc/self/fd/{}", file.as_raw_fd());
    let follow = AtFlags::SYMLINK_FOLLOW;
    match rustix::fs::linkat(rustix::fs::CWD, own, dir, name.as_bytes(), follow) {
        Ok(()) => made(&file).map(Some),
        // No /proc, or a project quota or encryption between the two folders.
        Err(Errno::NOENT | Errno::XDEV | Errno::OPNOTSUPP | Errno::PERM) => Ok(None),
        Err(e) => Err(e.into()),
    }
}

/// Owner, access lists and attributes of one open file for another, and `mode`, or else the one it has.
fn take_over(source: &File, copy: &File, mode: Option<u32>) -> io::Result<Made> {
    let (old, new) = (rustix::fs::fstat(source)?, rustix::fs::fstat(copy)?);
    own(Owner { user: old.st_uid, group: old.st_gid }, copy, &new)?;
    xattr::copy(source, copy)?;
    // Last: changing owner or access list changes the bits.
    let mode = mode.unwrap_or_else(|| kept_mode(bits(&old)));
    rustix::fs::fchmod(copy, permissions(mode))?;
    Ok(Made { inode: new.st_ino, mode })
}

/// Gives a file without attributes its owner and mode.
fn give(owner: Owner, file: &File, mode: u32) -> io::Result<Made> {
    let new = rustix::fs::fstat(file)?;
    let changed = own(owner, file, &new)?;
    if changed || mode != bits(&new) & 0o7777 {
        rustix::fs::fchmod(file, permissions(mode))?;
    }
    Ok(Made { inode: new.st_ino, mode })
}

/// Gives a file its owner; whether it had another one.
fn own(owner: Owner, file: &File, now: &rustix::fs::Stat) -> io::Result<bool> {
    if (owner.user, owner.group) == (now.st_uid, now.st_gid) {
        return Ok(false);
    }
    let (user, group) = (rustix::fs::Uid::from_raw(owner.user), rustix::fs::Gid::from_raw(owner.group));
    rustix::fs::fchown(file, Some(user), Some(group))?;
    Ok(true)
}

fn made(file: &File) -> io::Result<Made> {
    let stat = rustix::fs::fstat(file)?;
    Ok(Made { inode: stat.st_ino, mode: bits(&stat) & 0o7777 })
}

fn open_file(dir: &OwnedFd, name: &BStr, flags: OFlags) -> io::Result<File> {
    let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(File::from(retry_on_intr(|| rustix::fs::openat(dir, name.as_bytes(), flags, Mode::empty()))?))
}

fn kind_of(mode: u32) -> Kind {
    match FileType::from_raw_mode(mode as rustix::fs::RawMode) {
        FileType::RegularFile => Kind::File,
        FileType::Symlink => Kind::Link,
        FileType::Directory => Kind::Directory,
        _ => Kind::Special,
    }
}

#[cfg(target_os = "linux")]
fn stat_at(dir: impl std::os::fd::AsFd, name: &[u8], flags: AtFlags) -> rustix::io::Result<Stat> {
    use rustix::fs::{StatxFlags, StatxTimestamp};
    let wanted = StatxFlags::BASIC_STATS | StatxFlags::MNT_ID;
    let s = rustix::fs::statx(dir, name, flags, wanted)?;
    let nanos = |t: StatxTimestamp| i128::from(t.tv_sec) * 1_000_000_000 + i128::from(t.tv_nsec);
    let device = u64::from(s.stx_dev_major) << 32 | u64::from(s.stx_dev_minor);
    let known = StatxFlags::from_bits_retain(s.stx_mask).contains(StatxFlags::MNT_ID);
    Ok(Stat {
        kind: kind_of(s.stx_mode.into()),
        mode: u32::from(s.stx_mode) & 0o7777,
        size: s.stx_size,
        links: s.stx_nlink.into(),
        owner: Owner { user: s.stx_uid, group: s.stx_gid },
        bare: false,
        stamp: Stamp {
            file: (device, s.stx_ino),
            size: s.stx_size,
            modified: nanos(s.stx_mtime),
            changed: nanos(s.stx_ctime),
        },
        mount: if known { s.stx_mnt_id } else { device },
    })
}

#[cfg(not(target_os = "linux"))]
#[allow(clippy::useless_conversion, clippy::unnecessary_cast)] // field widths differ by system
fn stat_at(dir: impl std::os::fd::AsFd, name: &[u8], flags: AtFlags) -> rustix::io::Result<Stat> {
    let s = if name.is_empty() { rustix::fs::fstat(dir)? } else { rustix::fs::statat(dir, name, flags)? };
    let nanos = |sec: i64, nsec: i64| i128::from(sec) * 1_000_000_000 + i128::from(nsec);
    Ok(Stat {
        kind: kind_of(s.st_mode as u32),
        mode: s.st_mode as u32 & 0o7777,
        size: s.st_size as u64,
        links: s.st_nlink as u64,
        owner: Owner { user: s.st_uid, group: s.st_gid },
        bare: false,
        stamp: Stamp {
            file: (s.st_dev as u64, s.st_ino as u64),
            size: s.st_size as u64,
            modified: nanos(s.st_mtime as i64, s.st_mtime_nsec as i64),
            changed: nanos(s.st_ctime as i64, s.st_ctime_nsec as i64),
        },
        mount: s.st_dev as u64,
    })
}
