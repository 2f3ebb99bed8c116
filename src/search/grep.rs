//! The lines of a file that a regular expression fits, with those around them. Pure: bytes come in, rows go out.
//!
//! Lines are those of numbered edits but that a lone CR also ends a line for `^`, `$` and `.`. Binary files have none.

use super::excerpt::{Row, cut};
use crate::edit::{Code, split_bom};
use crate::plan::{Refusal, is_binary};
use grep_matcher::LineTerminator;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkMatch};
use std::io;

/// What is looked for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Query {
    /// The regular expression.
    pub regex: String,
    /// Whether case counts.
    pub case: Case,
    /// What a match may span.
    pub span: Span,
    /// Lines to show before each match.
    pub before: usize,
    /// Lines to show after each match.
    pub after: usize,
}

/// Whether case counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Case {
    /// `a` is not `A`.
    Sensitive,
    /// `a` is `A`.
    Insensitive,
}

/// What a match may span.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Span {
    /// Part of one line.
    Line,
    /// Any text: `.` fits line ends too.
    Lines,
}

/// How much of a file is to be found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Depth {
    /// Whether it has a match.
    First,
    /// How many lines match.
    Count,
    /// The rows, until more than so many lines match.
    Rows(usize),
}

/// What was found in one file.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Hits {
    /// Lines that match, as far as was looked.
    pub count: usize,
    /// Lines that match and, around them, lines that do not; in the order of the file.
    pub rows: Vec<HitRow>,
}

/// One line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HitRow {
    /// The line.
    pub row: Row,
    /// Whether it is one that matches.
    pub matches: bool,
}

/// A query that is ready to run on any number of files.
#[derive(Clone, Debug)]
pub struct Grep {
    matcher: RegexMatcher,
    settings: SearcherBuilder,
}

/// A query with the memory that one thread needs to run it.
#[derive(Clone, Debug)]
pub struct Worker {
    matcher: RegexMatcher,
    searcher: Searcher,
}

impl Grep {
    /// # Errors
    /// `usage` for a regular expression that does not parse.
    pub fn new(query: &Query) -> Result<Self, Refusal> {
        let mut builder = RegexMatcherBuilder::new();
        builder.case_insensitive(query.case == Case::Insensitive).multi_line(true);
        match query.span {
            Span::Line => builder.line_terminator(Some(b'\n')).crlf(true),
            Span::Lines => builder.crlf(true).line_terminator(None).dot_matches_new_line(true),
        };
        let matcher = builder.build(&query.regex).map_err(|e| {
            let hint = "a character that stands for itself may need a backslash";
            Refusal::new(Code::Usage, format!("the regular expression does not parse: {e}")).hint(hint)
        })?;
        let mut settings = SearcherBuilder::new();
        settings
            .line_terminator(LineTerminator::crlf())
            .multi_line(query.span == Span::Lines)
            .before_context(query.before)
            .after_context(query.after)
            .bom_sniffing(false)
            .binary_detection(BinaryDetection::none());
        Ok(Self { matcher, settings })
    }

    /// What one thread runs the query with.
    pub fn worker(&self) -> Worker {
        Worker { matcher: self.matcher.clone(), searcher: self.settings.build() }
    }
}

impl Worker {
    /// Looks through one file.
    ///
    /// # Errors
    /// Those of the regular expression engine, when it gives up.
    pub fn search(&mut self, bytes: &[u8], depth: Depth) -> io::Result<Hits> {
        let mut found = Found { depth, hits: Hits::default() };
        if !is_binary(bytes) {
            self.searcher.search_slice(&self.matcher, split_bom(bytes).1, &mut found)?;
        }
        Ok(found.hits)
    }
}

struct Found {
    depth: Depth,
    hits: Hits,
}

impl Found {
    fn row(&mut self, line: usize, text: &[u8], matches: bool) {
        let text = text.strip_suffix(b"\n").unwrap_or(text);
        let (text, cut) = cut(text.strip_suffix(b"\r").unwrap_or(text));
        self.hits.rows.push(HitRow { row: Row { line, text: text.into(), cut }, matches });
    }
}

fn number(line: Option<u64>) -> usize {
    line.and_then(|line| usize::try_from(line).ok()).unwrap_or_default()
}

impl Sink for Found {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        for (line, text) in (number(found.line_number())..).zip(found.lines()) {
            self.hits.count += 1;
            if matches!(self.depth, Depth::Rows(_)) {
                self.row(line, text, true);
            }
        }
        Ok(match self.depth {
            Depth::First => false,
            Depth::Count => true,
            Depth::Rows(most) => self.hits.count <= most,
        })
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext<'_>) -> io::Result<bool> {
        if matches!(self.depth, Depth::Rows(_)) {
            self.row(number(context.line_number()), context.bytes(), false);
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn query(regex: &str) -> Query {
        let (case, span) = (Case::Sensitive, Span::Line);
        Query { regex: regex.to_owned(), case, span, before: 0, after: 0 }
    }

    fn hits(query: &Query, text: &str, depth: Depth) -> Hits {
        let mut worker = Grep::new(query).expect("parses").worker();
        worker.search(text.as_bytes(), depth).expect("ends")
    }

    #[track_caller]
    fn check(query: &Query, text: &str, expected: &[(usize, &str, bool)]) {
        let found = hits(query, text, Depth::Rows(100)).rows;
        let found: Vec<_> = found.iter().map(|r| (r.row.line, r.row.text.to_string(), r.matches)).collect();
        let expected: Vec<_> = expected.iter().map(|(n, text, m)| (*n, (*text).to_owned(), *m)).collect();
        assert_eq!(found, expected, "{query:?}");
    }

    #[test]
    fn lines_are_found_with_their_numbers() {
        check(&query("b"), "a\nb\r\ncb", &[(2, "b", true), (3, "cb", true)]);
        check(&query("^a$"), "\u{feff}a\r\nba\r\na", &[(1, "a", true), (3, "a", true)]);
        check(&query("A"), "a\n", &[]);
        check(&Query { case: Case::Insensitive, ..query("É") }, "é\n", &[(1, "é", true)]);
        check(&query("a.b"), "a\nb\n", &[]);
        check(&query("a"), "\0a\n", &[]);
    }

    #[test]
    fn a_match_may_span_lines() {
        let lines = Query { span: Span::Lines, ..query("a.b") };
        check(&lines, "x\na\nb\ny\n", &[(2, "a", true), (3, "b", true)]);
        check(&Query { span: Span::Lines, ..query("^b$") }, "a\r\nb\r\n", &[(2, "b", true)]);
    }

    #[test]
    fn lines_around_are_shown() {
        let around = Query { before: 1, after: 2, ..query("x") };
        let rows = [(2, "b", false), (3, "x", true), (4, "c", false), (5, "d", false)];
        check(&around, "a\nb\nx\nc\nd\ne\n", &rows);
    }

    #[test]
    fn no_more_is_looked_for_than_asked() {
        let text = "x\n".repeat(10);
        assert_eq!(hits(&query("x"), &text, Depth::First), Hits { count: 1, rows: Vec::new() });
        assert_eq!(hits(&query("x"), &text, Depth::Count), Hits { count: 10, rows: Vec::new() });
        assert_eq!(hits(&query("x"), &text, Depth::Rows(3)).count, 4);
    }

    #[test]
    fn bad_expressions_are_refused() {
        assert_eq!(Grep::new(&query("(")).expect_err("refused").code, Code::Usage);
        assert_eq!(Grep::new(&query("a\\nb")).expect_err("refused").code, Code::Usage);
    }
}
