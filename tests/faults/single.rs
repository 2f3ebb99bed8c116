//! T4: every call fails, with every error, before and after its effect, once and from then on.
//!
//! Guards invariants 1, 3, 6, 7 and 8: a clean failure means that the tree is as before, success that it is as after, and
//! that nothing of ours is left; where the run says that recovery is needed, the next run finds old or new.

use super::batch::{Batch, mixed, reused, small};
use super::crash::TIERS;
use super::drive::{Ended, Exact, Recorder, Side, apply, apply_with, before, settle, side};
use super::tally::Tally;
use patchmany::disk::{Call, Clock, Fault, Faulty, Lasts, SimDisk, Tier, When};
use patchmany::transaction::{Durability, TreeState};
use std::io;

type Failing = fn() -> io::Error;

const ERRORS: [(&str, Failing); 5] = [
    ("ENOSPC", || io::ErrorKind::StorageFull.into()),
    ("EIO", || io::Error::other("EIO")),
    ("EACCES", || io::ErrorKind::PermissionDenied.into()),
    ("EROFS", || io::ErrorKind::ReadOnlyFilesystem.into()),
    ("ENOMEM", || io::ErrorKind::OutOfMemory.into()),
];

/// The calls of a run without a fault.
pub(super) fn calls(batch: &Batch, tier: Tier, level: Durability) -> Vec<Call> {
    let counted = Faulty::new(before(batch, tier, Clock::Fine));
    let _ = apply(&counted, batch, level, || ());
    counted.calls()
}

/// What a run promises when it ends, and what the next one makes of the rest.
pub(super) fn judge(disk: &SimDisk, batch: &Batch, ended: &Ended) -> Result<(), String> {
    let promised = match ended {
        Ended::Applied => Some(Side::New),
        Ended::Failed(failure) if failure.tree == TreeState::NeedsRecovery => None,
        Ended::NotBegun | Ended::Failed(_) => Some(Side::Old),
    };
    if let Some(promised) = promised {
        expect(side(disk, batch, Exact::ButEmptied)?, promised)?;
    }
    let found = settle(disk, batch, Exact::ButEmptied)?;
    promised.map_or(Ok(()), |promised| expect(found, promised))
}

fn expect(found: Side, wanted: Side) -> Result<(), String> {
    if found == wanted { Ok(()) } else { Err(format!("{found:?} where {wanted:?} was promised")) }
}

fn every_call(name: &str, batch: &Batch, tier: Tier, level: Durability) {
    let mut tally = Tally::new("T4", format!("{name}, {tier:?}, {level:?}"));
    for (call, made) in calls(batch, tier, level).iter().enumerate() {
        for (errno, error) in ERRORS {
            for when in [When::Before, When::After] {
                for lasts in [Lasts::Once, Lasts::Forever] {
                    let disk = before(batch, tier, Clock::Fine);
                    let fault = Fault { call, when, lasts, error };
                    let ended = apply(&Faulty::failing(disk.clone(), fault), batch, level, || ());
                    let told =
                        |why| format!("{errno} {when:?} {lasts:?} at {call} {made:?}: {ended:?}: {why}");
                    tally.count(judge(&disk, batch, &ended).map_err(told));
                }
            }
        }
    }
    tally.sound();
}

#[test]
fn invariants_1_3_6_7_8_every_call_fails_with_every_error() {
    every_call("mixed", &mixed(), Tier::Exchange, Durability::Batch);
    every_call("mixed", &mixed(), Tier::Exchange, Durability::Full);
    for tier in TIERS {
        every_call("small", &small(), tier, Durability::None);
        every_call("reused names", &reused(), tier, Durability::Batch);
    }
}

#[test]
fn invariants_4_5_a_call_that_was_done_says_so_twice() {
    // A network file system repeats a call whose answer was lost: it is done, and the answer is that of the second one.
    let batch = mixed();
    let mut tally = Tally::new("T4", "done, and told that it cannot be");
    for (call, made) in calls(&batch, Tier::Exchange, Durability::Batch).iter().enumerate() {
        let error: Failing = match made.method {
            "create" | "create_dir" | "create_link" | "hard_link" => || io::ErrorKind::AlreadyExists.into(),
            "rename" | "remove" | "remove_dir" => || io::ErrorKind::NotFound.into(),
            _ => continue,
        };
        let disk = before(&batch, Tier::Exchange, Clock::Fine);
        let fault = Fault { call, when: When::After, lasts: Lasts::Once, error };
        let ended = apply(&Faulty::failing(disk.clone(), fault), &batch, Durability::Batch, || ());
        let told = |why| format!("at {call} {made:?}: {ended:?}: {why}");
        tally.count(judge(&disk, &batch, &ended).map_err(told));
    }
    tally.sound();
}

#[test]
fn invariant_6_a_participant_that_fails_takes_everything_back() {
    let mut tally = Tally::new("T4", "a participant fails, or its run does");
    for fails in [true, false] {
        let batch = mixed();
        let counted = Faulty::new(before(&batch, Tier::Exchange, Clock::Fine));
        let _ = apply_with(&counted, &batch, Durability::Batch, Some(&mut Recorder { fails }), || ());
        for call in 0..counted.calls().len() {
            for when in [When::Before, When::After] {
                let disk = before(&batch, Tier::Exchange, Clock::Fine);
                let fault = Fault { call, when, lasts: Lasts::Once, error: ERRORS[1].1 };
                let failing = Faulty::failing(disk.clone(), fault);
                let ended =
                    apply_with(&failing, &batch, Durability::Batch, Some(&mut Recorder { fails }), || ());
                let result = judge(&disk, &batch, &ended);
                tally.count(result.map_err(|why| format!("{when:?} {call}: {ended:?}: {why}")));
            }
        }
    }
    tally.sound();
}
