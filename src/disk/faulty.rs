//! [`Faulty`]: a disk of which one call fails, or before which somebody else acts. For fault tests.
//!
//! Calls are numbered from 0 in the order in which they are made. It changes nothing else.

use super::{Access, Disk, Made, Medium, Modified, Rename, Stat};
use crate::edit::{Pieces, RelPath};
use bstr::{BStr, BString};
use std::fmt;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// One fault.
#[derive(Clone, Copy, Debug)]
pub struct Fault {
    /// The call that fails.
    pub call: usize,
    /// Whether its effect happens all the same.
    pub when: When,
    /// Whether later calls fail too.
    pub lasts: Lasts,
    /// What the caller is told.
    pub error: fn() -> io::Error,
}

/// When a call fails.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum When {
    /// It does nothing.
    Before,
    /// It does what it should and says that it failed, as a network file system may.
    After,
}

/// How long a fault lasts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Lasts {
    /// For one call.
    Once,
    /// From that call on, for everything that would change the disk.
    Forever,
}

/// A disk with a fault or a visitor. Clones share the count of calls.
#[derive(Clone, Debug)]
pub struct Faulty<D> {
    disk: D,
    script: Arc<Mutex<Script>>,
}

#[derive(Default)]
struct Script {
    calls: Vec<Call>,
    fault: Option<Fault>,
    visit: Option<(usize, Box<dyn FnOnce() + Send>)>,
}

impl fmt::Debug for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Script").field("calls", &self.calls.len()).field("fault", &self.fault).finish()
    }
}

/// A call that was made.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Call {
    /// The method of [`Disk`].
    pub method: &'static str,
    /// The name it was about, if any.
    pub name: BString,
    /// Whether it would change the disk.
    pub kind: CallKind,
}

/// What a call does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CallKind {
    /// It only looks.
    Look,
    /// It changes something.
    Change,
    /// It waits for the medium.
    Sync,
}

impl<D> Faulty<D> {
    /// `disk` without a fault; its calls are counted.
    pub fn new(disk: D) -> Self {
        Self { disk, script: Arc::default() }
    }

    /// `disk` with a fault.
    pub fn failing(disk: D, fault: Fault) -> Self {
        Self { disk, script: Arc::new(Mutex::new(Script { fault: Some(fault), ..Script::default() })) }
    }

    /// `disk` with somebody who acts just before call `call`.
    pub fn visited(disk: D, call: usize, visit: impl FnOnce() + Send + 'static) -> Self {
        let visit = Some((call, Box::new(visit) as Box<dyn FnOnce() + Send>));
        Self { disk, script: Arc::new(Mutex::new(Script { visit, ..Script::default() })) }
    }

    /// The calls so far.
    pub fn calls(&self) -> Vec<Call> {
        self.script().calls.clone()
    }

    fn script(&self) -> MutexGuard<'_, Script> {
        self.script.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn call<T>(
        &self,
        method: &'static str,
        kind: CallKind,
        name: &BStr,
        act: impl FnOnce(&D) -> io::Result<T>,
    ) -> io::Result<T> {
        let (fault, visit) = {
            let mut script = self.script();
            let number = script.calls.len();
            script.calls.push(Call { method, name: name.to_owned(), kind });
            let fault = script.fault.filter(|fault| match fault.lasts {
                Lasts::Once => fault.call == number,
                Lasts::Forever => fault.call == number || fault.call < number && kind != CallKind::Look,
            });
            (fault, script.visit.take_if(|(at, _)| *at == number))
        };
        if let Some((_, visit)) = visit {
            visit();
        }
        match fault {
            None => act(&self.disk),
            Some(fault) if fault.when == When::Before => Err((fault.error)()),
            Some(fault) => act(&self.disk).and_then(|_| Err((fault.error)())),
        }
    }
}

impl<D: Disk> Disk for Faulty<D> {
    type Dir = D::Dir;
    type Lock = D::Lock;

    fn open_root(&self, path: &Path) -> io::Result<D::Dir> {
        self.call("open_root", CallKind::Look, "".into(), |disk| disk.open_root(path))
    }

    fn open_dir(&self, base: &D::Dir, path: &RelPath) -> io::Result<D::Dir> {
        self.call("open_dir", CallKind::Look, path.as_bstr(), |disk| disk.open_dir(base, path))
    }

    fn stat(&self, dir: &D::Dir, name: &BStr) -> io::Result<Option<Stat>> {
        self.call("stat", CallKind::Look, name, |disk| disk.stat(dir, name))
    }

    fn stat_dir(&self, dir: &D::Dir) -> io::Result<Stat> {
        self.call("stat_dir", CallKind::Look, "".into(), |disk| disk.stat_dir(dir))
    }

    fn read(&self, dir: &D::Dir, name: &BStr) -> io::Result<(Vec<u8>, Stat)> {
        self.call("read", CallKind::Look, name, |disk| disk.read(dir, name))
    }

    fn medium(&self, dir: &D::Dir) -> io::Result<Medium> {
        self.call("medium", CallKind::Look, "".into(), |disk| disk.medium(dir))
    }

    fn read_link(&self, dir: &D::Dir, name: &BStr) -> io::Result<BString> {
        self.call("read_link", CallKind::Look, name, |disk| disk.read_link(dir, name))
    }

    fn list(&self, dir: &D::Dir) -> io::Result<Vec<BString>> {
        self.call("list", CallKind::Look, "".into(), |disk| disk.list(dir))
    }

    fn create(&self, dir: &D::Dir, name: &BStr, bytes: &[u8], mode: u32) -> io::Result<()> {
        self.call("create", CallKind::Change, name, |disk| disk.create(dir, name, bytes, mode))
    }

    fn create_as_in(
        &self,
        to: (&D::Dir, &BStr),
        bytes: &Pieces,
        mode: u32,
        home: &D::Dir,
    ) -> io::Result<Made> {
        self.call("create", CallKind::Change, to.1, |disk| disk.create_as_in(to, bytes, mode, home))
    }

    fn overwrite_synced(&self, dir: &D::Dir, name: &BStr, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let act = |disk: &D| disk.overwrite_synced(dir, name, offset, bytes);
        self.call("overwrite_synced", CallKind::Change, name, act)
    }

    fn create_link(&self, dir: &D::Dir, name: &BStr, target: &BStr) -> io::Result<()> {
        self.call("create_link", CallKind::Change, name, |disk| disk.create_link(dir, name, target))
    }

    fn create_dir(&self, dir: &D::Dir, name: &BStr, access: Access) -> io::Result<()> {
        self.call("create_dir", CallKind::Change, name, |disk| disk.create_dir(dir, name, access))
    }

    fn hard_link(&self, from: (&D::Dir, &BStr), to: (&D::Dir, &BStr)) -> io::Result<()> {
        self.call("hard_link", CallKind::Change, to.1, |disk| disk.hard_link(from, to))
    }

    fn rename(&self, from: (&D::Dir, &BStr), to: (&D::Dir, &BStr), how: Rename) -> io::Result<()> {
        let method = match how {
            Rename::NoReplace => "rename",
            Rename::Exchange => "exchange",
        };
        self.call(method, CallKind::Change, to.1, |disk| disk.rename(from, to, how))
    }

    fn remove(&self, dir: &D::Dir, name: &BStr) -> io::Result<()> {
        self.call("remove", CallKind::Change, name, |disk| disk.remove(dir, name))
    }

    fn remove_dir(&self, dir: &D::Dir, name: &BStr) -> io::Result<()> {
        self.call("remove_dir", CallKind::Change, name, |disk| disk.remove_dir(dir, name))
    }

    fn copy_metadata(&self, from: (&D::Dir, &BStr), to: (&D::Dir, &BStr)) -> io::Result<()> {
        self.call("copy_metadata", CallKind::Change, to.1, |disk| disk.copy_metadata(from, to))
    }

    fn set_mode(&self, dir: &D::Dir, name: &BStr, mode: u32) -> io::Result<()> {
        self.call("set_mode", CallKind::Change, name, |disk| disk.set_mode(dir, name, mode))
    }

    fn set_modified(&self, dir: &D::Dir, name: &BStr, when: Modified) -> io::Result<()> {
        self.call("set_modified", CallKind::Change, name, |disk| disk.set_modified(dir, name, when))
    }

    fn now(&self) -> u64 {
        self.disk.now()
    }

    fn boot(&self) -> [u8; 16] {
        self.disk.boot()
    }

    fn try_lock(&self, dir: &D::Dir, name: &BStr) -> io::Result<Option<D::Lock>> {
        self.call("try_lock", CallKind::Change, name, |disk| disk.try_lock(dir, name))
    }

    fn sync_file(&self, dir: &D::Dir, name: &BStr) -> io::Result<()> {
        self.call("sync_file", CallKind::Sync, name, |disk| disk.sync_file(dir, name))
    }

    fn sync_dir(&self, dir: &D::Dir) -> io::Result<()> {
        self.call("sync_dir", CallKind::Sync, "".into(), |disk| disk.sync_dir(dir))
    }

    fn sync_all(&self, dir: &D::Dir) -> io::Result<()> {
        self.call("sync_all", CallKind::Sync, "".into(), |disk| disk.sync_all(dir))
    }
}
