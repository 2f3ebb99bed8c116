//! Numbered sections of one file are one step: all their numbers count the lines of the version they name.
//!
//! The tags of all of them are checked against the file as it stands in the batch; if one is stale, none is run.

use super::Refusal;
use super::compose::Entry;
use super::excerpt::excerpt;
use super::stale::{Standing, Version};
use super::versions::Versions;
use crate::edit::{
    Action, Breaks, Code, FileOperation, Gap, Hunk, Lines, Locator, Precondition, Step, WeakTag, split_bom,
};
use std::collections::HashMap;

/// Lines shown on both sides of an anchor of a stale edit.
const AROUND: usize = 2;
/// Lines shown in all.
const SHOWN: usize = 30;

/// Whether the operation has hunks with line numbers.
pub(super) fn is_numbered(operation: &FileOperation) -> bool {
    hunks(operation).any(|hunk| matches!(hunk.locator, Locator::LineRange { .. } | Locator::Gap { .. }))
}

fn hunks(operation: &FileOperation) -> impl Iterator<Item = &Hunk> {
    operation.action.steps().iter().flat_map(|step| &step.hunks)
}

/// For each entry the numbered entries of its file, when it is the first of them.
pub(super) fn sections(entries: &[&Entry<'_>]) -> Vec<Vec<usize>> {
    let mut sections = vec![Vec::new(); entries.len()];
    let mut first_of = HashMap::new();
    for (i, entry) in entries.iter().enumerate().filter(|(_, entry)| is_numbered(entry.operation)) {
        sections[*first_of.entry(&entry.target.path).or_insert(i)].push(i);
    }
    sections
}

/// The operation with these steps, its precondition met.
pub(super) fn with_steps(operation: &FileOperation, steps: Vec<Step>) -> FileOperation {
    let action = match &operation.action {
        Action::Delete { .. } => Action::Delete { steps },
        Action::Rename { to, .. } => Action::Rename { to: to.clone(), steps },
        Action::Copy { to, .. } => Action::Copy { to: to.clone(), steps },
        Action::Modify { .. } | Action::Create { .. } => Action::Modify { steps },
    };
    FileOperation { action, expects: Precondition::Any, ..operation.clone() }
}

/// The one step of the entries.
pub(super) fn step<'e>(entries: impl Iterator<Item = &'e Entry<'e>>) -> Step {
    Step { hunks: entries.flat_map(|entry| hunks(entry.operation)).cloned().collect() }
}

/// Whether what stands there is the version that the entry was written for.
pub(super) fn check_version(
    versions: &dyn Versions,
    entry: &Entry<'_>,
    standing: &Standing<'_>,
) -> Result<(), Refusal> {
    let (operation, bytes, hash) = (entry.operation, standing.bytes, &standing.hash);
    // A short tag says little: what was shown under it says more.
    let was_shown = |tag: WeakTag| {
        let shown = versions.shown(&entry.target.path, tag);
        shown.is_empty() || shown.iter().any(|version| version == bytes)
    };
    let (wanted, found) = match &operation.expects {
        Precondition::Tagged(tag) if !tag.fits(hash) => (tag.to_string(), hash.tag().to_string()),
        Precondition::WeaklyTagged(tag) if *tag != WeakTag::of(bytes) => {
            (tag.to_string(), format!("{} ({})", WeakTag::of(bytes), hash.tag()))
        }
        Precondition::WeaklyTagged(tag) if !was_shown(*tag) => {
            (tag.to_string(), format!("another text with that short tag ({})", hash.tag()))
        }
        _ => return Ok(()),
    };
    let message = format!(
        "the entry was written for version {wanted} of {}, which is now {found}{}",
        operation.path,
        present_lines(operation, bytes)
    );
    Err(Refusal::new(Code::Stale, message).hint("read the file again and send the edit with its present tag"))
}

/// The lines that stand now where the numbers of the operation point.
fn present_lines(operation: &FileOperation, bytes: &[u8]) -> String {
    let lines = Lines::new(split_bom(bytes).1, Breaks::Lf);
    let mut wanted: Vec<usize> = hunks(operation)
        .flat_map(|hunk| match hunk.locator {
            Locator::LineRange { first, last, .. } => vec![first, last],
            Locator::Gap { gap: Gap::Before(line) | Gap::After(line), .. } => vec![line],
            Locator::Gap { gap: Gap::Start, .. } => vec![1],
            Locator::Gap { gap: Gap::End, .. } => vec![lines.len()],
            _ => Vec::new(),
        })
        .flat_map(|line| line.saturating_sub(AROUND)..=line.saturating_add(AROUND))
        .filter(|line| (1..=lines.len()).contains(line))
        .collect();
    wanted.sort_unstable();
    wanted.dedup();
    let rest = wanted.len().saturating_sub(SHOWN);
    wanted.truncate(SHOWN);
    let rows = wanted.iter().map(|line| format!("\n{line}:{}", excerpt(lines.text(line - 1))));
    let more = if rest > 0 { format!("\n… and {rest} more") } else { String::new() };
    let rows: String = rows.chain([more]).collect();
    if rows.is_empty() { rows } else { format!("; its present lines there are:{rows}") }
}

/// The refusals of entries (of one file) that are written for different versions; each is `stale` but for those that
/// were written for the present one.
pub(super) fn check_one_version(members: &[&Entry<'_>], versions: &[Version]) -> Vec<Refusal> {
    if versions.windows(2).all(|pair| pair[0] == pair[1]) {
        return Vec::new();
    }
    let stale = members.iter().zip(versions).filter(|(_, version)| **version != Version::Present);
    let refusal = |entry: &Entry<'_>| {
        let path = &entry.operation.path;
        let message = format!("entries of the batch are written for different versions of {path}");
        let hint = "read the file again and send the edits with its present tag";
        Refusal::new(Code::Stale, message)
            .hint(hint)
            .at(entry.operation.origin)
            .on(entry.target.path.as_bstr())
    };
    stale.map(|(entry, _)| refusal(entry)).collect()
}

/// The entry with the operation `operation` in place of its own.
pub(super) fn standing_in<'o>(
    entry: &Entry<'_>,
    operation: &'o FileOperation,
    version: &Version,
) -> Entry<'o> {
    let (target, to) = (entry.target.clone(), entry.to.clone());
    Entry { operation, target, to, version: Some(version.clone()) }
}
