//! Undo and redo: the tree is byte-, mode- and link-identical afterwards, or nothing has been touched.

use crate::support::{Ran, TestRepo, patches, tree};
use serde_json::{Value, json};
use std::os::unix::fs::{PermissionsExt, symlink};

fn ok(ran: Ran) -> Value {
    assert_eq!(ran.code, 0, "{ran:?}");
    ran.json()
}

fn undo(repo: &TestRepo) -> Value {
    ok(repo.run(&["undo", "--json"], ""))
}

fn redo(repo: &TestRepo) -> Value {
    ok(repo.run(&["redo", "--json"], ""))
}

/// The codes and paths of a refusal that touched nothing.
#[track_caller]
fn refused(repo: &TestRepo, arguments: &[&str]) -> Vec<(String, Value)> {
    let before = tree(repo.root());
    let ran = repo.run(arguments, "");
    let json = ran.json();
    assert_eq!(
        (ran.code, &json["outcome"], &json["tree"]),
        (1, &"refused".into(), &"untouched".into()),
        "{ran:?}"
    );
    assert_eq!(tree(repo.root()), before);
    let errors = json["errors"].as_array().unwrap().clone();
    errors.into_iter().map(|e| (e["code"].as_str().unwrap().to_owned(), e["path"].clone())).collect()
}

/// A tree with modes, a link, folders in folders, an empty file and bytes that are no text.
fn prepare(repo: &TestRepo) {
    for (path, text, mode) in [
        ("a.txt", "one\r\ntwo", 0o644),
        ("run.sh", "echo one\n", 0o755),
        ("secret", "one\n", 0o640),
        ("empty", "", 0o644),
        ("d/x", "x\n", 0o644),
        ("d/deep/y", "y\n", 0o600),
        ("f", "f\n", 0o644),
    ] {
        repo.write(path, text);
        repo.chmod(path, mode);
    }
    std::fs::write(repo.path("raw"), b"one \xff\n").unwrap();
    symlink("a.txt", repo.path("link")).unwrap();
}

/// Apply, undo, redo, undo: old, new and old again.
#[track_caller]
fn there_and_back(batch: &Value) {
    for repo in [TestRepo::new(&[("other", "o\n")]), TestRepo::folder(&[("other", "o\n")])] {
        prepare(&repo);
        let old = tree(repo.root());
        let ran = repo.run(&["apply", "--json", "--allow-symlinks"], batch_text(batch));
        assert_eq!(ok(ran)["outcome"], "applied", "{batch}");
        let new = tree(repo.root());
        assert_ne!(old, new);
        let undone = undo(&repo);
        assert_eq!((&undone["mode"], &undone["applied"]), (&"undo".into(), &true.into()));
        assert_eq!(tree(repo.root()), old, "undo of {batch}");
        assert_eq!(redo(&repo)["mode"], "redo");
        assert_eq!(tree(repo.root()), new, "redo of {batch}");
        undo(&repo);
        assert_eq!(tree(repo.root()), old, "undo of the redo of {batch}");
        assert_eq!(refused(&repo, &["undo", "--json"]), [("missing".to_owned(), Value::Null)]);
    }
}

/// A batch that is a string is no JSON.
fn batch_text(batch: &Value) -> String {
    batch.as_str().map_or_else(|| batch.to_string(), str::to_owned)
}

#[test]
fn edits() {
    let edit = |path: &str| json!({"path": path, "old_string": "one", "new_string": "1"});
    there_and_back(&json!(["a.txt", "run.sh", "secret", "raw"].map(edit)));
    there_and_back(&json!([{"path": "empty", "content": "no more\n"}]));
    there_and_back(&json!([{"path": "link", "old_string": "two", "new_string": "2"}]));
}

#[test]
fn files_that_come_and_go() {
    there_and_back(&json!([
        {"path": "n/m/new", "operation": "create", "diff": "new\n"},
        {"path": "n/other", "operation": "create", "diff": ""},
        {"path": "d/deep/y", "operation": "delete"},
        {"path": "empty", "operation": "delete"},
    ]));
    there_and_back(&json!([
        {"path": "d/x", "operation": "delete"},
        {"path": "d/deep/y", "operation": "delete"},
    ]));
}

#[test]
fn files_that_move() {
    there_and_back(&json!([
        {"path": "d/deep/y", "moveTo": "e/f/z"},
        {"path": "run.sh", "moveTo": "bin/run", "diff": "@@\n-echo one\n+echo 1\n"},
    ]));
    // A chain: each takes the place of the next.
    there_and_back(&json!([
        {"path": "secret", "moveTo": "end"},
        {"path": "run.sh", "moveTo": "secret"},
        {"path": "a.txt", "moveTo": "run.sh"},
    ]));
}

#[test]
fn links_and_modes() {
    there_and_back(
        &"diff --git a/link b/link\ndeleted file mode 120000\n--- a/link\n+++ /dev/null\n@@ -1 +0,0 @@\n-a.txt\n\\ No newline at end of file\n\
          diff --git a/to b/to\nnew file mode 120000\n--- /dev/null\n+++ b/to\n@@ -0,0 +1 @@\n+d/x\n\\ No newline at end of file\n\
          diff --git a/f b/f\nold mode 100644\nnew mode 100755\n"
            .into(),
    );
}

#[test]
fn a_folder_for_a_file_and_a_file_for_a_folder() {
    there_and_back(&json!([
        {"path": "d/x", "operation": "delete"},
        {"path": "d/deep/y", "operation": "delete"},
        {"path": "d", "operation": "create", "diff": "a file now\n"},
    ]));
    there_and_back(&json!([
        {"path": "f", "operation": "delete"},
        {"path": "f/g/h", "operation": "create", "diff": "h\n"},
    ]));
}

#[test]
fn folders_come_back_as_they_were() {
    let repo = TestRepo::new(&[("d/x", "x\n")]);
    std::fs::create_dir(repo.path("mine")).unwrap();
    repo.chmod("d", 0o700);
    let batch = json!([
        {"path": "d/x", "operation": "delete"},
        {"path": "mine/new", "operation": "create", "diff": "n\n"},
    ]);
    let mode = || std::fs::metadata(repo.path("d")).map(|m| m.permissions().mode() & 0o7777).ok();
    ok(repo.run(&["apply", "--json"], batch.to_string()));
    assert_eq!(mode(), None);
    undo(&repo);
    assert_eq!(mode(), Some(0o700));
    assert!(repo.path("mine").is_dir(), "the folder was there before the batch, empty as it is");
    redo(&repo);
    assert_eq!(mode(), None);
}

fn two() -> TestRepo {
    let repo = TestRepo::new(&[("a", "1\n"), ("b", "2\n"), ("d/c", "3\n")]);
    ok(repo
        .run(&["apply", "--json"], patches(&[("a", "1", "one"), ("b", "2", "two"), ("d/c", "3", "three")])));
    repo
}

fn texts(repo: &TestRepo) -> [String; 3] {
    ["a", "b", "d/c"].map(|path| repo.read(path).trim_end().to_owned())
}

#[test]
fn what_somebody_changed_since_is_left_alone() {
    let repo = two();
    repo.write("b", "two\nmine\n");
    repo.chmod("d/c", 0o600);
    let changed = |path: &str| ("changed-during".to_owned(), Value::from(path));
    assert_eq!(refused(&repo, &["undo", "--json"]), [changed("b"), changed("d/c")]);
    assert_eq!(refused(&repo, &["undo", "--json", "--path", "b"]), [changed("b")]);
    let none = |path: &str| ("missing".to_owned(), Value::from(path));
    assert_eq!(refused(&repo, &["undo", "--json", "--path", "a", "--path", "zzz"]), [none("zzz")]);
    ok(repo.run(&["undo", "--json", "--path", "a"], ""));
    assert_eq!(texts(&repo), ["1", "two\nmine", "three"]);
    // What is undone is undone; the rest can follow.
    let again = refused(&repo, &["undo", "--json", "--path", "a"]);
    assert_eq!(again[0].0, "already-applied");
    repo.write("b", "two\n");
    repo.chmod("d/c", 0o644);
    undo(&repo);
    assert_eq!(texts(&repo), ["1", "2", "3"]);
    redo(&repo);
    redo(&repo);
    assert_eq!(texts(&repo), ["one", "two", "three"]);
}

#[test]
fn what_stands_in_the_way_is_left_alone() {
    let repo = TestRepo::new(&[("f", "f\n"), ("d/x", "x\n")]);
    let batch = json!([
        {"path": "f", "operation": "delete"},
        {"path": "f/g", "operation": "create", "diff": "g\n"},
        {"path": "d/x", "operation": "delete"},
    ]);
    ok(repo.run(&["apply", "--json"], batch.to_string()));
    repo.write("f/mine", "m\n");
    repo.write("d", "a file\n");
    let changed = |path: &str| ("changed-during".to_owned(), Value::from(path));
    assert_eq!(refused(&repo, &["undo", "--json"]), [changed("d/x"), changed("f")]);
    std::fs::remove_file(repo.path("d")).unwrap();
    symlink("f", repo.path("d")).unwrap();
    assert_eq!(refused(&repo, &["undo", "--json", "--path", "d"]), [changed("d/x")]);
}

#[test]
fn a_folder_can_be_undone_and_a_move_goes_back_whole() {
    let repo = two();
    ok(repo.run(&["undo", "--json", "-C", "d", "--path", "."], ""));
    assert_eq!(texts(&repo), ["one", "two", "3"]);
    let moved = json!([{"path": "a", "moveTo": "z"}, {"path": "b", "diff": "@@\n-two\n+2\n"}]);
    ok(repo.run(&["apply", "--json"], moved.to_string()));
    ok(repo.run(&["undo", "--json", "--path", "z"], ""));
    assert_eq!(texts(&repo), ["one", "2", "3"]);
    assert!(!repo.path("z").exists());
}

#[test]
fn many_steps_back_and_forth() {
    let repo = TestRepo::new(&[("a", "0\n")]);
    for (old, new) in [("0", "1"), ("1", "2"), ("2", "3")] {
        ok(repo.run(&["apply", "--json"], patches(&[("a", old, new)])));
    }
    let mut seen = String::new();
    for command in ["undo", "undo", "redo", "undo", "undo", "redo", "redo", "redo"] {
        ok(repo.run(&[command, "--json"], ""));
        seen.push_str(repo.read("a").trim_end());
    }
    assert_eq!(seen, "21210123");
    assert_eq!(refused(&repo, &["redo", "--json"])[0].0, "missing");
    undo(&repo);
    // A new operation ends what could be redone.
    ok(repo.run(&["apply", "--json"], patches(&[("a", "2", "x")])));
    assert_eq!(refused(&repo, &["redo", "--json"])[0].0, "missing");
    undo(&repo);
    assert_eq!(repo.read("a"), "2\n");
}

#[test]
fn an_undo_can_be_undone_by_its_id() {
    let repo = two();
    let id = undo(&repo)["transaction"].as_str().unwrap().to_owned();
    ok(repo.run(&["undo", "--json", &id], ""));
    assert_eq!(texts(&repo), ["one", "two", "three"]);
    undo(&repo);
    assert_eq!(texts(&repo), ["1", "2", "3"]);
    assert_eq!(refused(&repo, &["undo", "--json", "20200101"])[0].0, "missing");
}

#[test]
fn undo_needs_no_objects_of_git() {
    let repo = two();
    repo.git(&["gc", "-q", "--prune=now"]);
    let index = std::fs::read(repo.path(".git/index")).unwrap();
    undo(&repo);
    assert_eq!(texts(&repo), ["1", "2", "3"]);
    assert_eq!(std::fs::read(repo.path(".git/index")).unwrap(), index);
    assert_eq!(repo.git(&["status", "--porcelain"]), "");
    redo(&repo);
    assert_eq!(repo.git(&["status", "--porcelain"]), " M a\n M b\n M d/c");
}

#[test]
fn a_commit_stays_unless_a_new_one_is_asked_for() {
    let repo = TestRepo::new(&[("a", "1\n"), ("b", "2\n")]);
    let ran = repo.run(&["apply", "--json", "--commit"], patches(&[("a", "1", "one"), ("b", "2", "two")]));
    let id = ok(ran)["transaction"].as_str().unwrap().to_owned();
    let head = repo.git(&["rev-parse", "HEAD"]);
    let undone = undo(&repo);
    assert_eq!(undone["warnings"][0]["code"], "record-stays");
    assert!(undone["warnings"][0]["message"].as_str().unwrap().contains(&head[..12]));
    assert_eq!(repo.git(&["rev-parse", "HEAD"]), head);
    assert_eq!(repo.git(&["status", "--porcelain"]), " M a\n M b");
    redo(&repo);
    assert_eq!(repo.git(&["status", "--porcelain"]), "");
    let undone = ok(repo.run(&["undo", "--json", "--commit"], ""));
    assert_eq!(
        (&undone["git"]["record"], undone["warnings"].as_array().unwrap().len()),
        (&"commit".into(), 0)
    );
    assert_eq!(repo.git(&["status", "--porcelain"]), "");
    assert_eq!(repo.git(&["diff", "HEAD~2", "HEAD"]), "");
    assert_eq!(repo.git(&["log", "-1", "--format=%s"]), format!("patchmany: undo {id}"));
    assert_eq!(repo.git(&["fsck", "--strict"]), "");
}

#[test]
fn a_killed_undo_is_rolled_back_by_the_next_run() {
    let repo = TestRepo::new(&[("a", "1\n"), ("d/b", "2\n")]);
    let batch = json!([{"path": "a", "diff": "@@\n-1\n+one\n"}, {"path": "d/b", "operation": "delete"}]);
    ok(repo.run(&["apply", "--json", "--commit"], batch.to_string()));
    let (after, old) = (tree(repo.root()), repo.git(&["rev-parse", "HEAD"]));
    // Between the swap and the commit point.
    repo.hook(
        "pre-commit",
        "while [ ! -s ../pid ]; do sleep 0.02; done; kill -s KILL $(cat ../pid); sleep 0.2",
    );
    let child = repo.start(&["undo", "--json", "--commit"], "");
    std::fs::write(repo.temp().join("pid"), child.id().to_string()).unwrap();
    assert_eq!(Ran::of(&child.wait_with_output().unwrap()).code, 137);
    assert_ne!(tree(repo.root()), after);
    let log = repo.run(&["log"], "");
    assert_eq!((log.code, log.out.lines().count()), (0, 1), "{log:?}");
    assert!(log.err.starts_with("warning: an operation is running, or was interrupted"), "{log:?}");
    assert_eq!(ok(repo.run(&["recover", "--json"], ""))["outcome"], "rolled-back");
    assert_eq!((tree(repo.root()), repo.git(&["rev-parse", "HEAD"])), (after, old));
    ok(repo.run(&["undo", "--json", "--commit", "--no-hooks"], ""));
    assert_eq!((repo.read("a"), repo.read("d/b")), ("1\n".to_owned(), "2\n".to_owned()));
}

#[test]
fn a_failing_hook_rolls_an_undo_back() {
    let repo = TestRepo::new(&[("a", "1\n")]);
    ok(repo.run(&["apply", "--json", "--commit"], patches(&[("a", "1", "one")])));
    repo.hook("pre-commit", "exit 1");
    let ran = repo.run(&["undo", "--json", "--commit"], "");
    assert_eq!((ran.code, &ran.json()["outcome"]), (3, &"rolled-back".into()), "{ran:?}");
    assert_eq!(repo.read("a"), "one\n");
    undo(&repo);
    assert_eq!(repo.read("a"), "1\n");
}

#[test]
fn what_the_undo_store_lost_is_refused() {
    let repo = two();
    let store = repo.path(".git/patchmany/undo");
    let operation = std::fs::read_dir(&store).unwrap().next().unwrap().unwrap().path();
    for entry in std::fs::read_dir(operation).unwrap() {
        let path = entry.unwrap().path();
        match &std::fs::read(&path).unwrap()[..] {
            b"1\n" => std::fs::write(path, "X\n").unwrap(),
            b"2\n" => std::fs::remove_file(path).unwrap(),
            _ => {}
        }
    }
    let first = refused(&repo, &["undo", "--json", "--path", "a"]);
    let second = refused(&repo, &["undo", "--json", "--path", "b"]);
    assert_eq!((&*first[0].0, &*second[0].0), ("missing", "missing"));
    ok(repo.run(&["undo", "--json", "--path", "d"], ""));
    assert_eq!(texts(&repo), ["one", "two", "3"]);
}
