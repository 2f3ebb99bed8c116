//! Why an entry or hunk cannot be applied, with what a person or a program needs to repair it.

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
    /// The first difference, made visible.
    pub differs: String,
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
