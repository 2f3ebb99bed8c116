//! Choosing among the places of the hunks of one text: line hints with drift, then the order of the batch.

use super::block::Block;
use super::search::only_order;
use crate::edit::WarningCode;

/// A hunk whose places are to be narrowed.
#[derive(Debug)]
pub(super) struct Choice<'c, 'b> {
    /// What is placed; none for rows that are only added.
    pub block: &'c Block<'b>,
    /// The line (from 0) that the header names for the first row of the block.
    pub hint: Option<usize>,
    /// The lines that the hint may mean.
    pub hinted: &'c mut Vec<usize>,
    /// Its places, ascending.
    pub starts: &'c mut Vec<usize>,
    /// What a person should know.
    pub notes: &'c mut Vec<WarningCode>,
}

impl Choice<'_, '_> {
    /// How far below its hint the hunk landed, when it has one place only.
    fn drift(&self) -> Option<isize> {
        match (self.hint, self.starts.as_slice()) {
            (Some(hint), [start]) => Some(start.cast_signed() - hint.cast_signed()),
            _ => None,
        }
    }
}

/// The lines that each hunk's header means: the line it names, and that line moved as the nearest uniquely placed
/// hunk before and the one after are.
fn hinted(choices: &[Choice<'_, '_>]) -> Vec<Vec<usize>> {
    let drifts: Vec<Option<isize>> = choices.iter().map(Choice::drift).collect();
    let mut before = carried(drifts.iter());
    let mut after = carried(drifts.iter().rev());
    after.reverse();
    let lines = |(i, choice): (usize, &Choice<'_, '_>)| {
        let Some(hint) = choice.hint else { return Vec::new() };
        let moved = [before[i].take(), after[i].take()].into_iter().flatten();
        let all = std::iter::once(0).chain(moved);
        all.filter_map(|drift| hint.checked_add_signed(drift)).collect()
    };
    choices.iter().enumerate().map(lines).collect()
}

/// For each element, the last one before it that is known.
fn carried<'d>(drifts: impl Iterator<Item = &'d Option<isize>>) -> Vec<Option<isize>> {
    let mut last = None;
    let step = |drift: &Option<isize>| {
        let known = last;
        last = drift.or(last);
        known
    };
    drifts.map(step).collect()
}

/// Among equal places the one exactly at a hinted line is meant.
pub(super) fn follow_hints(choices: &mut [Choice<'_, '_>]) {
    let hinted = hinted(choices);
    for (choice, lines) in choices.iter_mut().zip(hinted) {
        let meant = lines.iter().find(|at| choice.starts.binary_search(at).is_ok());
        if let Some(at) = meant.filter(|_| choice.starts.len() > 1) {
            *choice.starts = vec![*at];
        }
        *choice.hinted = lines;
    }
}

/// Hunks stand in the order of the batch: where only one choice of places does, it is taken. Where all are unique
/// anyway, another order is taken too, with a note.
pub(super) fn choose_by_order(choices: &mut [Choice<'_, '_>]) {
    let cores: Vec<(usize, usize)> = choices.iter().map(|choice| choice.block.core()).collect();
    let changed = |(choice, core): (&Choice<'_, '_>, &(usize, usize))| -> Vec<usize> {
        choice.starts.iter().map(|start| start + core.0).collect()
    };
    let starts: Vec<Vec<usize>> = choices.iter().zip(&cores).map(changed).collect();
    let lengths: Vec<usize> = cores.iter().map(|core| core.1).collect();
    let order = only_order(&starts, &lengths);
    let all_unique = starts.iter().all(|s| s.len() == 1);
    for (i, choice) in choices.iter_mut().enumerate() {
        match &order {
            Some(chosen) => *choice.starts = vec![chosen[i] - cores[i].0],
            None if all_unique && i > 0 && starts[i][0] < starts[i - 1][0] => {
                choice.notes.push(WarningCode::OutOfOrder);
            }
            None => {}
        }
    }
}
