//! Whether a hunk whose old text stands nowhere has been applied before: its new text stands once where it would go.

use super::block::{Block, Ending, Run};
use super::document::Document;
use super::evidence::{FEW, word_characters};
use super::ladder::climb;
use super::outcome::Twins;
use super::pass::{EXACT, Ladder};
use super::places::Places;
use super::search::substrings;
use super::step::Located;
use super::view::{Starts, View};
use crate::edit::Breaks;
use bstr::ByteSlice;

/// What to do with a hunk that has been applied before.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Applied {
    /// Refuse it.
    #[default]
    Refuse,
    /// Leave it out: it changes nothing.
    Skip,
}

/// The new rows of `block`, as a block that changes nothing, where they stand in one place after `narrow`.
pub(super) fn block<'a>(
    (doc, view): (&Document<'_>, &View<'_>),
    ladder: Ladder,
    block: &Block<'a>,
    narrow: impl Fn(Starts) -> Starts,
) -> Option<Places<'a>> {
    // Lines that only go prove nothing but where their neighbours on both sides have met.
    let proven = |run: &Run| {
        let inner = run.new.start > 0 && run.new.end < block.new.len();
        !run.new.is_empty() || inner
    };
    if word_characters(&block.new) == 0 || !block.runs.iter().all(proven) {
        return None;
    }
    let done = Block { old: block.new.clone(), runs: Vec::new(), ending: Ending::Same, ..block.clone() };
    let places = climb((doc, view), ladder, &done, narrow)?;
    places.check_evidence(view).ok()?;
    (places.starts.len() == 1).then(|| Places { notes: Vec::new(), ..places })
}

/// The text `new` where it stands, in one place; it may start and end inside a line.
pub(super) fn text(doc: &Document<'_>, new: &str) -> Option<Located> {
    // A few letters stand anywhere.
    if word_characters(&[new]) < FEW {
        return None;
    }
    let hay = doc.hay(Breaks::Lf);
    let hits = substrings(&hay.text, new.as_bytes(), 1);
    let start = *hits.starts.first().filter(|_| hits.total == 1)?;
    if cuts_word(&hay.text, start) || cuts_word(&hay.text, start + new.len()) {
        return None;
    }
    let line = memchr::memchr_iter(b'\n', &hay.text[..start]).count();
    let count = new.lines().count();
    Some(Located {
        parts: Vec::new(),
        line,
        rank: 0,
        old_count: count,
        new_count: count,
        added: 0,
        removed: 0,
        pass: EXACT.name,
        notes: Vec::new(),
        twins: Twins::default(),
        bares_end: false,
    })
}

/// Whether `at` lies inside a word.
fn cuts_word(text: &[u8], at: usize) -> bool {
    let in_word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    in_word(text[..at].chars().next_back()) && in_word(text[at..].chars().next())
}
