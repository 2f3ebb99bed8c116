//! Resolves a saved plan against the files as they are now: every path must be as the plan saw it, and what may not be
//! touched is refused as for any batch.

use super::group::groups;
use super::outcome::{LineRange, PlacedHunk, Plan, Twins};
use super::planner::{GroupDone, NoPlan, Options, assemble, settle};
use super::saved::{SavedChange, SavedPlan, Side};
use super::tree::{Content, Now, Tree};
use super::{Applied, LastLink, Refusal, Sink, Source, mode};
use crate::disk::Node;
use crate::edit::{BatchPath, Code, Mode, PathBase, Pieces, RelPath, TextEdit};
use bytes::Bytes;
use rayon::prelude::*;
use std::sync::atomic::AtomicBool;

/// Resolves `saved` and hands every changed path to `sink`, as [`plan`](super::plan) does for a batch.
///
/// # Errors
/// [`NoPlan`]; among the refusals `changed-during` for each path that is not as it was when the plan was made.
pub fn replay(
    saved: &SavedPlan,
    source: &dyn Source,
    options: &Options,
    sink: &dyn Sink,
) -> Result<Plan, NoPlan> {
    let steps: Vec<Step<'_>> = saved.changes.iter().enumerate().filter_map(Step::new).collect();
    let touched: Vec<Vec<&RelPath>> = steps
        .iter()
        .map(|step| [Some(&step.path), step.from.as_ref()].into_iter().flatten().collect())
        .collect();
    let stop = AtomicBool::new(false);
    let done: Vec<GroupDone> = groups(&touched)
        .par_iter()
        .map(|group| {
            let group: Vec<&Step<'_>> = group.iter().map(|&i| &steps[i]).collect();
            Replay { source, options, tree: Tree::new(source) }.run(&group, sink, &stop)
        })
        .collect();
    assemble(Vec::new(), Vec::new(), done)
}

/// One change of the plan.
struct Step<'a> {
    index: usize,
    change: &'a SavedChange,
    path: RelPath,
    /// Where the bytes that are edited stand.
    from: Option<RelPath>,
}

impl<'a> Step<'a> {
    fn new((index, change): (usize, &'a SavedChange)) -> Option<Self> {
        let path = change.path().filter(|_| change.is_taken)?;
        Some(Self { index, change, path, from: change.from() })
    }

    fn refused(&self, refusal: Refusal) -> Refusal {
        refusal.at(SavedPlan::origin(self.index, 0)).on(self.path.as_bstr())
    }
}

/// What is to be done for a path.
enum Found {
    AsPlanned,
    Done,
}

struct Replay<'a> {
    source: &'a dyn Source,
    options: &'a Options,
    tree: Tree<'a>,
}

impl Replay<'_> {
    fn run(mut self, steps: &[&Step<'_>], sink: &dyn Sink, stop: &AtomicBool) -> GroupDone {
        let mut refusals = Vec::new();
        let mut due = Vec::new();
        for step in steps {
            match self.compare(step) {
                Ok(Found::AsPlanned) => due.push(*step),
                Ok(Found::Done) => {}
                Err(refusal) => refusals.push(step.refused(refusal)),
            }
        }
        if refusals.is_empty() {
            let made: Vec<_> = due.iter().map(|step| (*step, self.made(step))).collect();
            for (step, made) in made {
                match made {
                    Ok(now) => self.put(step, now),
                    Err(refusal) => refusals.push(step.refused(refusal)),
                }
            }
        }
        if refusals.is_empty() {
            let stands = due.iter().filter(|step| step.change.after.is_some());
            let room = stands.map(|step| self.tree.room_for(&step.path).map_err(|r| step.refused(r)));
            refusals.extend(room.filter_map(Result::err));
        }
        settle(self.tree.slots, GroupDone::refused(refusals), sink, stop)
    }

    /// Whether the path is as the plan saw it, and may be touched.
    fn compare(&mut self, step: &Step<'_>) -> Result<Found, Refusal> {
        let written = BatchPath { written: step.path.as_bstr().to_owned(), base: PathBase::Top };
        let target = self.source.resolve(&written, LastLink::Keep)?;
        if target.path != step.path {
            let message = format!("{} leads through a symbolic link now", step.path);
            return Err(changed(message));
        }
        let slot = self.tree.touch(&step.path, step.index + 1)?;
        let special = matches!(slot.now, Now::Special);
        let now = Side::of(&slot.before).filter(|_| !special);
        if now != step.change.before || special {
            let is_done = now == step.change.after && step.change.is_whole && !special;
            return match self.options.applied {
                Applied::Skip if is_done => Ok(Found::Done),
                _ if is_done => Err(applied(&step.path)),
                _ => Err(changed(difference(&step.path, &now, step.change.before.as_ref()))),
            };
        }
        let read_only = matches!(slot.before, Node::File { mode, .. } if mode & 0o222 == 0);
        if read_only && !self.options.force_read_only {
            return Err(Refusal::new(Code::ReadOnly, format!("{} is read-only", step.path))
                .hint("run with --force-read-only to change it anyway"));
        }
        let sides = [&step.change.before, &step.change.after].into_iter().flatten();
        if sides.filter_map(mode_of).any(|mode| mode == Mode::Link) {
            mode::allowed(Some(Mode::Link), self.options)?;
        }
        Ok(Found::AsPlanned)
    }

    fn put(&mut self, step: &Step<'_>, now: Now) {
        // Every path has a slot since it was compared.
        if let Ok(slot) = self.tree.touch(&step.path, step.index + 1) {
            slot.now = now;
        }
    }

    /// What shall stand at the path.
    fn made(&mut self, step: &Step<'_>) -> Result<Now, Refusal> {
        let Some(side) = &step.change.after else { return Ok(Now::Absent) };
        let Some(wanted) = mode_of(side) else { return Err(broken()) };
        let (old, bits) = match &step.from {
            Some(from) => {
                let slot = self.tree.touch(from, step.index + 1)?;
                match (&slot.old, &slot.before) {
                    (Some(old), Node::File { mode, .. }) => (old.clone(), Some(*mode)),
                    _ => return Err(changed(format!("{from}, which it comes from, is no file now"))),
                }
            }
            None => (Bytes::new(), None),
        };
        let edit = step.change.text_edit(old.len()).ok_or_else(broken)?;
        let bytes = Pieces::from(edit.apply(&old));
        if step.change.is_whole && Some(bytes.hash().to_string()) != side.hash {
            return Err(broken());
        }
        let hunks = hunks(step.index, &old, &edit);
        let content = Content {
            origin: step.from.clone(),
            added: hunks.iter().map(|hunk| hunk.added).sum(),
            removed: hunks.iter().map(|hunk| hunk.removed).sum(),
            hunks,
            ..Content::new(bytes, bits.unwrap_or(0o666))
        };
        // The bits of a file that stays runnable, or stays not so, are kept one by one.
        let is_same = bits.is_some_and(|bits| (bits & 0o100 != 0) == (wanted == Mode::Executable));
        let wanted = Some(wanted).filter(|wanted| *wanted == Mode::Link || !is_same);
        mode::made(self.source, &step.path, content, wanted)
    }
}

fn mode_of(side: &Side) -> Option<Mode> {
    [Mode::Regular, Mode::Executable, Mode::Link].into_iter().find(|mode| mode.as_str() == side.mode)
}

/// The edits as hunks, by the lines that they are in.
fn hunks(index: usize, old: &[u8], edit: &TextEdit) -> Vec<PlacedHunk> {
    let count = |bytes: &[u8]| bytes.split_inclusive(|b| *b == b'\n').count();
    let (mut line, mut at, mut grown) = (0, 0, 0isize);
    let hunk = |(number, part): (usize, &crate::edit::Replacement)| {
        line += count(&old[at..part.range.start]);
        at = part.range.end;
        let (gone, come) = (count(&old[part.range.clone()]), count(&part.bytes));
        let placed = PlacedHunk {
            origin: SavedPlan::origin(index, number + 1),
            pass: "span",
            old_lines: LineRange::new(line + 1, gone),
            new_lines: LineRange::new((line + 1).saturating_add_signed(grown), come),
            added: come,
            removed: gone,
            notes: Vec::new(),
            twins: Twins::default(),
        };
        line += gone;
        grown += come.cast_signed() - gone.cast_signed();
        placed
    };
    edit.parts().iter().enumerate().map(hunk).collect()
}

fn difference(path: &RelPath, now: &Option<Side>, before: Option<&Side>) -> String {
    match (now, before) {
        (Some(_), None) => format!("{path} has come since the plan was made"),
        (None, _) => format!("{path} is gone since the plan was made"),
        (Some(now), Some(before)) if now.hash == before.hash => {
            format!("the mode of {path} is {} now; the plan saw {}", now.mode, before.mode)
        }
        _ => format!("{path} has changed since the plan was made"),
    }
}

fn changed(message: impl Into<String>) -> Refusal {
    Refusal::new(Code::ChangedDuring, message).hint("run patchmany plan again, and read the new plan")
}

fn applied(path: &RelPath) -> Refusal {
    Refusal::new(Code::AlreadyApplied, format!("{path} is as the plan leaves it already"))
        .hint("run with --skip-applied to leave out what is done")
}

fn broken() -> Refusal {
    Refusal::new(Code::Parse, "the plan does not lead to the file that it names")
        .hint("make the plan again with patchmany plan")
}
