//! Choosing among the places of the hunks of one text: line hints with drift, then the order of the batch.

use super::block::Block;
use super::search::{Piece, only_order};
use super::view::Starts;
use crate::edit::WarningCode;
use std::rc::Rc;

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
    pub starts: &'c mut Starts,
    /// What a person should know.
    pub notes: &'c mut Vec<WarningCode>,
}

impl Choice<'_, '_> {
    /// How far below its hint the hunk landed, when it has one place only.
    fn drift(&self) -> Option<isize> {
        match (self.hint, &**self.starts) {
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
            *choice.starts = Rc::from([*at]);
        }
        *choice.hinted = lines;
    }
}

/// Hunks stand in the order of the batch: where only one choice of places does, it is taken. Where all are unique
/// anyway, another order is taken too, with a note.
pub(super) fn choose_by_order(choices: &mut [Choice<'_, '_>]) {
    let pieces: Vec<Piece<'_>> = choices
        .iter()
        .map(|choice| {
            let (skip, len) = choice.block.core();
            Piece { starts: choice.starts, skip, len }
        })
        .collect();
    let order = only_order(&pieces);
    let all_unique = pieces.iter().all(|piece| piece.starts.len() == 1);
    let changed: Vec<usize> = pieces.iter().map(|piece| piece.starts[0] + piece.skip).collect();
    for (i, choice) in choices.iter_mut().enumerate() {
        match &order {
            Some(chosen) => *choice.starts = Rc::from([chosen[i]]),
            None if all_unique && i > 0 && changed[i] < changed[i - 1] => {
                choice.notes.push(WarningCode::OutOfOrder);
            }
            None => {}
        }
    }
}
