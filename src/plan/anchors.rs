//! Anchors: lines that stand before a hunk's place, outermost first, and the regions below them.

use super::equality::Key;
use super::view::{MANY, Starts, View};
use super::{Refusal, tally};
use crate::edit::{Code, Text};
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

/// An anchor with fewer characters must be a whole line.
const SHORTEST_PREFIX: usize = 4;

/// Where the text below the anchors may stand.
#[derive(Debug, Default)]
pub(super) struct Regions {
    /// Anchor lines, ascending; none when the hunk has no anchor.
    lines: Vec<usize>,
    /// For each, the furthest scope end of it and those before it.
    ends: Vec<usize>,
    /// What is left of shared lists of many places, by where they lie in memory; they are held, so that they stay there.
    narrowed: RefCell<HashMap<usize, (Starts, Starts)>>,
}

impl Regions {
    /// The regions below `anchors`; every line when there are none.
    ///
    /// # Errors
    /// `anchor-not-found` names the first anchor that stands nowhere below those before it.
    pub(super) fn find(view: &View<'_>, anchors: &[Text]) -> Result<Self, Refusal> {
        let mut regions = Self::default();
        for anchor in anchors {
            let found = if regions.is_everywhere() {
                lines_of(view, anchor)
            } else {
                regions.below(&lines_of(view, anchor)).to_vec()
            };
            if found.is_empty() {
                let message = format!("the anchor {:?} stands nowhere", shortened(anchor));
                return Err(Refusal::new(Code::AnchorNotFound, message)
                    .hint("an anchor is a line of the file or its beginning, blanks at both ends aside"));
            }
            let mut furthest = 0;
            let reach = |&line: &usize| {
                furthest = furthest.max(view.scope_end(line));
                furthest
            };
            regions.ends = found.iter().map(reach).collect();
            regions.lines = found;
        }
        Ok(regions)
    }

    /// Whether there is an anchor at all.
    pub(super) fn is_everywhere(&self) -> bool {
        self.lines.is_empty()
    }

    /// The anchor lines.
    pub(super) fn lines(&self) -> &[usize] {
        &self.lines
    }

    /// The places (ascending) inside the scope of an anchor; without any, those below one.
    pub(super) fn narrow(&self, places: Starts) -> Starts {
        if self.lines.is_empty() {
            return places;
        }
        let at = places.as_ptr().addr();
        if let Some((_, known)) = self.narrowed.borrow().get(&at) {
            return Rc::clone(known);
        }
        let narrowed = self.below(&places);
        if places.len() > MANY {
            self.narrowed.borrow_mut().insert(at, (places, Rc::clone(&narrowed)));
        }
        narrowed
    }

    fn below(&self, places: &[usize]) -> Starts {
        tally::count(places.len());
        let first = self.lines.first().copied().unwrap_or(0);
        let in_scope = |place: &usize| {
            let above = self.lines.partition_point(|line| line <= place);
            above > 0 && self.ends[above - 1] > *place
        };
        let scoped: Starts = places.iter().copied().filter(in_scope).collect();
        if scoped.is_empty() {
            places.iter().copied().filter(|place| *place >= first).collect()
        } else {
            scoped
        }
    }
}

/// The lines equal to `anchor`, else those equal but for blanks at both ends, else for typography as well, else those
/// that start with it.
fn lines_of(view: &View<'_>, anchor: &str) -> Vec<usize> {
    let exact = view.index(Key::Bytes).lines_of(anchor.as_bytes());
    if !exact.is_empty() {
        return exact.to_vec();
    }
    let wanted = anchor.trim();
    let body = Key::Body.of(wanted.as_bytes());
    let equal = view.index(Key::Body).lines_of(&body);
    if equal.is_empty() {
        let long_enough = wanted.chars().count() >= SHORTEST_PREFIX;
        return if long_enough { view.starting_with(&body) } else { Vec::new() };
    }
    let same = |line: &&usize| view.lines.text(**line).trim_ascii() == wanted.as_bytes();
    let trimmed: Vec<usize> = equal.iter().filter(same).copied().collect();
    if trimmed.is_empty() { equal.to_vec() } else { trimmed }
}

fn shortened(anchor: &str) -> String {
    super::excerpt::excerpt(anchor.as_bytes())
}
