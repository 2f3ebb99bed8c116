//! A text as lines, with an index of them for each rule of equality, built when it is first asked for.

use super::equality::{Key, indent_len, is_blank_line};
use super::indent::Indents;
use super::pass::{Pass, TRIM};
use super::places::allows;
use super::search::LineIndex;
use super::tally;
use crate::edit::{Breaks, Lines};
use std::borrow::Cow;
use std::cell::{Cell, OnceCell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

/// Rows whose indents are compared for all blocks, and as many more as the text has lines, some times over.
const COMPARED: usize = 4_000_000;
/// Rows that stand in more places than this are looked for once, however many hunks have them.
pub(super) const MANY: usize = 64;
/// Bytes that are read to find the nearest places of all texts that stand nowhere, however large the text is.
const EXPLAINED: usize = 32 << 20;

/// First lines of places from 0, ascending; shared by the hunks that have them.
pub(super) type Starts = Rc<[usize]>;

/// The lines of a text and what is found out about them once for all hunks.
#[derive(Debug)]
pub(super) struct View<'a> {
    /// The lines.
    pub lines: Lines<'a>,
    indexes: [OnceCell<LineIndex<'a>>; Key::COUNT],
    scopes: OnceCell<Vec<usize>>,
    /// Lines in the order of their bodies.
    ordered: OnceCell<Vec<(Cow<'a, [u8]>, usize)>>,
    /// Places of rows that have many, by pass and rows.
    many: RefCell<HashMap<(&'static str, String), Starts>>,
    /// Rows whose indents may still be compared.
    to_compare: Cell<usize>,
    /// Bytes that may still be read to explain refusals.
    to_explain: Cell<usize>,
}

impl<'a> View<'a> {
    /// The lines of `body`.
    pub(super) fn new(body: &'a [u8], breaks: Breaks) -> Self {
        let lines = Lines::new(body, breaks);
        tally::count(body.len());
        Self {
            to_compare: Cell::new(COMPARED + 16 * lines.len()),
            to_explain: Cell::new(EXPLAINED.max(body.len())),
            lines,
            indexes: Default::default(),
            scopes: OnceCell::new(),
            ordered: OnceCell::new(),
            many: RefCell::default(),
        }
    }

    /// The index of the lines under `key`.
    pub(super) fn index(&self, key: Key) -> &LineIndex<'a> {
        self.indexes[key as usize].get_or_init(|| {
            // The texts live as long as the document, not only as long as this view.
            let texts = (0..self.lines.len()).map(|line| self.lines.text(line));
            LineIndex::new(texts.map(|text| key.of(text)))
        })
    }

    /// Where the rows stand one after the other under `pass`: first lines, ascending.
    pub(super) fn places(&self, pass: &Pass, rows: &[&str]) -> Starts {
        let asked = || (pass.name, rows.join("\n"));
        if !self.many.borrow().is_empty()
            && let Some(known) = self.many.borrow().get(&asked())
        {
            return Rc::clone(known);
        }
        let keys: Vec<_> = rows.iter().map(|row| pass.key.of(row.as_bytes())).collect();
        let starts = self.index(pass.key).find(&keys);
        let many = starts.len() > MANY;
        let starts: Starts = match pass.indents {
            Indents::Same | Indents::Any => starts.into(),
            indents => self.with_indents(indents, rows, starts).into(),
        };
        if many {
            self.many.borrow_mut().insert(asked(), Rc::clone(&starts));
        }
        starts
    }

    /// Where the bodies of the rows stand: the places of the loosest pass.
    pub(super) fn body_places(&self, rows: &[&str]) -> Starts {
        self.places(&TRIM, rows)
    }

    /// Whether the whole text may be read once more to explain a refusal.
    pub(super) fn may_explain(&self) -> bool {
        let left = self.to_explain.get().checked_sub(self.lines.bytes().len());
        self.to_explain.set(left.unwrap_or(0));
        left.is_some()
    }

    /// The places whose indents the pass allows. Where there is too much to compare, all: there are many, and they are
    /// refused as such.
    fn with_indents(&self, indents: Indents, rows: &[&str], starts: Vec<usize>) -> Vec<usize> {
        let Some(left) = self.to_compare.get().checked_sub(starts.len().saturating_mul(rows.len())) else {
            return starts;
        };
        tally::count(self.to_compare.replace(left) - left);
        let fits = |start: &usize| {
            let file = (*start..start + rows.len()).map(|line| self.lines.text(line));
            allows(indents, rows, file)
        };
        starts.into_iter().filter(fits).collect()
    }

    /// The first line after `line` that is not blank and indented no deeper (matching.md, indent scope).
    pub(super) fn scope_end(&self, line: usize) -> usize {
        self.scopes.get_or_init(|| scopes(&self.lines))[line]
    }

    /// The lines whose body starts with `start`, a body, ascending.
    pub(super) fn starting_with(&self, start: &[u8]) -> Vec<usize> {
        let ordered = self.ordered.get_or_init(|| {
            let bodies = (0..self.lines.len()).map(|line| (Key::Body.of(self.lines.text(line)), line));
            let mut all: Vec<_> = bodies.collect();
            all.sort_unstable();
            all
        });
        let from = ordered.partition_point(|(body, _)| body.as_ref() < start);
        let found = ordered[from..].iter().take_while(|(body, _)| body.starts_with(start));
        let mut found: Vec<usize> = found.map(|(_, line)| *line).collect();
        found.sort_unstable();
        found
    }

    /// The first line of the blank lines that end the text; the number of lines where there are none.
    pub(super) fn blank_tail(&self) -> usize {
        let blank = |line: &usize| is_blank_line(self.lines.text(*line));
        self.lines.len() - (0..self.lines.len()).rev().take_while(blank).count()
    }
}

/// The scope end of every line, in one pass from the end.
fn scopes(lines: &Lines<'_>) -> Vec<usize> {
    let mut ends = vec![lines.len(); lines.len()];
    // Lines below, each indented less deep than the one above it on the stack.
    let mut open: Vec<(usize, usize)> = Vec::new();
    for line in (0..lines.len()).rev() {
        let text = lines.text(line);
        let depth = indent_len(text);
        let deeper = open.iter().rev().take_while(|(_, d)| *d > depth).count();
        let outer = open.len() - deeper;
        ends[line] = outer.checked_sub(1).map_or(lines.len(), |top| open[top].0);
        if !is_blank_line(text) {
            open.truncate(outer);
            open.push((line, depth));
        }
    }
    ends
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn by_hand(lines: &Lines<'_>, line: usize) -> usize {
        let depth = indent_len(lines.text(line));
        let outside = |l: &usize| !is_blank_line(lines.text(*l)) && indent_len(lines.text(*l)) <= depth;
        (line + 1..lines.len()).find(outside).unwrap_or(lines.len())
    }

    proptest! {
        #[test]
        fn scopes_end_at_the_next_line_no_deeper(text in "( {0,4}a?\n){0,12}") {
            let view = View::new(text.as_bytes(), Breaks::Lf);
            for line in 0..view.lines.len() {
                prop_assert_eq!(view.scope_end(line), by_hand(&view.lines, line));
            }
        }
    }

    #[test]
    fn prefixes_are_found_in_order() {
        let view = View::new(b"beta(x)\n  be\nalpha\n  beta(y)\n", Breaks::Lf);
        assert_eq!(view.starting_with(b"beta("), [0, 3]);
        assert!(view.starting_with(b"gamma").is_empty());
    }
}
