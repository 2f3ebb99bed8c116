//! The place of a file that is most like a text which stands nowhere: similarity explains, it never edits.
//!
//! Linear in the size of the file: lines and words vote, and only a few windows are compared.

use super::compared::compared;
use super::equality::{Key, indent_len};
use super::excerpt::difference;
use super::reason::Reason;
use super::refusal::Nearest;
use super::tally;
use super::view::View;
use crate::edit::Lines;
use std::collections::HashMap;

/// A word in more lines than this says nothing about where a text belongs.
const COMMON: usize = 1000;
/// The vote of a word that stands in one line; whole numbers, so that the order of counting does not matter.
const VOTE: u64 = 1 << 20;
/// Windows whose text is compared character by character.
const COMPARED: usize = 5;
/// Bytes of a window that are compared.
const COMPARED_BYTES: usize = 2000;

/// The window of the file that shares most with `wanted`: lines and rare words vote for where it would start.
///
/// Lines that are equal under `key`, the loosest rule that was tried, count as equal.
pub(super) fn nearest(view: &View<'_>, key: Key, wanted: &[&[u8]]) -> Option<Nearest> {
    let lines = &view.lines;
    let votes = votes(view, wanted);
    let mut best: Vec<(usize, u64)> = votes.into_iter().collect();
    best.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
    let near = best.iter().take(COMPARED).map(|&(start, _)| (start, likeness(lines, start, wanted)));
    let (start, ratio) = near.max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)))?;
    if ratio < 0.3 {
        return None;
    }
    let end = (start + wanted.len()).min(lines.len());
    let found: Vec<&[u8]> = (start..end).map(|line| lines.text(line)).collect();
    let (differs, tabs) = first_difference(key, wanted, &found, start);
    let reason = Reason::of(wanted, (start..lines.len()).map(|line| lines.text(line)), tabs);
    Some(Nearest { line: start + 1, end, reason, differs, rows: compared(key, wanted, &found, start) })
}

/// The first row whose line, `found` from line `first` (from 0) on, is not equal under `key`, else not the same, in
/// words; and whether the two differ in tabs.
fn first_difference(key: Key, wanted: &[&[u8]], found: &[&[u8]], first: usize) -> (String, bool) {
    let parted = |key: Key| {
        let differ =
            |(row, text): &(usize, &&[u8])| found.get(*row).is_none_or(|line| key.of(line) != key.of(text));
        wanted.iter().enumerate().find(differ).map(|(row, text)| (key, row, *text))
    };
    let Some((key, row, text)) = parted(key).or_else(|| parted(Key::Bytes)) else {
        return ("terminators or the place inside the line".to_owned(), false);
    };
    let Some(line) = found.get(row) else {
        return (format!("the file ends before row {} of the old text", row + 1), false);
    };
    let from = if key == Key::Body { (indent_len(text), indent_len(line)) } else { (0, 0) };
    let tabs = |text: &[u8]| memchr::memchr_iter(b'\t', text).count();
    let differs = format!("line {}, {}", first + row + 1, difference(text, line, from));
    (differs, tabs(&text[from.0..]) != tabs(&line[from.1..]))
}

fn votes(view: &View<'_>, wanted: &[&[u8]]) -> HashMap<usize, u64> {
    let (lines, index) = (&view.lines, view.index(Key::Bytes));
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
    // Where many texts of a large file stand nowhere, lines must do.
    if !view.may_explain() {
        return votes;
    }
    tally::count(lines.bytes().len());
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
