//! Names that change in case alone, where the file system takes both for one: two steps through the slots.
//!
//! Guards invariants 1, 3, 6, 7 and 8 on a simulated disk; there is no such file system to test on everywhere.

use super::batch::respelled;
use super::crash::{Story, judge, kill, lose_power};
use super::drive::{Ended, Exact, Nobody, Side, apply, before, recover, side};
use super::tally::Tally;
use super::tree::rel;
use patchmany::disk::{Clock, Disk, Folders, Loss, SimDisk, Tier};
use patchmany::history::{About, Log, Reversal, Wanted};
use patchmany::plan::{NoRules, Resolved, Sink, SinkFull, Start, WorkTree};
use patchmany::transaction::{Decide, Durability, Ground, RecoveryOutcome, Staging, Stop, Store};
use std::cell::Cell;
use std::path::Path;
use std::sync::Mutex;

const TIERS: [Tier; 3] = super::crash::TIERS;

fn disk(tier: Tier) -> SimDisk {
    before(&respelled(), tier, Clock::Fine).ignoring_case()
}

fn ran(tier: Tier) -> (SimDisk, Story) {
    let (disk, committed) = (disk(tier), Cell::new(None));
    let at_commit = || committed.set(Some(disk.logged()));
    let ended = apply(&disk, &respelled(), Durability::Batch, at_commit);
    assert!(matches!(ended, Ended::Applied), "{ended:?}");
    let story = Story { crash: disk.crash(), committed: committed.get() };
    (disk, story)
}

#[test]
fn the_new_spelling_takes_the_place_of_the_old_one() {
    for tier in TIERS {
        let (disk, _) = ran(tier);
        assert_eq!(side(&disk, &respelled(), Exact::Wholly), Ok(Side::New), "{tier:?}");
    }
}

#[test]
fn a_crash_leaves_one_spelling_or_the_other() {
    for tier in TIERS {
        let (_, story) = ran(tier);
        let mut tally = Tally::new("T1 in memory", format!("names that change in case, {tier:?}"));
        kill(&story, &respelled(), &mut tally);
        tally.sound();
        let mut tally = Tally::new("T5", format!("names that change in case, {tier:?}"));
        lose_power(&story, &respelled(), Loss::Ordered, 0, &mut tally);
        tally.sound();
    }
}

#[test]
fn a_second_crash_does_so_too() {
    let (_, story) = ran(Tier::Exchange);
    let mut tally = Tally::new("T6", "names that change in case");
    for point in story.crash.points() {
        let committed = story.committed.is_some_and(|at| point >= at);
        let first = story.crash.killed_at(point).settled();
        let _ = recover(&first, Decide::Carefully);
        let again = first.crash();
        for second in again.points() {
            let told = |why| format!("killed at {point}, then at {second}: {why}");
            tally.count(judge(&again.killed_at(second), &respelled(), committed).map_err(told));
        }
    }
    tally.sound();
}

#[test]
fn forward_completes_it_from_any_point() {
    let (_, story) = ran(Tier::Exchange);
    let mut tally = Tally::new("forward", "names that change in case");
    for point in story.crash.points() {
        let disk = story.crash.killed_at(point);
        let result = recover(&disk, Decide::Forward).map_err(|e| e.to_string());
        let result = result.and_then(|ended| match side(&disk, &respelled(), Exact::Wholly)? {
            // Before the journal there is nothing to complete.
            Side::Old if ended.iter().all(|one| one.outcome != RecoveryOutcome::Finished) => Ok(()),
            Side::Old => Err("old".to_owned()),
            Side::New => Ok(()),
        });
        tally.count(result.map_err(|why| format!("at {point}: {why}")));
    }
    tally.sound();
}

/// What a plan comes to.
struct Lists(Mutex<Vec<Resolved>>);

impl Sink for Lists {
    fn put(&self, file: &Resolved) -> Result<(), SinkFull> {
        self.0.lock().unwrap().push(file.clone());
        Ok(())
    }
}

#[test]
fn a_plan_moves_to_another_spelling() {
    let disk = disk(Tier::Exchange);
    let folders = Folders::new(disk.clone(), disk.open_root(Path::new("/work")).unwrap());
    let source = WorkTree::new(&folders, Vec::new(), Start::default(), &NoRules);
    let options = patchmany::input::Options {
        format: None,
        default_path: None,
        placeholders: false,
        strip: None,
        exists: &|_| true,
    };
    let moved = |to: &str| {
        let batch = format!(r#"[{{"path":"Foo.txt","moveTo":"{to}"}}]"#);
        let batch = patchmany::input::parse(batch.as_bytes(), &options).unwrap();
        let sink = Lists(Mutex::default());
        let planned = patchmany::plan::plan(&batch, &source, &patchmany::plan::Options::default(), &sink);
        planned.map(|_| sink.0.into_inner().unwrap()).map_err(|e| format!("{e:?}"))
    };
    let files = moved("foo.txt").unwrap();
    let mut changes: Vec<_> = files.iter().map(|f| (f.path.to_string(), f.after.is_absent())).collect();
    changes.sort();
    assert_eq!(changes, [("Foo.txt".to_owned(), true), ("foo.txt".to_owned(), false)]);
    assert!(files.iter().any(|f| f.path == rel("foo.txt") && f.before.is_absent()));
    moved("d/read.me").unwrap_err();
}

#[test]
fn undo_brings_the_old_spelling_back() {
    for tier in TIERS {
        let disk = disk(tier);
        let folders = Folders::new(disk.clone(), disk.open_root(Path::new("/work")).unwrap());
        let store = Store::open(disk.clone(), Path::new("/home/state")).unwrap();
        let ground = Ground { folders: &folders, store: &store, head: b"" };
        let land = |mut staging: Staging<'_, SimDisk>| {
            staging.describe(&About::default().to_bytes()).unwrap();
            let swapped = staging.seal().unwrap().swap(&Stop::new(0)).unwrap();
            swapped.commit(None::<&mut Nobody>).unwrap().finish(None::<&mut Nobody>).clean_up.unwrap();
        };
        let staging = Staging::begin(ground, Durability::Batch).unwrap();
        respelled().entries.iter().for_each(|entry| staging.put(entry).unwrap());
        land(staging);
        assert_eq!(side(&disk, &respelled(), Exact::Wholly), Ok(Side::New));
        let log = Log::read(&store).unwrap();
        let reversal = Reversal::new(&folders, log.to_undo().unwrap(), &Wanted::All).unwrap();
        let staging = Staging::reversing(ground, Durability::Batch, reversal.operation()).unwrap();
        reversal.files().for_each(|file| staging.put_back(&file.unwrap()).unwrap());
        land(staging);
        assert_eq!(side(&disk, &respelled(), Exact::Wholly), Ok(Side::Old), "{tier:?}");
    }
}
