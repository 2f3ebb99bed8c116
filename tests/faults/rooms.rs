//! Trees that lie on several mounts, and file systems that refuse to move files from the state directory.
//!
//! Guards invariants 1, 3, 6 and 8 with staging folders inside the tree.

use super::batch::{Batch, mixed, small};
use super::crash::{Story, kill, lose_power};
use super::drive::{Ended, Exact, Nobody, Side, apply, apply_in, before, settle, side};
use super::tally::Tally;
use patchmany::disk::{CallKind, Clock, Disk, Fault, Faulty, Lasts, Loss, SimDisk, Tier, When};
use patchmany::transaction::{Durability, Room};
use std::cell::Cell;
use std::io;
use std::path::Path;

/// A disk on which these folders of the tree are mounts of their own.
fn mounted(batch: &Batch, tier: Tier, folders: &[&str]) -> SimDisk {
    let disk = before(batch, tier, Clock::Fine);
    let work = disk.open_root(Path::new("/work")).unwrap();
    for (number, folder) in (7..).zip(folders) {
        disk.mount(&work, (*folder).into(), number).unwrap();
    }
    disk
}

fn ran(batch: &Batch, disk: &SimDisk, level: Durability, room: Room) -> Story {
    let committed = Cell::new(None);
    let at_commit = || committed.set(Some(disk.logged()));
    let ended = apply_in(disk, batch, (level, room), None::<&mut Nobody>, at_commit);
    assert!(matches!(ended, Ended::Applied), "{ended:?}");
    Story { crash: disk.crash(), committed: committed.get() }
}

#[test]
#[ignore = "looks at some hundred thousand states; .ci/run runs it"]
fn a_crash_over_several_mounts_leaves_old_or_new() {
    for (name, batch, folders) in
        [("small", small(), &["sub"][..]), ("mixed", mixed(), &["src", "left", "bin"][..])]
    {
        for room in [Room::State, Room::Tree] {
            let story = ran(&batch, &mounted(&batch, Tier::Exchange, folders), Durability::Batch, room);
            let mut tally = Tally::new("T1 in memory", format!("{name} over mounts, {room:?}"));
            kill(&story, &batch, &mut tally);
            tally.sound();
            for loss in [Loss::Ordered, Loss::AnyOrder] {
                let mut tally = Tally::new("T5", format!("{name} over mounts, {room:?}, {loss:?}"));
                lose_power(&story, &batch, loss, 60, &mut tally);
                tally.sound();
            }
        }
    }
}

fn crosses_devices() -> io::Error {
    io::ErrorKind::CrossesDevices.into()
}

#[test]
fn a_refused_move_takes_all_back_and_lands_from_inside_the_tree() {
    let batch = mixed();
    let counted = Faulty::new(before(&batch, Tier::Exchange, Clock::Fine));
    let _ = apply(&counted, &batch, Durability::Batch, || ());
    let calls = counted.calls();
    let moves = calls.iter().enumerate().filter(|(_, call)| call.kind == CallKind::Change);
    let moves: Vec<usize> = moves
        .filter(|(_, call)| call.method == "exchange" && call.name != "try-b")
        .map(|(at, _)| at)
        .collect();
    assert!(moves.len() > 3, "{calls:?}");
    for call in moves {
        let disk = before(&batch, Tier::Exchange, Clock::Fine);
        let fault = Fault { call, when: When::Before, lasts: Lasts::Once, error: crosses_devices };
        match apply(&Faulty::failing(disk.clone(), fault), &batch, Durability::Batch, || ()) {
            Ended::Failed(failure) => assert!(failure.wants_room_in_tree(), "{failure:?}"),
            other => panic!("{other:?}"),
        }
        assert_eq!(side(&disk, &batch, Exact::Wholly), Ok(Side::Old));
        let level = (Durability::Batch, Room::Tree);
        let ended = apply_in(&disk, &batch, level, None::<&mut Nobody>, || ());
        assert!(matches!(ended, Ended::Applied), "{ended:?}");
        assert_eq!(settle(&disk, &batch, Exact::Wholly), Ok(Side::New));
    }
}
