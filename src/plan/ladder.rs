//! Up the ladder: the first pass under which a block stands somewhere, with all its places there.

use super::block::Block;
use super::document::Document;
use super::indent::Indents;
use super::pass::Ladder;
use super::places::Places;
use super::view::{Starts, View};
use crate::edit::WarningCode;
use std::rc::Rc;

/// All places of `block` under the strictest pass that has any after `narrow`; each pass also looks for the block
/// without its outer blank rows.
pub(super) fn climb<'a>(
    (doc, view): (&Document<'_>, &View<'_>),
    ladder: Ladder,
    block: &Block<'a>,
    narrow: impl Fn(Starts) -> Starts,
) -> Option<Places<'a>> {
    let bare = block.without_edge_blanks();
    for pass in ladder.passes(doc.is_utf8()) {
        let whole = std::iter::once((block, None));
        let tried = whole.chain(bare.as_ref().map(|bare| (bare, Some(WarningCode::EdgeBlankDropped))));
        for (block, note) in tried {
            let all = view.places(pass, &block.old);
            let starts = narrow(Rc::clone(&all));
            if !starts.is_empty() {
                let mapped = matches!(pass.indents, Indents::Mapped | Indents::Any);
                let mapped = mapped.then_some(WarningCode::IndentMapped);
                let notes = note.into_iter().chain(mapped).collect();
                return Some(Places { pass, block: block.clone(), starts, all, notes });
            }
        }
    }
    None
}
