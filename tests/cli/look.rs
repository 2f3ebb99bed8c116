//! `read`: what people and programs see of files, and what is refused.

use crate::support::{TestRepo, identity};
use serde_json::json;

fn repo() -> TestRepo {
    let repo = TestRepo::new(&[("a.txt", "one\ntwo\nthree\n"), ("src/b.txt", "x"), ("odd:1-2", "odd\n")]);
    repo.write("bin", b"a\0b");
    repo.write("latin", b"caf\xe9\n");
    repo
}

/// Runs in the folder `inside`; gives exit code and output.
#[track_caller]
fn check(inside: &str, arguments: &[&str], code: i32, out: &str) {
    let repo = repo();
    let output = repo.program(arguments).current_dir(repo.path(inside)).output().unwrap();
    let shown = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!((output.status.code(), &*shown), (Some(code), out), "{output:?}");
}

fn tag(bytes: &[u8]) -> String {
    patchmany::edit::Hash::of(bytes).tag().to_string()
}

#[test]
fn lines_stand_under_the_path_that_a_batch_would_name() {
    let (a, b) = (tag(b"one\ntwo\nthree\n"), tag(b"x"));
    check(
        "",
        &["read", "a.txt:2-9", "src/b.txt"],
        0,
        &format!("[a.txt#{a}]\n2:two\n3:three\n[src/b.txt#{b}]\n1:x\n"),
    );
    check(
        "src",
        &["read", "b.txt", "../a.txt:1,3-"],
        0,
        &format!("[b.txt#{b}]\n1:x\n[../a.txt#{a}]\n1:one\n3:three\n"),
    );
    check("", &["read", "-C", "src", "b.txt"], 0, &format!("[b.txt#{b}]\n1:x\n"));
    check("", &["read", "odd:1-2"], 0, &format!("[odd:1-2#{}]\n1:odd\n", tag(b"odd\n")));
}

#[test]
fn what_a_limit_keeps_out_is_told() {
    let repo = TestRepo::new(&[("f", &"x\n".repeat(600)), ("g", &"é".repeat(1_001))]);
    let ran = repo.run(&["read", "f"], "");
    assert!(ran.out.ends_with("\n500:x\n… more: patchmany read f:501-600\n"), "{ran:?}");
    assert!(repo.run(&["read", "g"], "").out.ends_with("é… (2 bytes more)\n"));
    let json = repo.run(&["read", "f:1-2", "g", "--json"], "").json();
    assert_eq!((&json["truncated"], &json["files"][0]["truncated"]), (&json!(false), &json!(false)));
    assert_eq!(json["files"][1]["lines"][0]["cut"], 2);
}

#[test]
fn what_cannot_be_shown_is_refused_and_the_rest_is_shown() {
    let repo = repo();
    let pipe = repo.command("mkfifo").arg("pipe").status().unwrap();
    assert!(pipe.success());
    std::os::unix::fs::symlink("/etc/passwd", repo.path("out")).unwrap();
    repo.write(".gitattributes", "*.dat binary\n");
    repo.write("x.dat", "text\n");
    for (path, code) in [
        ("none", "missing"),
        ("src", "not-regular"),
        (".", "not-regular"),
        ("pipe", "not-regular"),
        ("bin", "not-text"),
        ("x.dat", "not-text"),
        ("../x", "outside-root"),
        ("out", "outside-root"),
        (".git/config", "protected-path"),
        ("a.txt:4", "range"),
        ("a.txt:3-2", "range"),
    ] {
        let ran = repo.run(&["read", "--json", path, "src/b.txt"], "");
        let json = ran.json();
        assert_eq!((ran.code, &ran.codes()[..]), (1, &[code.to_owned()][..]), "{path}: {ran:?}");
        assert_eq!(json["outcome"], "refused");
        let told = json["errors"][0]["path"].as_str().unwrap();
        assert!(path.starts_with(told), "{ran:?}");
        assert_eq!(json["files"].as_array().map(Vec::len), Some(1));
        let ran = repo.run(&["read", path], "");
        assert!(ran.code == 1 && ran.out.is_empty() && ran.first_line().contains(code), "{ran:?}");
    }
    assert_eq!(repo.run(&["read", "--json"], "").json()["outcome"], "invalid");
}

#[test]
fn the_object_has_these_fields() {
    let ran = repo().run(&["read", "--json", "a.txt:1", "latin"], "");
    let hash = |bytes: &[u8]| patchmany::edit::Hash::of(bytes).to_string();
    let file = |path: &str, bytes: &[u8], encoding: &str, total: usize, text: serde_json::Value| {
        json!({"path": path, "tag": tag(bytes), "hash": hash(bytes), "encoding": encoding,
            "line_ending": "lf", "final_newline": true, "total_lines": total, "truncated": false, "left": null,
            "lines": [{"line": 1, "text": text}]})
    };
    let files = [
        file("a.txt", b"one\ntwo\nthree\n", "utf-8", 3, json!("one")),
        file("latin", b"caf\xe9\n", "unknown", 1, json!({"base64": "Y2Fm6Q=="})),
    ];
    assert_eq!(
        ran.json(),
        json!({"v": 1, "mode": "read", "applied": false, "outcome": "shown", "tree": "untouched",
            "files": files, "truncated": false, "errors": [], "warnings": []})
    );
}

#[test]
fn the_tree_stays_as_it_is() {
    let repo = repo();
    let before = identity(repo.root());
    repo.run(&["read", "a.txt", "none"], "");
    assert_eq!(identity(repo.root()), before);
}

/// The versions in the snapshot store, each with its mode.
fn remembered(state: &std::path::Path) -> Vec<(String, u32)> {
    use std::os::unix::fs::PermissionsExt;
    let entries = std::fs::read_dir(state.join("snapshots")).into_iter().flatten().map(Result::unwrap);
    let mut all: Vec<_> = entries
        .filter(|e| !e.file_name().to_string_lossy().starts_with("shown-"))
        .map(|e| {
            (std::fs::read_to_string(e.path()).unwrap(), e.metadata().unwrap().permissions().mode() & 0o777)
        })
        .collect();
    all.sort();
    all
}

#[test]
fn what_was_shown_is_remembered_for_the_owner() {
    let repo = repo();
    repo.run(&["read", "a.txt:2", "src/b.txt", "bin"], "");
    repo.run(&["read", "a.txt"], "");
    let both = [("one\ntwo\nthree\n".to_owned(), 0o600), ("x".to_owned(), 0o600)];
    assert_eq!(remembered(&repo.path(".git/patchmany")), both);
}

#[test]
fn the_store_is_as_large_as_git_is_told() {
    for (size, kept) in [("5", 1), ("0", 0), ("1k", 2)] {
        let repo = repo();
        repo.git(&["config", "patchmany.snapshotSize", size]);
        assert_eq!(repo.run(&["read", "a.txt", "src/b.txt"], "").code, 0);
        assert_eq!(remembered(&repo.path(".git/patchmany")).len(), kept, "{size}");
    }
}

#[test]
fn what_cannot_be_remembered_is_shown_all_the_same() {
    let repo = repo();
    repo.write(".git/patchmany", "in the way");
    let ran = repo.run(&["read", "src/b.txt"], "");
    assert_eq!((ran.code, ran.out.lines().last(), &*ran.err), (0, Some("1:x"), ""), "{ran:?}");
}
