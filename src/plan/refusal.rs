//! Why an entry or hunk cannot be applied, with what a person or a program needs to repair it.

use super::{Compared, Reason};
use crate::edit::{Code, Origin};
use bstr::BString;

/// One refusal. Nothing of the batch is written when there is any.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refusal {
    /// The stable code.
    pub code: Code,
    /// In words: lower case, no full stop.
    pub message: String,
    /// The entry, hunk and line of the batch.
    pub origin: Option<Origin>,
    /// The path, canonical where it could be resolved, else as written.
    pub path: Option<BString>,
    /// What to do next.
    pub hint: Option<String>,
    /// What the search for a hunk's place found, where there was one.
    pub evidence: Option<Box<Evidence>>,
}

/// What the search for a hunk's place found.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Evidence {
    /// The last pass that was tried.
    pub pass: &'static str,
    /// Places that equally fit, the first few.
    pub candidates: Vec<Candidate>,
    /// How many places there are.
    pub candidates_total: usize,
    /// The place that fits best, though not well enough.
    pub nearest: Option<Nearest>,
    /// The hunk rewritten, ready to be sent.
    pub retry: Option<Retry>,
}

/// A hunk as an edit of a text that stands in the file as it is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Retry {
    /// The file's lines.
    pub old: String,
    /// What shall stand there.
    pub new: String,
}

/// One of several equal places.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Candidate {
    /// First line, from 1.
    pub line: usize,
    /// Last line, inclusive.
    pub end: usize,
    /// The text of the first line, cut when long.
    pub text: String,
}

/// The place that fits best.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Nearest {
    /// First line, from 1.
    pub line: usize,
    /// Last line, inclusive.
    pub end: usize,
    /// What they differ in, all of them considered.
    pub reason: Reason,
    /// The first difference, made visible.
    pub differs: String,
    /// The lines of the batch beside those of the file.
    pub rows: Vec<Compared>,
}

impl Refusal {
    /// A refusal with nothing but its code and words.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), origin: None, path: None, hint: None, evidence: None }
    }

    /// Says where in the batch it stands, unless that is known already.
    #[must_use]
    pub fn at(mut self, origin: Origin) -> Self {
        self.origin.get_or_insert(origin);
        self
    }

    /// Says which path it is about, unless that is known already.
    #[must_use]
    pub fn on(mut self, path: impl Into<BString>) -> Self {
        self.path.get_or_insert_with(|| path.into());
        self
    }

    /// Says what to do next.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Says what the search found.
    #[must_use]
    pub fn with(mut self, evidence: Evidence) -> Self {
        self.evidence = Some(Box::new(evidence));
        self
    }
}

/// What a refusal may take at most when written as JSON: message, hint, difference, all candidates, the hunk to send.
const MESSAGE: usize = 600;
const HINT: usize = 500;
const DIFFERENCE: usize = 400;
const CANDIDATES: usize = 1000;
const RETRY: usize = 1200;

impl Refusal {
    /// Keeps it under 4 KiB, in words and as JSON, cut at characters; a hunk to send is whole or left out.
    pub(super) fn shorten(&mut self) {
        cut(&mut self.message, MESSAGE);
        if let Some(hint) = &mut self.hint {
            cut(hint, HINT);
        }
        let Some(evidence) = &mut self.evidence else { return };
        if let Some(nearest) = &mut evidence.nearest {
            cut(&mut nearest.differs, DIFFERENCE);
        }
        let mut left = CANDIDATES;
        let mut fits = |candidate: &Candidate| {
            let size = written(&candidate.text) + 40;
            left = left.saturating_sub(size);
            left > 0
        };
        let kept = evidence.candidates.iter().take_while(|c| fits(c)).count().max(1);
        evidence.candidates.truncate(kept);
        if let Some(candidate) = evidence.candidates.first_mut() {
            cut(&mut candidate.text, CANDIDATES);
        }
        // For people each line of it is set in.
        let size = |text: &str| written(text) + 8 * text.lines().count();
        if evidence.retry.as_ref().is_some_and(|r| size(&r.old) + size(&r.new) > RETRY) {
            evidence.retry = None;
            self.hint = Some(
                "send the hunk with the indents of the file's lines; it is too long to be given back here"
                    .to_owned(),
            );
        }
    }
}

/// The bytes of `c` inside a JSON string.
fn escaped(c: char) -> usize {
    match c {
        '"' | '\\' | '\n' | '\t' | '\r' => 2,
        c if u32::from(c) < 0x20 => 6,
        c => c.len_utf8(),
    }
}

pub(super) fn written(text: &str) -> usize {
    text.chars().map(escaped).sum()
}

fn cut(text: &mut String, most: usize) {
    let mut left = most;
    let too_far = text.char_indices().find(|(_, c)| {
        let size = escaped(*c);
        let over = size > left;
        left = left.saturating_sub(size);
        over
    });
    if let Some((at, _)) = too_far {
        text.truncate(at);
        text.push('…');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_stays_under_four_kilobytes() {
        let long = "é\u{1}\"".repeat(5000);
        let candidate = Candidate { line: 1, end: 2, text: long.clone() };
        let mut refusal = Refusal::new(Code::Ambiguous, long.clone()).hint(long.clone()).with(Evidence {
            candidates: vec![candidate; 10],
            candidates_total: 10,
            nearest: Some(Nearest {
                line: 1,
                end: 2,
                reason: Reason::Stale,
                differs: long.clone(),
                rows: Vec::new(),
            }),
            retry: Some(Retry { old: long.clone(), new: long }),
            ..Evidence::default()
        });
        refusal.shorten();
        let evidence = refusal.evidence.as_ref().expect("kept");
        let texts = evidence.candidates.iter().map(|c| &c.text).chain([&refusal.message]);
        let differs = evidence.nearest.iter().map(|n| &n.differs);
        let size: usize = texts.chain(differs).chain(&refusal.hint).map(|text| written(text)).sum();
        assert!(size < 3600, "{size}");
        assert_eq!(refusal.evidence.map(|e| e.candidates_total), Some(10));
    }
}
