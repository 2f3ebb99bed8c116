//! How much a text says: too little of it is no reason to place a hunk by a loose pass, nor by luck.

use super::pass::Pass;
use super::view::{Starts, View};

/// Fewer word characters than this are found in many places.
pub(super) const FEW: usize = 3;

/// So many lines with text, exactly indented as in the file, are no matter of luck: in twelve thousand hunks of real
/// commits two blocks of closing brackets stood once by their indents, and rightly.
const TELLING_LINES: usize = 3;

/// The letters, digits and underscores of `rows` (matching.md, word character).
pub(super) fn word_characters(rows: &[&str]) -> usize {
    rows.iter().flat_map(|row| row.chars()).filter(|c| c.is_alphanumeric() || *c == '_').count()
}

/// All places with the bodies of `rows`, where these say little, were found by a strict pass and only by luck in one
/// place; none where there is nothing to object to.
pub(super) fn unlucky(view: &View<'_>, pass: &Pass, rows: &[&str]) -> Starts {
    let lines = rows.iter().filter(|row| !row.trim().is_empty()).count();
    if pass.words > 0 || word_characters(rows) >= FEW || lines >= TELLING_LINES {
        return Starts::default();
    }
    let places = view.body_places(rows);
    if places.len() > 1 { places } else { Starts::default() }
}
