//! What a form has words for is written, and reads as it was meant: change sets at random, held against the parsers.

use super::*;
use crate::edit::{Existing, Gap, Hash, Hunk, LineHunk, Locator, Mode, Row, Text};
use proptest::collection::vec;
use proptest::prelude::*;

const NOWHERE: Origin = Origin { entry: 1, hunk: 1, line: 1 };

/// Lines that mean something in one form or another, and must stay text.
const ODD: &[&str] = &[
    "",
    " ",
    "\t",
    "=======",
    "========",
    "<<<<<<< ORIGINAL",
    ">>>>>>> UPDATED",
    ">>>>>>> REPLACE",
    "=====",
    "```",
    "````x",
    "~~~",
    "=== PATH: p ===",
    "*** End Patch",
    "*** Add File: x",
    "*** End of File",
    "@@ -1,2 +1,2 @@",
    "@@",
    "-- a",
    "++ b",
    "-- ",
    "- ",
    "+",
    "\\ No newline at end of file",
    "diff --git a/x b/x",
    "[f#12345678]",
    "SWAP 1.=2:",
    "REM",
    "<div>",
    "{\"path\": 1}",
    "\"",
    "\\",
    "é\u{2028}ü",
    "$1 \\n &amp;",
    "    indented",
    "trailing  ",
    "# ...",
    "GIT binary patch",
];

fn line() -> impl Strategy<Value = String> {
    prop_oneof![2 => proptest::sample::select(ODD).prop_map(str::to_owned), 1 => "[a-c]{1,3}"]
}

fn lines(count: std::ops::Range<usize>) -> impl Strategy<Value = Vec<Text>> {
    vec(line(), count).prop_map(|lines| lines.into_iter().map(Text::from).collect())
}

/// Any text: lines, the last one ended or not.
fn text() -> impl Strategy<Value = Text> {
    (vec(line(), 0..5), any::<bool>()).prop_map(|(lines, ended)| {
        let end = if ended && !lines.is_empty() { "\n" } else { "" };
        Text::from(lines.join("\n") + end)
    })
}

fn path() -> impl Strategy<Value = BatchPath> {
    proptest::sample::select(&["f", "d/g.rs", "my file.md", "d/é.txt", "x-1_2"][..]).prop_map(BatchPath::from)
}

fn top(path: BatchPath) -> BatchPath {
    BatchPath { base: PathBase::Top, ..path }
}

fn expects() -> impl Strategy<Value = Precondition> {
    any::<Option<u8>>().prop_map(|seed| match seed {
        None => Precondition::Any,
        Some(seed) => Precondition::Tagged(Hash::of(&[seed]).tag()),
    })
}

fn hunk(locator: Locator) -> Hunk {
    Hunk { locator, occurrence: Occurrence::Once, origin: NOWHERE }
}

fn step(locators: Vec<Locator>) -> Step {
    Step { hunks: locators.into_iter().map(hunk).collect() }
}

fn operation(path: BatchPath, action: Action, expects: Precondition) -> FileOperation {
    FileOperation { path, action, expects, mode: None, origin: NOWHERE }
}

fn modify(path: BatchPath, steps: Vec<Step>, expects: Precondition) -> FileOperation {
    operation(path, Action::Modify { steps }, expects)
}

/// What hunks of whole lines say beside their rows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Beside {
    Anything,
    Anchors,
    Numbers,
}

fn line_hunk(beside: Beside) -> impl Strategy<Value = LineHunk> {
    let row = (0..3u8, line()).prop_map(|(sign, text)| match sign {
        0 => Row::Keep(text.into()),
        1 => Row::Remove(text.into()),
        _ => Row::Add(text.into()),
    });
    let anchors = vec(proptest::sample::select(&["def f():", "  class B:", "-x", "@"][..]), 0..3);
    let changed = line().prop_map(|text| Row::Remove(text.into()));
    (vec(row, 0..5), changed, anchors, any::<(Option<u8>, bool, bool, bool)>()).prop_map(
        move |(mut rows, changed, anchors, (number, at_end, old, new))| {
            rows.push(changed);
            let mut hunk = LineHunk { rows, ..LineHunk::default() };
            let number = number.map_or(1, usize::from) + 1;
            if beside != Beside::Numbers {
                hunk.anchors = anchors.into_iter().map(Text::from).collect();
                hunk.at_end = at_end;
            }
            let numbered = beside == Beside::Numbers || (beside == Beside::Anything && number % 2 == 0);
            hunk.hint = numbered.then(|| (number, hunk.old_rows().count()));
            // The last old row is a removed one, so that it is not the last new row.
            hunk.old_unterminated = old;
            hunk.new_unterminated = new && matches!(hunk.rows[..], [.., Row::Add(_), Row::Remove(_)]);
            hunk
        },
    )
}

fn line_steps(beside: Beside) -> impl Strategy<Value = Vec<Step>> {
    let hunks = vec(line_hunk(beside), 1..3);
    hunks.prop_map(|hunks| vec![step(hunks.into_iter().map(Locator::Lines).collect())])
}

fn blocks(expects: impl Strategy<Value = Precondition>) -> impl Strategy<Value = FileOperation> {
    let found = text().prop_filter("is there", |old| !old.trim().is_empty());
    let locator = prop_oneof![
        6 => (found, text()).prop_map(|(old, new)| Locator::Text { old, new }),
        1 => text().prop_map(Locator::Fill),
    ];
    let steps = vec(locator, 1..4).prop_map(|all| all.into_iter().map(|one| step(vec![one])).collect());
    (path(), steps, expects).prop_map(|(path, steps, expects)| modify(path, steps, expects))
}

fn edits() -> impl Strategy<Value = FileOperation> {
    let occurrence = prop_oneof![
        Just(Occurrence::Once),
        Just(Occurrence::All),
        (1..9usize).prop_map(Occurrence::Exactly),
    ];
    let edit = (text(), text(), occurrence).prop_map(|(old, new, occurrence)| {
        let hunk = Hunk { occurrence, ..hunk(Locator::Text { old, new }) };
        Action::Modify { steps: vec![Step { hunks: vec![hunk] }] }
    });
    let existing = proptest::sample::select(&[Existing::Replace, Existing::ReplaceByText][..]);
    let write = (text(), existing).prop_map(|(content, existing)| Action::Create { content, existing });
    (path(), prop_oneof![edit, write], expects())
        .prop_map(|(path, action, expects)| operation(path, action, expects))
}

fn files(beside: Beside) -> impl Strategy<Value = Action> {
    let create = text().prop_map(move |content| {
        let ended = beside == Beside::Anything || content.is_empty() || content.ends_with('\n');
        let content = if ended { content } else { Text::from(format!("{}\n", &*content)) };
        Action::Create { content, existing: Existing::Refuse }
    });
    prop_oneof![
        create,
        Just(Action::Delete { steps: Vec::new() }),
        line_steps(beside).prop_map(|steps| Action::Modify { steps }),
        (path(), line_steps(beside)).prop_map(|(to, steps)| Action::Rename { to, steps }),
        path().prop_map(|to| Action::Rename { to, steps: Vec::new() }),
    ]
}

fn hashline() -> impl Strategy<Value = FileOperation> {
    let gap = (0..4u8, 1..99usize).prop_map(|(kind, line)| match kind {
        0 => Gap::Start,
        1 => Gap::End,
        2 => Gap::Before(line),
        _ => Gap::After(line),
    });
    let edit = prop_oneof![
        (1..99usize, 0..9usize, lines(0..3)).prop_map(|(first, more, rows)| Locator::LineRange {
            first,
            last: first + more,
            rows
        }),
        (gap, lines(1..3)).prop_map(|(gap, rows)| Locator::Gap { gap, rows }),
    ];
    let steps = vec(edit, 1..4).prop_map(|all| vec![step(all)]);
    let action = prop_oneof![
        steps.clone().prop_map(|steps| Action::Modify { steps }),
        (path(), steps).prop_map(|(to, steps)| Action::Rename { to, steps }),
        path().prop_map(|to| Action::Rename { to, steps: Vec::new() }),
        Just(Action::Delete { steps: Vec::new() }),
    ];
    (path(), action, any::<u8>()).prop_map(|(path, action, seed)| {
        operation(path, action, Precondition::Tagged(Hash::of(&[seed]).tag()))
    })
}

fn plain_diff() -> impl Strategy<Value = FileOperation> {
    let removed = lines(1..4).prop_map(|rows| {
        let hint = Some((1, rows.len()));
        let rows = rows.into_iter().map(Row::Remove).collect();
        Action::Delete {
            steps: vec![step(vec![Locator::Lines(LineHunk { rows, hint, ..LineHunk::default() })])],
        }
    });
    let action = prop_oneof![
        3 => line_steps(Beside::Numbers).prop_map(|steps| Action::Modify { steps }),
        1 => text()
            .prop_filter("has text", |text| !text.is_empty())
            .prop_map(|content| Action::Create { content, existing: Existing::Refuse }),
        1 => removed,
    ];
    (path(), action).prop_map(|(path, action)| operation(path, action, Precondition::Any))
}

fn git_diff() -> impl Strategy<Value = FileOperation> {
    let moved =
        (path(), line_steps(Beside::Numbers), any::<(bool, bool)>()).prop_map(|(to, steps, (copy, pure))| {
            let (to, steps) = (top(to), if pure { Vec::new() } else { steps });
            if copy { Action::Copy { to, steps } } else { Action::Rename { to, steps } }
        });
    let other = plain_diff().prop_map(|operation| operation.action);
    let empty = Just(Action::Delete { steps: vec![Step { hunks: Vec::new() }] });
    (path(), prop_oneof![other, moved, empty], any::<bool>()).prop_map(|(path, action, executable)| {
        let changes = matches!(action, Action::Modify { .. } | Action::Create { .. });
        let mode = match (&action, executable) {
            (Action::Create { .. }, false) => Some(Mode::Regular),
            _ => (changes && executable).then_some(Mode::Executable),
        };
        FileOperation { mode, ..operation(top(path), action, Precondition::Any) }
    })
}

/// Entries of different paths: the blocks of one path are one entry.
fn search_blocks() -> impl Strategy<Value = Vec<FileOperation>> {
    // A text with a fence or a diff in it is taken for those.
    let lines = |count| {
        let other = |line: &Text| ["```", "~~~", "diff --git"].iter().any(|word| line.contains(word));
        lines(count).prop_filter("is of no other form", move |lines| !lines.iter().any(other))
    };
    let is_plain = |lines: &Vec<Text>| lines.len() > 1 && lines.iter().any(|line| !line.trim().is_empty());
    let block = (lines(2..5).prop_filter("is there", is_plain), lines(0..5)).prop_map(|(old, new)| {
        Locator::Lines(LineHunk { rows: input::rows(&old, &new), ..LineHunk::default() })
    });
    let modified = vec(block, 1..3).prop_map(|all| Action::Modify { steps: vec![step(all)] });
    let content =
        lines(0..4).prop_map(|lines| lines.iter().flat_map(|line| [&**line, "\n"]).collect::<String>());
    let created = content.prop_map(|text| Action::Create { content: text.into(), existing: Existing::Fill });
    (modified, created).prop_map(|(modified, created)| {
        vec![
            operation("my file.md".into(), modified, Precondition::Any),
            operation("d/new.rs".into(), created, Precondition::Any),
        ]
    })
}

/// That the changes are written, and read again without the checks of the printer.
#[track_caller]
fn check(format: Format, operations: Vec<FileOperation>) {
    let changes = ChangeSet { format, operations, warnings: Vec::new() };
    let text = print(&changes, format).unwrap_or_else(|unsaid| panic!("{unsaid:?}\n{changes:#?}"));
    let exists = |path: &BatchPath| path.base == PathBase::Top || *path == BatchPath::from("my file.md");
    let (format, default_path, placeholders, strip) = (Some(format), None, false, None);
    let options = input::Options { format, default_path, placeholders, strip, exists: &exists };
    let again = input::parse(text.as_bytes(), &options).unwrap_or_else(|errors| panic!("{errors:?}\n{text}"));
    // Entries of one path are one with several steps, or several with one.
    let flat = |changes: &ChangeSet| steps(changes).into_iter().map(|(_, one)| one).collect::<Vec<_>>();
    assert_eq!(flat(&again), flat(&changes), "{text}");
    assert!(again.warnings.is_empty(), "{:?}\n{text}", again.warnings);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    #[test]
    fn patch_many_reads_as_written(all in vec(blocks(expects()), 1..4)) {
        check(Format::PatchMany, all);
    }

    #[test]
    fn fenced_reads_as_written(all in vec(blocks(Just(Precondition::Any)), 1..4)) {
        check(Format::Fenced, all);
    }

    #[test]
    fn ops_read_as_written(all in vec((path(), files(Beside::Anything), expects()), 1..4)) {
        check(Format::Ops, all.into_iter().map(|(path, action, expects)| operation(path, action, expects)).collect());
    }

    #[test]
    fn an_envelope_reads_as_written(all in vec((path(), files(Beside::Anchors)), 1..4)) {
        let any = Precondition::Any;
        check(Format::Envelope, all.into_iter().map(|(path, action)| operation(path, action, any.clone())).collect());
    }

    #[test]
    fn hashline_reads_as_written(all in vec(hashline(), 1..4)) {
        check(Format::Hashline, all);
    }

    #[test]
    fn edits_read_as_written(all in vec(edits(), 1..4)) {
        check(Format::Edits, all);
    }

    #[test]
    fn a_plain_diff_reads_as_written(all in vec(plain_diff(), 1..4)) {
        check(Format::Diff, all);
    }

    #[test]
    fn a_git_diff_reads_as_written(all in vec(git_diff(), 1..4)) {
        check(Format::Diff, all);
    }

    #[test]
    fn blocks_read_as_written(all in search_blocks()) {
        check(Format::Blocks, all);
    }
}

/// What each form says it has no words for, or no place for.
#[test]
fn what_cannot_be_said_is_named() {
    let create = |existing| Action::Create { content: "x\n".into(), existing };
    let copy = Action::Copy { to: "g".into(), steps: Vec::new() };
    let text = || vec![step(vec![Locator::Text { old: "a".into(), new: "b".into() }])];
    let moved = Action::Rename { to: "g".into(), steps: Vec::new() };
    for (format, action, what, lack) in [
        (Format::PatchMany, create(Existing::Refuse), "the creation of a file", Lack::Words),
        (Format::Fenced, moved.clone(), "the move of a file", Lack::Words),
        (Format::Edits, Action::Delete { steps: Vec::new() }, "the deletion of a file", Lack::Words),
        (Format::Edits, create(Existing::Refuse), "that a new file must not replace one", Lack::File),
        (Format::Hashline, create(Existing::Refuse), "the creation of a file", Lack::Words),
        (Format::Hashline, moved, "an edit of no certain version", Lack::File),
        (Format::Ops, copy, "the copy of a file", Lack::File),
        (Format::Ops, Action::Modify { steps: text() }, "a text that may begin inside of a line", Lack::File),
        (
            Format::Diff,
            Action::Delete { steps: Vec::new() },
            "a deletion without the text of the file",
            Lack::File,
        ),
        (Format::Blocks, create(Existing::Refuse), "the creation of a file where one may stand", Lack::File),
        (Format::Lsp, Action::Delete { steps: Vec::new() }, "anything: it is only read", Lack::Words),
    ] {
        let operations = vec![operation("f".into(), action, Precondition::Any)];
        let found = print(&ChangeSet { format, operations, warnings: Vec::new() }, format).expect_err(what);
        let found: Vec<_> = found.iter().map(|one| (one.entry, &*one.what, one.lack)).collect();
        assert_eq!(found, [(Some(1), what, lack)], "{format}");
    }
}

/// A text that would be read as something else is not given out.
#[test]
fn what_would_be_read_otherwise_is_refused() {
    let opener = vec!["a".into(), "<<<<<<< SEARCH".into()];
    let rows = input::rows(&opener, &[]);
    for (format, locator) in [
        (Format::Blocks, Locator::Lines(LineHunk { rows, ..LineHunk::default() })),
        (Format::PatchMany, Locator::Text { old: " ".into(), new: "b".into() }),
        (Format::Fenced, Locator::Text { old: "a\r".into(), new: "b".into() }),
    ] {
        let operations = vec![modify("f".into(), vec![step(vec![locator])], Precondition::Any)];
        let found =
            print(&ChangeSet { format, operations, warnings: Vec::new() }, format).expect_err("not sayable");
        assert!(found[0].what.contains("read as it was meant"), "{format}: {found:?}");
    }
}
