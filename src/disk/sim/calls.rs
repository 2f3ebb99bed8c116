//! The calls of [`Disk`] on a simulated disk.

use super::image::{Content, Ino, ROOT, UMASK};
use super::log::Item;
use super::{SimDisk, Tier, World};
use crate::disk::{Access, Disk, Kind, Rename, Stat, kept_mode};
use crate::edit::RelPath;
use bstr::{BStr, BString};
use std::io::{self, ErrorKind};
use std::path::{Component, Path};
use std::sync::{Mutex, PoisonError, Weak};

/// An open folder of a simulated disk.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SimDir(pub(super) Ino);

/// A held lock of a simulated disk; a crash of the disk releases it too.
#[derive(Debug)]
pub struct SimLock {
    ino: Ino,
    world: Weak<Mutex<World>>,
}

impl Drop for SimLock {
    fn drop(&mut self) {
        if let Some(world) = self.world.upgrade() {
            world.lock().unwrap_or_else(PoisonError::into_inner).locks.retain(|ino| *ino != self.ino);
        }
    }
}

impl World {
    fn existing(&self, dir: SimDir, name: &BStr) -> io::Result<Ino> {
        self.now.find(dir.0, name).ok_or_else(|| ErrorKind::NotFound.into())
    }

    fn file(&self, dir: SimDir, name: &BStr) -> io::Result<Ino> {
        let ino = self.existing(dir, name)?;
        if self.now.bytes(ino).is_some() {
            Ok(ino)
        } else {
            Err(io::Error::new(ErrorKind::InvalidInput, "not a regular file"))
        }
    }

    fn free(&self, dir: SimDir, name: &BStr) -> io::Result<()> {
        match self.now.find(dir.0, name) {
            Some(_) => Err(ErrorKind::AlreadyExists.into()),
            None => Ok(()),
        }
    }

    fn same_mount(&self, a: SimDir, b: SimDir) -> io::Result<()> {
        let same = self.now.get(a.0).mount == self.now.get(b.0).mount;
        if same { Ok(()) } else { Err(ErrorKind::CrossesDevices.into()) }
    }

    fn rename(&mut self, from: (SimDir, &BStr), to: (SimDir, &BStr), how: Rename) -> io::Result<()> {
        if how == Rename::Exchange && self.tier != Tier::Exchange {
            return Err(ErrorKind::Unsupported.into());
        }
        let ino = self.existing(from.0, from.1)?;
        let there = match how {
            Rename::Exchange => Some(self.existing(to.0, to.1)?),
            Rename::NoReplace => {
                self.free(to.0, to.1)?;
                None
            }
        };
        self.same_mount(from.0, to.0)?;
        let (put, take) = ((to.0.0, to.1.to_owned(), Some(ino)), (from.0.0, from.1.to_owned(), there));
        if self.tier == Tier::Link && !self.now.is_dir(ino) {
            self.assign(vec![put])?;
            return self.assign(vec![take]);
        }
        self.assign(vec![put, take])
    }
}

impl Disk for SimDisk {
    type Dir = SimDir;
    type Lock = SimLock;

    fn open_root(&self, path: &Path) -> io::Result<SimDir> {
        let names: Vec<BString> = path
            .components()
            .filter_map(|part| match part {
                Component::Normal(name) => Some(name.as_encoded_bytes().into()),
                _ => None,
            })
            .collect();
        let path = RelPath::new(bstr::join("/", names)).map_err(io::Error::other)?;
        self.open_dir(&SimDir(ROOT), &path)
    }

    fn open_dir(&self, base: &SimDir, path: &RelPath) -> io::Result<SimDir> {
        let world = self.world();
        let mut at = *base;
        for name in path.names() {
            at = SimDir(world.existing(at, name)?);
            if !world.now.is_dir(at.0) {
                return Err(ErrorKind::NotADirectory.into());
            }
        }
        Ok(at)
    }

    fn stat(&self, dir: &SimDir, name: &BStr) -> io::Result<Option<Stat>> {
        let world = self.world();
        Ok(world.now.find(dir.0, name).map(|ino| world.now.stat(ino)))
    }

    fn stat_dir(&self, dir: &SimDir) -> io::Result<Stat> {
        Ok(self.world().now.stat(dir.0))
    }

    fn read(&self, dir: &SimDir, name: &BStr) -> io::Result<(Vec<u8>, Stat)> {
        let world = self.world();
        let ino = world.file(*dir, name)?;
        let bytes = world.now.bytes(ino).map_or_else(Vec::new, |bytes| bytes.to_vec());
        Ok((bytes, world.now.stat(ino)))
    }

    fn read_link(&self, dir: &SimDir, name: &BStr) -> io::Result<BString> {
        let world = self.world();
        match &world.now.get(world.existing(*dir, name)?).content {
            Content::Link(target) => Ok(target.clone()),
            _ => Err(ErrorKind::InvalidInput.into()),
        }
    }

    fn list(&self, dir: &SimDir) -> io::Result<Vec<BString>> {
        Ok(self.world().now.names(dir.0).into_iter().flatten().map(|(name, _)| name.clone()).collect())
    }

    fn create(&self, dir: &SimDir, name: &BStr, bytes: &[u8], mode: u32) -> io::Result<()> {
        let mut world = self.world();
        world.free(*dir, name)?;
        let ino = world.make_file(mode & !UMASK);
        world.assign(vec![(dir.0, name.to_owned(), Some(ino))])?;
        world.write(ino, 0, bytes);
        Ok(())
    }

    fn overwrite_synced(&self, dir: &SimDir, name: &BStr, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let mut world = self.world();
        let ino = world.file(*dir, name)?;
        let offset = usize::try_from(offset).map_err(io::Error::other)?;
        world.write(ino, offset, bytes);
        world.sync(Item::SyncFile(ino));
        Ok(())
    }

    fn create_link(&self, dir: &SimDir, name: &BStr, target: &BStr) -> io::Result<()> {
        let mut world = self.world();
        world.free(*dir, name)?;
        let ino = world.make_link(target.to_owned());
        world.assign(vec![(dir.0, name.to_owned(), Some(ino))])
    }

    fn create_dir(&self, dir: &SimDir, name: &BStr, access: Access) -> io::Result<()> {
        let mut world = self.world();
        world.free(*dir, name)?;
        let mode = match access {
            Access::Shared => 0o777 & !UMASK,
            Access::Private => 0o700,
        };
        let mount = world.now.get(dir.0).mount;
        let ino = world.make_dir(mode, mount);
        world.assign(vec![(dir.0, name.to_owned(), Some(ino))])
    }

    fn hard_link(&self, from: (&SimDir, &BStr), to: (&SimDir, &BStr)) -> io::Result<()> {
        let mut world = self.world();
        let ino = world.existing(*from.0, from.1)?;
        if world.now.is_dir(ino) {
            return Err(ErrorKind::PermissionDenied.into());
        }
        world.free(*to.0, to.1)?;
        world.same_mount(*from.0, *to.0)?;
        world.assign(vec![(to.0.0, to.1.to_owned(), Some(ino))])
    }

    fn rename(&self, from: (&SimDir, &BStr), to: (&SimDir, &BStr), how: Rename) -> io::Result<()> {
        self.world().rename((*from.0, from.1), (*to.0, to.1), how)
    }

    fn remove(&self, dir: &SimDir, name: &BStr) -> io::Result<()> {
        let mut world = self.world();
        if world.now.is_dir(world.existing(*dir, name)?) {
            return Err(ErrorKind::IsADirectory.into());
        }
        world.assign(vec![(dir.0, name.to_owned(), None)])
    }

    fn remove_dir(&self, dir: &SimDir, name: &BStr) -> io::Result<()> {
        let mut world = self.world();
        let ino = world.existing(*dir, name)?;
        match world.now.names(ino) {
            None => Err(ErrorKind::NotADirectory.into()),
            Some(names) if !names.is_empty() => Err(ErrorKind::DirectoryNotEmpty.into()),
            Some(_) => world.assign(vec![(dir.0, name.to_owned(), None)]),
        }
    }

    fn copy_metadata(&self, from: (&SimDir, &BStr), to: (&SimDir, &BStr)) -> io::Result<()> {
        let mut world = self.world();
        let mode = kept_mode(world.now.stat(world.file(*from.0, from.1)?).mode);
        let copy = world.file(*to.0, to.1)?;
        if world.now.stat(copy).mode != mode {
            world.set_mode(copy, mode);
        }
        Ok(())
    }

    fn set_mode(&self, dir: &SimDir, name: &BStr, mode: u32) -> io::Result<()> {
        let mut world = self.world();
        let ino = world.existing(*dir, name)?;
        world.set_mode(ino, mode);
        Ok(())
    }

    fn now(&self) -> u64 {
        u64::try_from(self.world().time()).unwrap_or(0)
    }

    fn boot(&self) -> [u8; 16] {
        [1; 16]
    }

    fn try_lock(&self, dir: &SimDir, name: &BStr) -> io::Result<Option<SimLock>> {
        let mut world = self.world();
        if world.now.find(dir.0, name).is_none() {
            let ino = world.make_file(0o600);
            world.assign(vec![(dir.0, name.to_owned(), Some(ino))])?;
        }
        let ino = world.file(*dir, name)?;
        if world.locks.contains(&ino) {
            return Ok(None);
        }
        world.locks.push(ino);
        Ok(Some(SimLock { ino, world: std::sync::Arc::downgrade(&self.world) }))
    }

    fn sync_file(&self, dir: &SimDir, name: &BStr) -> io::Result<()> {
        let mut world = self.world();
        let ino = world.existing(*dir, name)?;
        if world.now.stat(ino).kind == Kind::Link {
            return Err(ErrorKind::InvalidInput.into());
        }
        world.sync(Item::SyncFile(ino));
        Ok(())
    }

    fn sync_dir(&self, dir: &SimDir) -> io::Result<()> {
        self.world().sync(Item::SyncDir(dir.0));
        Ok(())
    }

    fn sync_all(&self, _dir: &SimDir) -> io::Result<()> {
        self.world().sync(Item::SyncAll);
        Ok(())
    }
}

impl SimDir {
    /// The root of a simulated disk.
    pub const ROOT: Self = Self(ROOT);
}
