//! Both implementations of the operating system's disk through the same checks.

use super::portable::PortableDisk;
use super::unix::OsDisk;
use crate::disk::{Access, Disk, Kind, Rename};
use crate::edit::RelPath;
use std::io::ErrorKind;

fn rel(path: &str) -> RelPath {
    RelPath::new(path).expect("a good path")
}

pub(in crate::disk) fn check_files<D: Disk>(disk: &D, root: &D::Dir) {
    disk.create_dir(root, "d".into(), Access::Shared).expect("made");
    let dir = disk.open_dir(root, &rel("d")).expect("opens");
    disk.create(&dir, "f".into(), b"one", 0o666).expect("made");
    assert_eq!(
        disk.create(&dir, "f".into(), b"two", 0o666).expect_err("stands").kind(),
        ErrorKind::AlreadyExists
    );
    assert_eq!(disk.read(&dir, "f".into()).expect("reads").0, b"one");
    assert_eq!(disk.stat(&dir, "g".into()).expect("no fault"), None);
    disk.create(root, "g".into(), b"two", 0o666).expect("made");
    let clash = disk.rename((root, "g".into()), (&dir, "f".into()), Rename::NoReplace);
    assert_eq!(clash.expect_err("stands").kind(), ErrorKind::AlreadyExists);
    disk.rename((root, "g".into()), (&dir, "h".into()), Rename::NoReplace).expect("moves");
    let mut names = disk.list(&dir).expect("lists");
    names.sort();
    assert_eq!(names, ["f", "h"]);
    disk.overwrite_synced(&dir, "f".into(), 1, b"N").expect("writes");
    assert_eq!(disk.read(&dir, "f".into()).expect("reads").0, b"oNe");
    disk.set_mode(&dir, "f".into(), 0o600).expect("sets");
    disk.copy_metadata((&dir, "f".into()), (&dir, "h".into())).expect("copies");
    assert_eq!(disk.stat(&dir, "h".into()).expect("stats").expect("there").mode, 0o600);
    assert!(disk.remove_dir(root, "d".into()).is_err(), "not empty");
    let held = disk.try_lock(root, "lock".into()).expect("locks").expect("free");
    assert!(disk.try_lock(root, "lock".into()).expect("no fault").is_none(), "held");
    drop(held);
    assert!(disk.try_lock(root, "lock".into()).expect("no fault").is_some(), "free again");
}

pub(in crate::disk) fn check_links<D: Disk>(disk: &D, root: &D::Dir) {
    disk.create_dir(root, "folder".into(), Access::Private).expect("made");
    disk.create_link(root, "l".into(), "folder".into()).expect("made");
    assert_eq!(disk.read_link(root, "l".into()).expect("reads"), "folder");
    assert_eq!(disk.stat(root, "l".into()).expect("stats").expect("there").kind, Kind::Link);
    let through = disk.open_dir(root, &rel("l")).map(|_| ()).expect_err("a link is no folder");
    assert_eq!(through.kind(), ErrorKind::NotADirectory);
    assert!(disk.read(root, "l".into()).is_err());
}

fn check_both<D: Disk>(disk: &D) {
    let temp = tempfile::tempdir().expect("a folder");
    let root = disk.open_root(temp.path()).expect("opens");
    check_files(disk, &root);
    check_links(disk, &root);
}

#[test]
fn files_on_unix() {
    check_both(&OsDisk);
}

#[test]
fn files_by_paths() {
    check_both(&PortableDisk);
}

#[test]
fn an_exchange_trades_places_with_a_folder() {
    let temp = tempfile::tempdir().expect("a folder");
    let root = OsDisk.open_root(temp.path()).expect("opens");
    OsDisk.create_dir(&root, "d".into(), Access::Shared).expect("made");
    OsDisk.create(&root, "f".into(), b"x", 0o666).expect("made");
    OsDisk.rename((&root, "d".into()), (&root, "f".into()), Rename::Exchange).expect("trades");
    assert_eq!(OsDisk.stat(&root, "f".into()).expect("stats").expect("there").kind, Kind::Directory);
    assert_eq!(OsDisk.read(&root, "d".into()).expect("reads").0, b"x");
}

#[test]
fn without_flags_files_and_folders_move_and_replace_nothing() {
    let temp = tempfile::tempdir().expect("a folder");
    let root = OsDisk.open_root(temp.path()).expect("opens");
    OsDisk.create_dir(&root, "d".into(), Access::Shared).expect("made");
    let dir = OsDisk.open_dir(&root, &rel("d")).expect("opens");
    OsDisk.create(&dir, "inner".into(), b"x", 0o666).expect("made");
    OsDisk.create(&root, "f".into(), b"y", 0o666).expect("made");
    OsDisk.create_link(&root, "l".into(), "f".into()).expect("made");
    for (from, to) in [("d", "f"), ("f", "d"), ("l", "f"), ("d", "d")] {
        let clash = OsDisk.rename_without_flags((&root, from.into()), (&root, to.into()));
        assert_eq!(clash.expect_err("stands").kind(), ErrorKind::AlreadyExists, "{from} to {to}");
    }
    for (from, to) in [("d", "e"), ("f", "g"), ("l", "m")] {
        OsDisk.rename_without_flags((&root, from.into()), (&root, to.into())).expect("moves");
        assert_eq!(OsDisk.stat(&root, from.into()).expect("no fault"), None, "{from}");
    }
    let moved = OsDisk.open_dir(&root, &rel("e")).expect("opens");
    assert_eq!(OsDisk.read(&moved, "inner".into()).expect("reads").0, b"x");
    assert_eq!(OsDisk.read_link(&root, "m".into()).expect("reads"), "f");
    let gone = OsDisk.rename_without_flags((&root, "f".into()), (&root, "h".into()));
    assert_eq!(gone.expect_err("gone").kind(), ErrorKind::NotFound);
}
