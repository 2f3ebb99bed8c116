//! Disks on which the protocol lacks a step: what the tests must be able to catch.

use bstr::{BStr, BString, ByteSlice};
use patchmany::disk::{Access, Disk, Faulty, Kind, Rename, SimDir, SimDisk, SimLock, Stat};
use patchmany::edit::RelPath;
use std::collections::HashMap;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex};

/// What is missing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Flaw {
    /// Barrier B1: staged files are not synced before the swap.
    NoBarrierBefore,
    /// Barrier B2: the swap is not synced before COMMIT.
    NoBarrierAfter,
    /// COMMIT is written and not synced.
    NoCommitSync,
    /// Old files are removed before COMMIT is there.
    CleansUpEarly,
    /// The old file is kept by a hard link, and the new one renamed over it.
    LinkBackup,
    /// New bytes are written over the old file.
    InPlace,
    /// No second names.
    NoSecondNames,
    /// What comes out of an exchange is taken for what the plan saw.
    NoCheck,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
enum Phase {
    #[default]
    Staging,
    Swapping,
    Committed,
}

/// A file with what it was, by slot.
type Expected = HashMap<BString, (Vec<u8>, Stat)>;

/// A simulated disk with a flaw.
#[derive(Clone, Debug)]
pub(super) struct Flawed {
    disk: Faulty<SimDisk>,
    raw: SimDisk,
    flaw: Flaw,
    phase: Arc<Mutex<Phase>>,
    /// What stood at the path of each slot just before its exchange.
    expected: Arc<Mutex<Expected>>,
}

impl Flawed {
    pub(super) fn new(disk: Faulty<SimDisk>, raw: SimDisk, flaw: Flaw) -> Self {
        Self { disk, raw, flaw, phase: Arc::default(), expected: Arc::default() }
    }

    fn phase(&self) -> Phase {
        *self.phase.lock().unwrap()
    }

    fn reach(&self, phase: Phase) {
        let mut now = self.phase.lock().unwrap();
        *now = phase.max(*now);
    }

    fn syncs(&self) -> bool {
        match self.flaw {
            Flaw::NoBarrierBefore => self.phase() != Phase::Staging,
            Flaw::NoBarrierAfter => self.phase() != Phase::Swapping,
            _ => true,
        }
    }

    fn exchange(&self, from: (&SimDir, &BStr), to: (&SimDir, &BStr)) -> io::Result<()> {
        let is_file = |(dir, name): (&SimDir, &BStr)| {
            self.raw.stat(dir, name).is_ok_and(|stat| stat.is_some_and(|stat| stat.kind == Kind::File))
        };
        match self.flaw {
            Flaw::LinkBackup if is_file(from) && is_file(to) => {
                let kept: BString = [b"b", from.1.as_bytes()].concat().into();
                self.disk.hard_link(to, (from.0, kept.as_ref()))?;
                // Here somebody may come between.
                self.disk.stat_dir(from.0)?;
                self.raw.move_over(from, to)?;
                self.disk.rename((from.0, kept.as_ref()), from, Rename::NoReplace)
            }
            Flaw::InPlace if is_file(from) && is_file(to) => {
                let (old, new) = (self.raw.read(to.0, to.1)?.0, self.raw.read(from.0, from.1)?.0);
                self.raw.write_in_place(to.0, to.1, &new)?;
                self.raw.write_in_place(from.0, from.1, &old)
            }
            Flaw::NoCheck if is_file(from) && is_file(to) => {
                let expected = self.raw.read(to.0, to.1)?;
                self.expected.lock().unwrap().insert(from.1.to_owned(), expected);
                self.disk.rename(from, to, Rename::Exchange)
            }
            _ => self.disk.rename(from, to, Rename::Exchange),
        }
    }
}

impl Disk for Flawed {
    type Dir = SimDir;
    type Lock = SimLock;

    fn open_root(&self, path: &Path) -> io::Result<SimDir> {
        self.disk.open_root(path)
    }

    fn open_dir(&self, base: &SimDir, path: &RelPath) -> io::Result<SimDir> {
        self.disk.open_dir(base, path)
    }

    fn stat(&self, dir: &SimDir, name: &BStr) -> io::Result<Option<Stat>> {
        self.disk.stat(dir, name)
    }

    fn stat_dir(&self, dir: &SimDir) -> io::Result<Stat> {
        self.disk.stat_dir(dir)
    }

    fn read(&self, dir: &SimDir, name: &BStr) -> io::Result<(Vec<u8>, Stat)> {
        let expected = self.expected.lock().unwrap().get(name).cloned();
        match expected.filter(|_| self.phase() == Phase::Swapping) {
            Some(expected) => Ok(expected),
            None => self.disk.read(dir, name),
        }
    }

    fn read_link(&self, dir: &SimDir, name: &BStr) -> io::Result<BString> {
        self.disk.read_link(dir, name)
    }

    fn list(&self, dir: &SimDir) -> io::Result<Vec<BString>> {
        self.disk.list(dir)
    }

    fn create(&self, dir: &SimDir, name: &BStr, bytes: &[u8], mode: u32) -> io::Result<()> {
        self.disk.create(dir, name, bytes, mode)
    }

    fn overwrite_synced(&self, dir: &SimDir, name: &BStr, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.reach(Phase::Committed);
        if self.flaw == Flaw::CleansUpEarly {
            for slot in self.raw.list(dir)?.iter().filter(|n| n.starts_with(b"n") || n.starts_with(b"o")) {
                let _ = self.raw.remove(dir, slot.as_ref());
            }
        }
        if self.flaw == Flaw::NoCommitSync {
            let journal = self.raw.handle(dir, name).ok_or(io::ErrorKind::NotFound)?;
            self.raw.write_at(journal, usize::try_from(offset).unwrap(), bytes);
            return Ok(());
        }
        self.disk.overwrite_synced(dir, name, offset, bytes)
    }

    fn create_link(&self, dir: &SimDir, name: &BStr, target: &BStr) -> io::Result<()> {
        self.disk.create_link(dir, name, target)
    }

    fn create_dir(&self, dir: &SimDir, name: &BStr, access: Access) -> io::Result<()> {
        self.disk.create_dir(dir, name, access)
    }

    fn hard_link(&self, from: (&SimDir, &BStr), to: (&SimDir, &BStr)) -> io::Result<()> {
        if self.flaw == Flaw::NoSecondNames {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        self.disk.hard_link(from, to)
    }

    fn rename(&self, from: (&SimDir, &BStr), to: (&SimDir, &BStr), how: Rename) -> io::Result<()> {
        if how == Rename::NoReplace {
            return self.disk.rename(from, to, how);
        }
        if from.1.starts_with(b"n") {
            self.reach(Phase::Swapping);
        }
        self.exchange(from, to)
    }

    fn remove(&self, dir: &SimDir, name: &BStr) -> io::Result<()> {
        self.disk.remove(dir, name)
    }

    fn remove_dir(&self, dir: &SimDir, name: &BStr) -> io::Result<()> {
        self.disk.remove_dir(dir, name)
    }

    fn copy_metadata(&self, from: (&SimDir, &BStr), to: (&SimDir, &BStr)) -> io::Result<()> {
        self.disk.copy_metadata(from, to)
    }

    fn set_mode(&self, dir: &SimDir, name: &BStr, mode: u32) -> io::Result<()> {
        self.disk.set_mode(dir, name, mode)
    }

    fn try_lock(&self, dir: &SimDir, name: &BStr) -> io::Result<Option<SimLock>> {
        self.disk.try_lock(dir, name)
    }

    fn sync_file(&self, dir: &SimDir, name: &BStr) -> io::Result<()> {
        // The journal is always synced before it gets its name: without that nothing could be recovered at all.
        if self.syncs() || name.starts_with(b"journal") { self.disk.sync_file(dir, name) } else { Ok(()) }
    }

    fn sync_dir(&self, dir: &SimDir) -> io::Result<()> {
        if self.syncs() { self.disk.sync_dir(dir) } else { Ok(()) }
    }

    fn sync_all(&self, dir: &SimDir) -> io::Result<()> {
        if self.syncs() { self.disk.sync_all(dir) } else { Ok(()) }
    }
}
