//! Placing hunks by line numbers: ranges and gaps of one version of the file, whatever their order in the batch.
//!
//! At one gap the rows after the line above come first, then those before the line below. Rows inserted inside a
//! replaced range keep their place behind its new lines.

use super::Refusal;
use super::document::Document;
use super::line_script::{End, Last, Part};
use super::outcome::Twins;
use super::step::{Located, overlap};
use crate::edit::{Breaks, Code, Gap, Hunk, Lines, Locator, Replacement, Text, WarningCode};
use std::borrow::Cow;
use std::ops::Range;

/// Places each of `hunks`, all of them numbered.
pub(super) fn locate(doc: &Document<'_>, hunks: &[&Hunk]) -> Vec<Result<Located, Refusal>> {
    if hunks.is_empty() {
        return Vec::new();
    }
    let lines = Lines::new(doc.body, Breaks::Lf);
    let mut found: Vec<Result<Edit<'_>, Refusal>> = hunks.iter().map(|hunk| edit(&lines, hunk)).collect();
    let mut edits: Vec<(usize, Edit<'_>)> =
        found.iter().enumerate().filter_map(|(i, edit)| Some((i, edit.as_ref().ok()?.clone()))).collect();
    // Stable: several of one kind at one place keep their order.
    edits.sort_by_key(|(_, edit)| (edit.lines.start, edit.rank));
    for (first, second) in clashes(&edits) {
        found[second] = Err(overlap(hunks[first], hunks[second]));
    }
    let (mut parts, bared) = parts(&lines, &edits, hunks.len());
    let located = found.into_iter().enumerate().map(|(i, edit)| {
        let edit = edit?;
        Ok(Located {
            twins: Twins::default(),
            parts: std::mem::take(&mut parts[i]),
            line: edit.lines.start,
            rank: edit.rank,
            old_count: edit.lines.len(),
            new_count: edit.rows.len(),
            added: edit.rows.len(),
            removed: edit.lines.len(),
            pass: "line",
            notes: notes(&lines, &edit),
            bares_end: bared == Some(i),
        })
    });
    located.collect()
}

/// The ranks of rows that go after a line and before one.
const AFTER: usize = 1;
const BEFORE: usize = 2;

/// What a hunk does: lines, from 0, and the rows that take their place.
#[derive(Clone)]
struct Edit<'a> {
    lines: Range<usize>,
    /// Which comes first of those that start at one line.
    rank: usize,
    rows: &'a [Text],
}

fn edit<'a>(lines: &Lines<'_>, hunk: &'a Hunk) -> Result<Edit<'a>, Refusal> {
    let count = lines.len();
    match &hunk.locator {
        Locator::LineRange { first, last, rows } => {
            if first > last {
                let message = format!("the range {first}.={last} is reversed");
                return Err(Refusal::new(Code::Range, message).hint(format!("write {last}.={first}")));
            }
            let range = inside(*first, count)? - 1..inside(*last, count)?;
            Ok(Edit { lines: range, rank: 3, rows })
        }
        Locator::Gap { gap, rows } => {
            let (at, rank) = match *gap {
                Gap::Start => (0, 0),
                Gap::After(line) => (inside(line, count)?, AFTER),
                Gap::Before(line) => (inside(line, count)? - 1, BEFORE),
                Gap::End => (count, 4),
            };
            Ok(Edit { lines: at..at, rank, rows })
        }
        _ => Err(Refusal::new(Code::Usage, "a hunk without line numbers among numbered ones")),
    }
}

/// `line` when the file has it.
fn inside(line: usize, count: usize) -> Result<usize, Refusal> {
    if (1..=count).contains(&line) {
        return Ok(line);
    }
    let valid = match count {
        0 => "the file has no lines".to_owned(),
        1 => "the file has line 1 only".to_owned(),
        n => format!("valid are 1 to {n}"),
    };
    Err(Refusal::new(Code::Range, format!("line {line} lies outside the file: {valid}"))
        .hint("`INS.HEAD:` and `INS.TAIL:` need no number"))
}

/// Pairs of ranges that share a line, the later one of the batch second.
fn clashes(edits: &[(usize, Edit<'_>)]) -> Vec<(usize, usize)> {
    let mut clashes = Vec::new();
    let mut reach: Option<(usize, usize)> = None;
    for (i, edit) in edits.iter().filter(|(_, edit)| !edit.lines.is_empty()) {
        if let Some((other, _)) = reach.filter(|(_, end)| edit.lines.start < *end) {
            clashes.push((other.min(*i), other.max(*i)));
        }
        if reach.is_none_or(|(_, end)| edit.lines.end > end) {
            reach = Some((*i, edit.lines.end));
        }
    }
    clashes
}

/// Lines that go and the rows that come, of one hunk or of several that cannot be written apart.
struct Run<'a> {
    lines: Range<usize>,
    added: Vec<Cow<'a, str>>,
}

/// The replacements of each hunk, and the hunk that removes the end of a text without final newline. Edits that cannot
/// be written apart are one replacement, of the first of them.
fn parts(
    lines: &Lines<'_>,
    edits: &[(usize, Edit<'_>)],
    count: usize,
) -> (Vec<Vec<Replacement>>, Option<usize>) {
    let mut runs: Vec<(usize, Run<'_>)> = Vec::new();
    for (i, edit) in edits {
        match runs.last_mut() {
            Some((_, run)) if inseparable(&run.lines, &edit.lines) => {
                run.lines.end = run.lines.end.max(edit.lines.end);
                run.added.extend(edit.rows.iter().map(|row| Cow::Borrowed(row.as_str())));
            }
            _ => runs.push((
                *i,
                Run {
                    lines: edit.lines.clone(),
                    added: edit.rows.iter().map(|row| Cow::Borrowed(row.as_str())).collect(),
                },
            )),
        }
    }
    join_at_end(lines, &mut runs);
    let (mut parts, mut bared) = (vec![Vec::new(); count], None);
    for (i, run) in runs {
        let (part, last) = (Part { lines: run.lines, added: &run.added }, Last::Line(End::Kept));
        bared = part.bares_end(lines, last).then_some(i).or(bared);
        part.write(lines, last, &mut parts[i]);
    }
    (parts, bared)
}

/// Whether the second starts inside the first, or both are insertions at one gap.
fn inseparable(first: &Range<usize>, second: &Range<usize>) -> bool {
    let same_gap = first.is_empty() && second.is_empty() && first.start == second.start;
    second.start < first.end || same_gap
}

/// What touches the end of a text without final newline is written in one piece: its last line has no terminator,
/// whichever edit it comes from.
fn join_at_end(lines: &Lines<'_>, runs: &mut Vec<(usize, Run<'_>)>) {
    if lines.is_empty() || lines.terminator(lines.len() - 1).is_some() {
        return;
    }
    while let [.., (_, before), (_, last)] = &runs[..]
        && last.lines.end == lines.len()
        && before.lines.end == last.lines.start
    {
        let Some((_, last)) = runs.pop() else { return };
        if let Some((_, before)) = runs.last_mut() {
            before.lines.end = last.lines.end;
            before.added.extend(last.added);
        }
    }
}

/// New lines that repeat what stands beside the range, or the line that an insertion names, or that leave a bracket open
/// or closed that was not, may be a slip; they are written as they are.
fn notes(lines: &Lines<'_>, edit: &Edit<'_>) -> Vec<WarningCode> {
    let (Some(first), Some(last)) = (edit.rows.first(), edit.rows.last()) else {
        return Vec::new();
    };
    let equal = |line: usize, row: &Text| {
        line < lines.len() && lines.text(line) == row.as_bytes() && !row.trim().is_empty()
    };
    let above = || edit.lines.start.checked_sub(1).is_some_and(|line| equal(line, first));
    let below = || equal(edit.lines.end, last);
    if edit.lines.is_empty() {
        let repeats = (edit.rank == AFTER && above()) || (edit.rank == BEFORE && below());
        return if repeats { vec![WarningCode::BoundaryEcho] } else { Vec::new() };
    }
    let echo = above() || below();
    let old: isize = edit.lines.clone().map(|line| open_brackets(lines.text(line))).sum();
    let new: isize = edit.rows.iter().map(|row| open_brackets(row.as_bytes())).sum();
    if echo || old != new { vec![WarningCode::BoundaryEcho] } else { Vec::new() }
}

fn open_brackets(line: &[u8]) -> isize {
    let count = |signs: &[u8]| line.iter().filter(|b| signs.contains(b)).count().cast_signed();
    count(b"([{") - count(b")]}")
}
