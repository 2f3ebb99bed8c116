//! Roots without git that contain one another: they share lock and recovery.

use crate::support::{Ran, TestRepo, die, patches};
use patchmany::disk::OsDisk;
use patchmany::edit::Hash;
use patchmany::transaction::Store;
use std::path::{Path, PathBuf};
use std::time::Duration;

fn nested() -> TestRepo {
    TestRepo::folder(&[("a.txt", "one\n"), ("sub/b.txt", "two\n"), ("sub/deep/c.txt", "three\n")])
}

/// Runs the program with `folder` as the current one, and so as the root.
fn run_in(folder: &TestRepo, at: &str, arguments: &[&str], input: &str) -> Ran {
    std::fs::write(folder.temp().join("batch"), input).unwrap();
    let mut command = folder.program(arguments);
    command.current_dir(folder.path(at)).stdin(std::fs::File::open(folder.temp().join("batch")).unwrap());
    Ran::of(&command.output().unwrap())
}

/// The state directory of a root, which has been used before.
fn state(folder: &TestRepo, root: &Path) -> Store<OsDisk> {
    use std::os::unix::ffi::OsStrExt;
    let name = Hash::of(root.as_os_str().as_bytes()).to_string();
    Store::find(OsDisk, &folder.temp().join("state/patchmany").join(name)).unwrap().expect("it has been used")
}

/// Registers the roots, by a batch that changes nothing.
fn use_roots(folder: &TestRepo, roots: &[&str]) {
    for root in roots {
        let batch = r#"[{"path":"new","operation":"create","diff":""}]"#;
        assert_eq!(run_in(folder, root, &["apply"], batch).code, 0);
        assert_eq!(run_in(folder, root, &["undo"], "").code, 0);
    }
}

/// A run on `root` that dies.
fn dies_in(folder: &TestRepo, root: &Path, edit: (&str, &str, &str)) {
    die(root, &state(folder, root), b"", edit);
}

fn roots(folder: &TestRepo) -> (PathBuf, PathBuf) {
    (folder.root().to_owned(), folder.path("sub"))
}

#[test]
fn a_run_in_a_root_inside_recovers_the_one_around_it_first() {
    let folder = nested();
    use_roots(&folder, &["."]);
    dies_in(&folder, &roots(&folder).0, ("sub/b.txt", "two\n", "2\n"));
    assert_eq!(folder.read("sub/b.txt"), "2\n");
    let log = run_in(&folder, "sub", &["recover", "--list"], "");
    assert!(log.out.contains("roll-back"), "{log:?}");
    let ran = run_in(&folder, "sub", &["apply"], &patches(&[("b.txt", "two", "zwei")]));
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.err.contains("rolled back"), "{ran:?}");
    assert_eq!(folder.read("sub/b.txt"), "zwei\n");
    assert_eq!(run_in(&folder, ".", &["recover"], "").out, "nothing to recover\n");
}

#[test]
fn a_run_around_a_root_recovers_the_one_inside_first() {
    let folder = nested();
    use_roots(&folder, &["sub"]);
    dies_in(&folder, &roots(&folder).1, ("b.txt", "two\n", "2\n"));
    let ran = run_in(&folder, ".", &["apply"], &patches(&[("a.txt", "one", "1")]));
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!((folder.read("a.txt").as_str(), folder.read("sub/b.txt").as_str()), ("1\n", "two\n"));
}

#[test]
fn recover_ends_what_overlapping_roots_left() {
    let folder = nested();
    use_roots(&folder, &["sub"]);
    dies_in(&folder, &roots(&folder).1, ("b.txt", "two\n", "2\n"));
    let ran = run_in(&folder, ".", &["recover"], "");
    assert_eq!((ran.code, ran.out.as_str()), (0, "recovered\n"), "{ran:?}");
    assert_eq!(folder.read("sub/b.txt"), "two\n");
}

#[test]
fn what_needs_a_decision_there_stops_a_run_here() {
    let folder = nested();
    use_roots(&folder, &["sub"]);
    dies_in(&folder, &roots(&folder).1, ("b.txt", "two\n", "2\n"));
    folder.write("sub/b.txt", "theirs\n");
    let edit = patches(&[("a.txt", "one", "1")]);
    let ran = run_in(&folder, ".", &["apply", "--json"], &edit);
    assert_eq!(ran.code, 4, "{ran:?}");
    let message = ran.json()["errors"][0]["message"].as_str().unwrap().to_owned();
    assert!(message.contains(folder.path("sub").to_str().unwrap()), "{message}");
    assert_eq!(folder.read("a.txt"), "one\n");
    assert_eq!(run_in(&folder, ".", &["recover", "--back"], "").code, 0);
    assert_eq!(folder.read("sub/b.txt"), "theirs\n");
    assert_eq!(run_in(&folder, ".", &["apply"], &edit).code, 0);
}

#[test]
fn overlapping_roots_share_the_lock_and_others_do_not() {
    let folder = nested();
    folder.write("side/d.txt", "four\n");
    use_roots(&folder, &[".", "sub", "side"]);
    let outer = state(&folder, &roots(&folder).0);
    let held = outer.lock(Duration::ZERO).unwrap();
    for root in [".", "sub", "side", "sub/deep"] {
        let batch = r#"[{"path":"new","operation":"create","diff":""}]"#;
        let ran = run_in(&folder, root, &["apply", "--lock-timeout", "0"], batch);
        assert_eq!(ran.code, 5, "{root}: {ran:?}");
    }
    drop(held);
    let inner = state(&folder, &roots(&folder).1);
    let _held = inner.lock(Duration::ZERO).unwrap();
    let batch = r#"[{"path":"new","operation":"create","diff":""}]"#;
    for (root, code) in [(".", 5), ("sub", 5), ("sub/deep", 5), ("side", 0)] {
        let ran = run_in(&folder, root, &["apply", "--lock-timeout", "0"], batch);
        assert_eq!(ran.code, code, "{root}: {ran:?}");
    }
}
