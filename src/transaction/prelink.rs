//! Second names for old objects, made before the swap: where renames can be torn or reordered by a power loss, the old
//! object must not hang on one of them alone (transaction.md, 1.6).

use super::TransactionError;
use super::entry::{Entry, Folder, Method};
use super::ground::{Ground, Stage, stage_of};
use super::sync::Durability;
use crate::disk::{Disk, Node, Rename};
use crate::edit::RelPath;
use bstr::BStr;
use std::collections::BTreeSet;
use std::io;

/// Gives a second name to each old object that needs one.
pub(super) fn prelink<D: Disk + Clone>(
    ground: Ground<'_, D>,
    stages: &[Stage<D>],
    entries: &mut [Entry],
    folders: &[Folder],
    durability: Durability,
) -> Result<(), TransactionError> {
    if !durability.syncs() {
        return Ok(());
    }
    let replaces = entries.iter().any(|e| e.method() == Method::Replace);
    let torn: Vec<bool> = match (durability, replaces) {
        (Durability::Full, _) => vec![true; stages.len()],
        (_, false) => vec![false; stages.len()],
        _ => stages
            .iter()
            .map(|stage| lacks_exchange(ground.disk(), &stage.dir))
            .collect::<io::Result<_>>()
            .map_err(TransactionError::io("try an exchange in", ground.store.path.display()))?,
    };
    let reused: BTreeSet<&RelPath> = folders.iter().map(|folder| &folder.path).collect();
    let emptied: Vec<RelPath> =
        entries.iter().filter(|e| e.method() == Method::ReplaceFolder).map(|e| e.path.clone()).collect();
    for entry in entries.iter_mut() {
        let needs = match entry.method() {
            Method::Create | Method::ReplaceFolder => false,
            Method::Replace => torn[entry.stage],
            Method::Delete => {
                torn[entry.stage]
                    || reused.contains(&entry.path)
                    || emptied.iter().any(|folder| entry.path.is_below(folder))
            }
        };
        if needs {
            let linked = link(ground, stages, entry, durability);
            linked.map_err(TransactionError::io("keep the old version of", &entry.path))?;
        }
    }
    Ok(())
}

fn link<D: Disk + Clone>(
    ground: Ground<'_, D>,
    stages: &[Stage<D>],
    entry: &mut Entry,
    durability: Durability,
) -> io::Result<()> {
    let (disk, stage, name) = (ground.disk(), stage_of(stages, entry), entry.spare_slot());
    let dir = ground.folders.parent(&entry.path)?;
    match disk.hard_link((&dir, entry.path.name()), (stage, name.as_ref())) {
        Ok(()) => {}
        // Gone or changed: the check before the swap says so in better words.
        Err(e) if matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => return Ok(()),
        Err(_) if durability != Durability::Full => return Ok(()),
        Err(_) => return copy(disk, (&dir, entry.path.name()), (stage, name.as_ref()), &entry.before),
    }
    // The new name shows in the change time: what was read is still what stands there.
    let now = disk.stat(&dir, entry.path.name())?.map(|stat| stat.stamp);
    if let (Some(seen), Some(now)) = (entry.seen, now)
        && (seen.file, seen.size, seen.modified) == (now.file, now.size, now.modified)
    {
        entry.seen = Some(now);
    }
    Ok(())
}

/// Where no second name can be had.
fn copy<D: Disk>(disk: &D, from: (&D::Dir, &BStr), to: (&D::Dir, &BStr), before: &Node) -> io::Result<()> {
    if let Node::Link { target } = before {
        return disk.create_link(to.0, to.1, target.as_ref());
    }
    let (bytes, _) = disk.read(from.0, from.1)?;
    disk.create(to.0, to.1, &bytes, 0o600)?;
    disk.copy_metadata(from, to)?;
    disk.sync_file(to.0, to.1)
}

/// Tries an exchange on two files of our own.
fn lacks_exchange<D: Disk>(disk: &D, dir: &D::Dir) -> io::Result<bool> {
    let (a, b): (&BStr, &BStr) = ("try-a".into(), "try-b".into());
    disk.create(dir, a, b"", 0o600)?;
    disk.create(dir, b, b"", 0o600)?;
    let lacks = match disk.rename((dir, a), (dir, b), Rename::Exchange) {
        Ok(()) => false,
        Err(e) if e.kind() == io::ErrorKind::Unsupported => true,
        Err(e) => return Err(e),
    };
    disk.remove(dir, a)?;
    disk.remove(dir, b)?;
    Ok(lacks)
}
