//! One step on one text: every hunk is placed in the same text, then all are written at once.

use super::document::Document;
use super::line_script::unterminate;
use super::outcome::{LineRange, PlacedHunk, Twins};
use super::rules::Rules;
use super::{Refusal, binary, line_place, numbered, text_place};
use crate::edit::{Code, Hunk, Locator, Pieces, Replacement, Step, TextEdit, WarningCode};
use bytes::Bytes;

/// From this size (bytes) on a new text shares with the old one what stays.
const SHARED: usize = 1 << 20;

/// The text after a step, and where its hunks landed.
#[derive(Debug)]
pub(super) struct StepDone {
    pub bytes: Pieces,
    pub hunks: Vec<PlacedHunk>,
}

/// A hunk with its place: what it replaces, in offsets of the document's body.
#[derive(Debug)]
pub(super) struct Located {
    pub parts: Vec<Replacement>,
    /// First line, from 0.
    pub line: usize,
    /// Which comes first of those that start at one line.
    pub rank: usize,
    pub old_count: usize,
    pub new_count: usize,
    pub added: usize,
    pub removed: usize,
    pub pass: &'static str,
    pub notes: Vec<WarningCode>,
    /// Other places that are equal to this one.
    pub twins: Twins,
    /// The unterminated last line goes: what is the last line then loses its terminator.
    pub bares_end: bool,
}

/// Places all hunks of `step` in `content` and writes them.
///
/// # Errors
/// Every hunk that has no place, or not one only, or that overlaps another.
pub(super) fn run(content: &Bytes, step: &Step, rules: &Rules) -> Result<StepDone, Vec<Refusal>> {
    if let Some((hunk, change)) = binary::change(step) {
        return binary::run(content, hunk, change);
    }
    let doc = Document::new(content).map_err(|refusal| vec![refusal.at(step_origin(step))])?;
    let located = locate(&doc, rules, &step.hunks)?;
    write((content, &doc), step, located)
}

fn step_origin(step: &Step) -> crate::edit::Origin {
    step.hunks.first().map_or(crate::edit::Origin { entry: 0, hunk: 0, line: 0 }, |h| h.origin)
}

fn locate(doc: &Document<'_>, rules: &Rules, hunks: &[Hunk]) -> Result<Vec<Located>, Vec<Refusal>> {
    let mut refusals = Vec::new();
    let mut located: Vec<(usize, Located)> = Vec::with_capacity(hunks.len());
    let (mut line_hunks, mut numbered_hunks) = (Vec::new(), Vec::new());
    for (i, hunk) in hunks.iter().enumerate() {
        let found = match &hunk.locator {
            Locator::Lines(lines) => {
                line_hunks.push((i, hunk.origin, lines));
                continue;
            }
            Locator::LineRange { .. } | Locator::Gap { .. } => {
                numbered_hunks.push((i, hunk));
                continue;
            }
            Locator::Text { old, new } => text_place::text(doc, rules, hunk.occurrence, old, new),
            Locator::Pieces(pieces) => text_place::pieces(doc, rules, pieces),
            Locator::Fill(new) => text_place::fill(doc, new),
            Locator::Binary(_) => {
                Err(Refusal::new(Code::NotText, "a binary change beside changes of the text"))
            }
        };
        match found {
            Ok(found) => located.push((i, found)),
            Err(refusal) => refusals.push((i, refusal.at(hunk.origin))),
        }
    }
    let bodies: Vec<_> = line_hunks.iter().map(|(_, _, lines)| *lines).collect();
    for ((i, origin, _), found) in line_hunks.iter().zip(line_place::locate(doc, rules, &bodies)) {
        match found {
            Ok(found) => located.push((*i, found)),
            Err(refusal) => refusals.push((*i, refusal.at(*origin))),
        }
    }
    let numbered: Vec<&Hunk> = numbered_hunks.iter().map(|(_, hunk)| *hunk).collect();
    for ((i, hunk), found) in numbered_hunks.iter().zip(numbered::locate(doc, &numbered)) {
        match found {
            Ok(found) => located.push((*i, found)),
            Err(refusal) => refusals.push((*i, refusal.at(hunk.origin))),
        }
    }
    if !refusals.is_empty() {
        refusals.sort_by_key(|(i, _)| *i);
        return Err(refusals.into_iter().map(|(_, refusal)| refusal).collect());
    }
    located.sort_by_key(|(i, _)| *i);
    Ok(located.into_iter().map(|(_, found)| found).collect())
}

fn write(
    (content, doc): (&Bytes, &Document<'_>),
    step: &Step,
    located: Vec<Located>,
) -> Result<StepDone, Vec<Refusal>> {
    let mut owners = Vec::new();
    let mut parts = Vec::new();
    let mut placed = Vec::with_capacity(located.len());
    for (i, mut found) in located.into_iter().enumerate() {
        owners.extend(std::iter::repeat_n(i, found.parts.len()));
        parts.append(&mut found.parts);
        placed.push(found);
    }
    let edit = TextEdit::new(parts).map_err(|clash| {
        let (a, b) = (owners[clash.first], owners[clash.second]);
        vec![overlap(&step.hunks[a.min(b)], &step.hunks[a.max(b)])]
    })?;
    let bares_end = placed.iter().any(|found| found.bares_end);
    let hunks = number(step, &placed);
    if doc.body.len() >= SHARED && !bares_end {
        let mark = content.slice_ref(doc.mark);
        let body = edit.into_pieces(&content.slice_ref(doc.body));
        return Ok(StepDone { bytes: std::iter::once(mark).chain(body).collect(), hunks });
    }
    let mut bytes = doc.mark.to_vec();
    edit.apply_to(doc.body, &mut bytes);
    if bares_end {
        unterminate(&mut bytes);
    }
    Ok(StepDone { bytes: bytes.into(), hunks })
}

pub(super) fn overlap(first: &Hunk, second: &Hunk) -> Refusal {
    let message = format!(
        "hunk {} (batch line {}) changes the same lines as hunk {} (batch line {})",
        second.origin.hunk, second.origin.line, first.origin.hunk, first.origin.line
    );
    Refusal::new(Code::Overlap, message)
        .at(second.origin)
        .hint("make one hunk of the two, or put the second into an entry of its own")
}

/// Line numbers on both sides: hunks higher up in the file move those below.
fn number(step: &Step, located: &[Located]) -> Vec<PlacedHunk> {
    let mut order: Vec<usize> = (0..located.len()).collect();
    order.sort_by_key(|&i| (located[i].line, located[i].rank));
    let mut moved = vec![0isize; located.len()];
    let mut growth = 0isize;
    for i in order {
        moved[i] = growth;
        growth += located[i].new_count.cast_signed() - located[i].old_count.cast_signed();
    }
    let hunk = |(i, found): (usize, &Located)| PlacedHunk {
        origin: step.hunks[i].origin,
        pass: found.pass,
        old_lines: LineRange::new(found.line + 1, found.old_count),
        new_lines: LineRange::new((found.line + 1).saturating_add_signed(moved[i]), found.new_count),
        added: found.added,
        removed: found.removed,
        notes: found.notes.iter().copied().chain(found.twins.note()).collect(),
        twins: found.twins.clone(),
    };
    located.iter().enumerate().map(hunk).collect()
}
