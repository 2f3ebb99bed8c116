//! `glob` and `grep`: which files they see, in which order, and what they show.

use crate::support::{TestRepo, identity};
use serde_json::json;
use std::time::{Duration, SystemTime};

fn repo() -> TestRepo {
    let repo = TestRepo::new(&[
        (".gitignore", "*.log\n/target\n"),
        (".github/ci.yml", "needle\n"),
        ("a.rs", "one\nneedle\nthree\n"),
        ("src/b.rs", "Needle\r\nx\r\n"),
        ("src/deep/c.py", "a needle\nb\nc\nd\nneedle again\n"),
    ]);
    for (path, text) in [("x.log", "needle\n"), ("target/y.rs", "needle\n"), ("bin", "needle\0\n")] {
        repo.write(path, text);
    }
    std::os::unix::fs::symlink("a.rs", repo.path("link.rs")).unwrap();
    repo
}

/// Gives all files one age.
fn age(repo: &TestRepo, path: &str, seconds: u64) {
    let file = std::fs::File::options().write(true).open(repo.path(path)).unwrap();
    file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)).unwrap();
}

#[track_caller]
fn check(inside: &str, arguments: &[&str], code: i32, lines: &[&str]) {
    let repo = repo();
    for path in [".gitignore", ".github/ci.yml", "a.rs", "src/b.rs", "src/deep/c.py"] {
        age(&repo, path, 1_000);
    }
    let output = repo.program(arguments).current_dir(repo.path(inside)).output().unwrap();
    let shown = String::from_utf8(output.stdout.clone()).unwrap();
    assert_eq!(
        (output.status.code(), shown.lines().collect::<Vec<_>>()),
        (Some(code), lines.to_vec()),
        "{output:?}"
    );
}

#[test]
fn a_glob_sees_what_ignore_files_leave() {
    check("", &["glob", "**/*.rs"], 0, &["a.rs", "src/b.rs"]);
    check("", &["glob", "*.rs"], 0, &["a.rs"]);
    check("", &["glob", "**/*.yml"], 0, &[".github/ci.yml"]);
    check("", &["glob", "*", "src"], 0, &["src/b.rs"]);
    check("src", &["glob", "**"], 0, &["b.rs", "deep/c.py"]);
    check("src/deep", &["glob", "*.rs", ".."], 0, &["../b.rs"]);
    check("src/deep", &["glob", "*.rs", "../.."], 0, &["../../a.rs"]);
    check("", &["glob", "**/config"], 0, &[]);
    check("", &["glob", "**/*.rs", "-C", "src"], 0, &["b.rs"]);
    check("", &["glob", "**/*.rs", "--head", "1"], 0, &["a.rs", "… more: --offset 1"]);
    check("", &["glob", "**/*.rs", "--head", "1", "--offset", "1"], 0, &["src/b.rs"]);
}

#[test]
fn a_glob_lists_the_last_modified_first() {
    let repo = repo();
    for (path, seconds) in [("a.rs", 1_000), ("src/b.rs", 3_000), ("src/deep/c.py", 2_000)] {
        age(&repo, path, seconds);
    }
    assert_eq!(repo.run(&["glob", "**/*.{rs,py}"], "").out, "src/b.rs\nsrc/deep/c.py\na.rs\n");
    let json = repo.run(&["glob", "*.rs", "--json"], "").json();
    let expected = json!({"v": 1, "mode": "glob", "applied": false, "outcome": "shown", "tree": "untouched",
        "files": [{"path": "a.rs"}], "truncated": false, "errors": [], "warnings": []});
    assert_eq!(json, expected);
}

#[test]
fn a_grep_names_the_files_by_default() {
    check("", &["grep", "needle"], 0, &[".github/ci.yml", "a.rs", "src/deep/c.py"]);
    check("", &["grep", "-i", "needle", "--type", "rust"], 0, &["a.rs", "src/b.rs"]);
    check("", &["grep", "needle", "--glob", "*.py", "--glob", "*.rs"], 0, &["a.rs", "src/deep/c.py"]);
    check("", &["grep", "needle", "--glob", "!*.rs", "--glob", "!deep"], 0, &[".github/ci.yml"]);
    check("", &["grep", "needle", "--glob", "*.log"], 1, &[]);
    check("src", &["grep", "needle"], 0, &["deep/c.py"]);
    check("", &["grep", "needle", "--path", "a.rs", "--mode", "count"], 0, &["a.rs:1"]);
    check("", &["grep", "needle", "--path", "target"], 0, &["target/y.rs"]);
    check("", &["grep", "needle", "--head", "1", "--offset", "1"], 0, &["a.rs", "… more: --offset 2"]);
    check("", &["grep", "absent"], 1, &[]);
}

#[test]
fn a_grep_shows_lines_and_counts() {
    let content = ["grep", "--mode", "content"];
    let check = |arguments: &[&str], lines: &[&str]| check("", &[&content[..], arguments].concat(), 0, lines);
    check(&["(?i)^needle$"], &[".github/ci.yml:1:needle", "a.rs:2:needle", "src/b.rs:1:Needle"]);
    check(
        &["needle", "--path", "src", "-C", "1"],
        &[
            "src/deep/c.py:1:a needle",
            "src/deep/c.py-2-b",
            "--",
            "src/deep/c.py-4-d",
            "src/deep/c.py:5:needle again",
        ],
    );
    check(
        &["needle", "--path", "src", "-A", "1", "--head", "1"],
        &["src/deep/c.py:1:a needle", "src/deep/c.py-2-b", "… more: --offset 1"],
    );
    check(&["--multiline", "one.needle"], &["a.rs:1:one", "a.rs:2:needle"]);
}

#[test]
fn the_object_has_these_fields() {
    let repo = repo();
    let json =
        repo.run(&["grep", "needle", "--glob", "*.py", "--mode", "content", "-A1", "--json"], "").json();
    let line =
        |line: usize, text: &str, matches: bool| json!({"line": line, "text": text, "matches": matches});
    let lines = [line(1, "a needle", true), line(2, "b", false), line(5, "needle again", true)];
    let files = [json!({"path": "src/deep/c.py", "count": null, "lines": lines})];
    let expected = json!({"v": 1, "mode": "grep", "applied": false, "outcome": "shown", "tree": "untouched",
        "files": files, "truncated": false, "errors": [], "warnings": []});
    assert_eq!(json, expected);
    assert_eq!(repo.run(&["grep", "absent", "--json"], "").json()["outcome"], "nothing-found");
}

#[test]
fn what_makes_no_sense_is_refused() {
    let repo = repo();
    for (arguments, code, errors) in [
        (&["grep", "("][..], 2, "usage"),
        (&["grep", "x", "--type", "nonsense"], 2, "usage"),
        (&["grep", "x", "--glob", "["], 2, "usage"),
        (&["grep", "x", "--path", "none"], 1, "missing"),
        (&["grep", "x", "--path", "../.."], 1, "outside-root"),
        (&["grep", "x", "--path", ".git"], 1, "protected-path"),
        (&["glob", "/etc/*"], 2, "usage"),
        (&["glob", "*", "none"], 1, "missing"),
    ] {
        let ran = repo.run(&[arguments, &["--json"]].concat(), "");
        assert_eq!((ran.code, &ran.codes()[..]), (code, &[errors.to_owned()][..]), "{arguments:?}: {ran:?}");
    }
}

#[test]
fn a_plain_folder_has_its_own_ignore_files_only() {
    let folder =
        TestRepo::folder(&[("sub/a.txt", "x\n"), ("sub/b.log", "x\n"), ("sub/.gitignore", "*.log\n")]);
    std::fs::write(folder.temp().join(".gitignore"), "*\n").unwrap();
    assert_eq!(folder.run(&["grep", "x"], "").out, "sub/a.txt\n");
}

#[test]
fn nothing_is_written() {
    let repo = repo();
    let before = (identity(repo.temp()), identity(&repo.path(".git")));
    repo.run(&["glob", "**"], "");
    repo.run(&["grep", "needle"], "");
    assert_eq!((identity(repo.temp()), identity(&repo.path(".git"))), before);
}
