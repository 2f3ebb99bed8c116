//! SEARCH/REPLACE blocks: whole lines that stand in the file, and the lines that shall stand there.
//!
//! The path stands above a block. All blocks of one path see the file as it was: they are one step. A block that does
//! not open, divide and close with markers of one length is a fault, never content. Text around blocks is skipped.

use super::ParseError;
use super::body::{Body, Fault, Line, all_crlf, lines};
use super::draft::{Draft, Head};
use crate::edit::{Action, BatchPath, Code, Existing, LineHunk, Locator, Precondition, Row, Step, Text};
use similar::{Algorithm, DiffOp};
use std::ops::Range;

const LONGER: &str = "use longer markers, up to 9 signs, around lines that look like markers";
/// Above this product of line counts, lines in the middle are replaced as a whole: comparing them takes too long.
const DIFF_LIMIT: usize = 4_000_000;

/// A marker line and its length.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Marker {
    Search(usize),
    Divide(usize),
    Replace(usize),
}

/// One block; lines count from 0.
struct Block {
    path: Option<String>,
    line: usize,
    old: Vec<Text>,
    new: Vec<Text>,
}

/// Reads a text that detection calls blocks.
pub(super) fn read(body: &Body, draft: &mut Draft<'_>) {
    read_below(&[], body, draft);
}

/// Reads the blocks of a text that stands below the lines `above`.
pub(super) fn read_below(above: &[&str], body: &Body, draft: &mut Draft<'_>) {
    let options = draft.options;
    let exists = |path: &str| (options.exists)(&path.into());
    let lines = lines(&body.text).collect();
    let mut scanner = Scanner { body, lines, above, exists: &exists, faults: Vec::new() };
    let blocks = scanner.blocks();
    draft.faults(body, scanner.faults);
    let mut paths: Vec<(BatchPath, Vec<Block>)> = Vec::new();
    let mut last: Option<BatchPath> = draft.options.default_path.clone();
    for block in blocks {
        let Some(path) = block.path.as_deref().map(BatchPath::from).or(last) else {
            return pathless(body, &block, draft);
        };
        match paths.iter_mut().find(|(known, _)| *known == path) {
            Some((_, blocks)) => blocks.push(block),
            None => paths.push((path.clone(), vec![block])),
        }
        last = Some(path);
    }
    for (path, blocks) in paths {
        lower(path, body, blocks, draft);
    }
}

/// Whether a line opens a block.
pub(super) fn is_opener(line: &str) -> bool {
    matches!(marker(line), Some(Marker::Search(_)))
}

fn pathless(body: &Body, block: &Block, draft: &mut Draft<'_>) {
    let entry = Some(draft.next_entry());
    let hint = "write the path on the line above the block, or give `--path`";
    let error = ParseError::new(Code::Usage, "the block names no path").hint(hint);
    draft.error(ParseError { entry, hunk: Some(1), line: Some(body.line(block.line)), ..error });
}

/// The entry of one path.
fn lower(path: BatchPath, body: &Body, blocks: Vec<Block>, draft: &mut Draft<'_>) {
    let entry = draft.next_entry();
    let line = blocks.first().map_or(0, |block| block.line);
    let head = Head { entry, path, line: body.line(line), expects: Precondition::Any };
    let mut hunks = Vec::new();
    for (number, block) in (1..).zip(blocks) {
        if block.old.iter().all(|line| line.trim().is_empty()) && block.old.len() <= 1 {
            let content = block.new.iter().flat_map(|line| [&**line, "\n"]).collect::<String>();
            let action = Action::Create { content: content.into(), existing: Existing::Fill };
            draft.push(head.operation(action));
            continue;
        }
        let rows = rows(&block.old, &block.new);
        let locator = Locator::Lines(LineHunk { rows, ..LineHunk::default() });
        hunks.push(head.hunk(number, body.line(block.line), locator));
    }
    if !hunks.is_empty() {
        draft.push_steps(&head, vec![Step { hunks }]);
    }
}

/// The rows that make `new` of `old`: lines equal on both sides are kept.
pub(crate) fn rows(old: &[Text], new: &[Text]) -> Vec<Row> {
    let head = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let most = old.len().min(new.len()) - head;
    let tail = old.iter().rev().zip(new.iter().rev()).take(most).take_while(|(a, b)| a == b).count();
    let (o, n) = (&old[head..old.len() - tail], &new[head..new.len() - tail]);
    let keep = |lines: &[Text]| lines.iter().cloned().map(Row::Keep).collect::<Vec<_>>();
    let mut rows = keep(&old[..head]);
    let ops = if o.len().saturating_mul(n.len()) > DIFF_LIMIT {
        vec![DiffOp::Replace { old_index: 0, old_len: o.len(), new_index: 0, new_len: n.len() }]
    } else {
        let texts = |lines: &[Text]| lines.iter().map(|line| line.to_string()).collect::<Vec<_>>();
        similar::capture_diff_slices(Algorithm::Myers, &texts(o), &texts(n))
    };
    for op in ops {
        if matches!(op, DiffOp::Equal { .. }) {
            rows.extend(keep(&o[op.old_range()]));
            continue;
        }
        rows.extend(o[op.old_range()].iter().cloned().map(Row::Remove));
        rows.extend(n[op.new_range()].iter().cloned().map(Row::Add));
    }
    rows.extend(keep(&old[old.len() - tail..]));
    rows
}

struct Scanner<'a> {
    body: &'a Body,
    lines: Vec<Line<'a>>,
    /// What stands above the text.
    above: &'a [&'a str],
    exists: &'a dyn Fn(&str) -> bool,
    faults: Vec<Fault>,
}

impl Scanner<'_> {
    fn blocks(&mut self) -> Vec<Block> {
        let (mut blocks, mut at, mut free) = (Vec::new(), 0, 0);
        while at < self.lines.len() {
            match marker(self.lines[at].text) {
                Some(Marker::Search(length)) => {
                    let path = self.path_above(free..at);
                    match self.block(at, length) {
                        Ok((divider, end)) => {
                            blocks.push(self.taken(path, at, divider, end));
                            at = end;
                        }
                        Err(fault) => {
                            self.faults.push(fault);
                            at = self.next_opener(at + 1);
                            continue;
                        }
                    }
                    free = at + 1;
                }
                Some(Marker::Replace(_)) => {
                    self.faults.push(Fault::new(at, "`REPLACE` closes no block").hint(LONGER));
                }
                _ => {}
            }
            at += 1;
        }
        blocks
    }

    fn next_opener(&self, from: usize) -> usize {
        let opens = |at: &usize| is_opener(self.lines[*at].text);
        (from..self.lines.len()).find(opens).unwrap_or(self.lines.len())
    }

    /// The divider and the closer of the block that opens on line `open`.
    fn block(&self, open: usize, length: usize) -> Result<(usize, usize), Fault> {
        let mut divider = None;
        for at in open + 1..self.lines.len() {
            match (marker(self.lines[at].text), divider) {
                (Some(Marker::Search(_)), _) => break,
                (Some(Marker::Divide(n)), None) if n == length => divider = Some(at),
                (Some(Marker::Divide(n)), Some(_)) if n == length => {
                    return Err(Fault::new(at, "a second divider in one block").hint(LONGER));
                }
                (Some(Marker::Replace(n)), Some(divider)) if n == length => return Ok((divider, at)),
                (Some(Marker::Replace(n)), None) if n == length => {
                    let hint = format!("put a line `{}` between old and new lines", "=".repeat(length));
                    return Err(Fault::new(at, "the block closes without a divider").hint(hint));
                }
                _ => {}
            }
        }
        let hint =
            format!("close it with `{} REPLACE`: all three markers have one length", ">".repeat(length));
        Err(Fault::new(open, "the block is never closed").hint(hint))
    }

    fn taken(&self, path: Option<String>, open: usize, divider: usize, close: usize) -> Block {
        let drop_cr = all_crlf(&self.lines[open..=close]);
        let side = |range: Range<usize>| {
            let text = |at: usize| {
                let next = self.lines.get(at + 1).map_or(self.body.text.len(), |line| line.start);
                let end = if drop_cr { self.lines[at].end() } else { next - 1 };
                self.body.text.slice(self.lines[at].start..end)
            };
            range.map(text).collect()
        };
        Block { path, line: open, old: side(open + 1..divider), new: side(divider + 1..close) }
    }

    /// The path in the lines above a block; blank lines and the opening of a fence may stand between.
    fn path_above(&self, rows: Range<usize>) -> Option<String> {
        let own = rows.clone().rev().map(|at| self.lines[at].text);
        let outer = self.above.iter().rev().copied().filter(|_| rows.start == 0);
        let mut lines = own.chain(outer).filter(|line| !line.trim().is_empty());
        let first = lines.next()?;
        match fence_info(first) {
            Some(info) => self.path_in_info(info).or_else(|| self.path_in(lines.next()?)),
            None => self.path_in(first),
        }
    }

    /// The path behind the language of a fence, or in its place.
    fn path_in_info(&self, info: &str) -> Option<String> {
        let (word, rest) = super::header::split(info);
        let is_path = word.contains('/') || (!word.is_empty() && (self.exists)(word));
        if !rest.is_empty() {
            return self.path_in(rest);
        }
        is_path.then(|| word.to_owned())
    }

    /// The path that a line consists of: bare, in backticks, or bold; with blanks only where it exists.
    ///
    /// A lone word is taken for a path even if it is prose: a wrong refusal is better than an edit of the file before.
    fn path_in(&self, line: &str) -> Option<String> {
        if fence_info(line).is_some() {
            return None;
        }
        let bare = line.trim();
        let named = bare.trim_start_matches('#').trim().trim_end_matches(':');
        let inner = named.trim_matches(['*', '`']).trim_end_matches(':').trim_matches('`');
        let fits =
            |path: &&str| !path.is_empty() && (!path.contains(char::is_whitespace) || (self.exists)(path));
        Some(bare).filter(|path| (self.exists)(path)).or(Some(inner).filter(fits)).map(str::to_owned)
    }
}

/// What stands behind the signs of a fence line.
fn fence_info(line: &str) -> Option<&str> {
    let line = line.trim();
    let info = line.strip_prefix("```").or_else(|| line.strip_prefix("~~~"))?;
    Some(info.trim_start_matches(['`', '~']).trim())
}

fn marker(line: &str) -> Option<Marker> {
    let bare = line.trim_start_matches(' ');
    let sign = bare.chars().next().filter(|c| ['<', '=', '>'].contains(c))?;
    let rest = bare.trim_start_matches(sign);
    let length = bare.len() - rest.len();
    if line.len() - bare.len() > 3 || !(5..=9).contains(&length) {
        return None;
    }
    match (sign, rest.trim()) {
        ('<', "SEARCH") => Some(Marker::Search(length)),
        ('=', "") => Some(Marker::Divide(length)),
        ('>', "REPLACE") => Some(Marker::Replace(length)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(lines_above: &str, expected: Option<&str>) {
        let text = format!("{lines_above}\n<<<<<<< SEARCH\n");
        let body = Body::lines(text.as_str().into(), 1);
        let lines: Vec<Line<'_>> = lines(&body.text).collect();
        let exists = |path: &str| path == "a b";
        let end = lines.len() - 1;
        let scanner = Scanner { body: &body, lines, above: &[], exists: &exists, faults: Vec::new() };
        assert_eq!(scanner.path_above(0..end).as_deref(), expected, "{lines_above}");
    }

    #[test]
    fn paths_stand_above_blocks() {
        for line in
            ["d/f.rs", "`d/f.rs`", "**d/f.rs**", "**`d/f.rs`**", "### d/f.rs", "d/f.rs:", "**`d/f.rs`:**"]
        {
            check(line, Some("d/f.rs"));
            check(&format!("{line}\n```rust"), Some("d/f.rs"));
            check(&format!("{line}\n\n```"), Some("d/f.rs"));
        }
        check("```rust d/f.rs", Some("d/f.rs"));
        check("```d/f.rs", Some("d/f.rs"));
        check("text\n```rust\nf", Some("f"));
        check("a b", Some("a b"));
        check("Then this:", None);
        check("Then this:\n```rust", None);
        check("", None);
    }

    #[test]
    fn equal_lines_are_kept() {
        let texts = |s: &str| s.split('|').map(Text::from).collect::<Vec<_>>();
        let shown = |row: &Row| match row {
            Row::Keep(t) => format!(" {}", &**t),
            Row::Remove(t) => format!("-{}", &**t),
            Row::Add(t) => format!("+{}", &**t),
        };
        let made = |old, new| rows(&texts(old), &texts(new)).iter().map(shown).collect::<Vec<_>>().join("|");
        assert_eq!(made("a|b|c", "a|B|c"), " a|-b|+B| c");
        assert_eq!(made("a|b", "b|c"), "-a| b|+c");
        assert_eq!(made("x", "x"), " x");
    }
}
