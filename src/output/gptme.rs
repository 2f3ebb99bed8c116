//! ORIGINAL/UPDATED blocks, with markers that no line of their text has the length of.

use super::{Said, marker_length, no_place, no_words, once};
use crate::edit::{Action, FileOperation, Hunk, Locator, Step};

/// The blocks of an entry: one a step, since each sees the result of the one before.
pub(super) fn blocks(operation: &FileOperation) -> Said<String> {
    match &operation.action {
        Action::Modify { steps } if !steps.is_empty() => steps.iter().map(block).collect(),
        Action::Modify { .. } => no_words("an entry without edits"),
        Action::Create { .. } => no_words("the creation of a file"),
        Action::Delete { .. } => no_words("the deletion of a file"),
        Action::Rename { .. } => no_words("the move of a file"),
        Action::Copy { .. } => no_words("the copy of a file"),
    }
}

fn block(step: &Step) -> Said<String> {
    let [Hunk { locator, occurrence, .. }] = &step.hunks[..] else {
        return no_place("hunks that all see the same text");
    };
    once(*occurrence)?;
    match locator {
        Locator::Text { old, new } => Ok(marked(old, new)),
        Locator::Fill(new) => Ok(marked("", new)),
        Locator::Pieces(_) => no_place("placeholders"),
        Locator::Lines(_) => no_place("a hunk of whole lines"),
        Locator::LineRange { .. } | Locator::Gap { .. } => no_place("an edit of numbered lines"),
        Locator::Binary(_) => no_words("the change of a binary file"),
    }
}

fn marked(old: &str, new: &str) -> String {
    // There are more lengths than lines.
    let length = marker_length(&[old, new], &['<', '=', '>'], 7..).unwrap_or(7);
    let signs = |sign: &str| sign.repeat(length);
    let side = |text: &str| if text.is_empty() { String::new() } else { format!("{text}\n") };
    format!("{} ORIGINAL\n{}{}\n{}{} UPDATED\n", signs("<"), side(old), signs("="), side(new), signs(">"))
}
