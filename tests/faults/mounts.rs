//! A tree on another mount than the state directory: staged files stand in the tree, old ones are copied home.
//!
//! Guards invariants 1, 2, 3, 6 and 8 where nothing can be renamed from one to the other.

use super::batch::{Batch, mixed, reused, small};
use super::crash::{LEVELS, TIERS, judge_but, story_on};
use super::drive::{Ended, Exact, Side, apply, before_apart, settle, side};
use super::tally::Tally;
use super::tree::Object;
use patchmany::disk::{Fault, Faulty, Lasts, Loss, SimDisk, Tier, When};
use patchmany::transaction::Durability;
use std::io;

/// Whole old or new, and after new every old file is in the undo store, whole.
fn judge(disk: &SimDisk, batch: &Batch, committed: bool) -> Result<(), String> {
    judge_but(disk, batch, committed, Exact::Wholly)?;
    if side(disk, batch, Exact::Wholly)? == Side::Old {
        return Ok(());
    }
    let files = disk.all_files();
    let kept: Vec<_> =
        files.iter().filter(|(path, _)| path.starts_with(b"/home/state/patchmany/undo")).collect();
    for entry in &batch.entries {
        let old = batch.old.get(&entry.path.to_string());
        let Some(Object::File(old, _)) = old else { continue };
        if !kept.iter().any(|(_, bytes)| bytes == old) {
            return Err(format!("the old {} is not in the undo store", entry.path));
        }
    }
    Ok(())
}

fn batches() -> [(&'static str, Batch); 3] {
    [("mixed", mixed()), ("small", small()), ("reused names", reused())]
}

#[test]
fn invariants_1_3_6_8_a_kill_at_any_step_on_two_mounts() {
    for tier in TIERS {
        for level in LEVELS {
            let mut tally = Tally::new("T1 in memory", format!("two mounts, {tier:?}, {level:?}"));
            for (name, batch) in batches() {
                let story = story_on(&before_apart(&batch, tier), &batch, level, |disk| disk);
                for point in story.crash.points() {
                    let committed = story.committed.is_some_and(|at| point >= at);
                    let judged = judge(&story.crash.killed_at(point), &batch, committed);
                    tally.count(judged.map_err(|why| format!("{name} killed at {point}: {why}")));
                }
            }
            tally.sound();
        }
    }
}

#[test]
#[ignore = "looks at some hundred thousand states; .ci/run runs it"]
fn invariants_2_6_power_loss_on_two_mounts() {
    for (tier, loss) in [
        (Tier::Exchange, Loss::Ordered),
        (Tier::Exchange, Loss::AnyOrder),
        (Tier::NoReplace, Loss::Ordered),
        (Tier::Link, Loss::Ordered),
    ] {
        for level in [Durability::Batch, Durability::Full] {
            let mut tally = Tally::new("T5", format!("two mounts, {tier:?}, {level:?}, {loss:?}"));
            for (name, batch) in batches() {
                let story = story_on(&before_apart(&batch, tier), &batch, level, |disk| disk);
                for point in story.crash.points() {
                    let committed = story.committed.is_some_and(|at| point >= at);
                    for (state, disk) in story.crash.lost_at(point, loss, 40, point as u64) {
                        tally.judge(state ^ u64::from(committed) ^ (name.len() as u64) << 32, || {
                            let judged = judge(&disk, &batch, committed);
                            judged.map_err(|why| format!("{name} at {point}: {why}"))
                        });
                    }
                }
            }
            tally.sound();
        }
    }
}

#[test]
fn invariants_3_6_8_every_call_fails_on_two_mounts() {
    let errors: [fn() -> io::Error; 2] = [|| io::ErrorKind::StorageFull.into(), || io::Error::other("EIO")];
    let batch = mixed();
    let counted = Faulty::new(before_apart(&batch, Tier::Exchange));
    let _ = apply(&counted, &batch, Durability::Batch, || ());
    let mut tally = Tally::new("T4", "two mounts, mixed, Exchange, Batch");
    for (call, made) in counted.calls().iter().enumerate() {
        for error in errors {
            for (when, lasts) in
                [(When::Before, Lasts::Once), (When::Before, Lasts::Forever), (When::After, Lasts::Once)]
            {
                let disk = before_apart(&batch, Tier::Exchange);
                let fault = Fault { call, when, lasts, error };
                let ended = apply(&Faulty::failing(disk.clone(), fault), &batch, Durability::Batch, || ());
                let judged = match &ended {
                    Ended::Applied => settle(&disk, &batch, Exact::ButEmptied)
                        .and_then(|side| if side == Side::New { Ok(()) } else { Err("old".to_owned()) }),
                    ended => super::single::judge(&disk, &batch, ended),
                };
                tally.count(
                    judged.map_err(|why| format!("{when:?} {lasts:?} at {call} {made:?}: {ended:?}: {why}")),
                );
            }
        }
    }
    tally.sound();
}
