//! Finds the fenced code blocks of a Markdown text, with the exact bytes of their bodies.
//!
//! `pulldown-cmark` decides what is a fence (lists, quotes, tildes, indents). Its text events normalise line endings,
//! so bodies are cut from the source; and it closes open fences silently, so the closing line is looked at here.

use super::body::{Body, Line, lines};
use crate::edit::Text;
use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};
use std::ops::Range;

/// One fenced code block.
#[derive(Clone, Debug)]
pub(super) struct Fence {
    /// The rest of the opening line, as written.
    pub(super) info: String,
    /// Its lines, from 0, those of the fence included.
    pub(super) lines: Range<usize>,
    /// What stands between the fence lines, without the prefixes of lists and quotes.
    pub(super) body: Text,
    /// Its sign and how often that opens it.
    pub(super) signs: (char, usize),
    /// Whether a closing line ends it.
    pub(super) end: End,
}

/// How a fence ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum End {
    Closed,
    /// By the end of the text, or of the list or quote that holds it.
    Open,
}

/// A fence as the Markdown parser sees it.
struct Found {
    range: Range<usize>,
    /// Where its text stands: without the prefixes of lines, neighbours joined.
    texts: Vec<Range<usize>>,
    place: Place,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Place {
    Top,
    /// In a list or a quote.
    Nested,
}

/// The fences of `text`, in order.
pub(super) fn find(text: &Text) -> Vec<Fence> {
    if !text.contains("```") && !text.contains("~~~") {
        return Vec::new();
    }
    let lines: Vec<Line<'_>> = lines(text).collect();
    blocks(text).into_iter().filter_map(|found| cut(text, &lines, &found)).collect()
}

/// A line that looks like the opening of a fence and is none.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Hidden<'t> {
    /// The line, from 0.
    pub(super) line: usize,
    /// Its info string.
    pub(super) info: &'t str,
    /// The fence that holds it, as an index; `None` for a line in HTML.
    pub(super) inside: Option<usize>,
}

/// Lines that would open a fence if they did not stand in HTML, or in a fence that is no longer than theirs.
pub(super) fn hidden<'t>(text: &'t str, fences: &[Fence]) -> Vec<Hidden<'t>> {
    let (mut next, mut hidden) = (0, Vec::new());
    for (line, content) in lines(text).enumerate() {
        while fences.get(next).is_some_and(|f| f.lines.end <= line) {
            next += 1;
        }
        let holder = fences.get(next).filter(|f| f.lines.contains(&line));
        let Some((sign, length, info)) = fence_line(content.text).filter(|found| !found.2.is_empty()) else {
            continue;
        };
        if holder.is_none_or(|f| f.lines.start < line && f.signs.0 == sign && f.signs.1 <= length) {
            hidden.push(Hidden { line, info, inside: holder.map(|_| next) });
        }
    }
    hidden
}

fn blocks(text: &str) -> Vec<Found> {
    let mut blocks = Vec::new();
    let mut depth = 0usize;
    let mut open: Option<Found> = None;
    for (event, range) in Parser::new_ext(text, Options::empty()).into_offset_iter() {
        match event {
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(_))) => {
                let place = if depth == 0 { Place::Top } else { Place::Nested };
                open = Some(Found { range, texts: Vec::new(), place });
            }
            Event::End(TagEnd::CodeBlock) => blocks.extend(open.take()),
            Event::Start(Tag::CodeBlock(_)) => {}
            Event::Start(_) => depth += 1,
            Event::End(_) => depth = depth.saturating_sub(1),
            Event::Text(_) => {
                if let Some(found) = &mut open {
                    found.texts.push(range);
                }
            }
            _ => {}
        }
    }
    blocks
}

/// The fence with its body. `None` only if the parser's ranges do not name a fence line.
fn cut(text: &Text, lines: &[Line<'_>], found: &Found) -> Option<Fence> {
    let number = |offset: usize| lines.partition_point(|l| l.start <= offset).saturating_sub(1);
    let first = number(found.range.start);
    let last = number(found.range.end.saturating_sub(1)).max(first);
    let opening = lines.get(first)?;
    let (sign, length, info) = fence_line(text[found.range.start..].lines().next()?)?;
    let strip = |l: &Line<'_>| match found.place {
        Place::Top => l.text.to_owned(),
        Place::Nested => l.text.trim_start_matches([' ', '\t', '>']).to_owned(),
    };
    let closes = last > first
        && fence_line(&strip(&lines[last]))
            .is_some_and(|(s, n, rest)| s == sign && n >= length && rest.is_empty());
    let end = if closes { End::Closed } else { End::Open };
    let rows = first + 1..if closes { last } else { last + 1 };
    let flush =
        found.place == Place::Top && opening.start == found.range.start && opening.text.starts_with(sign);
    let body = if flush { whole(text, lines, rows) } else { stripped(text, lines, rows, &found.texts) };
    Some(Fence { info: info.to_owned(), lines: first..last + 1, body, signs: (sign, length), end })
}

fn whole(text: &Text, lines: &[Line<'_>], rows: Range<usize>) -> Text {
    let start_of = |at: usize| lines.get(at).map_or(text.len(), |l| l.start);
    text.slice(start_of(rows.start)..start_of(rows.end.max(rows.start)))
}

/// The rows from where their own text starts, endings included.
fn stripped(text: &str, lines: &[Line<'_>], rows: Range<usize>, texts: &[Range<usize>]) -> Text {
    let mut body = String::new();
    for at in rows {
        let line = &lines[at];
        let next = lines.get(at + 1).map_or(text.len(), |l| l.start);
        // The first text that reaches into the line: it starts there, or before it and runs on.
        let reaching = texts.get(texts.partition_point(|t| t.end <= line.start));
        let from = reaching.map(|t| t.start.max(line.start)).filter(|&from| from <= line.end());
        body.push_str(&text[from.unwrap_or(line.end())..next]);
    }
    Text::from(body)
}

/// The sign, length and info string of a fence line.
fn fence_line(line: &str) -> Option<(char, usize, &str)> {
    let bare = line.trim_start_matches(' ');
    let sign = bare.chars().next().filter(|c| ['`', '~'].contains(c))?;
    let rest = bare.trim_start_matches(sign);
    let length = bare.len() - rest.len();
    let info = rest.trim();
    let fits = line.len() - bare.len() <= 3 && length >= 3 && !(sign == '`' && info.contains('`'));
    fits.then_some((sign, length, info))
}

impl Fence {
    /// The body with its place; `outer` is the text that the fence was found in.
    pub(super) fn body(&self, outer: &Body) -> Body {
        outer.part(self.body.clone(), self.lines.start + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fences as `info@line:body`, open ones with a `!`.
    fn check(text: &str, expected: &[&str]) {
        let found: Vec<String> = find(&text.into())
            .iter()
            .map(|f| {
                let mark = if f.end == End::Open { "!" } else { "" };
                format!("{mark}{}@{}:{}", f.info, f.lines.start + 1, &*f.body)
            })
            .collect();
        assert_eq!(found, expected, "{text:?}");
    }

    #[test]
    fn fences_and_their_bodies() {
        check("a\n```patch f\nx\n```\nb\n~~~ y z\n1\n2\n~~~", &["patch f@2:x\n", "y z@6:1\n2\n"]);
        check("````p\n```\nx\n```\n````\n", &["p@1:```\nx\n```\n"]);
        check("  ```p\n  a\n b\n   c\n  ```\n", &["p@1:a\nb\n c\n"]);
        check("  ```p\na\n\nb\n  c\n  ```\n", &["p@1:a\n\nb\nc\n"]);
        check("~~~p\n```\n~~~\n", &["p@1:```\n"]);
        check("```\n```\n", &["@1:"]);
        check("    ```p\n    x\n    ```\n", &[]);
    }

    #[test]
    fn line_endings_stay() {
        check("```p\r\na\r\nb\n\r\n```\r\n", &["p@1:a\r\nb\n\r\n"]);
        check(" ```p\r\n a\r\n\r\n b\n ```\r\n", &["p@1:a\r\n\r\nb\n"]);
    }

    #[test]
    fn lists_and_quotes() {
        check("1. do\n   ```p\n   a\n     b\n\n   ```\n", &["p@2:a\n  b\n\n"]);
        check("10. do\n    ```p\n    a\n    ```\n", &["p@2:a\n"]);
        check("> ```p\n> a\n>\n> ```\n", &["p@1:a\n\n"]);
    }

    #[test]
    fn open_fences() {
        check("```p\na\n", &["!p@1:a\n"]);
        check("```p", &["!p@1:"]);
        check("````p\na\n```\n", &["!p@1:a\n```\n"]);
        check("```p\na\n```x\n", &["!p@1:a\n```x\n"]);
        check("- x\n  ```p\n  a\nb\n", &["!p@2:a\n"]);
    }

    #[test]
    fn fences_in_html_and_in_open_fences_are_hidden() {
        let text = "<div>
```patch f
x
```

```q
~~~a
```b
````
";
        let fences = find(&text.into());
        let found = hidden(text, &fences);
        let found: Vec<_> = found.iter().map(|h| (h.line, h.info, h.inside)).collect();
        assert_eq!(found, [(1, "patch f", None), (7, "b", Some(0))]);
    }
}
