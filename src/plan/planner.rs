//! The planner: resolves every path, groups what depends on each other, and resolves the groups in parallel.

use super::applied::Applied;
use super::compose::{Composer, Entry};
use super::counts::counts;
use super::group::groups;
use super::outcome::{FileAction, PlacedHunk, Plan, PlannedFile};
use super::pass::Loosest;
use super::rules::Rules;
use super::tree::{Content, Now, Slot};
use super::{LastLink, Metadata, Refusal, Resolved, Sink, SinkFull, Source, Stale, elsewhere};
use crate::disk::Node;
use crate::edit::{
    Action, ChangeSet, Existing, FileOperation, InputWarning, Mode, RelPath, Warning, WarningCode, split_bom,
};
use rayon::prelude::*;
use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};

/// What a run allows.
#[derive(Clone, Copy, Default, Debug)]
pub struct Options {
    /// Created and moved files may replace existing ones.
    pub overwrite: bool,
    /// Read-only files may be changed; they stay read-only.
    pub force_read_only: bool,
    /// Symbolic links may be made, changed and removed; their targets stay inside the root.
    pub allow_symlinks: bool,
    /// The loosest pass for hunks that are found by their text; by default it depends on the form of the batch.
    pub loosest: Option<Loosest>,
    /// What becomes of hunks whose old text stands nowhere while their new text stands there already.
    pub applied: Applied,
    /// What becomes of entries that were written for another version than the present one.
    pub stale: Stale,
}

/// Why there is no plan.
#[derive(Debug)]
pub enum NoPlan {
    /// Entries or hunks do not fit: all of them, in batch order.
    Refused {
        /// Never empty.
        refusals: Vec<Refusal>,
        /// What else was noticed.
        warnings: Vec<Warning>,
    },
    /// The sink gave up; it knows why.
    SinkFull,
}

/// Resolves `batch` against `source` and hands every changed path to `sink`.
///
/// The result depends neither on the number of threads nor on their timing.
///
/// # Errors
/// [`NoPlan`]. What the sink has got by then is to be thrown away.
pub fn plan(
    batch: &ChangeSet,
    source: &dyn Source,
    options: &Options,
    sink: &dyn Sink,
) -> Result<Plan, NoPlan> {
    let resolved: Vec<_> = batch.operations.par_iter().map(|op| resolve(op, source)).collect();
    let mut refusals: Vec<Refusal> = Vec::new();
    let mut entries = Vec::with_capacity(resolved.len());
    for result in resolved {
        match result {
            Ok(entry) => entries.push(entry),
            Err(refusal) => refusals.push(refusal),
        }
    }
    let touched: Vec<Vec<&RelPath>> = entries.iter().map(paths).collect();
    let groups = groups(&touched);
    let rules = Rules::new(options);
    let stop = AtomicBool::new(!refusals.is_empty());
    let done: Vec<GroupDone> = groups
        .par_iter()
        .map(|group| {
            let group: Vec<&Entry<'_>> = group.iter().map(|&i| &entries[i]).collect();
            run_group(&group, source, (options, &rules), sink, &stop)
        })
        .collect();
    assemble(told_of(batch), refusals, done).map_err(|no_plan| match no_plan {
        NoPlan::Refused { mut refusals, warnings } => {
            let mut seen = HashSet::new();
            let paths = touched.iter().flatten().filter(|path| seen.insert(**path));
            let paths: Vec<RelPath> = paths.map(|path| (*path).clone()).collect();
            elsewhere::tell(source, batch, &paths, &mut refusals);
            refusals.iter_mut().for_each(Refusal::shorten);
            NoPlan::Refused { refusals, warnings }
        }
        NoPlan::SinkFull => NoPlan::SinkFull,
    })
}

fn resolve<'a>(operation: &'a FileOperation, source: &dyn Source) -> Result<Entry<'a>, Refusal> {
    let (last, to) = match &operation.action {
        Action::Create { existing: Existing::Refuse, .. } | Action::Delete { .. } => (LastLink::Keep, None),
        Action::Modify { .. } if operation.mode == Some(Mode::Link) => (LastLink::Keep, None),
        Action::Modify { .. } | Action::Create { .. } => (LastLink::Follow, None),
        Action::Rename { to, .. } | Action::Copy { to, .. } => (LastLink::Keep, Some(to)),
    };
    let at = |refusal: Refusal, path: &crate::edit::BatchPath| {
        refusal.at(operation.origin).on(path.written.clone())
    };
    let target = source.resolve(&operation.path, last).map_err(|r| at(r, &operation.path))?;
    let to = to.map(|to| source.resolve(to, LastLink::Keep).map_err(|r| at(r, to))).transpose()?;
    Ok(Entry { operation, target, to, version: None })
}

fn paths<'a>(entry: &'a Entry<'_>) -> Vec<&'a RelPath> {
    let mut paths = vec![&entry.target.path];
    paths.extend(entry.to.as_ref().map(|to| &to.path));
    paths
}

/// What one group came to.
#[derive(Default)]
pub(super) struct GroupDone {
    /// With the entry that first mentions each.
    files: Vec<(usize, PlannedFile)>,
    refusals: Vec<Refusal>,
    warnings: Vec<Warning>,
    sink_full: bool,
}

impl GroupDone {
    /// A group with these refusals, if any, and nothing else yet.
    pub(super) fn refused(refusals: Vec<Refusal>) -> Self {
        Self { refusals, ..Self::default() }
    }
}

fn run_group(
    entries: &[&Entry<'_>],
    source: &dyn Source,
    (options, rules): (&Options, &Rules),
    sink: &dyn Sink,
    stop: &AtomicBool,
) -> GroupDone {
    let mut composer = Composer::new(source, options, rules);
    composer.run_all(entries);
    composer.check_base(entries);
    let done = GroupDone { refusals: composer.refusals, warnings: composer.warnings, ..GroupDone::default() };
    settle(composer.tree.slots, done, sink, stop)
}

/// Ends a group: what stands in its slots goes to the sink, unless something was refused.
pub(super) fn settle(slots: Vec<Slot>, mut done: GroupDone, sink: &dyn Sink, stop: &AtomicBool) -> GroupDone {
    if !done.refusals.is_empty() {
        stop.store(true, Ordering::Relaxed);
        return done;
    }
    let ends: Vec<End> = slots.into_iter().map(End::of).collect();
    done.files = planned(&ends);
    done.warnings.extend(ends.iter().filter_map(hard_link));
    done.warnings.extend(ends.iter().filter_map(setuid_dropped));
    done.warnings.extend(ends.iter().filter_map(|end| mark_changed(&ends, end)));
    // Nothing is staged any more once a refusal is known; the other groups are still resolved to report theirs.
    for end in ends.iter().filter(|_| !stop.load(Ordering::Relaxed)) {
        if let Some(file) = emitted(end)
            && sink.put(&file) == Err(SinkFull)
        {
            stop.store(true, Ordering::Relaxed);
            done.sink_full = true;
            break;
        }
    }
    done
}

/// A path after all entries.
struct End {
    slot: Slot,
    /// What shall stand there.
    after: Node,
}

impl End {
    fn of(slot: Slot) -> Self {
        let after = match &slot.now {
            Now::File(content) => node_of(&slot, content),
            Now::Link(content) => Node::Link { target: content.bytes.whole().to_vec().into() },
            Now::Folder => Node::Directory,
            Now::Absent | Now::Special => Node::Absent,
        };
        Self { slot, after }
    }

    fn changes(&self) -> bool {
        self.after != self.slot.before
    }

    /// Where the file that stands here comes from, if it was moved.
    fn moved_from(&self) -> Option<&RelPath> {
        match &self.slot.now {
            Now::File(content) | Now::Link(content) => {
                content.origin.as_ref().filter(|from| **from != self.slot.path)
            }
            _ => None,
        }
    }
}

fn slot_of<'e>(ends: &'e [End], path: &RelPath) -> Option<&'e Slot> {
    ends.iter().map(|end| &end.slot).find(|slot| slot.path == *path)
}

fn node_of(slot: &Slot, content: &Content) -> Node {
    let unchanged = slot.old.as_ref().is_some_and(|old| content.bytes == *old);
    let hash = slot.before.hash().filter(|_| unchanged);
    let hash = hash.unwrap_or_else(|| content.bytes.hash());
    let same_file = content.origin.as_ref() == Some(&slot.path);
    let mode = if unchanged && same_file { content.mode } else { crate::disk::kept_mode(content.mode) };
    Node::File { hash, mode, size: content.bytes.len() as u64 }
}

/// What the sink gets for a path; nothing for one that stays as it is.
fn emitted(end: &End) -> Option<Resolved> {
    if !end.changes() {
        return None;
    }
    let slot = &end.slot;
    let (new, metadata) = match &slot.now {
        Now::File(content) => (Some(content.bytes.clone()), content.metadata()),
        Now::Link(content) => (Some(content.bytes.clone()), Metadata::New),
        _ => (None, Metadata::New),
    };
    Some(Resolved {
        path: slot.path.clone(),
        before: slot.before.clone(),
        after: end.after.clone(),
        seen: slot.seen,
        old: slot.old.clone(),
        new,
        metadata,
    })
}

fn planned(ends: &[End]) -> Vec<(usize, PlannedFile)> {
    let sources: HashSet<&RelPath> = ends.iter().filter_map(End::moved_from).collect();
    let listed = ends.iter().filter(|End { slot, .. }| {
        let gone = matches!(slot.now, Now::Absent);
        // A moved file is told once, at its new place; a file that came and went is not told at all.
        !(gone && (sources.contains(&slot.path) || slot.before.is_absent()))
    });
    listed.map(|end| (end.slot.entry, planned_file(ends, end))).collect()
}

fn planned_file(ends: &[End], end: &End) -> PlannedFile {
    let (slot, after, from) = (&end.slot, end.after.clone(), end.moved_from().cloned());
    let action = match (&from, slot.before == after) {
        (Some(_), _) => FileAction::Rename,
        (None, true) => FileAction::None,
        (None, false) if after.is_absent() => FileAction::Delete,
        (None, false) if after.hash().is_some() && after.hash() == slot.before.hash() => FileAction::Mode,
        (None, false) if !slot.before.is_absent() && slot.before != Node::Directory => FileAction::Modify,
        (None, false) => FileAction::Create,
    };
    let source = from.as_ref().and_then(|from| slot_of(ends, from)).unwrap_or(slot);
    let old = source.old.as_deref().unwrap_or_default();
    let ((added, removed), hunks) = match &slot.now {
        Now::File(c) | Now::Link(c) => {
            // One step alone leaves a text in several pieces, and its hunks count each line once.
            let summed = (c.added, c.removed);
            let counted = c.bytes.as_one().map_or(summed, |new| counts(old, new, summed));
            (counted, c.hunks.clone())
        }
        _ => (counts(old, &[], (0, 0)), Vec::new()),
    };
    let before = source.before.clone();
    PlannedFile { path: slot.path.clone(), from, action, before, after, added, removed, hunks }
}

fn hard_link(end: &End) -> Option<Warning> {
    let slot = &end.slot;
    let replaced = slot.links > 1 && !matches!(slot.now, Now::Absent) && end.changes();
    replaced.then(|| Warning {
        code: WarningCode::HardLink,
        path: Some(slot.path.as_bstr().to_owned()),
        message: format!(
            "{} has {} hard links: this one gets the new text, the others keep the old one",
            slot.path, slot.links
        ),
    })
}

fn setuid_dropped(End { slot, after }: &End) -> Option<Warning> {
    let (Now::File(content), Node::File { mode, .. }) = (&slot.now, after) else { return None };
    let gone = content.mode & 0o6000 & !mode;
    let what = match gone {
        0 => return None,
        0o4000 => "setuid bit",
        0o2000 => "setgid bit",
        _ => "setuid and setgid bits",
    };
    Some(Warning {
        code: WarningCode::SetuidDropped,
        path: Some(slot.path.as_bstr().to_owned()),
        message: format!("{} loses its {what}, as any file does that is written to", slot.path),
    })
}

/// Whether the byte order mark comes or goes, which no display shows.
fn mark_changed(ends: &[End], end: &End) -> Option<Warning> {
    let slot = &end.slot;
    let Now::File(content) = &slot.now else { return None };
    let source = content.origin.as_ref().and_then(|from| slot_of(ends, from));
    let old = source.unwrap_or(slot).old.as_ref()?;
    let marked = |bytes: &[u8]| !split_bom(bytes).0.is_empty();
    let verb = match (marked(old), marked(&content.bytes.head(3))) {
        (false, true) => "adds a byte order mark (BOM) to",
        (true, false) => "removes the byte order mark (BOM) of",
        _ => return None,
    };
    let message = format!("the edit {verb} {}", slot.path);
    Some(Warning { code: WarningCode::BomChanged, path: Some(slot.path.as_bstr().to_owned()), message })
}

/// What the parser noticed.
fn told_of(batch: &ChangeSet) -> Vec<Warning> {
    let told = |w: &InputWarning| Warning {
        code: w.code,
        path: None,
        message: format!("entry {}: {}", w.entry, w.message),
    };
    batch.warnings.iter().map(told).collect()
}

pub(super) fn assemble(
    mut warnings: Vec<Warning>,
    mut refusals: Vec<Refusal>,
    done: Vec<GroupDone>,
) -> Result<Plan, NoPlan> {
    let mut files = Vec::new();
    let mut sink_full = false;
    for mut group in done {
        refusals.append(&mut group.refusals);
        warnings.append(&mut group.warnings);
        files.append(&mut group.files);
        sink_full |= group.sink_full;
    }
    if !refusals.is_empty() {
        refusals.sort_by_key(|r| r.origin);
        return Err(NoPlan::Refused { refusals, warnings });
    }
    if sink_full {
        return Err(NoPlan::SinkFull);
    }
    files.sort_by_key(|(entry, _)| *entry);
    let files: Vec<PlannedFile> = files.into_iter().map(|(_, file)| file).collect();
    warnings.extend(files.iter().flat_map(note_warnings));
    Ok(Plan { files, warnings })
}

/// Notes of hunks that a person should read are warnings too.
fn note_warnings(file: &PlannedFile) -> Vec<Warning> {
    let notes = file.hunks.iter().flat_map(|hunk| hunk.notes.iter().map(move |note| (hunk, *note)));
    let warning = |(hunk, code): (&PlacedHunk, WarningCode)| Warning {
        code,
        path: Some(file.path.as_bstr().to_owned()),
        message: format!("entry {}, hunk {}: {}", hunk.origin.entry, hunk.origin.hunk, note_text(hunk, code)),
    };
    notes.map(warning).collect()
}

fn note_text(hunk: &PlacedHunk, code: WarningCode) -> Cow<'static, str> {
    if code == WarningCode::Twins {
        let lines: Vec<String> = hunk.twins.lines.iter().map(ToString::to_string).collect();
        let more = if hunk.twins.total > lines.len() { ", …" } else { "" };
        let (lines, chosen) = (lines.join(", "), hunk.old_lines.first);
        return format!("line {chosen} was chosen; equal lines stand at {lines}{more} too").into();
    }
    let text = match code {
        WarningCode::EmptyLineLeft => "the text is gone, and its empty line is left",
        WarningCode::AppendEof => "nothing says where the lines belong: they were put at the end of the file",
        WarningCode::EofNotAtEnd => "the lines are marked as the end of the file, and stand elsewhere",
        WarningCode::BoundaryEcho => {
            "the new lines repeat those beside them, or leave a bracket open or closed that was not"
        }
        WarningCode::EdgeBlankDropped => "blank lines at its start or end stand nowhere, and were left out",
        WarningCode::IndentMapped => "the lines have other indents, and added ones were given such",
        WarningCode::NumberedText => {
            "every added line begins with a number, as a display shows them: was that meant?"
        }
        WarningCode::OutOfOrder => "the hunks stand in another order than in the batch",
        other => other.as_str(),
    };
    text.into()
}
