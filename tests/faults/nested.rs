//! T6: a second crash, inside recovery. T7: a fault, then a crash.
//!
//! Guards invariants 6 and 7.

use super::batch::{Batch, mixed, reused, small};
use super::crash::{TIERS, judge, judge_but, story};
use super::drive::{Exact, apply, before, recover};
use super::tally::Tally;
use patchmany::disk::{CallKind, Clock, Crash, Fault, Faulty, Lasts, Loss, SimDisk, Tier, When};
use patchmany::transaction::{Decide, Durability};
use std::cell::Cell;
use std::io;

/// Recovers, and crashes at every point of that; `state` tells the first disk from others.
fn crash_in_recovery(
    disk: &SimDisk,
    state: u64,
    batch: &Batch,
    committed: bool,
    losses: &[Loss],
    tally: &mut Tally,
) {
    let first = disk.settled();
    let _ = recover(&first, Decide::Carefully);
    let crash = first.crash();
    for point in crash.points() {
        let killed = crash.killed_at(point);
        let told = |why| format!("again at {point}: {why}");
        tally.judge(mix(state, point as u64), || judge(&killed, batch, committed).map_err(told));
        for loss in losses {
            for (again, lost) in crash.lost_at(point, *loss, 12, point as u64) {
                tally.judge(mix(state, again), || judge(&lost, batch, committed).map_err(told));
            }
        }
    }
}

fn mix(a: u64, b: u64) -> u64 {
    a.rotate_left(17).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ b
}

/// Kills a run at every point, and power loss at some, then crashes again in recovery.
fn twice(name: &str, batch: &Batch, tier: Tier, level: Durability, losses: &[Loss]) -> Tally {
    let mut tally = Tally::new("T6", format!("{name}, {tier:?}, {level:?}, {losses:?}"));
    let story = story(batch, tier, level, |disk| disk);
    for point in story.crash.points() {
        let committed = story.committed.is_some_and(|at| point >= at);
        let killed = story.crash.killed_at(point);
        crash_in_recovery(&killed, point as u64, batch, committed, losses, &mut tally);
        for loss in losses {
            for (state, lost) in story.crash.lost_at(point, *loss, 6, point as u64).take(6) {
                crash_in_recovery(&lost, state, batch, committed, losses, &mut tally);
            }
        }
    }
    tally
}

#[test]
fn invariant_7_a_crash_inside_recovery_leaves_old_or_new() {
    twice("mixed", &mixed(), Tier::Exchange, Durability::Batch, &[Loss::Ordered]).sound();
    twice("small", &small(), Tier::Exchange, Durability::Full, &[Loss::Ordered, Loss::AnyOrder]).sound();
    for tier in [Tier::NoReplace, Tier::Link] {
        twice("small", &small(), tier, Durability::Batch, &[Loss::Ordered]).sound();
        twice("reused names", &reused(), tier, Durability::Batch, &[Loss::Ordered]).sound();
    }
}

#[test]
#[ignore = "looks at some hundred thousand states; .ci/run runs it"]
fn invariant_7_a_crash_inside_recovery_in_any_order() {
    twice("reused names", &reused(), Tier::Exchange, Durability::Batch, &[Loss::AnyOrder]).sound();
    twice("mixed", &mixed(), Tier::Exchange, Durability::Batch, &[Loss::AnyOrder]).sound();
}

/// A run with one fault, and every crash after it.
fn fault_then_crash(batch: &Batch, fault: Fault, tier: Tier, losses: &[Loss], tally: &mut Tally) {
    let disk = before(batch, tier, Clock::Fine);
    let committed = Cell::new(None);
    let failing = Faulty::failing(disk.clone(), fault);
    let ended = apply(&failing, batch, Durability::Batch, || committed.set(Some(disk.logged())));
    let crash: Crash = disk.crash();
    let seed = mix(fault.call as u64, u64::from(fault.when == When::After));
    for point in crash.points() {
        let committed = committed.get().is_some_and(|at| point >= at);
        let told = |why| format!("{fault:?}, {ended:?}, then at {point}: {why}");
        // States before the fault are those of the run without one: the simulated disk makes them equal.
        let killed = crash.killed_at(point);
        tally.judge(mix(seed, point as u64), || {
            judge_but(&killed, batch, committed, Exact::ButEmptied).map_err(told)
        });
        for loss in losses {
            for (state, lost) in crash.lost_at(point, *loss, 8, point as u64).take(8) {
                tally.judge(mix(state, u64::from(committed)), || {
                    judge_but(&lost, batch, committed, Exact::ButEmptied).map_err(told)
                });
            }
        }
    }
}

fn broken() -> io::Error {
    io::Error::from_raw_os_error(5)
}

#[test]
#[ignore = "looks at some hundred thousand states; .ci/run runs it"]
fn invariants_6_7_a_fault_and_then_a_crash_leave_old_or_new() {
    for (name, batch, tiers, losses) in [
        ("mixed", mixed(), &TIERS[..1], &[Loss::Ordered][..]),
        ("small", small(), &TIERS[..1], &[Loss::Ordered, Loss::AnyOrder][..]),
        ("small", small(), &TIERS[1..], &[Loss::Ordered][..]),
    ] {
        for tier in tiers {
            let counted = Faulty::new(before(&batch, *tier, Clock::Fine));
            let _ = apply(&counted, &batch, Durability::Batch, || ());
            let mut tally = Tally::new("T7", format!("{name}, {tier:?}, {losses:?}"));
            for (call, made) in counted.calls().iter().enumerate() {
                // A call that only looks and fails is like one that fails before the next change.
                if made.kind == CallKind::Look && call % 4 != 0 {
                    continue;
                }
                for when in [When::Before, When::After] {
                    let fault = Fault { call, when, lasts: Lasts::Once, error: broken };
                    fault_then_crash(&batch, fault, *tier, losses, &mut tally);
                }
            }
            tally.sound();
        }
    }
}
