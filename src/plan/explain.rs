//! What a refused hunk tells: the nearest place and how it differs, every equal place, what to do next.
//!
//! Similarity serves here to explain, never to edit. Linear in the size of the file.

use super::document::Document;
use super::excerpt::{difference, excerpt};
use super::pass::LAST;
use super::refusal::{Candidate, Evidence, Nearest, Refusal};
use super::search::{LineIndex, substrings};
use crate::edit::{Breaks, Code, LineHunk, Lines, Occurrence};
use bstr::ByteSlice;
use std::collections::HashMap;

/// Places listed; the total is told in any case.
const LISTED: usize = 10;
/// A word in more lines than this says nothing about where a text belongs.
const COMMON: usize = 1000;
/// The vote of a word that stands in one line; whole numbers, so that the order of counting does not matter.
const VOTE: u64 = 1 << 20;
/// Windows whose text is compared character by character.
const COMPARED: usize = 5;
/// Bytes of a window that are compared.
const COMPARED_BYTES: usize = 2000;

/// Several places fit equally well. `offsets` are those of the first ones, in the body.
pub(super) fn several_places(
    body: &[u8],
    offsets: impl Iterator<Item = usize>,
    total: usize,
    lines: usize,
    pass: &'static str,
    occurrence: Occurrence,
) -> Refusal {
    let mut counted = (0, 1);
    let candidates = offsets.take(LISTED).map(|at| {
        counted.1 += memchr::memchr_iter(b'\n', &body[counted.0..at]).count();
        counted.0 = at;
        candidate(body, at, counted.1, lines)
    });
    let candidates: Vec<Candidate> = candidates.collect();
    let (code, message, hint) = match occurrence {
        Occurrence::Exactly(n) if total < n => {
            (Code::NoMatch, format!("the text stands in {total} places, not in {n}"), "correct the count")
        }
        Occurrence::Exactly(n) => {
            (Code::Ambiguous, format!("the text stands in {total} places, not in {n}"), "correct the count")
        }
        _ => (
            Code::Ambiguous,
            format!("the text stands in {total} places: {}", places(&candidates, total)),
            "add lines before or after it until it stands once",
        ),
    };
    let evidence = Evidence { pass, candidates, candidates_total: total, nearest: None };
    Refusal::new(code, message).hint(hint).with(evidence)
}

fn places(candidates: &[Candidate], total: usize) -> String {
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

/// The old text of a text hunk stands nowhere.
pub(super) fn absent_text(doc: &Document<'_>, old: &str, new: &str) -> Refusal {
    let lines = Lines::new(doc.body, Breaks::Lf);
    let index = LineIndex::new(lines.texts().map(Into::into));
    let wanted: Vec<&[u8]> = old.lines().map(str::as_bytes).collect();
    let hay = super::document::Haystack::new(doc.body, Breaks::Lf);
    let done = says_something(new) && substrings(&hay.text, new.as_bytes(), 1).total == 1;
    absent(doc, &lines, &index, &wanted, done)
}

/// The old rows of a line hunk stand nowhere.
pub(super) fn absent_lines(
    doc: &Document<'_>,
    lines: &Lines<'_>,
    index: &LineIndex<'_>,
    hunk: &LineHunk,
) -> Refusal {
    let wanted: Vec<&[u8]> = hunk.old_rows().map(|row| row.as_bytes()).collect();
    let new: Vec<&[u8]> = hunk.new_rows().map(|row| row.as_bytes()).collect();
    let done = new.iter().any(|row| row.to_str().is_ok_and(says_something)) && index.find(&new).len() == 1;
    absent(doc, lines, index, &wanted, done)
}

fn says_something(text: &str) -> bool {
    text.chars().any(|c| c.is_alphanumeric() || c == '_')
}

fn absent(
    doc: &Document<'_>,
    lines: &Lines<'_>,
    index: &LineIndex<'_>,
    wanted: &[&[u8]],
    already_there: bool,
) -> Refusal {
    let mut refusal = if !doc.is_utf8 {
        Refusal::new(
            Code::NotText,
            "the file is not UTF-8, and the old text does not stand in it byte for byte",
        )
        .hint("convert the file, or edit it with a tool that knows its encoding")
    } else if already_there {
        Refusal::new(
            Code::AlreadyApplied,
            "the old text stands nowhere, and the new text stands there already",
        )
        .hint("drop the entry, if it has been applied before")
    } else {
        Refusal::new(Code::NoMatch, "the old text stands nowhere in the file")
            .hint("read the file again and send its present lines")
    };
    let nearest = nearest(lines, index, wanted);
    if let (Some(near), true) = (&nearest, refusal.code == Code::NoMatch) {
        refusal.message =
            format!("the old text stands nowhere; nearest are lines {}-{}", near.line, near.end);
    }
    refusal.with(Evidence { pass: LAST, nearest, ..Evidence::default() })
}

/// The window of the file that shares most with `wanted`: lines and rare words vote for where it would start.
fn nearest(lines: &Lines<'_>, index: &LineIndex<'_>, wanted: &[&[u8]]) -> Option<Nearest> {
    let votes = votes(lines, index, wanted);
    let mut best: Vec<(usize, u64)> = votes.into_iter().collect();
    best.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
    let near = best.iter().take(COMPARED).map(|&(start, _)| (start, likeness(lines, start, wanted)));
    let (start, ratio) = near.max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)))?;
    if ratio < 0.3 {
        return None;
    }
    let end = (start + wanted.len()).min(lines.len());
    let parted = wanted
        .iter()
        .enumerate()
        .find(|(row, text)| start + row >= lines.len() || lines.text(start + row) != **text);
    let differs = match parted {
        Some((row, text)) if start + row < lines.len() => {
            let found = lines.text(start + row);
            format!("line {}, {}", start + row + 1, difference(text, found))
        }
        Some((row, _)) => format!("the file ends before row {} of the old text", row + 1),
        None => "terminators or the place inside the line".to_owned(),
    };
    Some(Nearest { line: start + 1, end, differs })
}

fn votes(lines: &Lines<'_>, index: &LineIndex<'_>, wanted: &[&[u8]]) -> HashMap<usize, u64> {
    let mut votes: HashMap<usize, u64> = HashMap::new();
    let mut vote = |line: usize, row: usize, weight: u64| {
        *votes.entry(line.saturating_sub(row)).or_default() += weight;
    };
    let mut words: HashMap<&[u8], Vec<usize>> = HashMap::new();
    for (row, text) in wanted.iter().enumerate() {
        let equal = index.lines_of(text);
        if equal.len() <= COMMON && !text.trim_ascii().is_empty() {
            equal.iter().for_each(|&line| vote(line, row, 4 * VOTE / equal.len() as u64));
        }
        for word in words_of(text) {
            let rows = words.entry(word).or_default();
            if rows.last() != Some(&row) && rows.len() < 8 {
                rows.push(row);
            }
        }
    }
    let mut seen: HashMap<&[u8], Vec<usize>> = HashMap::new();
    for (line, text) in lines.texts().enumerate() {
        for word in words_of(text).filter(|w| words.contains_key(w)) {
            let at = seen.entry(word).or_default();
            if at.last() != Some(&line) && at.len() <= COMMON {
                at.push(line);
            }
        }
    }
    for (word, at) in seen.iter().filter(|(_, at)| at.len() <= COMMON) {
        for &row in &words[word] {
            at.iter().for_each(|&line| vote(line, row, VOTE / at.len() as u64));
        }
    }
    votes
}

fn words_of(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let in_word = |b: &u8| b.is_ascii_alphanumeric() || *b == b'_' || *b >= 0x80;
    text.split(move |b| !in_word(b)).filter(|w| !w.is_empty() && w.len() <= 64)
}

/// How much of the characters two texts share, from 0 to 1.
fn likeness(lines: &Lines<'_>, start: usize, wanted: &[&[u8]]) -> f32 {
    let end = (start + wanted.len()).min(lines.len());
    let mut found = Vec::new();
    let mut asked = Vec::new();
    for (row, line) in (start..end).enumerate() {
        found.extend_from_slice(lines.text(line).trim_ascii());
        asked.extend_from_slice(wanted[row].trim_ascii());
        if found.len().max(asked.len()) > COMPARED_BYTES {
            break;
        }
    }
    found.truncate(COMPARED_BYTES);
    asked.truncate(COMPARED_BYTES);
    let diff = similar::capture_diff_slices(similar::Algorithm::Myers, &asked, &found);
    similar::diff_ratio(&diff, asked.len(), found.len())
}
