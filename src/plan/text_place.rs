//! Placing a text hunk: every place of its old text, then exactly as many as it asks for, or a refusal.

use super::Refusal;
use super::applied::{self, Applied};
use super::block::{Block, Ending};
use super::document::{Document, Haystack};
use super::evidence::{FEW, word_characters};
use super::explain;
use super::ladder::climb;
use super::line_script::End;
use super::outcome::Twins;
use super::pass::EXACT;
use super::places::{Places, by_luck};
use super::rules::Rules;
use super::search::{Hits, Piece, disjoint_substrings, only_order, substrings};
use super::step::Located;
use super::text_script::{Place, script};
use super::view::{Starts, View};
use crate::edit::{Breaks, Code, Occurrence, Replacement, Text, WarningCode};
use std::borrow::Cow;
use std::rc::Rc;

/// Places kept of an ambiguous text.
const KEPT: usize = 64;
const BESIDE: &str =
    "name the text that the new one shall stand beside, or write the whole file with `content`";

/// CRLF is LF here: terminators are equated.
fn with_lf(text: &str) -> Cow<'_, str> {
    if text.contains("\r\n") { Cow::Owned(text.replace("\r\n", "\n")) } else { Cow::Borrowed(text) }
}

/// The place or places of `old` in `doc`, and what is written there.
pub(super) fn text(
    doc: &Document<'_>,
    rules: &Rules,
    occurrence: Occurrence,
    old: &Text,
    new: &Text,
) -> Result<Located, Refusal> {
    let (old, new) = (with_lf(old), with_lf(new));
    if old.is_empty() {
        let message = "the old text is empty, and the file is not";
        return filled(doc, &new, || Refusal::new(Code::Usage, message).hint(BESIDE));
    }
    for &breaks in doc.breaks(rules.breaks) {
        let hay = doc.hay(breaks);
        let hits = places(hay, &old, occurrence);
        if hits.total > 0 {
            return decide(doc, (hay, breaks), hits, occurrence, (&old, &new));
        }
        // All places of a text are changed only where they are equal byte for byte.
        if occurrence == Occurrence::Once
            && let Some(found) = whole_lines(doc, breaks, rules, (&old, &new))
        {
            return found;
        }
    }
    if old.ends_with('\r') && new.ends_with('\r') {
        // Both are cut in the middle of CRLF.
        let whole = |text: &str| Text::from(format!("{text}\n"));
        return self::text(doc, rules, occurrence, &whole(&old), &whole(&new));
    }
    absent(doc, rules, (&old, &new))
}

/// A hunk that has been applied before and is left out, or why the text has no place.
fn absent(doc: &Document<'_>, rules: &Rules, (old, new): (&str, &str)) -> Result<Located, Refusal> {
    let view = doc.view(Breaks::Lf);
    let done = applied::text(doc, new).or_else(|| {
        let block = Block::of_texts(old, new);
        let places = applied::block((doc, view), rules.ladder, &block, |starts| starts)?;
        take_lines(view, places, new).ok()
    });
    match done {
        Some(done) if rules.applied == Applied::Skip => Ok(done),
        done => {
            let rows: Vec<&str> = old.lines().collect();
            Err(explain::absent((doc, view), rules.ladder, &rows, done.map(|done| done.line)))
        }
    }
}

/// The place of a text that is made of whole lines, under the passes for lines.
fn whole_lines(
    doc: &Document<'_>,
    breaks: Breaks,
    rules: &Rules,
    (old, new): (&str, &str),
) -> Option<Result<Located, Refusal>> {
    let view = doc.view(breaks);
    let found = climb((doc, view), rules.ladder, &Block::of_texts(old, new), |starts| starts)?;
    let trusted = found.check_evidence(view).and_then(|()| match &*found.starts {
        [_] => by_luck(view, &found),
        _ => Ok(()),
    });
    Some(trusted.and_then(|()| take_lines(view, found, new)))
}

/// # Errors
/// `ambiguous` where the text is whole lines that say little and stand there once by luck.
fn check_luck(doc: &Document<'_>, place: &Place<'_>, (old, new): (&str, &str)) -> Result<(), Refusal> {
    if !is_whole_lines(place, old) || word_characters(&[old]) >= FEW {
        return Ok(());
    }
    let block = Block::of_texts(old, new);
    if block.ending == Ending::Joined {
        return Ok(());
    }
    let none: Starts = Vec::new().into();
    let places = Places { pass: &EXACT, block, starts: Rc::clone(&none), all: none, notes: Vec::new() };
    by_luck(doc.view(place.breaks), &places)
}

/// Whether the text at `place` starts and ends where lines do.
fn is_whole_lines(place: &Place<'_>, old: &str) -> bool {
    let (text, end) = (&place.hay.text, place.start + old.len());
    (place.start == 0 || text[place.start - 1] == b'\n')
        && (old.ends_with('\n') || end >= text.len() || text[end] == b'\n')
}

fn take_lines(view: &View<'_>, found: Places<'_>, new: &str) -> Result<Located, Refusal> {
    let (block, pass, rows) = (&found.block, found.pass.name, found.block.old.len());
    let &[start] = &*found.starts else {
        let offsets = found.starts.iter().map(|&line| view.lines.range(line).start);
        let total = (found.starts.len(), rows);
        return Err(explain::several_places(view.lines.bytes(), offsets, total, pass, Occurrence::Once));
    };
    let script = found.script(view, start, End::Kept)?;
    let mut notes = found.notes.clone();
    if new.is_empty() && !block.new.is_empty() {
        notes.push(WarningCode::EmptyLineLeft);
    }
    Ok(Located {
        twins: found.twins(start),
        line: start,
        rank: 0,
        old_count: rows,
        new_count: block.new.len(),
        added: script.added,
        removed: script.removed,
        parts: script.parts,
        pass,
        notes,
        bares_end: script.bares_end,
    })
}

/// The places of `old`, also at the end of a text that lacks the final newline of `old`.
fn places(hay: &Haystack<'_>, old: &str, occurrence: Occurrence) -> Hits {
    let mut hits = match occurrence {
        Occurrence::Once => substrings(&hay.text, old.as_bytes(), KEPT),
        Occurrence::All | Occurrence::Exactly(_) => {
            let starts = disjoint_substrings(&hay.text, old.as_bytes());
            Hits { total: starts.len(), starts }
        }
    };
    let free = match (occurrence, hits.starts.last()) {
        (Occurrence::All | Occurrence::Exactly(_), Some(last)) => last + old.len(),
        _ => 0,
    };
    if let Some(start) = at_unterminated_end(&hay.text, old).filter(|&start| start >= free) {
        hits.total += 1;
        hits.starts.push(start);
    }
    hits
}

/// Where `old` would stand if the text ended with a newline.
fn at_unterminated_end(text: &[u8], old: &str) -> Option<usize> {
    let bare = old.strip_suffix('\n').filter(|bare| !bare.is_empty())?;
    (!text.ends_with(b"\n") && text.ends_with(bare.as_bytes())).then(|| text.len() - bare.len())
}

fn decide(
    doc: &Document<'_>,
    (hay, breaks): (&Haystack<'_>, Breaks),
    hits: Hits,
    occurrence: Occurrence,
    (old, new): (&str, &str),
) -> Result<Located, Refusal> {
    let fits = match occurrence {
        Occurrence::Once => hits.total == 1,
        Occurrence::All => true,
        Occurrence::Exactly(n) => hits.total == n,
    };
    if !fits {
        let lines = old.split_inclusive('\n').count();
        let offsets = hits.starts.iter().map(|&s| hay.original(s));
        return Err(explain::several_places(doc.body, offsets, (hits.total, lines), EXACT.name, occurrence));
    }
    if let ([start], Occurrence::Once) = (hits.starts.as_slice(), occurrence) {
        check_luck(doc, &Place { body: doc.body, hay, breaks, start: *start }, (old, new))?;
    }
    let mut all: Option<Located> = None;
    for &start in &hits.starts {
        let bare = |text| if start + old.len() > hay.text.len() { without_newline(text) } else { text };
        let one = write(doc, &Place { body: doc.body, hay, breaks, start }, (bare(old), bare(new)));
        all = Some(match all {
            None => one,
            Some(sum) => joined(sum, one),
        });
    }
    all.ok_or_else(|| Refusal::new(Code::NoMatch, "the old text stands nowhere in the file"))
}

fn without_newline(text: &str) -> &str {
    text.strip_suffix('\n').unwrap_or(text)
}

/// Two places of one hunk are told as one range.
fn joined(mut sum: Located, mut one: Located) -> Located {
    let old_end = one.line + one.old_count;
    let growth = (sum.new_count + one.new_count).saturating_sub(one.old_count);
    let between = old_end - (sum.line + sum.old_count);
    sum.new_count = growth + between;
    sum.old_count = old_end - sum.line;
    sum.added += one.added;
    sum.removed += one.removed;
    sum.parts.append(&mut one.parts);
    sum
}

fn write(doc: &Document<'_>, place: &Place<'_>, (old, new): (&str, &str)) -> Located {
    let script = script(place, old, new);
    let text = &place.hay.text;
    let newlines = |s: &[u8]| memchr::memchr_iter(b'\n', s).count();
    let end = place.start + old.len();
    let line = newlines(&text[..place.start]);
    // The last newline of the old text ends its last line; it does not start one more.
    let old_count = newlines(&old.as_bytes()[..old.len() - 1]) + 1;
    let new_count = (old_count + newlines(new.as_bytes())).saturating_sub(newlines(old.as_bytes()));
    let whole_lines = (place.start == 0 || text[place.start - 1] == b'\n')
        && text.get(end) == Some(&b'\n')
        && !old.ends_with('\n');
    let notes = if new.is_empty() && whole_lines { vec![WarningCode::EmptyLineLeft] } else { Vec::new() };
    debug_assert!(end <= text.len() && doc.body.len() >= text.len());
    let (added, removed) = (script.added, script.removed);
    let (parts, pass) = (script.parts, EXACT.name);
    Located {
        parts,
        line,
        rank: 0,
        old_count,
        new_count,
        added,
        removed,
        pass,
        notes,
        twins: Twins::default(),
        bares_end: false,
    }
}

/// Fills an empty file.
pub(super) fn fill(doc: &Document<'_>, new: &Text) -> Result<Located, Refusal> {
    let message = "an empty ORIGINAL fills an empty file, and this file has content";
    let hint = "put the lines that the new text shall stand beside into ORIGINAL";
    filled(doc, new, || Refusal::new(Code::Parse, message).hint(hint))
}

fn filled(doc: &Document<'_>, new: &str, refusal: impl Fn() -> Refusal) -> Result<Located, Refusal> {
    if !doc.body.is_empty() {
        return Err(refusal());
    }
    let lines = new.lines().count();
    Ok(Located {
        parts: vec![Replacement { range: 0..0, bytes: new.as_bytes().to_vec() }],
        line: 0,
        rank: 0,
        old_count: 0,
        new_count: lines,
        added: lines,
        removed: 0,
        pass: "insert",
        notes: Vec::new(),
        twins: Twins::default(),
        bares_end: false,
    })
}

/// Pieces stand in order and without overlap; there must be one way only to place them.
pub(super) fn pieces(doc: &Document<'_>, rules: &Rules, pieces: &[(Text, Text)]) -> Result<Located, Refusal> {
    let pieces: Vec<_> = pieces.iter().map(|(old, new)| (with_lf(old), with_lf(new))).collect();
    let named: Vec<_> = pieces.iter().filter(|(old, _)| !old.is_empty()).collect();
    let hay = doc.hay(Breaks::Lf);
    let mut hits = Vec::with_capacity(named.len());
    for (old, new) in &named {
        let found = substrings(&hay.text, old.as_bytes(), usize::MAX);
        if found.total == 0 {
            return absent(doc, rules, (old, new));
        }
        hits.push(found.starts);
    }
    let placed = named.iter().zip(&hits);
    let placed = placed.map(|((old, _), starts)| Piece { starts, skip: 0, len: old.len() });
    let Some(starts) = only_order(&placed.collect::<Vec<_>>()) else {
        return Err(Refusal::new(
            Code::Ambiguous,
            "the pieces around the placeholders fit in several ways, or in none",
        )
        .hint("put more lines around each placeholder"));
    };
    let written = named.iter().zip(starts).map(|((old, new), start)| {
        write(doc, &Place { body: doc.body, hay, breaks: Breaks::Lf, start }, (old, new))
    });
    written
        .reduce(joined)
        .ok_or_else(|| Refusal::new(Code::Parse, "a block of placeholders only names no text"))
}
