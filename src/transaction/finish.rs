//! After the commit point: only forward. The participant finishes, emptied folders go, old files become history.

use super::carry::carry;
use super::each::each;
use super::entry::{Entry, StagePlace};
use super::error::{Kept, Version};
use super::ground::{Ground, Stage, clear_stage, stage_of};
use super::journal::Journal;
use super::operation::UNDO;
use super::participant::{Participant, ParticipantError, Unrecorded};
use super::store::Store;
use super::swap::{RECORD, Taken};
use super::undo::put_aside;
use super::{OperationId, TransactionError};
use crate::disk::{Disk, Kind, Node, Rename, Stamp};
use crate::edit::{Code, RelPath};
use bstr::BString;
use std::collections::BTreeSet;
use std::io;

/// What is left to say of a committed transaction.
#[derive(Debug)]
#[must_use = "the participant may have failed"]
pub struct Finished {
    /// The participant could not make its record visible; the files stay. Where it waits, nothing is cleaned up: the
    /// next run finishes it.
    pub participant: Result<(), Unrecorded>,
    /// Old versions that somebody wrote to while they were replaced.
    pub late: Vec<Kept>,
    /// The clean-up did not get to its end; the next run goes on with it.
    pub clean_up: Result<(), TransactionError>,
}

/// Finishes a journal that says COMMIT. Can be interrupted and repeated.
pub(super) fn finish<D: Disk + Clone, P: Participant>(
    ground: Ground<'_, D>,
    own: &D::Dir,
    stages: &[Stage<D>],
    (journal, taken): (&Journal, &Taken),
    participant: Option<&mut P>,
) -> Finished {
    let participant = match (participant, ground.disk().read(own, RECORD.into())) {
        (Some(participant), Ok((record, _))) => participant.finish(&record),
        (Some(_), Err(e)) if e.kind() != io::ErrorKind::NotFound => Err(unreadable(&journal.id, &e)),
        _ => Ok(()),
    };
    let mut late = Vec::new();
    if matches!(participant, Err(Unrecorded::Waits(_))) {
        return Finished { participant, late, clean_up: Ok(()) };
    }
    let stored = |e| {
        let what = "move the old files of the batch to the undo store in";
        TransactionError::io(what, ground.store.path.display())(e)
    };
    let clean_up = late_writers(ground, stages, (journal, taken), &mut late)
        .and_then(|()| clean_up(ground, own, stages, journal).map_err(stored));
    Finished { participant, late, clean_up }
}

/// The record is there and cannot be read now: without it the operation must not be taken for complete.
fn unreadable(id: &OperationId, error: &io::Error) -> Unrecorded {
    let message = format!("cannot read the record of {id}: {error}");
    Unrecorded::Waits(ParticipantError { code: Code::Io, message, hint: None })
}

/// Puts aside every old file that is not what it was when it was compared: whoever had it open goes on writing to it,
/// and looks for it in vain at its path.
fn late_writers<D: Disk + Clone>(
    ground: Ground<'_, D>,
    stages: &[Stage<D>],
    (journal, taken): (&Journal, &Taken),
    late: &mut Vec<Kept>,
) -> Result<(), TransactionError> {
    let disk = ground.disk();
    // The slot of an old file that somebody has written to.
    let changed = |entry: &Entry| -> io::Result<Option<BString>> {
        let stage = stage_of(stages, entry);
        for name in [entry.new_slot(), entry.old_slot()] {
            let Some(now) = disk.stat(stage, name.as_ref())? else { continue };
            let same = match taken.get(&entry.slot) {
                Some(then) if (now.stamp.size, now.stamp.modified) != (then.size, then.modified) => false,
                Some(then) if is_settled(then, journal) => true,
                // Another run has compared it, and died: its stamp is not known.
                _ => Node::at(disk, stage, name.as_ref())? == entry.before,
            };
            return Ok((!same).then_some(name));
        }
        Ok(None)
    };
    let files = journal.entries.iter().filter(|entry| matches!(entry.before, Node::File { .. }));
    let files: Vec<&Entry> = files.collect();
    let looked = each(&files, |entry| {
        changed(entry).map_err(TransactionError::io("look at the old version of", &entry.path))
    })?;
    for (entry, slot) in files.iter().zip(&looked).filter_map(|(entry, slot)| Some((entry, slot.as_ref()?))) {
        let from = (stage_of(stages, entry), slot.as_ref());
        let kept = put_aside(ground, &journal.id, entry, from, Version::Late);
        late.push(kept.map_err(TransactionError::io("keep the old version of", &entry.path))?);
    }
    Ok(())
}

/// Whether a later write must show in the time of the file. It need not where the file was written just before the run: the
/// clock of a file system stands still for a tick of the kernel, or for two seconds where it counts whole ones.
fn is_settled(then: &Stamp, journal: &Journal) -> bool {
    let tick = if then.modified % 1_000_000_000 == 0 { 2_000_000_000 } else { 20_000_000 };
    then.modified + tick < i128::from(journal.created)
}

fn clean_up<D: Disk + Clone>(
    ground: Ground<'_, D>,
    own: &D::Dir,
    stages: &[Stage<D>],
    journal: &Journal,
) -> io::Result<()> {
    for stage in stages.iter().filter(|s| s.place != StagePlace::State) {
        bring_home(ground, own, stage, journal)?;
        clear_stage(ground, &journal.id, stage, &[])?;
    }
    // One of them may stand in a folder that is empty now.
    remove_emptied_folders(ground, journal)?;
    let undo = ground.store.lasting_folder(UNDO.into())?;
    let (disk, name) = (ground.disk(), Store::<D>::running_name(&journal.id));
    let id: &bstr::BStr = journal.id.as_str().into();
    disk.rename((&ground.store.dir, name.as_ref()), (&undo, id), Rename::NoReplace)
}

/// Copies old files that were staged on another mount to the operation's own folder; they are safe there when this
/// returns.
fn bring_home<D: Disk + Clone>(
    ground: Ground<'_, D>,
    own: &D::Dir,
    stage: &Stage<D>,
    journal: &Journal,
) -> io::Result<()> {
    let disk = ground.disk();
    let number = journal.stages.iter().position(|place| *place == stage.place);
    let mut names = Vec::new();
    for entry in journal.entries.iter().filter(|e| Some(e.stage) == number) {
        for name in [entry.new_slot(), entry.old_slot()] {
            carry(disk, (&stage.dir, name.as_ref()), (own, name.as_ref()))?;
            names.push(name);
        }
    }
    match disk.sync_all(own) {
        Err(e) if e.kind() == io::ErrorKind::Unsupported => {}
        done => return done,
    }
    for name in &names {
        if disk.stat(own, name.as_ref())?.is_some_and(|stat| stat.kind == Kind::File) {
            disk.sync_file(own, name.as_ref())?;
        }
    }
    disk.sync_dir(own)
}

/// Folders that the batch has emptied go, as git does it; the root stays. What is not empty, or cannot be removed, stays.
///
/// They are gone for good when this returns: once the journal is history, no recovery would remove them again.
fn remove_emptied_folders<D: Disk + Clone>(ground: Ground<'_, D>, journal: &Journal) -> io::Result<()> {
    let mut changed: BTreeSet<RelPath> = BTreeSet::new();
    let may_go: BTreeSet<&RelPath> = journal.emptied.iter().map(|folder| &folder.path).collect();
    let gone = journal.entries.iter().filter(|e| e.after.is_absent()).filter_map(|e| e.path.parent());
    let mut folders: BTreeSet<RelPath> = gone.collect();
    while let Some(folder) = folders.pop_last() {
        ground.folders.forget();
        let removed = may_go.contains(&folder)
            && ground
                .folders
                .parent(&folder)
                .is_ok_and(|dir| ground.disk().remove_dir(&dir, folder.name()).is_ok());
        if let (true, Some(above)) = (removed, folder.parent()) {
            changed.remove(&folder);
            changed.insert(above.clone());
            folders.insert(above);
        }
    }
    ground.folders.forget();
    changed.iter().try_for_each(|folder| ground.disk().sync_dir(&ground.folders.open(folder)?))
}
