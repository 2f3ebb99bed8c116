//! What a run lets the search for a hunk's place do; from the options, and from the hunks where those say nothing.

use super::Options;
use super::applied::Applied;
use super::pass::{Ladder, Loosest};
use crate::edit::{Breaks, Closeness, LineHunk};

/// How places are searched.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    /// The passes.
    pub ladder: Ladder,
    /// What may end a line where nothing is found otherwise.
    pub breaks: Breaks,
    /// What becomes of hunks that have been applied before.
    pub applied: Applied,
    /// Whether the options name the loosest pass.
    asked: bool,
}

impl Rules {
    pub(super) fn new(options: &Options) -> Self {
        let ladder = Ladder::up_to(options.loosest.unwrap_or(Loosest::Indent));
        let (breaks, applied) = (Breaks::LfOrCr, options.applied);
        Self { ladder, breaks, applied, asked: options.loosest.is_some() }
    }

    /// The rules for the line hunks of one step.
    pub(super) fn of_hunks(&self, hunks: &[&LineHunk]) -> Self {
        if hunks.iter().all(|hunk| hunk.closeness == Closeness::Equivalent) {
            return *self;
        }
        let ladder = if self.asked { self.ladder } else { Ladder::up_to(Loosest::Exact) };
        // Diffs count lines: a lone CR is text to them.
        Self { ladder, breaks: Breaks::Lf, ..*self }
    }
}
