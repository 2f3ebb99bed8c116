//! Hunks against one text: the pass and the notes of each and the bytes afterwards, or the refusals.

use super::Refusal;
use super::pass::Ladder;
use super::step::{StepDone, run};
use crate::edit::{Code, Hunk, LineHunk, Locator, Occurrence, Origin, Row, Step};

fn hunk(locator: Locator) -> Hunk {
    Hunk { locator, occurrence: Occurrence::Once, origin: Origin { entry: 1, hunk: 1, line: 1 } }
}

/// Rows as in a diff, joined by `|`. Before them `anchor @`s, `hint:` or both; `$` at the end marks the end of the file.
fn lines(text: &str) -> Hunk {
    let (at_end, text) = (text.ends_with('$'), text.strip_suffix('$').unwrap_or(text));
    let mut parts: Vec<&str> = text.split("@ ").collect();
    let body = parts.pop().unwrap_or_default();
    let (hint, body) = match body.split_once(':') {
        Some((number, rest)) if number.parse::<usize>().is_ok() => (number.parse().ok(), rest),
        _ => (None, body),
    };
    let row = |line: &str| match line.split_at(1) {
        ("+", text) => Row::Add(text.into()),
        ("-", text) => Row::Remove(text.into()),
        (_, text) => Row::Keep(text.into()),
    };
    let rows: Vec<Row> = body.split('|').map(row).collect();
    let anchors = parts.iter().map(|a| (*a).into()).collect();
    let hint = hint.map(|line| (line, 1));
    hunk(Locator::Lines(LineHunk { rows, anchors, hint, at_end, ..LineHunk::default() }))
}

fn text(old: &str, new: &str) -> Hunk {
    hunk(Locator::Text { old: old.into(), new: new.into() })
}

fn place(file: &str, hunks: Vec<Hunk>) -> Result<StepDone, Vec<Refusal>> {
    run(file.as_bytes(), &Step { hunks }, Ladder::new())
}

/// `said` are the passes with their notes: `exact`, `trailing-ws edge-blank-dropped`.
fn check(file: &str, hunks: Vec<Hunk>, said: &[&str], after: &str) {
    let shown = format!("{file:?} {hunks:?}");
    let done = place(file, hunks).unwrap_or_else(|refusals| panic!("{shown}: {refusals:?}"));
    assert_eq!(String::from_utf8_lossy(&done.bytes), after, "{shown}");
    let notes = |hunk: &super::PlacedHunk| hunk.notes.iter().map(|n| format!(" {n}")).collect::<String>();
    let passes: Vec<String> = done.hunks.iter().map(|h| format!("{}{}", h.pass, notes(h))).collect();
    assert_eq!(passes, said, "{shown}");
}

fn refused(file: &str, hunks: Vec<Hunk>, codes: &[Code]) -> Vec<Refusal> {
    let shown = format!("{file:?} {hunks:?}");
    let refusals = place(file, hunks).err().unwrap_or_else(|| panic!("{shown} was placed"));
    assert_eq!(refusals.iter().map(|r| r.code).collect::<Vec<_>>(), codes, "{shown}: {refusals:?}");
    refusals
}

#[test]
fn trailing_blanks_do_not_part_lines_and_stay_in_context() {
    check("a  \nb\t\nc\n", vec![lines(" a|-b|+B")], &["trailing-ws"], "a  \nB\nc\n");
    check("x\n   \ny\nrest\n", vec![text("x\n\ny", "Z")], &["trailing-ws"], "Z\nrest\n");
    check("k\nx\nk  \n", vec![lines("-k|+K")], &["exact"], "K\nx\nk  \n");
    refused("k  \nx\nk\t\n", vec![lines("-k|+K")], &[Code::Ambiguous]);
    refused("xk  \n", vec![text("k\nl", "K")], &[Code::NoMatch]);
}

#[test]
fn a_text_that_ends_with_a_newline_keeps_the_next_line() {
    check("one  \n  two\n", vec![text("one\n", "uno\n")], &["trailing-ws"], "uno\n  two\n");
    check("one  \n  two\n", vec![text("one\n", "")], &["trailing-ws"], "  two\n");
    check("one  \ntwo\n", vec![text("one\n", "o")], &["trailing-ws"], "otwo\n");
    refused("one  \ntwo\n", vec![text("one\nt", "x")], &[Code::NoMatch]);
}

#[test]
fn outer_blank_lines_may_stand_nowhere() {
    let dropped = &["exact edge-blank-dropped"];
    check("a\nb\n", vec![lines(" a|-b|+B| ")], dropped, "a\nB\n");
    check("foo\nbar\n", vec![text("\nbar\n\n", "BAR")], dropped, "foo\nBAR\n");
    check("a\n\nb\n", vec![lines(" a| |-b|+B")], &["exact"], "a\n\nB\n");
    refused("a\nb\n", vec![lines(" a| |-b|+B")], &[Code::NoMatch]);
    // A text without its blank lines is whole lines: it never starts inside one.
    refused("foobar\n", vec![text("\nbar\n\n", "BAR")], &[Code::NoMatch]);
}

#[test]
fn the_last_line_goes_and_the_text_still_ends_bare() {
    check("a\nb\nlast", vec![lines(" b|-last")], &["exact"], "a\nb");
    check("a\r\nlast", vec![lines("-a|+A"), lines("-last")], &["exact", "exact"], "A");
    check("a\nlast\n", vec![lines("-last")], &["exact"], "a\n");
}

#[test]
fn typography_is_matched_knowingly_and_kept() {
    let quoted = "He said “go” now\n";
    let edit = text("He said \"go\" now", "He said \"go\" later");
    check(quoted, vec![edit], &["unicode"], "He said “go” later\n");
    check("don’t\nx\n", vec![lines(" don't|-x|+y")], &["unicode"], "don’t\ny\n");
    check("m = \"a\"\nm = “a”\n", vec![lines("-m = \"a\"|+n")], &["exact"], "n\nm = “a”\n");
    check("cafe\u{301} x\n", vec![lines("-café x|+tea x")], &["unicode"], "tea x\n");
    refused("Alpha\n", vec![lines("-alpha|+x")], &[Code::NoMatch]);
}
