//! What a refused hunk tells: the nearest place and how it differs, every equal place, what to do next.

use super::document::Document;
use super::excerpt::excerpt;
use super::nearest::nearest;
use super::pass::Ladder;
use super::reason::Reason;
use super::refusal::{Candidate, Evidence, Refusal};
use super::view::View;
use crate::edit::{Code, Occurrence};

/// Places listed; the total is told in any case.
pub(super) const LISTED: usize = 10;

/// The places at `offsets` (the first ones, in the body) as evidence: how many there are, and how many lines each has.
pub(super) fn candidates(
    body: &[u8],
    offsets: impl Iterator<Item = usize>,
    (total, lines): (usize, usize),
    pass: &'static str,
) -> Evidence {
    let mut counted = (0, 1);
    let candidates = offsets.take(LISTED).map(|at| {
        counted.1 += memchr::memchr_iter(b'\n', &body[counted.0..at]).count();
        counted.0 = at;
        candidate(body, at, counted.1, lines)
    });
    Evidence { pass, candidates: candidates.collect(), candidates_total: total, ..Evidence::default() }
}

/// The places at the lines `starts` as evidence.
pub(super) fn line_candidates(
    view: &View<'_>,
    starts: &[usize],
    rows: usize,
    pass: &'static str,
) -> Evidence {
    let offsets = starts.iter().map(|&line| view.lines.range(line).start);
    candidates(view.lines.bytes(), offsets, (starts.len(), rows), pass)
}

/// Several places fit equally well.
pub(super) fn several_places(
    body: &[u8],
    offsets: impl Iterator<Item = usize>,
    (total, lines): (usize, usize),
    pass: &'static str,
    occurrence: Occurrence,
) -> Refusal {
    let evidence = candidates(body, offsets, (total, lines), pass);
    let (code, message, hint) = match occurrence {
        Occurrence::Exactly(n) if total < n => {
            (Code::NoMatch, format!("the text stands in {total} places, not in {n}"), "correct the count")
        }
        Occurrence::Exactly(n) => {
            (Code::Ambiguous, format!("the text stands in {total} places, not in {n}"), "correct the count")
        }
        _ => (
            Code::Ambiguous,
            format!("the text stands in {total} places: {}", places(&evidence.candidates, total)),
            "add lines before or after it until it stands once",
        ),
    };
    Refusal::new(code, message).hint(hint).with(evidence)
}

/// `line 3`, `lines 3-5`.
pub(super) fn lines_in_words(first: usize, last: usize) -> String {
    if first >= last { format!("line {first}") } else { format!("lines {first}-{last}") }
}

/// The first places in words.
pub(super) fn places(candidates: &[Candidate], total: usize) -> String {
    let shown: Vec<String> = candidates.iter().map(|c| format!("line {}", c.line)).collect();
    let more = if total > candidates.len() { ", …" } else { "" };
    shown.join(", ") + more
}

fn candidate(body: &[u8], at: usize, line: usize, lines: usize) -> Candidate {
    let start = memchr::memrchr(b'\n', &body[..at]).map_or(0, |i| i + 1);
    let end = memchr::memchr(b'\n', &body[at..]).map_or(body.len(), |i| at + i);
    let text = body[start..end].strip_suffix(b"\r").unwrap_or(&body[start..end]);
    Candidate { line, end: line + lines.max(1) - 1, text: excerpt(text) }
}

/// The old text stands nowhere; `applied` is the line (from 0) where the new text stands already.
pub(super) fn absent(
    (doc, view): (&Document<'_>, &View<'_>),
    ladder: Ladder,
    old_rows: &[&str],
    applied: Option<usize>,
) -> Refusal {
    let mut refusal = match (&doc.not_utf8, applied) {
        (Some(where_), _) => Refusal::new(
            Code::NotText,
            format!("the file is not UTF-8 ({where_}), and the old text does not stand in it byte for byte"),
        )
        .hint("convert the file, or edit it with a tool that knows its encoding"),
        (None, Some(line)) => Refusal::new(
            Code::AlreadyApplied,
            format!("the old text stands nowhere, and the new text stands at line {} already", line + 1),
        )
        .hint("drop the hunk, or run with --skip-applied"),
        (None, None) => Refusal::new(Code::NoMatch, "the old text stands nowhere in the file")
            .hint("read the file again and send its present lines"),
    };
    let rows: Vec<&[u8]> = old_rows.iter().map(|row| row.as_bytes()).collect();
    let nearest = nearest(view, ladder.key(doc.is_utf8()), &rows);
    if let (Some(near), true) = (&nearest, refusal.code == Code::NoMatch) {
        let lines = lines_in_words(near.line, near.end);
        let how = near.reason.in_words();
        refusal.message = format!("the old text stands nowhere; nearest: {lines}, {how}");
        if near.reason != Reason::Stale {
            refusal = refusal.hint("send the lines as they stand in the file");
        }
    }
    refusal.with(Evidence { pass: ladder.last(doc.is_utf8()), nearest, ..Evidence::default() })
}
