//! The log: what it lists, how operations are shown, and how many are kept.

use crate::support::{Ran, TestRepo, patches};
use serde_json::Value;

/// The objects of `log --json`, newest first.
fn log(repo: &TestRepo) -> Vec<Value> {
    let ran = repo.run(&["log", "--json"], "");
    assert_eq!(ran.code, 0, "{ran:?}");
    ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn apply(repo: &TestRepo, arguments: &[&str], old: &str, new: &str) -> String {
    let ran = repo.run(&[&["apply", "--json"], arguments].concat(), patches(&[("a", old, new)]));
    assert_eq!(ran.code, 0, "{ran:?}");
    ran.json()["transaction"].as_str().unwrap().to_owned()
}

fn run(repo: &TestRepo, arguments: &[&str]) -> Ran {
    let ran = repo.run(arguments, "");
    assert_eq!(ran.code, 0, "{ran:?}");
    ran
}

#[test]
fn operations_are_listed_newest_first() {
    for repo in [TestRepo::new(&[("a", "0\n")]), TestRepo::folder(&[("a", "0\n")])] {
        assert_eq!(run(&repo, &["log"]).out, "");
        let first = apply(&repo, &[], "0", "1");
        let second = apply(&repo, &[], "1", "2");
        let undo = run(&repo, &["undo", "--json"]).json()["transaction"].as_str().unwrap().to_owned();
        let listed = log(&repo);
        let seen: Vec<_> =
            listed.iter().map(|one| [&one["id"], &one["command"], &one["undone"], &one["undoes"]]).collect();
        let (none, no, yes) = (Value::Null, Value::from("no"), Value::from("yes"));
        let (apply, undone) = (Value::from("apply"), Value::from("undo"));
        assert_eq!(
            seen,
            [
                [&undo.clone().into(), &undone, &no, &second.clone().into()],
                [&second.clone().into(), &apply, &yes, &none],
                [&first.clone().into(), &apply, &no, &none],
            ]
        );
        let fields: Vec<_> = listed[0].as_object().unwrap().keys().cloned().collect();
        assert_eq!(fields, ["command", "files", "git", "id", "time", "undoes", "undone"]);
        let time = listed[0]["time"].as_str().unwrap();
        assert_eq!(time.replace(['-', ':'], "").trim_end_matches('Z'), &undo[..15]);
        let told = run(&repo, &["log"]).out;
        let ends: Vec<_> = told.lines().map(|line| line.split_once('Z').unwrap().1.to_owned()).collect();
        assert_eq!(
            ends,
            [format!(" undo  1 file of {second}"), " apply 1 file; undone".into(), " apply 1 file".into()]
        );
    }
}

#[test]
fn a_commit_is_listed() {
    let repo = TestRepo::new(&[("a", "0\n")]);
    apply(&repo, &["--commit"], "0", "1");
    let head = repo.git(&["rev-parse", "HEAD"]);
    assert_eq!(
        log(&repo)[0]["git"],
        serde_json::json!({"record": "commit", "commit": head, "ref": "refs/heads/main"})
    );
    assert!(run(&repo, &["log"]).out.ends_with(&format!(" apply 1 file; commit {}\n", &head[..12])));
}

#[test]
fn an_operation_is_shown_with_its_diff() {
    let repo = TestRepo::new(&[("a", "0\n"), ("b", "b\n"), ("gone", "g\n")]);
    let batch = serde_json::json!([
        {"path": "a", "diff": "@@\n-0\n+1\n"},
        {"path": "b", "diff": "@@\n-b\n+B\n"},
        {"path": "gone", "operation": "delete"},
        {"path": "new", "operation": "create", "diff": "n\n"},
    ]);
    let first =
        repo.run(&["apply", "--json"], batch.to_string()).json()["transaction"].as_str().unwrap().to_owned();
    let told = run(&repo, &["show", &first]).out;
    let rows: Vec<_> = told.lines().skip(1).collect();
    assert_eq!(rows, [" a | +1 -1", " b | +1 -1", " gone | +0 -1 (gone)", " new | +1 -0 (new)"]);
    // What edits made is noted down; what stood in a new file is nowhere once somebody has edited it.
    apply(&repo, &[], "1", "2");
    repo.write("b", "mine\n");
    repo.write("new", "mine\n");
    let shown = run(&repo, &["show", "--diff", "--json", &first]).json();
    assert_eq!(shown["not_shown"], serde_json::json!(["new"]));
    let fields: Vec<_> = shown.as_object().unwrap().keys().cloned().collect();
    assert_eq!(
        fields,
        ["command", "diff", "files", "git", "id", "not_shown", "paths", "time", "undoes", "undone"]
    );
    let diff = shown["diff"].as_str().unwrap();
    assert!(diff.contains("--- a/a\n+++ b/a\n@@ -1 +1 @@\n-0\n+1\n"), "{diff}");
    assert!(diff.contains("deleted file mode 100644\n--- a/gone\n") && diff.contains("-b\n+B\n"), "{diff}");
    assert!(!diff.contains("b/new"), "{diff}");
    let told = run(&repo, &["show", "--diff", &first]).out;
    assert!(told.ends_with("new: its version after the operation is gone; no diff\n"), "{told}");
    let unknown = repo.run(&["show", "--json", "2020"], "");
    assert_eq!((unknown.code, unknown.codes()), (1, vec!["missing".to_owned()]));
    assert!(unknown.out.contains("2020"));
}

#[test]
fn so_many_operations_are_kept_as_configured() {
    let repo = TestRepo::new(&[("a", "0\n")]);
    let ids: Vec<_> = ["0", "1", "2", "3"].windows(2).map(|w| apply(&repo, &[], w[0], w[1])).collect();
    run(&repo, &["log", "--prune"]);
    assert_eq!(log(&repo).len(), 3);
    repo.git(&["config", "patchmany.undoCount", "2"]);
    run(&repo, &["log", "--prune"]);
    assert_eq!(log(&repo).iter().map(|one| &one["id"]).collect::<Vec<_>>(), [&ids[2], &ids[1]]);
    repo.git(&["config", "patchmany.undoSize", "1"]);
    let last = apply(&repo, &[], "3", "4");
    assert_eq!(log(&repo).iter().map(|one| &one["id"]).collect::<Vec<_>>(), [&last], "the newest stays");
    repo.git(&["config", "patchmany.undoSize", "1g"]);
    repo.git(&["config", "patchmany.undoAge", "1"]);
    let store = repo.path(".git/patchmany/undo");
    let old = "20200101T000000-0000000000000001";
    std::fs::create_dir(store.join(old)).unwrap();
    run(&repo, &["log", "--prune"]);
    assert!(!store.join(old).exists());
    assert_eq!(run(&repo, &["undo", "--json"]).json()["outcome"], "applied");
    assert_eq!(repo.read("a"), "3\n");
}
