//! Placing hunks of whole lines: all places of each, narrowed by anchors, end of file, hint and order.

use super::Refusal;
use super::anchors::Regions;
use super::applied::{self, Applied};
use super::block::Block;
use super::document::Document;
use super::explain;
use super::ladder::climb;
use super::line_script::End;
use super::narrow::{Choice, choose_by_order, follow_hints};
use super::outcome::Twins;
use super::pass::EXACT;
use super::places::{Places, by_luck};
use super::rules::Rules;
use super::step::Located;
use super::view::View;
use crate::edit::{Breaks, Closeness, Code, LineHunk, Occurrence, Row, Text, WarningCode};
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

/// Places each of `hunks`, which see the same text and must not change the same lines.
pub(super) fn locate(
    doc: &Document<'_>,
    rules: &Rules,
    hunks: &[&LineHunk],
) -> Vec<Result<Located, Refusal>> {
    if hunks.is_empty() {
        return Vec::new();
    }
    let rules = &rules.of_hunks(hunks);
    if tells_ends(doc, hunks) {
        return with_ends(doc, rules, hunks);
    }
    with_any_ends(doc, rules, hunks)
}

/// Places hunks whatever their lines end with.
fn with_any_ends(doc: &Document<'_>, rules: &Rules, hunks: &[&LineHunk]) -> Vec<Result<Located, Refusal>> {
    let mut first: Option<Vec<Result<Located, Refusal>>> = None;
    for &breaks in doc.breaks(rules.breaks) {
        let search = Search { doc, view: doc.view(breaks), rules, regions: RefCell::default() };
        let found = search.run(hunks);
        if found.iter().all(Result::is_ok) {
            return found;
        }
        first.get_or_insert(found);
    }
    first.unwrap_or_default()
}

/// Whether the hunks tell what their lines end with: by a CR, or by none where the file has lines of both kinds.
fn tells_ends(doc: &Document<'_>, hunks: &[&LineHunk]) -> bool {
    let exact = |hunk: &&LineHunk| hunk.closeness == Closeness::Exact && hunk.old_rows().next().is_some();
    hunks.iter().copied().any(tells_cr) || (hunks.iter().any(exact) && doc.is_mixed())
}

/// Whether a row ends with CR.
fn tells_cr(hunk: &LineHunk) -> bool {
    hunk.rows.iter().any(|row| row.text().ends_with('\r'))
}

/// Places hunks that tell what their lines end with: as they stand; else, where that is CRLF for all lines of a hunk, as
/// every other hunk, and the file keeps its terminators.
fn with_ends(doc: &Document<'_>, rules: &Rules, hunks: &[&LineHunk]) -> Vec<Result<Located, Refusal>> {
    let search = Search { doc, view: doc.view(Breaks::BareLf), rules, regions: RefCell::default() };
    let found = search.run(hunks);
    if found.iter().all(Result::is_ok) {
        return found;
    }
    let plain: Option<Vec<LineHunk>> = hunks.iter().map(|hunk| without_cr(hunk)).collect();
    plain.map_or(found, |plain| with_any_ends(doc, rules, &plain.iter().collect::<Vec<_>>()))
}

/// The hunk without the CR that all its lines end with, but for one without terminator; itself where no line does.
pub(super) fn without_cr(hunk: &LineHunk) -> Option<LineHunk> {
    if !tells_cr(hunk) {
        return Some(hunk.clone());
    }
    let (old, new) = (hunk.old_rows().count(), hunk.new_rows().count());
    let (mut olds, mut news) = (0, 0);
    let mut plain = hunk.clone();
    for row in &mut plain.rows {
        olds += usize::from(!matches!(row, Row::Add(_)));
        news += usize::from(!matches!(row, Row::Remove(_)));
        let unterminated = (hunk.old_unterminated && olds == old && !matches!(row, Row::Add(_)))
            || (hunk.new_unterminated && news == new && !matches!(row, Row::Remove(_)));
        let text = row.text_mut();
        match text.strip_suffix('\r').map(str::len) {
            Some(len) if !unterminated && !text[..len].ends_with('\r') => *text = text.slice(0..len),
            None if unterminated => {}
            _ => return None,
        }
    }
    Some(plain)
}

/// What is below some anchors, or why nothing is.
type Found = Result<Rc<Regions>, Refusal>;

struct Search<'a, 't, 'h> {
    doc: &'a Document<'t>,
    view: &'a View<'t>,
    rules: &'a Rules,
    /// What is below anchors, by these.
    regions: RefCell<HashMap<Vec<&'h str>, Found>>,
}

/// A hunk with the places it may have.
struct Candidate<'a> {
    hunk: &'a LineHunk,
    /// A gap has a block without old rows.
    places: Places<'a>,
    gap: bool,
    /// The lines that its header may mean.
    hinted: Vec<usize>,
}

impl<'h> Search<'_, '_, 'h> {
    fn run(&self, hunks: &[&'h LineHunk]) -> Vec<Result<Located, Refusal>> {
        let mut found: Vec<_> = hunks.iter().map(|hunk| self.candidate(hunk)).collect();
        let mut choices: Vec<Choice<'_, '_>> = found.iter_mut().flatten().map(Candidate::choice).collect();
        follow_hints(&mut choices);
        let mut found: Vec<_> = found.into_iter().map(|f| f.and_then(|c| self.trusted(c))).collect();
        let mut choices: Vec<Choice<'_, '_>> = found.iter_mut().flatten().map(Candidate::choice).collect();
        choose_by_order(&mut choices);
        found.into_iter().map(|found| found.and_then(|candidate| self.take(candidate))).collect()
    }

    /// All places of one hunk that its own words allow.
    fn candidate(&self, hunk: &'h LineHunk) -> Result<Candidate<'h>, Refusal> {
        let block = Block::of_hunk(hunk);
        let regions = self.regions(&hunk.anchors).map_err(|refusal| self.elsewhere(refusal, &block))?;
        if block.old.is_empty() {
            return self.gap(hunk, block, &regions);
        }
        let narrow = |starts| regions.narrow(starts);
        let Some(mut places) = climb((self.doc, self.view), self.rules.ladder, &block, narrow) else {
            return self.absent(hunk, &block, &regions);
        };
        places.check_evidence(self.view)?;
        if hunk.at_end {
            self.narrow_to_end(&mut places);
        }
        if places.block.runs.is_empty() {
            // Nothing is written: that the lines stand there is all that was asked.
            places.starts = Rc::from([places.starts[0]]);
        }
        Ok(Candidate { hunk, places, gap: false, hinted: Vec::new() })
    }

    /// The regions below `anchors`, found once for all hunks that have them.
    fn regions(&self, anchors: &'h [Text]) -> Found {
        let lines: Vec<&str> = anchors.iter().map(Text::as_str).collect();
        if let Some(known) = self.regions.borrow().get(&lines) {
            return known.clone();
        }
        let found = Regions::find(self.view, anchors).map(Rc::new);
        self.regions.borrow_mut().insert(lines, found.clone());
        found
    }

    /// Keeps the places that only blank lines follow, where there are any.
    fn narrow_to_end(&self, places: &mut Places<'_>) {
        let (tail, rows) = (self.view.blank_tail(), places.block.old.len());
        let at_end = &places.starts[places.starts.partition_point(|s| s + rows < tail)..];
        if !at_end.is_empty() {
            places.starts = Rc::from(at_end);
        } else if places.starts.len() == 1 {
            places.notes.push(WarningCode::EofNotAtEnd);
        }
    }

    /// A place that is the only one is not believed where the header names lines with the same bodies elsewhere, nor
    /// where the text says little and nothing else speaks for the place.
    fn trusted(&self, candidate: Candidate<'h>) -> Result<Candidate<'h>, Refusal> {
        let (places, hinted) = (&candidate.places, &candidate.hinted);
        let (&[start], false) = (&*places.starts, candidate.gap) else { return Ok(candidate) };
        if hinted.contains(&start) || places.block.runs.is_empty() {
            return Ok(candidate);
        }
        if !hinted.is_empty() {
            let bodies = self.view.body_places(&places.block.old);
            let mut rivals: Vec<usize> =
                hinted.iter().copied().filter(|line| bodies.binary_search(line).is_ok()).collect();
            if let Some(&rival) = rivals.first() {
                rivals.push(start);
                rivals.sort_unstable();
                rivals.dedup();
                return Err(self.far_from_hint(places, rival, start, &rivals));
            }
        }
        let at_end = candidate.hunk.at_end && !places.notes.contains(&WarningCode::EofNotAtEnd);
        if candidate.hunk.anchors.is_empty() && !at_end {
            by_luck(self.view, places)?;
        }
        Ok(candidate)
    }

    fn far_from_hint(&self, places: &Places<'_>, rival: usize, start: usize, all: &[usize]) -> Refusal {
        let message = format!(
            "the lines stand at line {}, and the header means line {}, where they stand but for blanks or typography",
            start + 1,
            rival + 1
        );
        let evidence = explain::line_candidates(self.view, all, places.block.old.len(), places.pass.name);
        Refusal::new(Code::Ambiguous, message)
            .hint("correct the line of the header, or the lines")
            .with(evidence)
    }

    fn absent(
        &self,
        hunk: &'h LineHunk,
        block: &Block<'h>,
        regions: &Regions,
    ) -> Result<Candidate<'h>, Refusal> {
        let text = (self.doc, self.view);
        match applied::block(text, self.rules.ladder, block, |starts| regions.narrow(starts)) {
            Some(places) if self.rules.applied == Applied::Skip => {
                Ok(Candidate { hunk, places, gap: false, hinted: Vec::new() })
            }
            Some(done) => Err(explain::absent(text, self.rules.ladder, &block.old, Some(done.starts[0]))),
            None => Err(self.not_below_anchor(hunk, block, regions)),
        }
    }

    fn not_below_anchor(&self, hunk: &LineHunk, block: &Block<'_>, regions: &Regions) -> Refusal {
        if !regions.is_everywhere() {
            let anchor = hunk.anchors.last().map_or("", Text::as_str);
            let message = format!("the lines do not stand below the anchor {anchor:?}");
            let refusal = self.elsewhere(Refusal::new(Code::NoMatch, message), block);
            if refusal.evidence.is_some() {
                return refusal;
            }
        }
        explain::absent((self.doc, self.view), self.rules.ladder, &block.old, None)
    }

    /// Tells where the lines stand although their anchor does not say so.
    fn elsewhere(&self, refusal: Refusal, block: &Block<'_>) -> Refusal {
        if block.old.is_empty() {
            return refusal;
        }
        match climb((self.doc, self.view), self.rules.ladder, block, |starts| starts) {
            None => refusal,
            Some(places) => {
                let evidence = places.evidence(self.view);
                let line = places.starts.first().map_or(0, |line| line + 1);
                refusal
                    .hint(format!("the lines themselves stand at line {line}: correct or drop the anchor"))
                    .with(evidence)
            }
        }
    }

    /// The gap where a hunk without old rows goes: below its anchor, at its numbers, or at the end.
    fn gap(&self, hunk: &'h LineHunk, block: Block<'h>, regions: &Regions) -> Result<Candidate<'h>, Refusal> {
        let end = self.view.lines.len();
        let (starts, notes) = match hunk.hint {
            _ if !regions.is_everywhere() => {
                (regions.lines().iter().map(|l| l + 1).collect::<Vec<_>>(), Vec::new())
            }
            Some((after, 0)) if !hunk.at_end => {
                if after > end {
                    let message = format!("the header names line {after}, and the file has {end}");
                    return Err(Refusal::new(Code::Range, message).hint(format!("valid are 0 to {end}")));
                }
                (vec![after], Vec::new())
            }
            _ => (vec![end], vec![WarningCode::AppendEof]),
        };
        Ok(Candidate {
            hunk,
            places: Places { pass: &EXACT, block, all: Vec::new().into(), starts: starts.into(), notes },
            gap: true,
            hinted: Vec::new(),
        })
    }

    fn take(&self, candidate: Candidate<'_>) -> Result<Located, Refusal> {
        let Candidate { hunk, places, gap, .. } = candidate;
        let rows = places.block.old.len();
        let pass = if gap { "insert" } else { places.pass.name };
        let &[start] = &*places.starts else {
            let offsets = places.starts.iter().map(|&line| self.view.lines.range(line).start);
            let total = places.starts.len();
            return Err(explain::several_places(
                self.doc.body,
                offsets,
                (total, rows),
                pass,
                Occurrence::Once,
            ));
        };
        let script = places.script(self.view, start, End::of(hunk))?;
        let twins = if gap { Twins::default() } else { places.twins(start) };
        Ok(Located {
            twins,
            line: start,
            rank: 0,
            old_count: rows,
            new_count: places.block.new.len(),
            added: script.added,
            removed: script.removed,
            parts: script.parts,
            pass,
            notes: places.notes,
            bares_end: script.bares_end,
        })
    }
}

impl<'h> Candidate<'h> {
    fn choice(&mut self) -> Choice<'_, 'h> {
        let lead = self.places.block.lead;
        let line = self.hunk.hint.and_then(|(line, _)| line.checked_sub(1));
        Choice {
            hint: line.map(|line| line + lead).filter(|_| !self.gap),
            block: &self.places.block,
            hinted: &mut self.hinted,
            starts: &mut self.places.starts,
            notes: &mut self.places.notes,
        }
    }
}
