//! Files by plain paths: what every system has, at the price of races that open folders would exclude.

use super::super::{Access, Disk, Kind, Modified, Owner, Rename, Stamp, Stat};
use crate::edit::RelPath;
use bstr::{BStr, BString, ByteSlice, ByteVec};
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::UNIX_EPOCH;

/// The disk of a system without folder descriptors.
#[derive(Clone, Copy, Default, Debug)]
#[cfg_attr(test, allow(unreachable_pub))] // public where it is the disk
pub struct PortableDisk;

impl Disk for PortableDisk {
    type Dir = Arc<PathBuf>;
    type Lock = File;

    fn open_root(&self, path: &Path) -> io::Result<Self::Dir> {
        let path = fs::canonicalize(path)?;
        if path.is_dir() { Ok(Arc::new(path)) } else { Err(io::ErrorKind::NotADirectory.into()) }
    }

    fn open_dir(&self, base: &Self::Dir, path: &RelPath) -> io::Result<Self::Dir> {
        let mut at = base.to_path_buf();
        for name in path.names() {
            at.push(os_name(name)?);
            if !fs::symlink_metadata(&at)?.is_dir() {
                return Err(io::ErrorKind::NotADirectory.into());
            }
        }
        Ok(Arc::new(at))
    }

    fn stat(&self, dir: &Self::Dir, name: &BStr) -> io::Result<Option<Stat>> {
        match fs::symlink_metadata(at(dir, name)?) {
            Ok(found) => Ok(Some(facts(&found))),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(e) => Err(e),
        }
    }

    fn stat_dir(&self, dir: &Self::Dir) -> io::Result<Stat> {
        Ok(facts(&fs::metadata(&**dir)?))
    }

    fn read(&self, dir: &Self::Dir, name: &BStr) -> io::Result<(Vec<u8>, Stat)> {
        let path = at(dir, name)?;
        let stat = facts(&fs::symlink_metadata(&path)?);
        if stat.kind != Kind::File {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
        }
        Ok((fs::read(path)?, stat))
    }

    fn read_link(&self, dir: &Self::Dir, name: &BStr) -> io::Result<BString> {
        let target = fs::read_link(at(dir, name)?)?;
        Ok(Vec::from_path_buf(target).map_err(|_| io::Error::from(io::ErrorKind::InvalidData))?.into())
    }

    fn list(&self, dir: &Self::Dir) -> io::Result<Vec<BString>> {
        let name = |entry: io::Result<fs::DirEntry>| {
            Vec::from_os_string(entry?.file_name())
                .map(BString::from)
                .map_err(|_| io::Error::from(io::ErrorKind::InvalidData))
        };
        fs::read_dir(&**dir)?.map(name).collect()
    }

    fn create(&self, dir: &Self::Dir, name: &BStr, bytes: &[u8], mode: u32) -> io::Result<()> {
        let path = at(dir, name)?;
        OpenOptions::new().write(true).create_new(true).open(&path)?.write_all(bytes)?;
        if mode & 0o111 != 0 { set_mode(&path, mode) } else { Ok(()) }
    }

    fn overwrite_synced(&self, dir: &Self::Dir, name: &BStr, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let mut file = OpenOptions::new().write(true).open(at(dir, name)?)?;
        file.seek(SeekFrom::Start(offset))?;
        file.write_all(bytes)?;
        file.sync_data()
    }

    fn create_link(&self, dir: &Self::Dir, name: &BStr, target: &BStr) -> io::Result<()> {
        link(target.to_path().map_err(io::Error::other)?, &at(dir, name)?)
    }

    fn create_dir(&self, dir: &Self::Dir, name: &BStr, _access: Access) -> io::Result<()> {
        fs::create_dir(at(dir, name)?)
    }

    fn hard_link(&self, from: (&Self::Dir, &BStr), to: (&Self::Dir, &BStr)) -> io::Result<()> {
        fs::hard_link(at(from.0, from.1)?, at(to.0, to.1)?)
    }

    fn rename(&self, from: (&Self::Dir, &BStr), to: (&Self::Dir, &BStr), how: Rename) -> io::Result<()> {
        let (source, target) = (at(from.0, from.1)?, at(to.0, to.1)?);
        match how {
            Rename::Exchange => Err(io::ErrorKind::Unsupported.into()),
            Rename::NoReplace if fs::symlink_metadata(&source)?.is_file() => {
                fs::hard_link(&source, &target)?;
                fs::remove_file(&source)
            }
            Rename::NoReplace => match fs::symlink_metadata(&target) {
                Ok(_) => Err(io::ErrorKind::AlreadyExists.into()),
                Err(_) => fs::rename(&source, &target),
            },
        }
    }

    fn remove(&self, dir: &Self::Dir, name: &BStr) -> io::Result<()> {
        fs::remove_file(at(dir, name)?)
    }

    fn remove_dir(&self, dir: &Self::Dir, name: &BStr) -> io::Result<()> {
        fs::remove_dir(at(dir, name)?)
    }

    fn copy_metadata(&self, from: (&Self::Dir, &BStr), to: (&Self::Dir, &BStr)) -> io::Result<()> {
        fs::set_permissions(at(to.0, to.1)?, fs::metadata(at(from.0, from.1)?)?.permissions())
    }

    fn set_mode(&self, dir: &Self::Dir, name: &BStr, mode: u32) -> io::Result<()> {
        set_mode(&at(dir, name)?, mode)
    }

    fn set_modified(&self, dir: &Self::Dir, name: &BStr, when: Modified) -> io::Result<()> {
        let path = at(dir, name)?;
        if !fs::symlink_metadata(&path)?.is_file() {
            return Ok(());
        }
        let time = match when {
            Modified::Now => std::time::SystemTime::now(),
            Modified::At(time) => {
                let time = u64::try_from(time).map_err(io::Error::other)?;
                UNIX_EPOCH + std::time::Duration::from_nanos(time)
            }
        };
        match OpenOptions::new().write(true).open(path) {
            // A read-only file keeps the time at which it was staged.
            Err(e) if e.kind() == io::ErrorKind::PermissionDenied => Ok(()),
            opened => opened?.set_modified(time),
        }
    }

    fn try_lock(&self, dir: &Self::Dir, name: &BStr) -> io::Result<Option<Self::Lock>> {
        let mut options = OpenOptions::new();
        super::try_lock(options.read(true).write(true).create(true).truncate(false).open(at(dir, name)?)?)
    }

    fn sync_file(&self, dir: &Self::Dir, name: &BStr) -> io::Result<()> {
        // Flushing needs a handle that may write on Windows.
        OpenOptions::new().write(true).open(at(dir, name)?)?.sync_all()
    }

    fn sync_dir(&self, dir: &Self::Dir) -> io::Result<()> {
        // Folders cannot be flushed everywhere; where they can, an error counts.
        match File::open(&**dir) {
            Ok(open) => open.sync_all(),
            Err(_) => Ok(()),
        }
    }

    fn sync_all(&self, _dir: &Self::Dir) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

fn os_name(name: &BStr) -> io::Result<&std::ffi::OsStr> {
    name.to_os_str().map_err(|_| io::Error::from(io::ErrorKind::InvalidFilename))
}

fn at(dir: &Path, name: &BStr) -> io::Result<PathBuf> {
    Ok(dir.join(os_name(name)?))
}

fn facts(found: &Metadata) -> Stat {
    let kind = match found.file_type() {
        t if t.is_file() => Kind::File,
        t if t.is_symlink() => Kind::Link,
        t if t.is_dir() => Kind::Directory,
        _ => Kind::Special,
    };
    let modified = found.modified().ok().and_then(|t| t.duration_since(UNIX_EPOCH).ok());
    let modified = modified.map_or(0, |d| d.as_nanos().cast_signed());
    Stat {
        kind,
        mode: mode_of(found),
        size: found.len(),
        links: 1,
        owner: Owner { user: 0, group: 0 },
        bare: false,
        stamp: Stamp { file: (0, 0), size: found.len(), modified, changed: 0 },
        mount: 0,
    }
}

#[cfg(unix)]
fn mode_of(found: &Metadata) -> u32 {
    use std::os::unix::fs::PermissionsExt;
    found.permissions().mode() & 0o7777
}

#[cfg(not(unix))]
fn mode_of(found: &Metadata) -> u32 {
    if found.permissions().readonly() { 0o444 } else { 0o644 }
}

#[cfg(unix)]
fn set_mode(path: &Path, mode: u32) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(mode))
}

#[cfg(not(unix))]
fn set_mode(path: &Path, mode: u32) -> io::Result<()> {
    let mut permissions = fs::metadata(path)?.permissions();
    permissions.set_readonly(mode & 0o200 == 0);
    fs::set_permissions(path, permissions)
}

#[cfg(unix)]
fn link(target: &Path, path: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(target, path)
}

#[cfg(windows)]
fn link(target: &Path, path: &Path) -> io::Result<()> {
    std::os::windows::fs::symlink_file(target, path)
}

#[cfg(not(any(unix, windows)))]
fn link(_target: &Path, _path: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}
