//! What the parsers of one batch have found so far: operations, warnings, errors, and the entry count.
//!
//! Entries count from 1 over the whole batch, whatever forms it mixes. No parser stops at its first error.

use super::body::{At, Body, Fault};
use super::{Options, ParseError, ParseErrors};
use crate::edit::{
    Action, BatchPath, ChangeSet, Code, FileOperation, Format, Hunk, InputWarning, Locator, Occurrence,
    Origin, Precondition, Step, WarningCode,
};

/// The growing result of one batch.
pub(super) struct Draft<'o> {
    /// What the caller asked for.
    pub(super) options: &'o Options<'o>,
    operations: Vec<FileOperation>,
    warnings: Vec<InputWarning>,
    errors: Vec<ParseError>,
    formats: Vec<Format>,
    entries: usize,
}

/// The head of an entry: everything but its action.
#[derive(Clone, Debug)]
pub(super) struct Head {
    /// The entry, from 1.
    pub(super) entry: usize,
    /// The path as written.
    pub(super) path: BatchPath,
    /// The line of the batch.
    pub(super) line: usize,
    /// What the entry expects.
    pub(super) expects: Precondition,
}

impl Head {
    /// Where hunk `hunk` of this entry stands.
    pub(super) fn origin(&self, hunk: usize, line: usize) -> Origin {
        Origin { entry: self.entry, hunk, line }
    }

    /// One hunk that must have exactly one place.
    pub(super) fn hunk(&self, hunk: usize, line: usize, locator: Locator) -> Hunk {
        Hunk { locator, occurrence: Occurrence::Once, origin: self.origin(hunk, line) }
    }

    /// The operation that does `action` here.
    pub(super) fn operation(&self, action: Action) -> FileOperation {
        FileOperation {
            path: self.path.clone(),
            action,
            expects: self.expects.clone(),
            mode: None,
            origin: self.origin(0, self.line),
        }
    }
}

impl<'o> Draft<'o> {
    /// Nothing found yet.
    pub(super) fn new(options: &'o Options<'o>) -> Self {
        let (operations, warnings, errors, formats) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Self { options, operations, warnings, errors, formats, entries: 0 }
    }

    /// The number of the entry that starts now.
    pub(super) fn next_entry(&mut self) -> usize {
        self.entries += 1;
        self.entries
    }

    /// How many entries there are so far.
    pub(super) fn entries(&self) -> usize {
        self.entries
    }

    /// Notes that a part of the batch has this form. The first time it says so.
    pub(super) fn saw(&mut self, format: Format) -> bool {
        let new = !self.formats.contains(&format);
        if new {
            self.formats.push(format);
        }
        new
    }

    /// Whether nothing was wrong so far.
    pub(super) fn is_clean(&self) -> bool {
        self.errors.is_empty()
    }

    /// Whether this path, from the current folder, exists.
    pub(super) fn exists(&self, path: &str) -> bool {
        (self.options.exists)(&path.into())
    }

    /// Adds an operation.
    pub(super) fn push(&mut self, operation: FileOperation) {
        self.operations.push(operation);
    }

    /// Takes back the operations from the `from`th on.
    pub(super) fn take_back(&mut self, from: usize) -> Vec<FileOperation> {
        self.operations.split_off(from)
    }

    /// How many operations there are so far.
    pub(super) fn operations(&self) -> usize {
        self.operations.len()
    }

    /// Adds the operation that runs `steps`, unless there are none.
    pub(super) fn push_steps(&mut self, head: &Head, steps: Vec<Step>) {
        if !steps.is_empty() {
            self.push(head.operation(Action::Modify { steps }));
        }
    }

    /// Adds an error.
    pub(super) fn error(&mut self, error: ParseError) {
        self.errors.push(error);
    }

    /// Adds faults of a body that belongs to no entry.
    pub(super) fn faults(&mut self, body: &Body, faults: impl IntoIterator<Item = Fault>) {
        self.errors.extend(faults.into_iter().map(|f| body.error(f)));
    }

    /// Adds faults of a body of the entry `head`.
    pub(super) fn entry_faults(&mut self, body: &Body, head: &Head, faults: impl IntoIterator<Item = Fault>) {
        self.errors.extend(faults.into_iter().map(|f| ParseError {
            entry: Some(head.entry),
            path: Some(head.path.to_string()),
            ..body.error(f)
        }));
    }

    /// Adds a warning about an entry.
    pub(super) fn warn(&mut self, code: WarningCode, entry: usize, message: impl Into<String>) {
        self.warnings.push(InputWarning { code, entry, message: message.into() });
    }

    /// Refuses a form that is not built yet, once a batch.
    pub(super) fn not_yet(&mut self, format: Format, at: At, entry: Option<usize>) {
        if self.saw(format) {
            let message = format!("the {format} format is recognised, but this version cannot read it yet");
            self.error(ParseError { entry, ..ParseError::at(at, message) });
        }
    }

    /// The result; `format` is the form of the batch as a whole, where that is known.
    pub(super) fn finish(mut self, format: Option<Format>) -> Result<ChangeSet, ParseErrors> {
        let format = format.or(match self.formats[..] {
            [] => None,
            [one] => Some(one),
            _ => Some(Format::Mixed),
        });
        if self.errors.is_empty() && self.operations.is_empty() {
            self.error(ParseError::new(Code::Parse, "no edit in the input"));
        }
        match format {
            Some(format) if self.errors.is_empty() => {
                Ok(ChangeSet { format, operations: self.operations, warnings: self.warnings })
            }
            format => Err(ParseErrors { format, errors: self.errors }),
        }
    }
}
