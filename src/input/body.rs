//! A piece of text of the batch that one parser reads, and where its lines stand in the batch.
//!
//! Parsers name places by the line of their own text, from 0; the body turns them into places of the batch.

use super::ParseError;
use crate::edit::{Code, Text};

/// A text and the place it has in the batch.
#[derive(Clone, Debug)]
pub(super) struct Body {
    /// The text itself.
    pub(super) text: Text,
    place: Place,
}

#[derive(Clone, Debug)]
enum Place {
    /// Its lines are lines of the batch, the first of them this one.
    Lines { first: usize },
    /// It starts on line `first` (from 0) of the decoded value of this JSON field.
    Value { at: At, field: String, first: usize },
}

/// A place in the batch; line and column count from 1, columns in characters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct At {
    pub(super) line: usize,
    pub(super) column: usize,
}

/// What a body parser objects to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Fault {
    /// The line of the body, from 0.
    pub(super) line: usize,
    /// The hunk, from 1.
    pub(super) hunk: Option<usize>,
    /// In words.
    pub(super) message: String,
    /// What to do about it.
    pub(super) hint: Option<String>,
}

impl Fault {
    /// A fault on body line `line` (from 0).
    pub(super) fn new(line: usize, message: impl Into<String>) -> Self {
        Self { line, hunk: None, message: message.into(), hint: None }
    }

    /// The same with advice.
    pub(super) fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    /// The same in hunk `hunk` (from 1).
    pub(super) fn hunk(self, hunk: usize) -> Self {
        Self { hunk: Some(hunk), ..self }
    }
}

impl Body {
    /// A text whose first line is line `first` of the batch.
    pub(super) fn lines(text: Text, first: usize) -> Self {
        Self { text, place: Place::Lines { first } }
    }

    /// The decoded value of the JSON field `field` that stands at `at`.
    pub(super) fn value(text: Text, at: At, field: &str) -> Self {
        Self { text, place: Place::Value { at, field: field.to_owned(), first: 0 } }
    }

    /// A part of this body, or what was made of it, that starts on its line `line` (from 0).
    pub(super) fn part(&self, text: Text, line: usize) -> Self {
        let mut place = self.place.clone();
        match &mut place {
            Place::Lines { first } | Place::Value { first, .. } => *first += line,
        }
        Self { text, place }
    }

    /// The line of the batch that holds body line `line` (from 0).
    pub(super) fn line(&self, line: usize) -> usize {
        match &self.place {
            Place::Lines { first } => first + line,
            Place::Value { at, .. } => at.line,
        }
    }

    /// The place of the batch that body line `line` (from 0) and column `column` (from 1) have.
    pub(super) fn at(&self, line: usize, column: usize) -> At {
        match &self.place {
            Place::Lines { first } => At { line: first + line, column },
            Place::Value { at, .. } => *at,
        }
    }

    /// The batch line of body line `line` in words; inside a JSON string the line within it.
    pub(super) fn line_in_words(&self, line: usize) -> String {
        match &self.place {
            Place::Lines { first } => format!("line {}", first + line),
            Place::Value { field, first, .. } => format!("line {} of `{field}`", first + line + 1),
        }
    }

    /// `fault` as an error of the batch.
    pub(super) fn error(&self, fault: Fault) -> ParseError {
        let (column, message) = match &self.place {
            Place::Lines { .. } => (None, fault.message),
            Place::Value { at, .. } => {
                (Some(at.column), format!("{}: {}", self.line_in_words(fault.line), fault.message))
            }
        };
        ParseError {
            code: Code::Parse,
            message,
            entry: None,
            hunk: fault.hunk,
            line: Some(self.line(fault.line)),
            column,
            path: None,
            hint: fault.hint,
        }
    }
}

/// One line of a body.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Line<'a> {
    /// Without LF or CRLF.
    pub(super) text: &'a str,
    /// Where it starts in the body, in bytes.
    pub(super) start: usize,
    /// How it ends.
    pub(super) ending: Ending,
}

/// How a line of the batch ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Ending {
    Lf,
    CrLf,
    /// The text ends here.
    Text,
}

impl Line<'_> {
    /// Where its text ends in the body, in bytes.
    pub(super) fn end(&self) -> usize {
        self.start + self.text.len()
    }

    /// Whether it holds blanks only.
    pub(super) fn is_blank(&self) -> bool {
        self.text.trim().is_empty()
    }
}

/// The lines of `text`. A final newline opens no further line.
pub(super) fn lines(text: &str) -> impl Iterator<Item = Line<'_>> {
    let mut start = 0;
    text.split_inclusive('\n').map(move |whole| {
        let (text, ending) = match (whole.strip_suffix("\r\n"), whole.strip_suffix('\n')) {
            (Some(text), _) => (text, Ending::CrLf),
            (None, Some(text)) => (text, Ending::Lf),
            (None, None) => (whole, Ending::Text),
        };
        let line = Line { text, start, ending };
        start += whole.len();
        line
    })
}

/// Whether every line that has an ending has CRLF, and there is one.
pub(super) fn all_crlf(lines: &[Line<'_>]) -> bool {
    lines.iter().any(|l| l.ending == Ending::CrLf) && lines.iter().all(|l| l.ending != Ending::Lf)
}

/// The start of `line` for a message: at most 60 characters.
pub(super) fn shown(line: &str) -> String {
    let line = line.trim_end();
    match line.char_indices().nth(60) {
        Some((end, _)) => format!("`{}…`", &line[..end]),
        None => format!("`{line}`"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_know_their_ending_and_start() {
        let found: Vec<_> = lines("a\r\n\nb\r").map(|l| (l.text, l.start, l.ending)).collect();
        assert_eq!(found, [("a", 0, Ending::CrLf), ("", 3, Ending::Lf), ("b\r", 4, Ending::Text)]);
        assert_eq!(lines("").count(), 0);
    }

    #[test]
    fn places_inside_a_json_string_are_those_of_the_string() {
        let fault = || Fault::new(2, "odd");
        let outer = Body::lines("".into(), 4).error(fault());
        assert_eq!((outer.line, outer.column, &*outer.message), (Some(6), None, "odd"));
        let inner = Body::value("".into(), At { line: 1, column: 9 }, "patch").error(fault());
        assert_eq!((inner.line, inner.column), (Some(1), Some(9)));
        assert_eq!(inner.message, "line 3 of `patch`: odd");
    }

    #[test]
    fn long_lines_are_cut_between_characters() {
        assert_eq!(shown(&"é".repeat(61)), format!("`{}…`", "é".repeat(60)));
        assert_eq!(shown("x  "), "`x`");
    }
}
