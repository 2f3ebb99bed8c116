//! A text as lines, with an index of them for each rule of equality, built when it is first asked for.

use super::document::Document;
use super::equality::{Key, indent_len, is_blank_line};
use super::indent::Indents;
use super::pass::Pass;
use super::places::allows;
use super::search::LineIndex;
use crate::edit::{Breaks, Lines};
use std::borrow::Cow;
use std::cell::OnceCell;

/// Rows whose indents are compared for one block, and as many more as the text has lines, some times over.
const COMPARED: usize = 4_000_000;

/// The lines of a text and what is found out about them once for all hunks.
#[derive(Debug)]
pub(super) struct View<'a> {
    /// The lines.
    pub lines: Lines<'a>,
    indexes: [OnceCell<LineIndex<'a>>; Key::COUNT],
    scopes: OnceCell<Vec<usize>>,
    /// Lines in the order of their bodies.
    ordered: OnceCell<Vec<(Cow<'a, [u8]>, usize)>>,
}

impl<'a> View<'a> {
    /// The lines of `doc`.
    pub(super) fn new(doc: &Document<'a>, breaks: Breaks) -> Self {
        let lines = Lines::new(doc.body, breaks);
        Self { lines, indexes: Default::default(), scopes: OnceCell::new(), ordered: OnceCell::new() }
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
    pub(super) fn places(&self, pass: &Pass, rows: &[&str]) -> Vec<usize> {
        let keys: Vec<_> = rows.iter().map(|row| pass.key.of(row.as_bytes())).collect();
        let starts = self.index(pass.key).find(&keys);
        match pass.indents {
            Indents::Same | Indents::Any => starts,
            indents => self.with_indents(indents, rows, starts),
        }
    }

    /// Where the bodies of the rows stand: the places of the loosest pass.
    pub(super) fn body_places(&self, rows: &[&str]) -> Vec<usize> {
        let keys: Vec<_> = rows.iter().map(|row| Key::Body.of(row.as_bytes())).collect();
        self.index(Key::Body).find(&keys)
    }

    /// The places whose indents the pass allows. Where there is too much to compare, all: there are many, and they are
    /// refused as such.
    fn with_indents(&self, indents: Indents, rows: &[&str], starts: Vec<usize>) -> Vec<usize> {
        if starts.len().saturating_mul(rows.len()) > COMPARED + 16 * self.lines.len() {
            return starts;
        }
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
            let doc = Document::new(text.as_bytes()).expect("text");
            let view = View::new(&doc, Breaks::Lf);
            for line in 0..view.lines.len() {
                prop_assert_eq!(view.scope_end(line), by_hand(&view.lines, line));
            }
        }
    }

    #[test]
    fn prefixes_are_found_in_order() {
        let doc = Document::new(b"beta(x)\n  be\nalpha\n  beta(y)\n").expect("text");
        let view = View::new(&doc, Breaks::Lf);
        assert_eq!(view.starting_with(b"beta("), [0, 3]);
        assert!(view.starting_with(b"gamma").is_empty());
    }
}
