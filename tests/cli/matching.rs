//! The options that say how old text is found: `--base`, `--match`, `--skip-applied`; and what is told of it.

use crate::support::TestRepo;

const EDIT: &str = r#"{"path":"f","old":"go one","new":"go two"}"#;

/// The exit code and what `f` holds afterwards.
#[track_caller]
fn check(repo: &TestRepo, arguments: &[&str], batch: &str, code: i32, after: &str) {
    std::fs::write(repo.temp().join("batch.json"), batch).unwrap();
    let mut command = repo.program(&[&["apply", "--json"], arguments].concat());
    let output = command.arg(repo.temp().join("batch.json")).output().unwrap();
    assert_eq!(output.status.code(), Some(code), "{arguments:?} {output:?}");
    assert_eq!(std::fs::read_to_string(repo.path("f")).unwrap(), after, "{arguments:?}");
}

#[test]
fn the_base_is_looked_up_in_the_tree() {
    let (twice, once) = ("go one\nx\n  go one\n", "y\nx\n  go one\n");
    let repo = TestRepo::new(&[("f", "other\n")]);
    repo.write("f", twice);
    repo.git(&["commit", "-qam", "twice"]);
    repo.write("f", once);
    repo.git(&["add", "f"]);
    check(&repo, &[], EDIT, 1, once);
    check(&repo, &["--base", "nowhere"], EDIT, 2, once);
    check(&repo, &["--base", "HEAD~1"], EDIT, 0, "y\nx\n  go two\n");
}

#[test]
fn a_base_is_not_asked_about_what_the_author_has_seen() {
    let (twice, once) = ("go one\nx\n  go one\n", "y\nx\n  go one\n");
    let repo = TestRepo::new(&[("f", twice), ("g", "-\n")]);
    repo.write("f", once);
    check(&repo, &[], EDIT, 1, once);
    // Another file says nothing, nor does what was shown before something else was.
    repo.run(&["read", "g"], "");
    check(&repo, &[], EDIT, 1, once);
    repo.run(&["read", "f"], "");
    repo.write("f", twice);
    repo.run(&["read", "f"], "");
    repo.write("f", once);
    check(&repo, &[], EDIT, 1, once);
    repo.run(&["read", "f"], "");
    check(&repo, &["--base", "HEAD"], EDIT, 1, once);
    check(&repo, &[], EDIT, 0, "y\nx\n  go two\n");
}

#[test]
fn a_base_is_not_asked_about_what_the_last_operation_wrote() {
    let twice = "go one\nx\n  go one\n";
    let first = r#"{"path":"f","old":"go one\nx","new":"y\nx"}"#;
    let once = "y\nx\n  go one\n";
    let repo = TestRepo::new(&[("f", twice)]);
    check(&repo, &[], first, 0, once);
    repo.write("f", format!("{once}more\n"));
    check(&repo, &[], EDIT, 1, &format!("{once}more\n"));
    repo.write("f", once);
    check(&repo, &[], EDIT, 0, "y\nx\n  go two\n");
}

#[test]
fn equal_places_that_were_not_chosen_are_told() {
    let repo = TestRepo::new(&[("f", "fn a\n  x = 1\nfn b\n  x = 1\n  x = 1\n")]);
    let batch = r#"[{"path":"f","diff":"@@ fn a\n-  x = 1\n+  x = 2\n"}]"#;
    let ran = repo.run(&["check", "--json"], batch);
    let hunk = &ran.json()["files"][0]["hunks"][0];
    assert_eq!((&hunk["twins"], &hunk["twins_total"]), (&serde_json::json!([4, 5]), &2.into()));
    assert_eq!(hunk["notes"], serde_json::json!(["twins"]));
    let err = repo.run(&["check"], batch).err;
    assert!(
        err.contains("twins: entry 1, hunk 1: line 2 was chosen; equal lines stand at 4, 5 too"),
        "{err}"
    );
}

#[test]
fn other_line_endings_in_git_are_no_other_version() {
    let repo = TestRepo::new(&[("f", "go one\nx\n")]);
    repo.write("f", "go one\r\nx\r\n");
    check(&repo, &[], EDIT, 0, "go two\r\nx\r\n");
}

#[test]
fn the_ladder_is_capped_and_applied_hunks_are_left_out() {
    let repo = TestRepo::new(&[("f", "    go one\n    go on\n")]);
    let batch = r#"{"path":"f","old":"go one\ngo on","new":"go two\ngo on"}"#;
    check(&repo, &["--match", "unicode"], batch, 1, "    go one\n    go on\n");
    check(&repo, &["--match", "indent"], batch, 0, "    go two\n    go on\n");
    check(&repo, &[], batch, 1, "    go two\n    go on\n");
    check(&repo, &["--skip-applied"], batch, 0, "    go two\n    go on\n");
}

#[test]
fn a_diff_is_placed_by_exact_text_wherever_it_stands() {
    let repo = TestRepo::new(&[("f", "one \ntwo\n"), ("g", "one \ntwo\n")]);
    let diff = "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n";
    let fenced = format!(
        "```patch g\n<<<<<<< ORIGINAL\none\ntwo\n=======\none\n2\n>>>>>>> UPDATED\n```\n\n```diff\n{diff}```\n"
    );
    let ran = repo.run(&["apply", "--json"], &fenced);
    assert_eq!((ran.codes(), &ran.json()["errors"][0]["path"]), (vec!["no-match".to_owned()], &"f".into()));
    check(&repo, &["--match", "trailing-ws"], diff, 0, "one \n2\n");
}
