//! T8: another program changes a path of the batch before any call, in place, by a rename, or by a descriptor it has
//! had open. Its bytes survive: in the tree, under `recovered/`, or in the undo store.
//!
//! Guards invariants 4 and 5, and after a kill 7.

use super::batch::{Batch, mixed, reused, small};
use super::drive::{Ended, apply, before, recover, work};
use super::tally::Tally;
use super::tree::{Tree, difference, rel};
use bstr::ByteSlice;
use patchmany::disk::{Clock, Disk, Faulty, Handle, Kind, SimDir, SimDisk, Tier};
use patchmany::transaction::{Decide, Durability, TransactionError};
use std::path::Path;
use std::sync::{Arc, Mutex};

const THEIRS: &[u8] = b"written by somebody else\n";

/// How the other program writes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Act {
    InPlace,
    Over,
    Append,
}

const ACTS: [Act; 3] = [Act::InPlace, Act::Over, Act::Append];

/// What the other program did.
#[derive(Clone, Copy, Debug)]
pub(super) struct Acted {
    /// The old object stood at the path, so the run had to notice.
    while_old: bool,
    /// The length of the log after it.
    logged: usize,
}

fn open(disk: &SimDisk, path: &str) -> Option<SimDir> {
    let root = disk.open_root(Path::new("/work")).ok()?;
    disk.open_dir(&root, &rel(path).parent()?).ok()
}

/// The object at a path.
fn handle(disk: &SimDisk, path: &str) -> Option<Handle> {
    disk.handle(&open(disk, path)?, rel(path).name())
}

fn act(disk: &SimDisk, path: &str, act: Act, old: Option<Handle>) -> Option<Acted> {
    let (dir, whole) = (open(disk, path), rel(path));
    let name = whole.name();
    let while_old = handle(disk, path) == old;
    let kind = dir.and_then(|dir| disk.stat(&dir, name).ok()?).map(|stat| stat.kind);
    match (act, kind) {
        (Act::Append, _) => disk.append(old?, THEIRS),
        (Act::InPlace, Some(Kind::File)) => disk.write_in_place(&dir?, name, THEIRS).ok()?,
        (_, Some(Kind::Directory)) => {
            let inner = disk.open_dir(&dir?, &rel(&name.to_string())).ok()?;
            disk.create(&inner, "theirs".into(), THEIRS, 0o666).ok()?;
        }
        (Act::InPlace, None) => disk.create(&dir?, name, THEIRS, 0o666).ok()?,
        (Act::Over, _) => disk.rename_over(&dir?, name, THEIRS, 0o600).ok()?,
        (Act::InPlace, Some(_)) => return None,
    }
    Some(Acted { while_old, logged: disk.logged() })
}

/// A run with one visit.
pub(super) struct Visit {
    pub disk: SimDisk,
    pub ended: Ended,
    pub acted: Option<Acted>,
}

/// Runs a batch through `through`; somebody acts on `path` before call `call`.
pub(super) fn visit<D: Disk<Dir = SimDir> + Clone>(
    batch: &Batch,
    tier: Tier,
    (call, path, how): (usize, &str, Act),
    through: impl FnOnce(Faulty<SimDisk>, SimDisk) -> D,
) -> Visit {
    let disk = before(batch, tier, Clock::Coarse);
    let old = handle(&disk, path);
    let acted: Arc<Mutex<Option<Acted>>> = Arc::default();
    let (there, done, name) = (disk.clone(), Arc::clone(&acted), path.to_owned());
    let is_file = matches!(batch.old.get(path), Some(super::tree::Object::File(..)));
    let visitor = move || {
        if how != Act::Append || is_file {
            *done.lock().unwrap() = act(&there, &name, how, old);
        }
    };
    let seen = through(Faulty::visited(disk.clone(), call, visitor), disk.clone());
    let ended = apply(&seen, batch, Durability::Batch, || ());
    let acted = *acted.lock().unwrap();
    Visit { disk, ended, acted }
}

/// Recovery as a person would run it: where it does not decide, back.
fn recover_back(disk: &SimDisk) -> Result<(), TransactionError> {
    match recover(disk, Decide::Carefully) {
        Err(TransactionError::Undecided { .. }) => recover(disk, Decide::Back).map(drop),
        done => done.map(drop),
    }
}

fn survives(disk: &SimDisk) -> Result<(), String> {
    let files = disk.all_files();
    let kept = files.iter().any(|(_, bytes)| bytes.find(THEIRS).is_some());
    if kept { Ok(()) } else { Err("the other program's bytes are lost".to_owned()) }
}

/// A tree without a path, what is below it, and the folders above it: there the other program decides.
fn without(tree: &Tree, path: &str) -> Tree {
    let path = rel(path);
    let theirs = |p: &str| rel(p) == path || rel(p).is_below(&path) || path.is_below(&rel(p));
    tree.iter().filter(|(p, _)| !theirs(p)).map(|(p, o)| (p.clone(), o.clone())).collect()
}

/// Everything else is as before or as after.
fn rest(disk: &SimDisk, batch: &Batch, path: &str, wanted: Option<&Tree>) -> Result<(), String> {
    let now = without(&work(disk), path);
    let sides = wanted.map_or_else(|| vec![&batch.old, &batch.new], |one| vec![one]);
    if sides.iter().any(|side| without(side, path) == now) {
        return Ok(());
    }
    Err(sides.iter().map(|side| difference(&without(side, path), &now)).collect::<Vec<_>>().join(" OR "))
}

pub(super) fn judge(visit: &Visit, batch: &Batch, path: &str) -> Result<(), String> {
    let Some(acted) = visit.acted else { return Ok(()) };
    let applied = matches!(visit.ended, Ended::Applied);
    survives(&visit.disk)?;
    if applied && acted.while_old {
        return Err("the run did not notice".to_owned());
    }
    if visit.ended.is_clean() {
        rest(&visit.disk, batch, path, Some(if applied { &batch.new } else { &batch.old }))?;
    }
    recover_back(&visit.disk).map_err(|e| format!("recovery: {e}"))?;
    survives(&visit.disk)?;
    rest(&visit.disk, batch, path, Some(if applied { &batch.new } else { &batch.old }))
}

/// Kills after the visit: recovery keeps their bytes too.
fn judge_killed(
    visit: &Visit,
    batch: &Batch,
    path: &str,
    tally: &mut Tally,
    told: &dyn Fn(String) -> String,
) {
    let Some(acted) = visit.acted else { return };
    let crash = visit.disk.crash();
    let points = acted.logged..=*crash.points().end();
    let step = (points.end() - points.start()) / 5 + 1;
    for point in points.step_by(step) {
        let disk = crash.killed_at(point);
        let result = recover_back(&disk)
            .map_err(|e| format!("recovery: {e}"))
            .and_then(|()| survives(&disk))
            .and_then(|()| rest(&disk, batch, path, None));
        tally.count(result.map_err(|why| told(format!("killed at {point}: {why}"))));
    }
}

fn every_visit(name: &str, batch: &Batch, tier: Tier) {
    let mut tally = Tally::new("T8", format!("{name}, {tier:?}"));
    let mut killed = Tally::new("T8", format!("{name}, {tier:?}, then killed"));
    for (call, made) in super::single::calls(batch, tier, Durability::Batch).iter().enumerate() {
        for entry in &batch.entries {
            let path = entry.path.to_string();
            for how in ACTS {
                let visit = visit(batch, tier, (call, &path, how), |disk, _| disk);
                let told =
                    |why| format!("{how:?} of {path} before {call} {made:?}: {:?}: {why}", visit.ended);
                // First what a kill leaves: judging recovers.
                if call % 7 == 0 {
                    judge_killed(&visit, batch, &path, &mut killed, &told);
                }
                tally.count(judge(&visit, batch, &path).map_err(told));
            }
        }
    }
    tally.sound();
    killed.sound();
}

#[test]
#[ignore = "looks at some hundred thousand states; .ci/run runs it"]
fn invariants_4_5_what_others_write_survives() {
    every_visit("mixed", &mixed(), Tier::Exchange);
    for tier in super::crash::TIERS {
        every_visit("small", &small(), tier);
        every_visit("reused names", &reused(), tier);
    }
}
