//! What recovery does not decide by itself, and what a person's word makes of it.

use super::batch::small;
use super::crash::story;
use super::drive::{Side, recover, recover_at, side, waiting};
use patchmany::disk::{Disk, Kind, SimDir, SimDisk, Tier};
use patchmany::edit::RelPath;
use patchmany::transaction::{Decide, Doubt, Durability, TransactionError};
use std::path::Path;

fn work(disk: &SimDisk) -> SimDir {
    disk.open_root(Path::new("/work")).unwrap()
}

fn text(disk: &SimDisk, path: &str) -> Option<Vec<u8>> {
    let stat = disk.stat(&work(disk), path.into()).ok()??;
    (stat.kind == Kind::File).then(|| disk.read(&work(disk), path.into()).unwrap().0)
}

/// Killed half-way: `a` is new, `sub/b` is still there, `c` is not.
fn half_way() -> SimDisk {
    let crash = story(&small(), Tier::Exchange, Durability::Batch, |disk| disk).crash;
    let is_half = |disk: &SimDisk| {
        let b = disk.open_dir(&work(disk), &RelPath::new("sub").unwrap()).unwrap();
        let b = disk.stat(&b, "b".into()).unwrap();
        text(disk, "a").as_deref() == Some(b"new!\n") && b.is_some() && text(disk, "c").is_none()
    };
    crash.points().map(|point| crash.killed_at(point)).find(is_half).expect("such a point")
}

fn doubts(result: Result<(), TransactionError>) -> Vec<Doubt> {
    match result {
        Err(TransactionError::Undecided { doubts, .. }) => doubts,
        other => panic!("{other:?}"),
    }
}

/// Both words of a person end it, and what they say comes true.
fn either_word(disk: &SimDisk, head: &[u8]) {
    for (decide, wanted) in [(Decide::Back, Side::Old), (Decide::Forward, Side::New)] {
        let disk = disk.settled();
        recover_at(&disk, decide, head).unwrap();
        assert_eq!(side(&disk, &small(), super::drive::Exact::Wholly), Ok(wanted));
    }
}

#[test]
fn a_head_that_moved_asks() {
    let disk = half_way();
    for _ in 0..2 {
        let asked = recover_at(&disk, Decide::Carefully, b"elsewhere").map(drop);
        assert_eq!(doubts(asked), [Doubt::HeadMoved]);
    }
    assert_eq!(waiting(&disk, b"elsewhere")[0].doubts, [Doubt::HeadMoved]);
    assert_eq!(waiting(&disk, b"")[0].doubts, []);
    either_word(&disk, b"elsewhere");
    recover(&disk, Decide::Carefully).unwrap();
    assert_eq!(side(&disk, &small(), super::drive::Exact::Wholly), Ok(Side::Old));
}

#[test]
fn a_file_that_was_written_again_asks() {
    let disk = half_way();
    disk.rename_over(&work(&disk), "a".into(), b"new!\n", 0o644).unwrap();
    let path = RelPath::new("a").unwrap();
    let asked = recover(&disk, Decide::Carefully).map(drop);
    assert_eq!(doubts(asked), [Doubt::Replaced(path)]);
    either_word(&disk, b"");
}

#[test]
fn a_path_that_is_neither_asks_and_goes_back_only() {
    let disk = half_way();
    disk.write_in_place(&work(&disk), "a".into(), b"theirs\n").unwrap();
    let path = RelPath::new("a").unwrap();
    for decide in [Decide::Carefully, Decide::Forward] {
        let asked = recover(&disk, decide).map(drop);
        assert_eq!(doubts(asked), [Doubt::Changed(path.clone())]);
    }
    recover(&disk, Decide::Back).unwrap();
    assert_eq!(text(&disk, "a").unwrap(), b"theirs\n");
}

#[test]
fn the_journal_tells_when_it_was_written() {
    let pending = waiting(&half_way(), b"");
    // The simulated clock stands at the first microseconds of 1970.
    assert_eq!(pending[0].since, "1970-01-01T00:00:00Z");
    assert_ne!(pending[0].id.time(), pending[0].since);
}
