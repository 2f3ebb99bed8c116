//! Tests of the tests: a protocol that lacks a step must be caught (transaction.md, 3, negative controls).

use super::batch::{Batch, mixed, reused, small};
use super::crash::{Story, kill, lose_power, story};
use super::flawed::{Flaw, Flawed};
use super::tally::Tally;
use super::visitors::{Act, judge, visit};
use patchmany::disk::{Faulty, Loss, Tier};
use patchmany::transaction::Durability;

fn flawed(batch: &Batch, flaw: Flaw, tier: Tier) -> Story {
    story(batch, tier, Durability::Batch, |disk| Flawed::new(Faulty::new(disk.clone()), disk.clone(), flaw))
}

fn power(flaw: Flaw, batch: &Batch, loss: Loss) -> Tally {
    power_at(flaw, batch, loss, Tier::Exchange)
}

fn power_at(flaw: Flaw, batch: &Batch, loss: Loss, tier: Tier) -> Tally {
    let mut tally = Tally::new("control", format!("{flaw:?}, {tier:?}, power lost, {loss:?}"));
    lose_power(&flawed(batch, flaw, tier), batch, loss, 200, &mut tally);
    tally
}

#[test]
fn without_the_first_barrier_staged_bytes_are_lost() {
    power(Flaw::NoBarrierBefore, &mixed(), Loss::Ordered).caught();
}

#[test]
fn without_the_second_barrier_the_swap_is_lost() {
    power(Flaw::NoBarrierAfter, &mixed(), Loss::Ordered).caught();
    power(Flaw::NoBarrierAfter, &mixed(), Loss::AnyOrder).caught();
}

#[test]
fn without_a_synced_commit_what_was_told_is_lost() {
    power(Flaw::NoCommitSync, &small(), Loss::Ordered).caught();
}

#[test]
fn without_second_names_reused_ones_lose_files() {
    power(Flaw::NoSecondNames, &reused(), Loss::AnyOrder).caught();
}

#[test]
fn without_second_names_moves_instead_of_exchanges_lose_files() {
    for tier in [Tier::NoReplace, Tier::Link] {
        power_at(Flaw::NoSecondNames, &small(), Loss::AnyOrder, tier).caught();
    }
}

#[test]
fn without_any_barrier_power_loss_is_met() {
    // What level `none` is, and says that it is.
    let mut tally = Tally::new("control", "level none, power lost, Ordered");
    let batch = mixed();
    lose_power(
        &story(&batch, Tier::Exchange, Durability::None, |disk| disk),
        &batch,
        Loss::Ordered,
        200,
        &mut tally,
    );
    tally.caught();
}

#[test]
fn without_second_names_a_torn_exchange_loses_files() {
    let mut tally = Tally::new("control", "level batch where renames are torn");
    let batch = small();
    let whole = story(&batch, Tier::Exchange, Durability::Batch, |disk| disk);
    lose_power(&whole, &batch, Loss::Torn, 4096, &mut tally);
    tally.caught();
}

#[test]
fn a_clean_up_before_commit_loses_old_files() {
    let mut tally = Tally::new("control", "clean-up before COMMIT, killed");
    kill(&flawed(&mixed(), Flaw::CleansUpEarly, Tier::Exchange), &mixed(), &mut tally);
    tally.caught();
}

#[test]
fn writing_in_place_mixes() {
    let mut tally = Tally::new("control", "written in place, killed");
    kill(&flawed(&small(), Flaw::InPlace, Tier::Exchange), &small(), &mut tally);
    tally.caught();
}

/// Visits before every call of a run that has a flaw.
fn visited(flaw: Flaw, what: &str) -> Tally {
    let mut tally = Tally::new("control", format!("{what}, visited"));
    let batch = small();
    let calls = super::single::calls(&batch, Tier::Exchange, Durability::Batch).len() + 4;
    for call in 0..calls {
        let through = |disk: Faulty<_>, raw| Flawed::new(disk, raw, flaw);
        let visit = visit(&batch, Tier::Exchange, (call, "a", Act::Over), through);
        tally.count(judge(&visit, &batch, "a"));
    }
    tally
}

#[test]
fn a_backup_by_hard_link_loses_what_others_write() {
    visited(Flaw::LinkBackup, "backup by hard link").caught();
}

#[test]
fn without_a_check_of_what_came_out_success_is_told_over_a_conflict() {
    // No byte is lost, since the check for late writers keeps them: the run must have said that the file had changed.
    let tally = visited(Flaw::NoCheck, "no check of what came out");
    assert!(tally.why().contains("the run did not notice"), "{}", tally.why());
    tally.caught();
}
