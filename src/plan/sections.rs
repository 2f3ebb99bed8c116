//! Numbered sections of one file are one step: all their numbers count the lines of the version they name.
//!
//! The tags of all of them are checked against the file as it stands in the batch; if one is stale, none is run.

use super::Refusal;
use super::compose::Entry;
use super::excerpt::excerpt;
use crate::edit::{
    Action, Breaks, Code, FileOperation, Gap, Hash, Hunk, Lines, Locator, Precondition, Step, WeakTag,
    split_bom,
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

/// Whether `bytes` are the version that the operation was written for.
pub(super) fn check_version(operation: &FileOperation, bytes: &[u8], hash: &Hash) -> Result<(), Refusal> {
    let (wanted, found) = match &operation.expects {
        Precondition::Tagged(tag) if !tag.fits(hash) => (tag.to_string(), hash.tag().to_string()),
        Precondition::WeaklyTagged(tag) if *tag != WeakTag::of(bytes) => {
            (tag.to_string(), format!("{} ({})", WeakTag::of(bytes), hash.tag()))
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

/// The entry with the operation `operation` in place of its own.
pub(super) fn standing_in<'o>(entry: &Entry<'_>, operation: &'o FileOperation) -> Entry<'o> {
    Entry { operation, target: entry.target.clone(), to: entry.to.clone() }
}
