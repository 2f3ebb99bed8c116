//! Reads a batch in any of its forms (formats.md) and lowers it to one change set, or reports everything wrong with it.
//!
//! Pure: no disk, clock or environment; no input makes it panic. A form that is recognised never falls through to
//! the next one. Nothing here says whether an edit fits its file; that is `plan`.
//!
//! A new text form is one file with a `read(&Body, &mut Draft)` and a line in `text_reader`; a new JSON form is
//! one file with a `read(&Entry, &mut Draft)` and a line in `entry_reader`.

mod blocks;
mod body;
mod detect;
mod diff;
mod diff_files;
mod diff_header;
mod diff_order;
mod draft;
mod edits;
mod entry;
mod envelope;
mod fenced;
mod fences;
mod gptme;
mod hashline;
mod hashline_op;
mod header;
mod hunk_header;
mod hunks;
mod json;
mod keys;
mod ops;
mod patch_many;
mod placeholders;
mod wrapper;

#[cfg(test)]
mod tests;

use crate::edit::{BatchPath, ChangeSet, Code, Format, Text, split_bom};
pub(crate) use blocks::rows;
use body::{At, Body};
use detect::Detected;
use draft::Draft;
use entry::Entry;
use std::fmt;

/// How a batch is read.
pub struct Options<'a> {
    /// The form to expect; `None` finds it out.
    pub format: Option<Format>,
    /// The path of bodies that name none (`--path`).
    pub default_path: Option<BatchPath>,
    /// Whether `# ...` lines stand for any text in between (`--placeholders`).
    pub placeholders: bool,
    /// How many leading folders of the names in a diff are no part of them (`--strip`); `None` takes `a/` and `b/`
    /// off where they are there.
    pub strip: Option<usize>,
    /// Whether this path exists. Asked where a text may or may not name one (fence headers, lines above blocks), and
    /// for the folder that the names of a git diff start at.
    pub exists: &'a dyn Fn(&BatchPath) -> bool,
}

impl fmt::Debug for Options<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (format, path) = (&self.format, &self.default_path);
        write!(f, "Options {{ {format:?}, {path:?}, placeholders: {} }}", self.placeholders)
    }
}

/// Why a batch cannot be read: all that was found, in batch order. Never empty.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the batch does not parse: {}", first(.errors))]
pub struct ParseErrors {
    /// The form of the batch, where it was recognised.
    pub format: Option<Format>,
    /// At least one.
    pub errors: Vec<ParseError>,
}

fn first(errors: &[ParseError]) -> String {
    errors.first().map(ToString::to_string).unwrap_or_default()
}

/// One thing wrong with a batch. Numbers count from 1.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{message}")]
pub struct ParseError {
    /// `parse`, or `usage` where an option is missing.
    pub code: Code,
    /// In words.
    pub message: String,
    /// The entry of the batch.
    pub entry: Option<usize>,
    /// The hunk of the entry.
    pub hunk: Option<usize>,
    /// The line of the batch.
    pub line: Option<usize>,
    /// The column in characters.
    pub column: Option<usize>,
    /// The path of the entry, as written.
    pub path: Option<String>,
    /// What to do about it.
    pub hint: Option<String>,
}

impl ParseError {
    fn new(code: Code, message: impl Into<String>) -> Self {
        let (entry, hunk, line, column) = (None, None, None, None);
        Self { code, message: message.into(), entry, hunk, line, column, path: None, hint: None }
    }

    fn at(at: At, message: impl Into<String>) -> Self {
        let new = Self::new(Code::Parse, message);
        Self { line: Some(at.line), column: Some(at.column), ..new }
    }

    fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }
}

/// All spellings of a JSON key, by the first of them; none where that is none.
#[cfg(feature = "schema")]
pub(crate) fn spellings(key: &str) -> &'static [&'static str] {
    keys::Key::spellings(key)
}

/// Reads one batch.
///
/// # Errors
/// [`ParseErrors`] holds every fault that could be told apart, `parse` or `usage`.
pub fn parse(input: &[u8], options: &Options<'_>) -> Result<ChangeSet, ParseErrors> {
    let mut draft = Draft::new(options);
    match decode(input) {
        Ok(text) => {
            let format = read(&Body::lines(text, 1), &mut draft);
            draft.finish(format)
        }
        Err(error) => {
            draft.error(*error);
            draft.finish(options.format)
        }
    }
}

/// The text of a batch, without its byte order mark.
fn decode(input: &[u8]) -> Result<Text, Box<ParseError>> {
    let bytes = split_bom(input).1;
    std::str::from_utf8(bytes).map(Text::from).map_err(|error| {
        let before = &bytes[..error.valid_up_to()];
        let line_start = before.iter().rposition(|&b| b == b'\n').map_or(0, |at| at + 1);
        let at = At {
            line: 1 + before.iter().filter(|&&b| b == b'\n').count(),
            column: 1 + String::from_utf8_lossy(&before[line_start..]).chars().count(),
        };
        Box::new(ParseError::at(at, "the input is not UTF-8"))
    })
}

/// Reads a text in the form that was asked for, or that it has; returns that form where the whole text has one.
fn read(body: &Body, draft: &mut Draft<'_>) -> Option<Format> {
    match detect::expected(&body.text, draft.options.format) {
        Detected::Json => {
            entry::read(body, draft);
            None
        }
        Detected::Text(format) => {
            read_text(format, body, draft);
            Some(format)
        }
        Detected::Nothing => {
            let error = detect::refusal(body, draft.options.format);
            draft.error(error);
            draft.options.format
        }
    }
}

/// Reads a text of a form that is no JSON.
fn read_text(format: Format, body: &Body, draft: &mut Draft<'_>) {
    match text_reader(format) {
        Some(read) => {
            draft.saw(format);
            read(body, draft);
        }
        None => draft.not_yet(format, body.at(0, 1), None),
    }
}

/// Who reads a text form.
fn text_reader(format: Format) -> Option<fn(&Body, &mut Draft<'_>)> {
    match format {
        Format::Fenced => Some(fenced::read),
        Format::Envelope => Some(envelope::read),
        Format::Hashline => Some(hashline::read),
        Format::Diff => Some(diff::read),
        Format::Blocks => Some(blocks::read),
        _ => None,
    }
}

/// Who reads a JSON form.
fn entry_reader(format: Format) -> Option<fn(&Entry<'_>, &mut Draft<'_>)> {
    match format {
        Format::PatchMany => Some(patch_many::read),
        Format::Ops => Some(ops::read),
        Format::Edits => Some(edits::read),
        _ => None,
    }
}
