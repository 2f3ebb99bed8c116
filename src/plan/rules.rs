//! What a run lets the search for a hunk's place do; from the options and the form of the batch.

use super::Options;
use super::applied::Applied;
use super::pass::{Ladder, Loosest};
use crate::edit::{Breaks, Format};

/// How places are searched.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    /// The passes.
    pub ladder: Ladder,
    /// What may end a line where nothing is found otherwise.
    pub breaks: Breaks,
    /// What becomes of hunks that have been applied before.
    pub applied: Applied,
}

impl Rules {
    pub(super) fn new(options: &Options, format: Format) -> Self {
        let loosest = options.loosest.unwrap_or(Loosest::of(format));
        // Numbered forms count lines: a lone CR is text to them.
        let breaks =
            if matches!(format, Format::Diff | Format::Hashline) { Breaks::Lf } else { Breaks::LfOrCr };
        Self { ladder: Ladder::up_to(loosest), breaks, applied: options.applied }
    }
}
