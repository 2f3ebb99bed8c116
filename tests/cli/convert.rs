//! `convert`: a converted batch does what the batch does, or is not given out.

use crate::support::{TestRepo, block, identity, patches, tree};
use serde_json::json;
use std::path::Path;

const FORMS: [&str; 8] = ["patch-many", "fenced", "ops", "envelope", "hashline", "edits", "diff", "blocks"];

/// Applies `batch` to a copy of `repo`, and in another copy converts it to each form and applies that: the trees are the
/// same, but for the forms that say they cannot.
#[track_caller]
fn check(repo: &TestRepo, batch: &str, unsupported: &[&str]) {
    let meant = repo.twin();
    let applied = meant.run(&["apply", "-q", "--durability", "none"], batch);
    assert_eq!(applied.code, 0, "{applied:?}");
    let mut refused = Vec::new();
    for form in FORMS {
        let copy = repo.twin();
        let before = identity(copy.root());
        let converted = copy.run(&["convert", "--json", "--to", form], batch);
        assert_eq!(identity(copy.root()), before, "{form}");
        let json = converted.json();
        if converted.code == 1 {
            assert!(converted.codes().iter().all(|code| code == "unsupported"), "{form}: {converted:?}");
            assert!(json["batch"].is_null(), "{form}");
            refused.push(form);
            continue;
        }
        let batch = json["batch"].as_str().unwrap_or_else(|| panic!("{form}: {converted:?}"));
        let applied = copy.run(&["apply", "-q", "--durability", "none"], batch);
        assert_eq!((applied.code, &*applied.err), (0, ""), "{form}: {batch}");
        assert_eq!(tree(copy.root()), tree(meant.root()), "{form}: {batch}");
    }
    assert_eq!(refused, unsupported, "{batch}");
}

fn write(path: &str, text: &str) -> String {
    json!([{"path": path, "content": text, "allow_empty": true}]).to_string()
}

#[test]
fn the_example_converts_to_every_form() {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/example");
    let repo = TestRepo::unborn();
    let from = example.join("project/.");
    assert!(
        std::process::Command::new("cp").arg("-R").args([&from, repo.root()]).status().unwrap().success()
    );
    repo.commit_all(&[]);
    for batch in ["batch.json", "answer.md"] {
        check(&repo, &std::fs::read_to_string(example.join(batch)).unwrap(), &[]);
    }
}

#[test]
fn ends_of_files_and_lines_are_said_or_refused() {
    let many = |at: usize| (0..40).map(|n| if n == at { "y\n" } else { "xxx\n" }).collect::<String>();
    let middle = many(20);
    // The rows of a diff hold the byte order mark, and the parser takes it for text that no line has.
    for (old, new, unsupported) in [
        ("one\ntwo\nthree\n", "one\n2\nthree\n", &[][..]),
        ("one\r\ntwo\r\nthree\r\n", "one\r\n2\r\nthree\r\nfour\r\n", &[]),
        ("one\r\ntwo\nthree\r\n", "one\r\n2\nthree\r\n", &[]),
        ("one\ntwo", "one\ntwo, and more", &[]),
        ("one\ntwo", "one\ntwo\n", &["hashline", "blocks"]),
        ("one\ntwo\n", "one\ntwo", &["hashline", "blocks"]),
        ("one\ntwo\n", "one\r\ntwo\r\n", &["patch-many", "fenced", "ops", "envelope", "hashline", "blocks"]),
        ("one\n", "", &[]),
        ("", "one\n\n", &[]),
        (&many(40), &middle, &[]),
        ("\u{feff}one\ntwo\n", "\u{feff}1\ntwo\n", &["diff"]),
        ("one\n=======\n>>>>>>> REPLACE\n```\n", "one\n=======\n>>>>>>> UPDATED\n~~~\n", &[]),
    ] {
        check(&TestRepo::folder(&[("f.txt", old)]), &write("f.txt", new), unsupported);
    }
}

#[test]
fn whole_files_are_said_or_refused() {
    let repo = TestRepo::new(&[("a.txt", "one\ntwo\nthree\n"), ("b.txt", "1\n2\n3\n"), ("d/c.txt", "x\n")]);
    let blocks_alone = ["patch-many", "fenced", "hashline"];
    check(&repo, &write("new/n.txt", "1\n"), &blocks_alone);
    let texts = ["patch-many", "fenced", "edits", "blocks"];
    check(&repo, r#"[{"path": "d/c.txt", "operation": "delete"}]"#, &texts);
    let moved = r#"[{"path": "a.txt", "moveTo": "d/e.txt", "diff": "@@\n-two\n+2\n"}]"#;
    check(&repo, moved, &texts);
    let swapped = r#"[{"path": "a.txt", "moveTo": "b.txt"}, {"path": "b.txt", "moveTo": "a.txt"}]"#;
    check(&repo, swapped, &texts);
    let mode = "diff --git a/a.txt b/a.txt\nold mode 100644\nnew mode 100755\n";
    check(&repo, mode, &["patch-many", "fenced", "ops", "envelope", "hashline", "edits", "blocks"]);
}

#[test]
fn what_can_be_said_as_it_stands_needs_no_file() {
    let folder = TestRepo::folder(&[]);
    let converted = folder.run(&["convert", "--to", "edits"], patches(&[("f", "a", "b"), ("g", "c", "d")]));
    let expected = json!([
        {"path": "f", "old_string": "a", "new_string": "b"},
        {"path": "g", "old_string": "c", "new_string": "d"},
    ]);
    assert_eq!((converted.code, &*converted.err), (0, ""));
    assert_eq!(serde_json::from_str::<serde_json::Value>(&converted.out).unwrap(), expected);
    let fenced = folder.run(&["convert", "--to", "fenced"], &converted.out);
    assert_eq!(
        fenced.out,
        format!("```patch f\n{}```\n\n```patch g\n{}```\n", block("a", "b"), block("c", "d"))
    );
}

#[test]
fn paths_start_where_the_user_stands() {
    let repo = TestRepo::new(&[("d/f.txt", "one\ntwo\n"), ("g.txt", "x\ny\n")]);
    let batch = patches(&[("f.txt", "one", "1"), ("../g.txt", "x", "X")]);
    let from = |arguments: &[&str], input: &str| repo.run(&[arguments, &["-C", "d"]].concat(), input);
    // Without a limit: paths may go up from the folder.
    let folder = repo.path("d");
    let run = |arguments: &[&str], input: &str| {
        let mut command = repo.program(arguments);
        command.current_dir(&folder);
        let mut child = command.spawn().unwrap();
        std::io::Write::write_all(&mut child.stdin.take().unwrap(), input.as_bytes()).unwrap();
        crate::support::Ran::of(&child.wait_with_output().unwrap())
    };
    let ops = run(&["convert", "--to", "ops"], &batch);
    assert_eq!(ops.code, 0, "{ops:?}");
    let applied = run(&["check", "--stat"], &ops.out);
    assert!(applied.out.contains("2 files changed"), "{applied:?}");
    assert_eq!(from(&["convert", "--to", "ops"], &batch).code, 1);
}

#[test]
fn errors_name_the_entry_and_what_to_run() {
    let repo = TestRepo::folder(&[("f", "a\n")]);
    let batch =
        json!([{"path": "f", "old_string": "a", "new_string": "b"}, {"path": "f", "operation": "delete"}]);
    let refused = repo.run(&["convert", "--to", "edits"], batch.to_string());
    assert_eq!((refused.code, &*refused.out), (1, ""));
    let expected = "nothing was written: 1 error\n\
                    f: unsupported: the format edits cannot say the deletion of a file (entry 1)\n\
                    next: run patchmany convert with another --to: ops, envelope and diff can create, delete and move files\n";
    assert_eq!(refused.err, expected);
    // The file is not there: what no file would help is told.
    let gone = json!([{"path": "gone", "operation": "delete"}]).to_string();
    assert_eq!(repo.run(&["convert", "--json", "--to", "edits"], &gone).codes(), ["unsupported"]);
    assert_eq!(repo.run(&["convert", "--json", "--to", "diff"], &gone).codes(), ["missing"]);
    assert_eq!(repo.run(&["convert", "--json", "--to", "ops"], "prose").codes(), ["parse"]);
    let same = json!([{"path": "f", "content": "a\n"}]).to_string();
    assert_eq!(repo.run(&["convert", "--json", "--to", "ops"], same).codes(), ["usage"]);
}
