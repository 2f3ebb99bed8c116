//! T5: power loss, and T1 in memory: a kill. At every point of a run, and then recovery.
//!
//! Guards invariants 1, 2, 3, 6 and 8.

use super::batch::{Batch, mixed, reused, small, wide};
use super::drive::{Ended, Exact, Side, apply, before, settle};
use super::tally::Tally;
use patchmany::disk::{Clock, Crash, Disk, Loss, SimDir, SimDisk, Tier};
use patchmany::transaction::Durability;
use std::cell::Cell;

/// A finished run of which every crash can be looked at.
pub(super) struct Story {
    pub crash: Crash,
    /// The length of the log when the commit point was behind.
    pub committed: Option<usize>,
}

/// Runs a batch on a disk, perhaps seen through a wrapper.
pub(super) fn story<D: Disk<Dir = SimDir> + Clone>(
    batch: &Batch,
    tier: Tier,
    durability: Durability,
    through: impl FnOnce(SimDisk) -> D,
) -> Story {
    story_on(&before(batch, tier, Clock::Fine), batch, durability, through)
}

/// The same on a disk that holds the tree.
pub(super) fn story_on<D: Disk<Dir = SimDir> + Clone>(
    disk: &SimDisk,
    batch: &Batch,
    durability: Durability,
    through: impl FnOnce(SimDisk) -> D,
) -> Story {
    let committed = Cell::new(None);
    let ended = apply(&through(disk.clone()), batch, durability, || committed.set(Some(disk.logged())));
    assert!(matches!(ended, Ended::Applied), "{ended:?}");
    Story { crash: disk.crash(), committed: committed.get() }
}

/// Old or new before the commit point, new after it.
pub(super) fn judge(disk: &SimDisk, batch: &Batch, committed: bool) -> Result<(), String> {
    judge_but(disk, batch, committed, Exact::Wholly)
}

pub(super) fn judge_but(disk: &SimDisk, batch: &Batch, committed: bool, exact: Exact) -> Result<(), String> {
    match settle(disk, batch, exact)? {
        Side::Old if committed => Err("old after the commit point".to_owned()),
        _ => Ok(()),
    }
}

/// Judges every point of a story under power loss.
pub(super) fn lose_power(story: &Story, batch: &Batch, loss: Loss, most: usize, tally: &mut Tally) {
    for point in story.crash.points() {
        let committed = story.committed.is_some_and(|at| point >= at);
        for (state, disk) in story.crash.lost_at(point, loss, most, point as u64) {
            // The same disk is judged more strictly once the commit point is behind.
            tally.judge(state ^ u64::from(committed), || {
                judge(&disk, batch, committed).map_err(|why| format!("at {point}: {why}"))
            });
        }
    }
}

pub(super) fn kill(story: &Story, batch: &Batch, tally: &mut Tally) {
    for point in story.crash.points() {
        let committed = story.committed.is_some_and(|at| point >= at);
        let disk = story.crash.killed_at(point);
        tally.count(judge(&disk, batch, committed).map_err(|why| format!("killed at {point}: {why}")));
    }
}

pub(super) const TIERS: [Tier; 3] = [Tier::Exchange, Tier::NoReplace, Tier::Link];
pub(super) const LEVELS: [Durability; 3] = [Durability::Batch, Durability::Full, Durability::None];

#[test]
fn invariants_1_3_6_8_a_kill_at_any_step_leaves_old_or_new() {
    for tier in TIERS {
        for level in LEVELS {
            let mut tally = Tally::new("T1 in memory", format!("{tier:?}, {level:?}"));
            for batch in [mixed(), small(), reused(), wide()] {
                kill(&story(&batch, tier, level, |disk| disk), &batch, &mut tally);
            }
            tally.sound();
        }
    }
}

/// Power loss at every point of one batch, at most about `most` subsets of what is not synced at each.
fn power(name: &str, tier: Tier, level: Durability, loss: Loss, batch: &Batch, most: usize) -> Tally {
    let mut tally = Tally::new("T5", format!("{name}, {tier:?}, {level:?}, {loss:?}"));
    lose_power(&story(batch, tier, level, |disk| disk), batch, loss, most, &mut tally);
    tally.told()
}

const SMALL: &str = "small";
const REUSED: &str = "reused names";
const MIXED: &str = "mixed";
const WIDE: &str = "40 files";

fn named(name: &str) -> Batch {
    match name {
        SMALL => small(),
        REUSED => reused(),
        MIXED => mixed(),
        _ => wide(),
    }
}

/// The levels that promise something after power loss.
const LASTING: [Durability; 2] = [Durability::Batch, Durability::Full];

/// Some batches, each with its `most`, at some levels.
fn check(levels: &[Durability], tier: Tier, loss: Loss, batches: &[(&str, usize)]) {
    let mut wrong = String::new();
    for level in levels.iter().copied() {
        for (name, most) in batches {
            let tally = power(name, tier, level, loss, &named(name), *most);
            if tally.bad > 0 {
                wrong +=
                    &format!("{name}, {level:?}: {} of {}\n{}\n", tally.bad, tally.different, tally.why());
            }
        }
    }
    assert_eq!(wrong, "");
}

#[test]
#[ignore = "looks at some hundred thousand states; .ci/run runs it"]
fn invariants_2_6_power_loss_in_order() {
    check(&LASTING, Tier::Exchange, Loss::Ordered, &[(SMALL, 0), (REUSED, 0), (MIXED, 0), (WIDE, 0)]);
}

#[test]
#[ignore = "looks at some hundred thousand states; .ci/run runs it"]
fn invariants_2_6_power_loss_in_order_without_exchange() {
    check(&LASTING, Tier::NoReplace, Loss::Ordered, &[(SMALL, 0), (REUSED, 0), (MIXED, 0), (WIDE, 0)]);
    check(&LASTING, Tier::Link, Loss::Ordered, &[(SMALL, 0), (REUSED, 0), (MIXED, 0)]);
}

#[test]
#[ignore = "looks at some hundred thousand states; .ci/run runs it"]
fn invariants_2_6_power_loss_in_any_order() {
    check(&LASTING, Tier::Exchange, Loss::AnyOrder, &[(SMALL, 4096), (WIDE, 60)]);
}

#[test]
#[ignore = "looks at some hundred thousand states; .ci/run runs it"]
fn invariants_2_6_power_loss_in_any_order_with_reused_names() {
    check(&LASTING, Tier::Exchange, Loss::AnyOrder, &[(REUSED, 2048), (MIXED, 300)]);
}

#[test]
#[ignore = "looks at some hundred thousand states; .ci/run runs it"]
fn invariants_2_6_power_loss_in_any_order_without_exchange() {
    check(
        &LASTING,
        Tier::NoReplace,
        Loss::AnyOrder,
        &[(SMALL, 1024), (REUSED, 1024), (MIXED, 100), (WIDE, 20)],
    );
    check(&LASTING, Tier::Link, Loss::AnyOrder, &[(SMALL, 1024), (REUSED, 1024), (MIXED, 100), (WIDE, 20)]);
}

// Where renames can be torn the level is `full`: second names are made for every old object.
#[test]
fn invariants_2_6_power_loss_that_tears_renames() {
    check(
        &[Durability::Full],
        Tier::Exchange,
        Loss::Torn,
        &[(SMALL, 4096), (REUSED, 1024), (MIXED, 200), (WIDE, 30)],
    );
}
