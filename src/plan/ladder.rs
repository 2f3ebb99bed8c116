//! Up the ladder: the first pass under which a block stands somewhere, with all its places there.

use super::block::Block;
use super::document::Document;
use super::line_script::{self, End, LineScript};
use super::pass::{Added, Ladder, Pass};
use super::retype::retype;
use super::view::View;
use crate::edit::WarningCode;
use bstr::ByteSlice;

/// Where a block stands.
#[derive(Debug)]
pub(super) struct Places<'a> {
    /// The pass that found it.
    pub pass: &'static Pass,
    /// The block as found: perhaps without its outer blank rows.
    pub block: Block<'a>,
    /// First lines from 0, ascending; never empty.
    pub starts: Vec<usize>,
    /// What a person should know.
    pub notes: Vec<WarningCode>,
}

/// All places of `block` under the strictest pass that has any after `narrow`; each pass also looks for the block
/// without its outer blank rows.
pub(super) fn climb<'a>(
    (doc, view): (&Document<'_>, &View<'_>),
    ladder: Ladder,
    block: &Block<'a>,
    narrow: impl Fn(Vec<usize>) -> Vec<usize>,
) -> Option<Places<'a>> {
    let bare = block.without_edge_blanks();
    for pass in ladder.passes(doc.is_utf8) {
        let whole = std::iter::once((block, None));
        let tried = whole.chain(bare.as_ref().map(|bare| (bare, Some(WarningCode::EdgeBlankDropped))));
        for (block, note) in tried {
            let starts = narrow(view.places(pass, &block.old));
            if !starts.is_empty() {
                let notes = note.into_iter().collect();
                return Some(Places { pass, block: block.clone(), starts, notes });
            }
        }
    }
    None
}

impl Places<'_> {
    /// The script of the block at `start`, one of its places.
    pub(super) fn script(&self, view: &View<'_>, start: usize, end: End) -> LineScript {
        let mut new = self.block.as_given();
        if self.pass.added == Added::Retyped {
            for run in &self.block.runs {
                let lines = start + run.old.start..start + run.old.end;
                let file: Option<Vec<&str>> = lines.map(|line| view.lines.text(line).to_str().ok()).collect();
                let old = &self.block.old[run.old.clone()];
                let retyped = file.and_then(|file| retype(&file, old, &self.block.new[run.new.clone()]));
                for (row, text) in run.new.clone().zip(retyped.into_iter().flatten()) {
                    new[row] = text.into();
                }
            }
        }
        line_script::script(&view.lines, (&self.block, &new), start, end)
    }
}
