//! Inputs made to be slow: each answers in time that grows with its size alone. Bounds are generous, for slow machines
//! and unoptimised builds; a quadratic step exceeds them by orders of magnitude.

use super::rules::Rules;
use super::step::run;
use super::tally::counted;
use super::{Options, Refusal};
use crate::edit::{Code, Hunk, LineHunk, Locator, Occurrence, Origin, Row, Step};
use std::time::{Duration, Instant};

const BOUND: Duration = Duration::from_secs(90);

fn hunk(locator: Locator) -> Hunk {
    Hunk { locator, occurrence: Occurrence::Once, origin: Origin { entry: 1, hunk: 1, line: 1 } }
}

fn text(old: &str, new: &str) -> Hunk {
    hunk(Locator::Text { old: old.into(), new: new.into() })
}

fn rows(rows: Vec<Row>, anchors: &[&str]) -> Hunk {
    let anchors = anchors.iter().map(|a| (*a).into()).collect();
    hunk(Locator::Lines(LineHunk { rows, anchors, ..LineHunk::default() }))
}

fn context(text: &str, n: usize) -> Vec<Row> {
    let mut all = vec![Row::Keep(text.into()); n];
    all.push(Row::Remove(text.into()));
    all
}

/// Runs in time, with this outcome: no code stands for success.
fn check(file: &str, hunks: Vec<Hunk>, code: Option<Code>) {
    let begun = Instant::now();
    let rules = Rules::new(&Options::default());
    let refused: Option<Vec<Refusal>> = run(&file.to_owned().into(), &Step { hunks }, &rules).err();
    assert_eq!(refused.and_then(|all| all.first().map(|r| r.code)), code);
    assert!(begun.elapsed() < BOUND, "{:?}", begun.elapsed());
}

#[test]
fn one_line_of_five_megabytes() {
    let half = "var abc=1;".repeat(250_000);
    let file = format!("{half}UNIQUE;{half}\n");
    check(&file, vec![text("UNIQUE", "CHANGED")], None);
    check(&file, vec![text(&format!("{half}UNIQVE"), "x")], Some(Code::NoMatch));
    check(&file, vec![text(&format!(" {}", file.trim_end()), "x")], Some(Code::IndentUncertain));
    let typographic = file.replace("UNIQUE", "“UNIQUE”");
    let plain = file.replace("UNIQUE", "\"UNIQUE\"");
    check(&typographic, vec![text(plain.trim_end(), &plain.trim_end().replace("UNIQUE", "OTHER"))], None);
}

#[test]
fn a_large_text_that_is_absent() {
    let line = |n: usize| format!("line {n} of the text\n");
    let file: String = (0..40_000).map(line).collect();
    let old: String = (0..13_000).map(|n| format!("line {n} of the test\n")).collect();
    check(&file, vec![text(&old, "x")], Some(Code::NoMatch));
    let unlike = "{}();\n".repeat(50_000);
    check(&file, vec![text(&unlike, "x")], Some(Code::NoMatch));
}

#[test]
fn equal_lines_in_a_file_of_equal_lines() {
    let file = "    x = 1\n".repeat(100_000);
    check(&file, vec![rows(context("    x = 1", 40), &[])], Some(Code::Ambiguous));
    check(&file, vec![rows(context("x = 1", 40), &[])], Some(Code::Ambiguous));
    check(&file, vec![rows(context("x = 1", 40_000), &["x = 1", "x = 1"])], Some(Code::Ambiguous));
    // Indents that part only in the last row.
    let mut last = context("x = 1", 50_000);
    last.push(Row::Keep("\tx = 1".into()));
    check(&file, vec![rows(last, &[])], Some(Code::Ambiguous));
    let many = (0..10).map(|_| rows(context("x = 1", 3), &["x = 1"])).collect();
    check(&file, many, Some(Code::Ambiguous));
}

#[test]
fn anchors_that_nest_deeply() {
    let file: String = (0..2000).map(|n| format!("{}if\n", " ".repeat(n % 500))).collect();
    let hunks = (0..20).map(|_| rows(vec![Row::Remove("nowhere".into())], &["if", "if", "if"])).collect();
    check(&file, hunks, Some(Code::NoMatch));
}

/// Twice the lines and twice the hunks take about twice the steps; a step for every line and hunk would take four times
/// as many.
#[track_caller]
fn grows_with_size(of: usize, make: impl Fn(usize) -> (String, Vec<Hunk>)) {
    let steps = |n: usize| {
        let (file, hunks) = make(n);
        let rules = Rules::new(&Options::default());
        counted(|| drop(run(&file.to_owned().into(), &Step { hunks }, &rules)))
    };
    let (once, twice) = (steps(of), steps(2 * of));
    assert!(once > of && twice < 3 * once, "{once} steps, then {twice}");
}

#[test]
fn steps_grow_as_the_input_does() {
    let equal = |n: usize| "    x = 1\n".repeat(500 * n);
    let many = |n: usize, rows_of: fn() -> Hunk| (0..n).map(|_| rows_of()).collect::<Vec<_>>();
    grows_with_size(30, |n| (equal(n), many(n, || rows(context("    x = 1", 3), &[]))));
    grows_with_size(30, |n| (equal(n), many(n, || rows(context("x = 1", 3), &[]))));
    grows_with_size(30, |n| (equal(n), many(n, || rows(context("x = 1", 3), &["x = 1"]))));
    grows_with_size(30, |n| (equal(n), many(n, || text("x = 1", "x = 2"))[..1].to_vec()));
    // Each hunk stands in its own place; equal lines are all around.
    let own = |n: usize| {
        let file: String = (0..n).map(|k| format!("{}own {k}\n", "same\n".repeat(99))).collect();
        let hunk =
            |k| rows([context("same", 3), vec![Row::Keep(format!("own {k}").as_str().into())]].concat(), &[]);
        (file, (0..n).map(hunk).collect())
    };
    grows_with_size(100, own);
    // Texts that stand nowhere are explained as long as that takes no longer than the rest.
    let nowhere = |n: usize| {
        let file = "call(the_name, 17);\n".repeat(500 * n);
        let hunk = |k| rows(vec![Row::Remove(format!("call(the_name, x{k});").as_str().into())], &[]);
        (file, (0..n).map(hunk).collect())
    };
    grows_with_size(80, nowhere);
}

#[test]
fn many_hunks_of_equal_lines() {
    let file = "    x = 1\n".repeat(100_000);
    let many = |anchors: &[&str]| (0..200).map(|_| rows(context("    x = 1", 3), anchors)).collect();
    check(&file, many(&[]), Some(Code::Ambiguous));
    check(&file, many(&["x = 1"]), Some(Code::Ambiguous));
}
