//! The base check: a hunk that stands once only since the file parted from its base may have been meant for a place that
//! is gone, and what is left is a twin of it. Asked once a path, for all its entries.

use super::block::Block;
use super::compose::Entry;
use super::document::Document;
use super::explain;
use super::line_place::without_cr;
use super::pass::TRIM;
use super::search::substrings;
use super::tree::Slot;
use super::{Refusal, Source};
use crate::edit::{Breaks, Code, FileOperation, Hunk, Locator, Occurrence, Precondition, RelPath, Step};
use std::collections::HashMap;

/// Whether the author of the entry may have seen another version than the present one.
fn is_unsure(operation: &FileOperation) -> bool {
    !matches!(operation.expects, Precondition::Tagged(_) | Precondition::WeaklyTagged(_))
}

/// The refusals of the entries (of one group) whose hunks stand in more places in the base of a file than on disk.
pub(super) fn check(source: &dyn Source, slots: &[Slot], entries: &[&Entry<'_>]) -> Vec<Refusal> {
    let mut steps: HashMap<&RelPath, Vec<&Step>> = HashMap::new();
    for entry in entries.iter().filter(|entry| is_unsure(entry.operation)) {
        steps.entry(&entry.target.path).or_default().extend(entry.operation.action.steps());
    }
    let mut refusals = Vec::new();
    for slot in slots {
        let (Some(steps), Some(disk)) = (steps.get(&slot.path), &slot.old) else { continue };
        if let Some(base) = source.base(&slot.path, disk, slot.seen.as_ref()).filter(|_| !steps.is_empty()) {
            let found = vanished(disk, &base, steps).into_iter();
            refusals.extend(found.map(|refusal| refusal.on(slot.path.as_bstr())));
        }
    }
    refusals
}

/// The hunks of `steps` that stand in more places in `base` than on `disk`, where they stand too.
fn vanished(disk: &[u8], base: &[u8], steps: &[&Step]) -> Vec<Refusal> {
    let (Ok(disk), Ok(base)) = (Document::new(disk), Document::new(base)) else {
        return Vec::new();
    };
    let check = Check { disk: &disk, base: &base };
    steps.iter().flat_map(|step| &step.hunks).filter_map(|hunk| check.hunk(hunk)).collect()
}

struct Check<'a> {
    disk: &'a Document<'a>,
    base: &'a Document<'a>,
}

impl Check<'_> {
    fn hunk(&self, hunk: &Hunk) -> Option<Refusal> {
        let refusal = match &hunk.locator {
            Locator::Lines(lines) => {
                let plain = without_cr(lines);
                self.block(&Block::of_hunk(plain.as_ref().unwrap_or(lines)))
            }
            Locator::Text { old, new } if hunk.occurrence == Occurrence::Once => {
                let (old, new) = (old.replace("\r\n", "\n"), new.replace("\r\n", "\n"));
                if old.is_empty() {
                    return None;
                }
                self.block(&Block::of_texts(&old, &new)).or_else(|| self.text(&old))
            }
            _ => None,
        };
        refusal.map(|refusal| refusal.at(hunk.origin))
    }

    fn block(&self, block: &Block<'_>) -> Option<Refusal> {
        let bare = block.without_edge_blanks();
        let rows = [Some(block), bare.as_ref()].into_iter().flatten().map(|block| &block.old);
        let disk = self.disk.view(Breaks::Lf);
        let (rows, places) = rows.map(|rows| (rows, disk.body_places(rows))).find(|(_, p)| !p.is_empty())?;
        let before = self.base.view(Breaks::Lf).body_places(rows).len();
        (before > places.len()).then(|| {
            let evidence = explain::line_candidates(disk, &places, rows.len(), TRIM.name);
            refusal(before, places.len()).with(evidence)
        })
    }

    fn text(&self, old: &str) -> Option<Refusal> {
        let count = |doc: &Document<'_>| substrings(&doc.hay(Breaks::Lf).text, old.as_bytes(), 0).total;
        let (now, before) = (count(self.disk), count(self.base));
        (now > 0 && before > now).then(|| refusal(before, now))
    }
}

fn refusal(before: usize, now: usize) -> Refusal {
    let message = format!(
        "unique-only-since-base: the text stood in {before} places in the base and stands in {now} now, so that the \
         one that was meant may be gone"
    );
    Refusal::new(Code::Ambiguous, message)
        .hint("look at the file with `patchmany read` and send the edit again, or name the version you saw with --base")
}
