//! Finds out which form a text has (formats.md, detection, rules 1 to 9), from the text alone.
//!
//! The first rule that applies decides. Nothing is read here: a form that is recognised may still be broken.

use super::body::{Body, shown};
use super::fences::{self, Fence};
use super::{ParseError, entry, gptme, header, wrapper};
use crate::edit::{Format, Text};

/// What a text is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Detected {
    /// One JSON value, or one a line; its entries tell their forms.
    Json,
    /// A text of this form.
    Text(Format),
    /// No rule applies.
    Nothing,
}

/// What `text` is when the caller may have named its form.
pub(super) fn expected(text: &Text, format: Option<Format>) -> Detected {
    match format {
        None | Some(Format::Mixed) => self::format(text),
        Some(Format::Fenced) => Detected::Text(Format::Fenced),
        Some(_) if is_json(text) => Detected::Json,
        Some(Format::PatchMany | Format::Ops | Format::Edits | Format::Lsp | Format::Suggestions) => {
            Detected::Nothing
        }
        Some(format) => Detected::Text(format),
    }
}

/// What `text` is.
pub(super) fn format(text: &Text) -> Detected {
    let first = first_line(text);
    if is_json(text) {
        return Detected::Json;
    }
    if is_hashline_header(first) {
        return Detected::Text(Format::Hashline);
    }
    let found = envelope(text)
        .or_else(|| starts_diff(first).then_some(Format::Diff))
        .or_else(|| fences::find(text).iter().any(|f| role(f).is_some()).then_some(Format::Fenced))
        .or_else(|| has_sections(text).then_some(Format::Fenced))
        .or_else(|| has_diff(text).then_some(Format::Diff))
        .or_else(|| markers(text))
        .or_else(|| first.starts_with("@@").then_some(Format::Diff));
    found.map_or(Detected::Nothing, Detected::Text)
}

/// What a fence holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Role {
    /// ORIGINAL/UPDATED blocks.
    Blocks,
    /// JSON entries.
    Json,
    /// Another form.
    Text(Format),
}

/// What an edit fence holds; `None` for a fence that is prose.
pub(super) fn role(fence: &Fence) -> Option<Role> {
    let (word, rest) = header::split(&fence.info);
    match word {
        "patch_many" | "patch" if !rest.is_empty() => Some(Role::Blocks),
        "patch_many" | "patch" | "edit" => Some(
            body_role(&fence.body)
                .unwrap_or_else(|| if is_json(&fence.body) { Role::Json } else { Role::Blocks }),
        ),
        "apply_patch" | "envelope" => Some(Role::Text(envelope(&fence.body).unwrap_or(Format::Envelope))),
        "hashline" => Some(Role::Text(Format::Hashline)),
        "blocks" => Some(Role::Text(Format::Blocks)),
        "diff" => Some(Role::Text(Format::Diff)),
        "json" | "" => body_role(&fence.body),
        _ => None,
    }
}

/// Whether an info string names an edit fence by its word alone.
pub(super) fn is_edit_word(info: &str) -> bool {
    const WORDS: [&str; 8] =
        ["patch_many", "patch", "apply_patch", "diff", "edit", "envelope", "hashline", "blocks"];
    WORDS.contains(&header::split(info).0)
}

/// Rules 1, 3, 6 and 7 on the body of a fence, and rule 2 where the line has a tag: other texts begin with `[name]`.
fn body_role(text: &Text) -> Option<Role> {
    if is_json(text) {
        return entry::is_batch(text).then_some(Role::Json);
    }
    let other = envelope(text)
        .or_else(|| is_tagged_header(first_line(text)).then_some(Format::Hashline))
        .or_else(|| has_diff(text).then_some(Format::Diff))
        .or_else(|| markers(text))?;
    Some(if other == Format::Fenced { Role::Blocks } else { Role::Text(other) })
}

/// The first line that is not blank, without trailing blanks.
fn first_line(text: &str) -> &str {
    text.lines().find(|l| !l.trim().is_empty()).unwrap_or_default().trim_end()
}

fn is_json(text: &str) -> bool {
    match text.trim_start().bytes().next() {
        Some(b'{' | b'"') => true,
        Some(b'[') => !is_hashline_header(first_line(text)),
        _ => false,
    }
}

/// `[path]` or `[path#hex]` as a whole line. A JSON array of several elements is none, whatever they are.
fn is_hashline_header(line: &str) -> bool {
    let inner = line.strip_prefix('[').and_then(|l| l.strip_suffix(']'));
    let several = || serde_json::from_str::<Vec<serde::de::IgnoredAny>>(line).is_ok_and(|all| all.len() > 1);
    inner.is_some_and(|inner| !inner.trim().is_empty() && !inner.contains(['{', '"', '[', ']'])) && !several()
}

/// `[path#hex]` as a whole line.
fn is_tagged_header(line: &str) -> bool {
    let tag = line.strip_suffix(']').and_then(|line| line.rsplit_once('#')).map(|(_, tag)| tag);
    is_hashline_header(line)
        && tag.is_some_and(|tag| tag.len() >= 4 && tag.bytes().all(|b| b.is_ascii_hexdigit()))
}

/// Rule 3: an envelope, maybe behind a heredoc opener; what it holds.
fn envelope(text: &str) -> Option<Format> {
    let mut lines = text.lines().map(str::trim).filter(|l| !l.is_empty());
    let mut first = lines.next()?;
    if wrapper::heredoc(first).is_some() {
        first = lines.next()?;
    }
    if first != wrapper::BEGIN {
        return None;
    }
    Some(if lines.next().is_some_and(|l| l.starts_with('[')) { Format::Hashline } else { Format::Envelope })
}

/// Rule 4, first half: a text whose first line can only be that of a diff.
fn starts_diff(first: &str) -> bool {
    let mail = first.strip_prefix("From ").and_then(|rest| rest.split(' ').next());
    ["diff --git", "--- ", "Index: "].iter().any(|s| first.starts_with(s))
        || mail.is_some_and(|id| id.len() >= 40 && id.bytes().all(|b| b.is_ascii_hexdigit()))
}

/// Rule 5: a section line before the first marker.
fn has_sections(text: &str) -> bool {
    let before = text.lines().take_while(|l| !l.trim_start().starts_with("<<<<<<<"));
    before.into_iter().any(|l| gptme::section_path(l).is_some())
}

/// Rule 6.
fn has_diff(text: &str) -> bool {
    let lines: Vec<&str> = text.lines().collect();
    lines.iter().any(|l| l.starts_with("diff --git "))
        || lines
            .windows(3)
            .any(|w| w[0].starts_with("--- ") && w[1].starts_with("+++ ") && w[2].starts_with("@@ -"))
}

/// Rule 7: the first block marker decides.
fn markers(text: &str) -> Option<Format> {
    text.lines().find_map(|line| {
        if gptme::is_opener(line) {
            return Some(Format::Fenced);
        }
        let line = line.trim();
        let signs = line.len() - line.trim_start_matches('<').len();
        ((5..=9).contains(&signs) && line[signs..].trim() == "SEARCH").then_some(Format::Blocks)
    })
}

/// Rule 9: why this text is no batch.
pub(super) fn refusal(body: &Body, expected: Option<Format>) -> ParseError {
    let first = first_line(&body.text);
    let line = body.text.lines().position(|l| !l.trim().is_empty()).unwrap_or(0);
    if first.is_empty() {
        return ParseError {
            line: None,
            column: None,
            ..error(body, 0, "no edit in the input: it is empty".into())
        };
    }
    if let Some(format) = expected {
        return error(body, line, format!("{format} is JSON, but the input starts with {}", shown(first)));
    }
    if let Some((name, hint)) = foreign(&body.text) {
        let message = format!("{name} is not a form that can be applied safely: {}", shown(first));
        return error(body, line, message).hint(hint);
    }
    error(body, line, format!("no edit in the input; its first line is {}", shown(first))).hint(
        "not JSON: no `{` or `[` at the start; not hashline: no `[path#tag]` line; not envelope: no `*** Begin Patch`; \
         not fenced: no `patch_many`, `patch`, `apply_patch` or `diff` fence and no `=== PATH: p ===` line; \
         not diff: no `---`, `+++`, `@@ -` lines; not blocks: no `<<<<<<<` marker",
    )
}

fn error(body: &Body, line: usize, message: String) -> ParseError {
    ParseError::at(body.at(line, 1), message)
}

/// A form of another tool that we do not read, and what to do instead.
fn foreign(text: &str) -> Option<(&'static str, &'static str)> {
    let mut lines = text.lines().map(str::trim_end).filter(|l| !l.is_empty());
    let (first, second) = (lines.next()?, lines.next().unwrap_or_default());
    let unified = "make a unified diff: `diff -u` or `git diff`";
    if first.starts_with("*** ") && second.starts_with("--- ") {
        Some(("a context diff", unified))
    } else if is_ed_command(first, 'a'..='d') {
        Some(if second.starts_with(['<', '>']) {
            ("a normal diff", unified)
        } else {
            ("an ed script", unified)
        })
    } else if is_sed(first) {
        Some(("a sed script", "write the edit as `old_string` and `new_string`"))
    } else {
        None
    }
}

/// `3c`, `1,2d`, `3a4,5`.
fn is_ed_command(line: &str, commands: std::ops::RangeInclusive<char>) -> bool {
    let numbers = |s: &str| s.bytes().all(|b| b.is_ascii_digit() || b == b',');
    line.find(|c: char| c.is_ascii_alphabetic()).is_some_and(|at| {
        let command = line[at..].starts_with(|c| commands.contains(&c) && c != 'b');
        at > 0 && command && numbers(&line[..at]) && numbers(&line[at + 1..])
    })
}

/// `s/a/b/g` or `sed -i …`.
fn is_sed(line: &str) -> bool {
    let substitution = line.strip_prefix("s/").is_some_and(|rest| rest.matches('/').count() == 2);
    substitution || line.starts_with("sed -") || line.starts_with("sed 's")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Detected) {
        assert_eq!(format(&text.into()), expected, "{text:?}");
    }

    #[test]
    fn rules() {
        use Detected::{Json, Nothing, Text};
        for json in ["{}", " [\n{", "\"x\"", "[]", "[{\"a\": 1}]", "[\"f\"]"] {
            check(json, Json);
        }
        check("[a/b.rs#1234abcd]\nDEL 1", Text(Format::Hashline));
        check("[a b]\n", Text(Format::Hashline));
        check("*** Begin Patch\n*** Add File: x", Text(Format::Envelope));
        check("cat <<'EOF'\n*** Begin Patch\n[a#1]\n", Text(Format::Hashline));
        check("--- a/x\n```patch f\n```", Text(Format::Diff));
        check("text\n```patch f\n```", Text(Format::Fenced));
        check("text\n~~~json\n[{\"path\": \"f\", \"patch\": \"\"}]\n~~~", Text(Format::Fenced));
        check("text\n```json\n{\"a\": 1}\n```", Nothing);
        check("text\n```\ndiff --git a/x b/x\n```", Text(Format::Fenced));
        check("text\n```\n[a#1234]\nDEL 1\n```", Text(Format::Fenced));
        check("text\n```toml\n[a#1234]\n```", Nothing);
        check("text\n```\n[package]\n```", Nothing);
        check("=== PATH: x ===\n", Text(Format::Fenced));
        check("<<<<<<< HEAD\n=== PATH: x ===\n", Nothing);
        check("mail\n--- a\n+++ b\n@@ -1 +1 @@\n", Text(Format::Diff));
        check("<<<<<<< ORIGINAL\n", Text(Format::Fenced));
        check("<<<<<< ORIGINAL\n", Text(Format::Fenced));
        check("f\n<<<<<<< SEARCH\n", Text(Format::Blocks));
        check("@@\n-a\n", Text(Format::Diff));
        check("From the start,\nthings", Nothing);
        check("", Nothing);
    }

    #[test]
    fn refusals_name_what_they_saw() {
        let of = |text: &str| refusal(&Body::lines(text.into(), 1), None);
        for (text, part) in [
            ("\nI would", "first line is `I would`"),
            ("", "it is empty"),
            ("3c4\n< a\n---\n> b", "a normal diff"),
            ("3c\nnew\n.\n", "an ed script"),
            ("*** a 1\n--- b 2\n", "a context diff"),
            ("s/a/b/g", "a sed script"),
        ] {
            assert!(of(text).message.contains(part), "{text:?}: {}", of(text).message);
        }
        assert_eq!(of("\nI would").line, Some(2));
    }
}
