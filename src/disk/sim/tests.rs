//! The simulated disk against what a real one does, and what it can lose.

use super::{Clock, Loss, SimDir, SimDisk, Tier};
use crate::disk::os::tests::{check_files, check_links};
use crate::disk::{Access, Disk, Rename};
use bstr::{BStr, ByteSlice};
use std::collections::BTreeSet;

const ROOT: &SimDir = &SimDir::ROOT;

fn disk() -> SimDisk {
    let disk = SimDisk::new(Tier::Exchange, Clock::Fine);
    disk.create(ROOT, "f".into(), b"old", 0o666).expect("made");
    disk.create_dir(ROOT, "d".into(), Access::Shared).expect("made");
    disk.settled()
}

fn text(disk: &SimDisk, name: &str) -> Option<String> {
    let (bytes, _) = disk.read(ROOT, BStr::new(name)).ok()?;
    Some(bytes.to_str().expect("text").to_owned())
}

/// What `f` and `n` may hold after power loss at the end.
fn outcomes(disk: &SimDisk, loss: Loss) -> BTreeSet<String> {
    let crash = disk.crash();
    let lost = crash.lost_at(*crash.points().end(), loss, 64, 1);
    lost.map(|(_, disk)| format!("{:?} {:?}", text(&disk, "f"), text(&disk, "n"))).collect()
}

#[test]
fn files_in_memory() {
    for tier in [Tier::Exchange, Tier::NoReplace, Tier::Link] {
        let disk = SimDisk::new(tier, Clock::Fine);
        check_files(&disk, ROOT);
        check_links(&disk, ROOT);
    }
}

#[test]
fn what_is_not_synced_can_be_lost() {
    let disk = disk();
    disk.create(ROOT, "n".into(), b"new!", 0o666).expect("made");
    disk.rename((ROOT, "n".into()), (ROOT, "f".into()), Rename::Exchange).expect("trades");
    let ordered = outcomes(&disk, Loss::Ordered);
    assert!(
        ordered.contains("Some(\"\") Some(\"old\")"),
        "the exchange is there, the bytes are not: {ordered:?}"
    );
    assert!(!ordered.iter().any(|o| o.contains("None Some") || o == "None None"), "{ordered:?}");
    let torn = outcomes(&disk, Loss::Torn);
    assert!(torn.contains("Some(\"new!\") Some(\"new!\")"), "half an exchange: {torn:?}");
}

#[test]
fn what_is_synced_stays() {
    let disk = disk();
    disk.create(ROOT, "n".into(), b"new!", 0o666).expect("made");
    disk.sync_file(ROOT, "n".into()).expect("synced");
    disk.sync_dir(ROOT).expect("synced");
    for loss in [Loss::Ordered, Loss::AnyOrder, Loss::Torn] {
        assert_eq!(outcomes(&disk, loss), BTreeSet::from(["Some(\"old\") Some(\"new!\")".to_owned()]));
    }
    disk.rename((ROOT, "n".into()), (ROOT, "f".into()), Rename::Exchange).expect("trades");
    assert_eq!(outcomes(&disk, Loss::AnyOrder).len(), 2);
    disk.sync_all(ROOT).expect("synced");
    assert_eq!(outcomes(&disk, Loss::Torn), BTreeSet::from(["Some(\"new!\") Some(\"old\")".to_owned()]));
}

#[test]
fn a_kill_loses_nothing() {
    let disk = disk();
    disk.write_in_place(ROOT, "f".into(), b"new!").expect("written");
    let crash = disk.crash();
    let seen: Vec<_> = crash.points().map(|p| text(&crash.killed_at(p), "f").expect("there")).collect();
    assert_eq!(seen, ["old", "", "new!"]);
}

#[test]
fn others_write_by_descriptor_and_by_name() {
    let disk = disk();
    let open = disk.handle(ROOT, "f".into()).expect("there");
    disk.rename_over(ROOT, "f".into(), b"theirs", 0o644).expect("renamed");
    disk.append(open, b"+");
    assert_eq!(text(&disk, "f").as_deref(), Some("theirs"));
    disk.mount(ROOT, "d".into(), 7).expect("mounted");
    let dir = disk.open_dir(ROOT, &crate::edit::RelPath::new("d").expect("good")).expect("opens");
    let across = disk.rename((ROOT, "f".into()), (&dir, "f".into()), Rename::NoReplace);
    assert_eq!(across.expect_err("another mount").kind(), std::io::ErrorKind::CrossesDevices);
}

#[test]
fn a_folded_name_keeps_its_spelling() {
    let disk = SimDisk::new(Tier::Exchange, Clock::Fine).ignoring_case();
    disk.create(ROOT, "Foo".into(), b"old", 0o666).expect("made");
    assert_eq!(text(&disk, "foo").as_deref(), Some("old"));
    let error = disk.rename((ROOT, "Foo".into()), (ROOT, "foo".into()), Rename::NoReplace);
    assert_eq!(error.expect_err("it is there").kind(), std::io::ErrorKind::AlreadyExists);
    disk.create(ROOT, "n".into(), b"new", 0o666).expect("made");
    disk.rename((ROOT, "n".into()), (ROOT, "foo".into()), Rename::Exchange).expect("trades");
    assert_eq!((text(&disk, "Foo").as_deref(), text(&disk, "n").as_deref()), (Some("new"), Some("old")));
    assert_eq!(disk.list(ROOT).expect("listed"), ["Foo", "n"]);
    disk.remove(ROOT, "FOO".into()).expect("removed");
    assert_eq!(disk.list(ROOT).expect("listed"), ["n"]);
}
