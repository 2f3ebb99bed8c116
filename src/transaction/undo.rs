//! Undoing a swap, from nothing but what is on disk: it can be interrupted and repeated at any point.
//!
//! The rule (transaction.md, 1.7): somebody else's newer content is never overwritten.

use super::carry::carry;
use super::entry::{Entry, Method};
use super::error::{Kept, Version};
use super::ground::{Ground, Stage, stage_of};
use super::journal::Journal;
use super::{OperationId, TransactionError};
use crate::disk::{Disk, Kind, Node, Rename};
use crate::edit::Hash;
use bstr::{BStr, BString, ByteSlice};
use std::io;

/// What to do with a version that is neither ours nor the old one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Strangers {
    /// It stays in place, and the old version is kept aside.
    Stay,
    /// It is kept aside, and the old version comes back: our own hook made it.
    MoveAside,
}

/// Brings every path back to its state before the transaction. Returns what had to be kept aside.
///
/// # Errors
/// The journal stays; the next attempt goes on from what is on disk then.
pub(super) fn undo<D: Disk + Clone>(
    ground: Ground<'_, D>,
    stages: &[Stage<D>],
    journal: &Journal,
    strangers: Strangers,
) -> Result<Vec<Kept>, TransactionError> {
    ground.folders.forget();
    if strangers == Strangers::MoveAside {
        nobody_added(ground, journal)?;
    }
    let mut undoing = Undo { ground, stages, journal, strangers, kept: Vec::new() };
    // Creates first, deepest first, so that the folders made for them are empty; deletes last, since a folder or a
    // file may have come where they stood.
    undoing.by_method(Method::Create)?;
    undoing.remove_folders()?;
    undoing.by_method(Method::ReplaceFolder)?;
    undoing.by_method(Method::Replace)?;
    undoing.by_method(Method::Delete)?;
    Ok(undoing.kept)
}

/// A version that goes on where ours ends is not a hook's rewriting: it may hold what somebody wrote meanwhile, and
/// which of the two texts to drop is not for a program to say.
fn nobody_added<D: Disk + Clone>(ground: Ground<'_, D>, journal: &Journal) -> Result<(), TransactionError> {
    for entry in &journal.entries {
        let Node::File { hash, size, .. } = &entry.after else { continue };
        let read =
            ground.folders.parent(&entry.path).and_then(|dir| ground.disk().read(&dir, entry.path.name()));
        // What cannot be read is met again where it is undone.
        let Ok((bytes, _)) = read else { continue };
        let ours = usize::try_from(*size).ok().and_then(|n| bytes.split_at_checked(n));
        if ours.is_some_and(|(head, more)| !more.is_empty() && Hash::of(head) == *hash) {
            return Err(TransactionError::AddedTo(entry.path.clone()));
        }
    }
    Ok(())
}

struct Undo<'a, D: Disk> {
    ground: Ground<'a, D>,
    stages: &'a [Stage<D>],
    journal: &'a Journal,
    strangers: Strangers,
    kept: Vec<Kept>,
}

impl<'a, D: Disk + Clone> Undo<'a, D> {
    fn by_method(&mut self, method: Method) -> Result<(), TransactionError> {
        for entry in self.journal.entries.iter().rev().filter(|e| e.method() == method) {
            let undone = match method {
                Method::Create => self.take_back_new(entry),
                _ => self.bring_back_old(entry),
            };
            match undone {
                Ok(()) => {}
                Err(Trouble::Lost) => return Err(TransactionError::LostPreImage(entry.path.clone())),
                Err(Trouble::Io(e)) => return Err(TransactionError::io("restore", &entry.path)(e)),
            }
        }
        Ok(())
    }

    fn stage(&self, entry: &Entry) -> &'a D::Dir {
        stage_of(self.stages, entry)
    }

    fn slot(&self, entry: &Entry, name: &BStr) -> io::Result<Node> {
        Node::at(self.ground.disk(), self.stage(entry), name)
    }

    /// A created file goes back to its slot.
    fn take_back_new(&mut self, entry: &Entry) -> Result<(), Trouble> {
        let new = entry.new_slot();
        // While the staged object waits, whatever stands at the path was never ours, unless it is a second name of it.
        if let Some(waiting) = self.ground.disk().stat(self.stage(entry), new.as_ref())? {
            self.remove_second_name(entry, waiting.stamp.file)?;
            return Ok(());
        }
        match self.ground.node(&entry.path)? {
            Node::Absent => Ok(()),
            node if node == entry.after => self.out_of_tree(entry, new.as_ref(), &entry.after),
            _ => Ok(self.stranger_at_new(entry)?),
        }
    }

    /// A move by link and unlink was interrupted between the two. Says whether it was.
    fn remove_second_name(&self, entry: &Entry, file: (u64, u64)) -> io::Result<bool> {
        let Ok(dir) = self.ground.folders.parent(&entry.path) else { return Ok(false) };
        let there = self.ground.disk().stat(&dir, entry.path.name())?;
        let same = there.is_some_and(|stat| stat.stamp.file == file && file != (0, 0));
        if same {
            self.ground.disk().remove(&dir, entry.path.name())?;
        }
        Ok(same)
    }

    /// Our hook changed a file that the batch created: it goes, and its text is kept.
    fn stranger_at_new(&mut self, entry: &Entry) -> io::Result<()> {
        if self.strangers == Strangers::MoveAside {
            self.keep_from_tree(entry)?;
        }
        Ok(())
    }

    /// Moves the object at the path to `slot`; gives it back when it is not `expected` after all.
    fn out_of_tree(&self, entry: &Entry, slot: &BStr, expected: &Node) -> Result<(), Trouble> {
        let (disk, stage) = (self.ground.disk(), self.stage(entry));
        let dir = self.ground.folders.parent(&entry.path)?;
        match disk.rename((&dir, entry.path.name()), (stage, slot), Rename::NoReplace) {
            // A move by link and unlink was interrupted between the two.
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => match disk.stat(stage, slot)? {
                Some(moved) if self.remove_second_name(entry, moved.stamp.file)? => {}
                _ => return Err(e.into()),
            },
            done => done?,
        }
        if Node::at(disk, stage, slot)? != *expected {
            disk.rename((stage, slot), (&dir, entry.path.name()), Rename::NoReplace)?;
        }
        Ok(())
    }

    /// The old object, wherever it is, comes back to its path.
    fn bring_back_old(&mut self, entry: &Entry) -> Result<(), Trouble> {
        let now = self.ground.node(&entry.path)?;
        if now == entry.before {
            return Ok(());
        }
        let captured = match self.captured(entry)? {
            None if self.is_lost(entry)? => Some(self.spare(entry)?.ok_or(Trouble::Lost)?),
            // Power was lost in the middle of a rename: the old object has lost its names, or the new one has both.
            // Perhaps somebody else removed it: coming back is the smaller evil.
            None if now.is_absent() || now == entry.after => self.spare(entry)?,
            found => found,
        };
        match captured {
            Some(slot) if now.is_absent() && self.has_place(entry)? => {
                Ok(self.put_back(entry, slot.as_ref())?)
            }
            Some(slot) if now == entry.after && !now.is_absent() => self.exchange_back(entry, slot.as_ref()),
            Some(slot) if self.strangers == Strangers::MoveAside && !now.is_absent() => {
                self.keep_from_tree(entry)?;
                Ok(self.put_back(entry, slot.as_ref())?)
            }
            Some(slot) => {
                Ok(self.keep(entry, (self.stage(entry).clone(), slot.as_ref()), Version::Before)?)
            }
            // The swap never came here: what stands at the path is somebody else's doing.
            None => Ok(()),
        }
    }

    /// The slot that holds what was taken from the path; it may be a third party's version.
    fn captured(&self, entry: &Entry) -> io::Result<Option<BString>> {
        let (new, old) = (entry.new_slot(), entry.old_slot());
        if !self.slot(entry, old.as_ref())?.is_absent() {
            return Ok(Some(old));
        }
        let in_new = self.slot(entry, new.as_ref())?;
        Ok((!in_new.is_absent() && in_new != entry.after).then_some(new))
    }

    /// The second name of the old object, where there is one.
    fn spare(&self, entry: &Entry) -> io::Result<Option<BString>> {
        let name = entry.spare_slot();
        Ok((self.slot(entry, name.as_ref())? == entry.before).then_some(name))
    }

    /// The new object is at the path or gone, and the old one is nowhere.
    fn is_lost(&self, entry: &Entry) -> io::Result<bool> {
        Ok(entry.method() != Method::Delete && self.slot(entry, entry.new_slot().as_ref())?.is_absent())
    }

    /// Whether the folder of the path is still one; somebody may have put a file in its place.
    fn has_place(&self, entry: &Entry) -> io::Result<bool> {
        match self.ground.folders.parent(&entry.path) {
            Ok(_) => Ok(true),
            Err(e) if matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Ok(false),
            Err(e) => Err(e),
        }
    }

    fn put_back(&self, entry: &Entry, slot: &BStr) -> io::Result<()> {
        let dir = self.ground.folders.parent(&entry.path)?;
        self.ground.disk().rename((self.stage(entry), slot), (&dir, entry.path.name()), Rename::NoReplace)
    }

    fn exchange_back(&mut self, entry: &Entry, slot: &BStr) -> Result<(), Trouble> {
        let (disk, stage) = (self.ground.disk(), self.stage(entry));
        let dir = self.ground.folders.parent(&entry.path)?;
        let place = (&dir, entry.path.name());
        match disk.rename((stage, slot), place, Rename::Exchange) {
            Err(e) if e.kind() == io::ErrorKind::Unsupported => {
                let aside: BString = format!("x{}", entry.slot).into();
                self.out_of_tree(entry, aside.as_ref(), &entry.after)?;
                return Ok(self.put_back(entry, slot)?);
            }
            done => done?,
        }
        if Node::at(disk, stage, slot)? == entry.after {
            return Ok(());
        }
        // Somebody was faster: theirs goes back, ours is kept.
        disk.rename((stage, slot), place, Rename::Exchange)?;
        Ok(self.keep(entry, (stage.clone(), slot), Version::Before)?)
    }

    /// Moves what stands at the path aside.
    fn keep_from_tree(&mut self, entry: &Entry) -> io::Result<()> {
        let dir = self.ground.folders.parent(&entry.path)?;
        let name = entry.path.name().to_owned();
        self.keep(entry, (dir, name.as_ref()), Version::Foreign)
    }

    fn keep(&mut self, entry: &Entry, (dir, name): (D::Dir, &BStr), whose: Version) -> io::Result<()> {
        let kept = put_aside(self.ground, &self.journal.id, entry, (&dir, name), whose)?;
        self.kept.push(kept);
        Ok(())
    }

    /// Folders that the transaction made go, deepest first, when they are empty.
    fn remove_folders(&self) -> Result<(), TransactionError> {
        for folder in self.journal.folders.iter().rev().map(|folder| &folder.path) {
            self.ground.folders.forget();
            let remove = || -> io::Result<()> {
                let dir = self.ground.folders.parent(folder)?;
                self.ground.disk().remove_dir(&dir, folder.name())
            };
            match remove().map_err(|e| (e.kind(), e)) {
                Ok(())
                | Err((
                    io::ErrorKind::NotFound | io::ErrorKind::NotADirectory | io::ErrorKind::DirectoryNotEmpty,
                    _,
                )) => {}
                Err((_, e)) => return Err(TransactionError::io("remove the folder", folder)(e)),
            }
        }
        self.ground.folders.forget();
        Ok(())
    }
}

/// Moves an object to `recovered/<id>/` in the state directory; copies it where that is another mount.
pub(super) fn put_aside<D: Disk + Clone>(
    ground: Ground<'_, D>,
    id: &OperationId,
    entry: &Entry,
    (dir, name): (&D::Dir, &BStr),
    whose: Version,
) -> io::Result<Kept> {
    let (disk, store) = (ground.disk(), ground.store);
    let recovered = store.folder("recovered".into())?;
    let folder = super::store::make_folder(disk, &recovered, id.as_str().into())?;
    let kept = free_name(disk, &folder, entry)?;
    match disk.rename((dir, name), (&folder, kept.as_ref()), Rename::NoReplace) {
        Err(e) if e.kind() == io::ErrorKind::CrossesDevices => {
            carry(disk, (dir, name), (&folder, kept.as_ref()))?;
            if disk.stat(&folder, kept.as_ref())?.is_some_and(|stat| stat.kind == Kind::File) {
                disk.sync_file(&folder, kept.as_ref())?;
            }
            disk.sync_dir(&folder)?;
            disk.remove(dir, name)?;
        }
        done => done?,
    }
    let at = store.path.join("recovered").join(id.as_str()).join(kept.to_path_lossy());
    Ok(Kept { path: entry.path.clone(), at, whose })
}

/// A name that an undo which was interrupted has not used yet.
fn free_name<D: Disk>(disk: &D, folder: &D::Dir, entry: &Entry) -> io::Result<BString> {
    let mut name: BString = format!("{}-", entry.slot).into();
    name.extend_from_slice(entry.path.name());
    while disk.stat(folder, name.as_ref())?.is_some() {
        name.push(b'+');
    }
    Ok(name)
}

/// Why one entry could not be undone.
enum Trouble {
    /// The old object is in no slot.
    Lost,
    Io(io::Error),
}

impl From<io::Error> for Trouble {
    fn from(e: io::Error) -> Self {
        Self::Io(e)
    }
}
