//! [`SimDisk`]: a disk in memory that remembers what was synced, so that a test can lose power at any point.
//!
//! Every call works on what a running system sees and is logged. A [`Crash`] builds from the log what the medium may
//! hold after power loss: everything that was synced and any part of the rest. It knows no permissions and no users.

mod calls;
mod crash;
mod image;
mod log;

pub use calls::{SimDir, SimLock};
pub use crash::{Crash, Loss, Points};

use bstr::{BStr, BString};
use image::{Image, Ino};
use log::Log;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What the simulated file system can do (transaction.md, 1.6).
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Tier {
    /// It exchanges names.
    #[default]
    Exchange,
    /// It renames without replacing, and exchanges nothing.
    NoReplace,
    /// Neither: a name moves as a second link and the removal of the first. Folders can be moved.
    Link,
}

/// How finely the simulated clock runs.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Clock {
    /// Every change gets its own time.
    #[default]
    Fine,
    /// All changes of a run get one time, as those within a tick of a kernel do.
    Coarse,
}

/// A disk in memory. Clones are the same disk.
#[derive(Clone, Debug)]
pub struct SimDisk {
    world: Arc<Mutex<World>>,
}

/// What the disk was when it was made, what it is now, and what led there.
#[derive(Debug)]
struct World {
    base: Image,
    now: Image,
    log: Log,
    locks: Vec<Ino>,
    tier: Tier,
    clock: Clock,
}

impl SimDisk {
    /// An empty disk.
    pub fn new(tier: Tier, clock: Clock) -> Self {
        Self::holding(Image::empty(), tier, clock)
    }

    fn holding(image: Image, tier: Tier, clock: Clock) -> Self {
        let world =
            World { base: image.clone(), now: image, log: Log::default(), locks: Vec::new(), tier, clock };
        Self { world: Arc::new(Mutex::new(world)) }
    }

    /// The same disk, on which names that differ in case alone are one name. Nothing may stand there twice.
    #[must_use]
    pub fn ignoring_case(self) -> Self {
        let mut world = self.world();
        world.base.fold_case();
        world.now.fold_case();
        drop(world);
        self
    }

    /// A disk of its own that holds what this one shows now, all of it on the medium.
    #[must_use]
    pub fn settled(&self) -> Self {
        let world = self.world();
        Self::holding(world.now.clone(), world.tier, world.clock)
    }

    /// The length of the log: a crash can come after any of its first items.
    pub fn logged(&self) -> usize {
        self.world().log.len()
    }

    /// What power loss could have left, at any moment since the disk was made.
    pub fn crash(&self) -> Crash {
        let world = self.world();
        Crash::new(world.base.clone(), world.log.clone(), world.tier, world.clock)
    }

    /// Makes everything below `dir` another mount: nothing can be renamed into it or out of it.
    ///
    /// # Errors
    /// No folder stands at `name`.
    pub fn mount(&self, dir: &SimDir, name: &BStr, number: u64) -> io::Result<()> {
        let mut world = self.world();
        let ino = world.now.find(dir.0, name).ok_or(io::ErrorKind::NotFound)?;
        world.now.set_mount(ino, number);
        world.base.set_mount(ino, number);
        Ok(())
    }

    /// The file at `name` as an open descriptor would hold it: it stays valid when the name goes elsewhere.
    pub fn handle(&self, dir: &SimDir, name: &BStr) -> Option<Handle> {
        self.world().now.find(dir.0, name).map(Handle)
    }

    /// Another program appends to a file it has open.
    pub fn append(&self, file: Handle, bytes: &[u8]) {
        let offset = self.world().now.bytes(file.0).map_or(0, |b| b.len());
        self.write_at(file, offset, bytes);
    }

    /// Another program writes into a file it has open.
    pub fn write_at(&self, file: Handle, offset: usize, bytes: &[u8]) {
        self.world().write(file.0, offset, bytes);
    }

    /// Another program writes over a file in place: the same file, new bytes.
    ///
    /// # Errors
    /// No regular file stands at `name`.
    pub fn write_in_place(&self, dir: &SimDir, name: &BStr, bytes: &[u8]) -> io::Result<()> {
        let mut world = self.world();
        let ino = world.now.find(dir.0, name).ok_or(io::ErrorKind::NotFound)?;
        world.now.bytes(ino).ok_or(io::ErrorKind::InvalidInput)?;
        world.truncate(ino);
        world.write(ino, 0, bytes);
        Ok(())
    }

    /// Another program puts a new file at `name` by a plain rename; what stood there loses that name.
    ///
    /// # Errors
    /// A folder stands at `name`, or `dir` is gone.
    pub fn rename_over(&self, dir: &SimDir, name: &BStr, bytes: &[u8], mode: u32) -> io::Result<()> {
        let mut world = self.world();
        if world.now.find(dir.0, name).is_some_and(|ino| world.now.is_dir(ino)) {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        let ino = world.make_file(mode);
        world.write(ino, 0, bytes);
        world.assign(vec![(dir.0, name.to_owned(), Some(ino))])
    }

    /// Another program moves a name over another; what stood there loses it.
    ///
    /// # Errors
    /// Nothing stands at `from`, or a folder stands at `to`.
    pub fn move_over(&self, from: (&SimDir, &BStr), to: (&SimDir, &BStr)) -> io::Result<()> {
        let mut world = self.world();
        let ino = world.now.find(from.0.0, from.1).ok_or(io::ErrorKind::NotFound)?;
        if world.now.find(to.0.0, to.1).is_some_and(|ino| world.now.is_dir(ino)) {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        world.assign(vec![(to.0.0, to.1.to_owned(), Some(ino)), (from.0.0, from.1.to_owned(), None)])
    }

    /// Every regular file that has a name, with its path from the root of the disk.
    pub fn all_files(&self) -> Vec<(BString, Arc<Vec<u8>>)> {
        self.world().now.all_files()
    }

    fn world(&self) -> MutexGuard<'_, World> {
        // A panic of a test cannot leave the world half-changed in a way that matters after it.
        self.world.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A file that somebody has open.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Handle(Ino);

#[cfg(test)]
mod tests;
