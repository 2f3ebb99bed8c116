//! Hunks against one text: the pass and the notes of each and the bytes afterwards, or the refusals.

use super::applied::Applied;
use super::equality::Key;
use super::rules::Rules;
use super::step::{StepDone, run};
use super::{Options, Refusal};
use crate::edit::{Code, Hunk, LineHunk, Locator, Occurrence, Origin, Row, Step, WarningCode};
use proptest::collection::vec;
use proptest::prelude::*;

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
    run(&file.to_owned().into(), &Step { hunks }, &Rules::new(&Options::default()))
}

/// `said` are the passes with their notes: `exact`, `trailing-ws edge-blank-dropped`.
fn check(file: &str, hunks: Vec<Hunk>, said: &[&str], after: &str) {
    let shown = format!("{file:?} {hunks:?}");
    let done = place(file, hunks).unwrap_or_else(|refusals| panic!("{shown}: {refusals:?}"));
    assert_eq!(String::from_utf8_lossy(&done.bytes.whole()), after, "{shown}");
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
    check("key\nx\nkey  \n", vec![lines("-key|+K")], &["exact"], "K\nx\nkey  \n");
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
    check("one\nkey\n", vec![text(" \nkey \n", "\t")], &["trailing-ws edge-blank-dropped"], "one\n");
    check("a\n\nb\n", vec![lines(" a| |-b|+B")], &["exact"], "a\n\nB\n");
    refused("a\nb\n", vec![lines(" a| |-b|+B")], &[Code::NoMatch]);
    // A text without its blank lines is whole lines: it never starts inside one.
    refused("foobar\n", vec![text("\nbar\n\n", "BAR")], &[Code::NoMatch]);
}

#[test]
fn rows_that_tell_their_terminators_are_taken_at_their_word() {
    check("a\r\nb\r\nc\n", vec![lines(" a\r|-b\r|+B\r|+B2| c")], &["exact"], "a\r\nB\r\nB2\nc\n");
    check("a\nb\n", vec![lines("-a|+a\r| b")], &["exact"], "a\r\nb\n");
    check("a\nb\n", vec![lines(" a\r|-b\r|+B\r")], &["exact"], "a\nB\n");
    refused("a\r\nb\r\n", vec![lines("-a|+a\r| b\r")], &[Code::AlreadyApplied]);
    refused("a\nb\n", vec![lines("-a\r|+a| b\r")], &[Code::NoMatch]);
    refused("a\r\n", vec![lines("-a\r\r|+b\r\r")], &[Code::NoMatch]);
}

#[test]
fn texts_may_be_cut_in_the_middle_of_crlf() {
    check("a)\r\n)\r\n", vec![text("a)\r\n)\r", "b\r")], &["exact"], "b\r\n");
    refused("a\n", vec![text("a\r", "b")], &[Code::NoMatch]);
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
    check("m = \"abc\"\nm = “abc”\n", vec![lines("-m = \"abc\"|+n")], &["exact"], "n\nm = “abc”\n");
    check("cafe\u{301} x\n", vec![lines("-café x|+tea x")], &["unicode"], "tea x\n");
    refused("Alpha\n", vec![lines("-alpha|+x")], &[Code::NoMatch]);
}

#[test]
fn one_shift_for_all_lines() {
    let shift = &["indent-shift"];
    let deeper = "    if alpha:\n        beta()\n";
    check(
        deeper,
        vec![lines(" if alpha:|-    beta()|+    gamma()|+    if x:|+        y()")],
        shift,
        "    if alpha:\n        gamma()\n        if x:\n            y()\n",
    );
    check("alpha()\n", vec![lines("-  alpha()|+  beta()|+|+    gamma()")], shift, "beta()\n\n  gamma()\n");
    check(
        "    alpha()\n\n    beta()\n",
        vec![lines(" alpha()| |-beta()|+gamma()")],
        shift,
        "    alpha()\n\n    gamma()\n",
    );
    check(
        "loop {\n  one();\n  two();\n}\n",
        vec![text("    one();\n", "    uno();\n")],
        shift,
        "loop {\n  uno();\n  two();\n}\n",
    );
    refused("  xyz\na\n    xyz\n", vec![lines("-xyz|+abc")], &[Code::Ambiguous]);
}

#[test]
fn a_map_of_indents_and_its_whole_units() {
    let map = &["indent-map indent-mapped"];
    let file = "def f():\n    if alpha:\n        beta()\n";
    let head = " def f():|   if alpha:|-    beta()";
    check(
        file,
        vec![lines(&format!("{head}|+    if beta:|+      gamma()"))],
        map,
        "def f():\n    if alpha:\n        if beta:\n            gamma()\n",
    );
    refused(file, vec![lines(&format!("{head}|+     gamma()"))], &[Code::IndentUncertain]);
    check(
        "\tif x {\n\t\tgo_now();\n\t}\n",
        vec![lines("     if x {|-        go_now();|+        run();|     }")],
        map,
        "\tif x {\n\t\trun();\n\t}\n",
    );
}

#[test]
fn indents_without_a_rule_determine_little() {
    let trim = &["trim indent-mapped"];
    let file = "def f():\n    alpha()\n    beta()\n";
    check(
        file,
        vec![lines(" def f():|   alpha()|-   beta()|+   beta(1)")],
        trim,
        "def f():\n    alpha()\n    beta(1)\n",
    );
    let file = "    alpha()\n      beta()\n    gamma()\n";
    let refusals = refused(file, vec![lines(" alpha()|-beta()|+delta()| gamma()")], &[Code::IndentUncertain]);
    let retry = refusals[0].evidence.as_ref().and_then(|e| e.retry.clone()).expect("carries the hunk");
    assert_eq!(retry.old, "    alpha()\n      beta()\n    gamma()");
    assert_eq!(retry.new, "    alpha()\ndelta()\n    gamma()");
    refused("def f():\n    a_call()\n", vec![lines("-        a_call()|+z_call()")], &[Code::IndentUncertain]);
}

#[test]
fn too_little_text_is_not_placed_loosely() {
    for (file, hunk) in [("  x();\n  }\n", "-}|+};"), ("    fi\n", "-fi|+done"), ("    a\n  b\n", " a|-b|+B")]
    {
        let refusals = refused(file, vec![lines(hunk)], &[Code::LowEvidence]);
        assert_eq!(refusals[0].evidence.as_ref().map(|e| e.candidates_total), Some(1));
    }
    check("    end\n", vec![lines("-end|+stop")], &["indent-shift"], "    stop\n");
    refused("— —\n", vec![lines("-- -|+x")], &[Code::LowEvidence]);
}

#[test]
fn a_text_that_says_little_is_not_unique_by_luck() {
    let file = "if a {\n  go();\n  }\n}\n";
    refused(file, vec![lines("-}|+};")], &[Code::Ambiguous]);
    check(file, vec![lines("4:-}|+};")], &["exact"], "if a {\n  go();\n  }\n};\n");
    check(file, vec![lines("-}|+};$")], &["exact"], "if a {\n  go();\n  }\n};\n");
    check("a {\n  }\nfn b {\n}\n", vec![lines("fn b {@ -}|+};")], &["exact"], "a {\n  }\nfn b {\n};\n");
    check("x\nyy\nz\n", vec![lines("-yy|+w")], &["exact"], "x\nw\nz\n");
    refused("  }\n  }\nx\n}\n}\n", vec![text("}\n}", "};")], &[Code::Ambiguous]);
    // Three lines with their indents are no luck.
    let file = "    }\n  }\n}\n        }\n      }\n    }\n";
    check(file, vec![lines("-    }|-  }|-}|+x")], &["exact"], "x\n        }\n      }\n    }\n");
}

#[test]
fn a_header_chooses_among_equals_only() {
    let twice = "aa\nbb\naa\nbb\n";
    check(twice, vec![lines("3: aa|-bb|+cc")], &["exact twins"], "aa\nbb\naa\ncc\n");
    refused(twice, vec![lines("2: aa|-bb|+cc")], &[Code::Ambiguous]);
    check(
        "p\nq\ncc\naa\nbb\ndd\naa\nbb\n",
        vec![lines("1:-cc|+CC"), lines("2: aa|-bb|+BB")],
        &["exact", "exact twins"],
        "p\nq\nCC\naa\nBB\ndd\naa\nbb\n",
    );
    check("x\ny\nfar\n", vec![lines("1:-far|+near")], &["exact"], "x\ny\nnear\n");
    // The header's own lines are equal but for their indent: which of the two is meant, nobody knows.
    refused("go one\nmid\n\tgo one\n", vec![lines("3:-go one|+go two")], &[Code::Ambiguous]);
    refused(
        "one\ngo one\nmid\n\tgo one\n",
        vec![lines("0:-one|+1"), lines("4:-go one|+go two")],
        &[Code::Ambiguous],
    );
}

#[test]
fn anchors_are_lines_their_beginnings_or_typographic_twins() {
    let file = "say “one”:\n  go()\nsay “two”:\n  go()\n";
    check(
        file,
        vec![lines("say \"two\":@ -  go()|+  run()")],
        &["exact twins"],
        "say “one”:\n  go()\nsay “two”:\n  run()\n",
    );
    check(
        file,
        vec![lines("say \"tw@ -  go()|+  run()")],
        &["exact twins"],
        "say “one”:\n  go()\nsay “two”:\n  run()\n",
    );
    let nested = "class A:\n  def m():\n    one\nclass B:\n  def m():\n    one\n";
    refused(nested, vec![lines("def m():@ -    one|+    two")], &[Code::Ambiguous]);
    check(
        nested,
        vec![lines("class B:@ def m():@ -    one|+    two")],
        &["exact twins"],
        "class A:\n  def m():\n    one\nclass B:\n  def m():\n    two\n",
    );
    let refusals =
        refused(nested, vec![lines("def n():@  class B:|-  def m():|+  x")], &[Code::AnchorNotFound]);
    assert!(refusals[0].hint.as_ref().is_some_and(|hint| hint.contains("line 4")), "{refusals:?}");
    refused("def(x)\n    go()\n", vec![lines("def@ -    go()|+    run()")], &[Code::AnchorNotFound]);
}

#[test]
fn a_hunk_that_has_been_applied_is_told_or_left_out() {
    let skip = Rules::new(&Options { applied: Applied::Skip, ..Options::default() });
    let cases = [
        ("start\ninit\ncheck\nrun\n", text("init\nrun", "init\ncheck\nrun")),
        ("alpha one\nbeta new\ngamma\n", lines(" alpha one|-beta old|+beta new| gamma")),
        ("  alpha one\n  beta new\n", lines(" alpha one|-beta old|+beta new")),
        ("alpha\ngamma\n", lines(" alpha|-beta| gamma")),
    ];
    for (file, hunk) in cases {
        refused(file, vec![hunk.clone()], &[Code::AlreadyApplied]);
        let done = run(&file.to_owned().into(), &Step { hunks: vec![hunk] }, &skip).expect("left out");
        assert_eq!(done.bytes.whole(), file.as_bytes());
    }
    let unproven = [
        ("alpha\nother\n", lines(" alpha|-beta")),
        ("new\nnew\n", lines("-old|+new")),
        // A few letters, or a part of a word, stand there by chance.
        ("a text\n", text("gone", "x")),
        ("renewed\n", text("gone", "new")),
    ];
    for (file, hunk) in unproven {
        refused(file, vec![hunk], &[Code::NoMatch]);
    }
}

/// Lines with blanks, tabs and typography that fold into one another, so that loose passes find something.
fn any_line() -> impl Strategy<Value = String> {
    ("[ \t]{0,3}", "(key|val|“a”|\"a\"|é|e\u{301}|\\}|)", "[ ]{0,1}").prop_map(|(a, b, c)| a + &b + &c)
}

fn any_row() -> impl Strategy<Value = Row> {
    (0..3, any_line()).prop_map(|(kind, line)| match kind {
        0 => Row::Keep(line.as_str().into()),
        1 => Row::Remove(line.as_str().into()),
        _ => Row::Add(line.as_str().into()),
    })
}

fn key(pass: &str, line: &str) -> Vec<u8> {
    let key = match pass {
        "exact" => Key::Bytes,
        "trailing-ws" => Key::Trimmed,
        "unicode" => Key::Folded,
        _ => Key::Body,
    };
    key.of(line.as_bytes()).into_owned()
}

/// Lines with their terminators.
type Lines = Vec<(String, &'static str)>;

fn any_lines(most: usize) -> impl Strategy<Value = Lines> {
    vec((any_line(), prop_oneof![Just("\n"), Just("\r\n")]), 0..most)
}

fn joined(lines: &[(String, &str)]) -> String {
    lines.iter().map(|(line, end)| format!("{line}{end}")).collect()
}

/// The lines that `placed` replaced are equal to `old` under its pass; all bytes before and after them are in `after`.
fn check_lines(
    lines: &Lines,
    old: &[&str],
    placed: &super::PlacedHunk,
    after: &[u8],
) -> Result<(), TestCaseError> {
    let (first, last) = (placed.old_lines.first - 1, placed.old_lines.last);
    let of = |line: &str| key(placed.pass, line);
    let stands: Vec<Vec<u8>> = lines[first..last].iter().map(|(line, _)| of(line)).collect();
    let old: Vec<Vec<u8>> = old.iter().map(|row| of(row)).collect();
    let dropped = placed.notes.contains(&WarningCode::EdgeBlankDropped);
    prop_assert!(stands == old || dropped && old.windows(stands.len()).any(|part| part == stands));
    let (head, tail) = (joined(&lines[..first]), joined(&lines[last..]));
    prop_assert!(after.len() >= head.len() + tail.len());
    prop_assert!(after.starts_with(head.as_bytes()) && after.ends_with(tail.as_bytes()));
    Ok(())
}

/// A part of a text that a batch might name: as it stands, or spelled a little differently.
fn respelled(file: &str, from: usize, len: usize, how: u8) -> String {
    let text = file.replace("\r\n", "\n");
    let part: String = text.chars().skip(from % text.chars().count().max(1)).take(len).collect();
    match how {
        0 | 1 => part,
        2 => part.lines().map(|line| format!("{} \n", line.trim_end())).collect(),
        3 => part.lines().map(|line| format!("{}\n", line.trim_start())).collect(),
        4 => part.replace(['“', '”'], "\"").replace("e\u{301}", "é"),
        _ => format!("{part}x"),
    }
}

/// A large text shares with the new one what stays; the result is that of a small text with the rest before it.
#[test]
fn a_large_text_changes_as_a_small_one_does() {
    let head = "padding of the head\n".repeat(60_000);
    let cases = [
        ("one\ntwo\nthree\n", vec![text("two\n", "2\n"), text("three", "")]),
        ("one\r\ntwo\r\n", vec![text("two\n", "2\nmore\n")]),
        ("one\ntwo", vec![lines("-two|+2")]),
        ("one\ntwo", vec![lines(" one|-two")]),
    ];
    for (small, hunks) in cases {
        let [alone, large] = [small.to_owned(), format!("{head}{small}")].map(|file| {
            let done = place(&file, hunks.clone()).expect("it stands there");
            (done.bytes.len(), done.bytes.hash(), done.bytes.whole())
        });
        let wanted = [head.as_bytes(), &alone.2].concat();
        assert_eq!((large.0, large.1), (wanted.len(), crate::edit::Hash::of(&wanted)), "{small:?}");
        assert!(large.2 == wanted, "{small:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    /// No panic; what is accepted stands there under its pass, and all bytes outside its lines stay.
    #[test]
    fn an_accepted_hunk_replaces_lines_equal_to_its_old_text(
        lines in any_lines(12),
        rows in vec(any_row(), 1..5),
    ) {
        let hunk = LineHunk { rows, ..LineHunk::default() };
        let old: Vec<&str> = hunk.old_rows().map(|row| row.as_str()).collect();
        let Ok(done) = place(&joined(&lines), vec![super::place_tests::hunk(Locator::Lines(hunk.clone()))]) else { return Ok(()) };
        prop_assume!(done.hunks[0].pass != "insert");
        check_lines(&lines, &old, &done.hunks[0], &done.bytes.whole())?;
    }

    /// A text that stands exactly once is replaced there, byte for byte but for terminators, and nothing else is
    /// touched; one that loose passes find replaces lines equal to it.
    #[test]
    fn an_accepted_text_replaces_what_equals_it(
        lines in any_lines(8),
        (from, len, how) in (0usize..40, 1usize..20, 0u8..6),
        new in prop_oneof![Just(String::new()), any_line(), (any_line(), any_line()).prop_map(|(a, b)| format!("{a}\n{b}\n"))],
    ) {
        let file = joined(&lines);
        let old = respelled(&file, from, len, how);
        if old.is_empty() || file.is_empty() {
            return Ok(());
        }
        let Ok(done) = place(&file, vec![text(&old, &new)]) else { return Ok(()) };
        let placed = &done.hunks[0];
        if placed.pass != "exact" || placed.notes.contains(&WarningCode::EdgeBlankDropped) {
            let rows = old.strip_suffix('\n').unwrap_or(&old);
            return check_lines(&lines, &rows.split('\n').collect::<Vec<_>>(), placed, &done.bytes.whole());
        }
        let plain = file.replace("\r\n", "\n");
        let at = plain.find(&old).expect("it stands there");
        prop_assert_eq!(plain.rfind(&old), Some(at), "exactly once");
        // The offset in the file of one in the text without CR: the longest beginning that reads so.
        let back = |end: usize| {
            let fits = |at: &usize| file.is_char_boundary(*at) && file[..*at].replace("\r\n", "\n").len() == end && !file[..*at].ends_with('\r');
            (0..=file.len()).find(fits).expect("every offset is one of the file")
        };
        let (head, tail) = (&file[..back(at)], &file[back(at + old.len())..]);
        let after = String::from_utf8(done.bytes.whole().to_vec()).expect("text stays text");
        prop_assert!(after.len() >= head.len() + tail.len() && after.starts_with(head) && after.ends_with(tail), "{:?}", after);
        let middle = after[head.len()..after.len() - tail.len()].replace("\r\n", "\n");
        prop_assert_eq!(middle, new.replace("\r\n", "\n"));
    }

    /// All places means all that a plain replacement finds.
    #[test]
    fn all_places_of_a_text_are_replaced(lines in any_lines(8), (from, len) in (0usize..40, 1usize..6), new in any_line()) {
        let file = joined(&lines);
        let old = respelled(&file, from, len, 0);
        if old.is_empty() {
            return Ok(());
        }
        let all = Hunk { occurrence: Occurrence::All, ..text(&old, &new) };
        let done = place(&file, vec![all]).expect("it stands there");
        let plain = |bytes: &[u8]| String::from_utf8_lossy(bytes).replace("\r\n", "\n");
        prop_assert_eq!(plain(&done.bytes.whole()), plain(file.as_bytes()).replace(&old, &new));
    }
}
