//! The options that say how old text is found: `--base`, `--match`, `--skip-applied`.

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
