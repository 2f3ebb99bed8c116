//! Runs that are stopped, or that wait for another one: the tree is all old or all new.

use crate::support::{Ran, TestRepo, patches, tree};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

const FILES: usize = 500;

/// A repository of many files.
fn many() -> TestRepo {
    let texts: Vec<(String, String)> =
        (0..FILES).map(|n| (format!("d{}/f{n}.txt", n % 40), format!("file {n}\nold\n"))).collect();
    let files: Vec<(&str, &str)> = texts.iter().map(|(path, text)| (&**path, &**text)).collect();
    TestRepo::new(&files)
}

/// Edits, creations, deletions and moves of all of them.
fn batch() -> String {
    let entry = |n: usize| {
        let path = format!("d{}/f{n}.txt", n % 40);
        match n % 4 {
            0 => serde_json::json!({"path": path, "operation": "delete"}),
            1 => serde_json::json!({"path": path, "moveTo": format!("moved/f{n}.txt")}),
            2 => serde_json::json!({"path": format!("new/n{n}.txt"), "operation": "create", "diff": "n\n"}),
            _ => serde_json::json!({"path": path, "diff": "@@\n-old\n+new\n"}),
        }
    };
    serde_json::Value::from_iter((0..FILES).map(entry)).to_string()
}

/// The tree that the whole batch makes.
fn all_new() -> BTreeMap<String, String> {
    let repo = many();
    assert_eq!(repo.run(&["apply"], batch()).code, 0);
    tree(repo.root())
}

#[track_caller]
fn wait_for(path: &Path) {
    let begun = Instant::now();
    while !path.exists() {
        assert!(begun.elapsed() < Duration::from_secs(20), "{} never came", path.display());
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn signal(child: &std::process::Child, name: &str) {
    let id = child.id().to_string();
    assert!(std::process::Command::new("kill").args(["-s", name, &id]).status().unwrap().success());
}

#[test]
fn a_signal_ends_a_long_batch_whole() {
    let new = all_new();
    let old = tree(many().root());
    for (pause, name, code) in [(0, "TERM", 143), (20, "TERM", 143), (60, "INT", 130), (120, "HUP", 129)] {
        let repo = many();
        let child = repo.start(&["apply", "--json", "--durability", "none"], batch());
        wait_for(&repo.path(".git/patchmany/lock"));
        std::thread::sleep(Duration::from_millis(pause));
        signal(&child, name);
        let ran = Ran::of(&child.wait_with_output().unwrap());
        let found = tree(repo.root());
        match ran.code {
            0 => assert!(found == new, "applied, but the tree is not new"),
            _ => {
                assert_eq!((ran.code, &ran.json()["outcome"]), (code, &"interrupted".into()), "{pause}");
                assert!(found == old, "interrupted after {pause} ms, but the tree is not old");
            }
        }
        assert_eq!(repo.run(&["recover"], "").out, "nothing to recover\n");
    }
}

/// Applies with `--commit`, and has the hook send the program a signal: between the swap and the commit point.
fn signalled_by_a_hook(repo: &TestRepo, name: &str) -> Ran {
    let wait = "while [ ! -s ../pid ]; do sleep 0.02; done";
    repo.hook("pre-commit", &format!("{wait}; kill -s {name} $(cat ../pid); sleep 0.2"));
    let child = repo
        .start(&["apply", "--json", "--commit"], patches(&[("a.txt", "one", "1"), ("b.txt", "two", "2")]));
    std::fs::write(repo.temp().join("pid"), child.id().to_string()).unwrap();
    Ran::of(&child.wait_with_output().unwrap())
}

#[test]
fn a_signal_before_the_commit_point_undoes_the_swap() {
    let repo = TestRepo::new(&[("a.txt", "one\n"), ("b.txt", "two\n")]);
    let (before, head) = (tree(repo.root()), repo.git(&["rev-parse", "HEAD"]));
    let ran = signalled_by_a_hook(&repo, "TERM");
    let committed = repo.git(&["rev-parse", "HEAD"]) != head;
    let applied = repo.read("a.txt") == "1\n" && repo.read("b.txt") == "2\n";
    assert_eq!(committed, applied, "files and history go together: {ran:?}");
    if !applied {
        assert_eq!((ran.code, tree(repo.root())), (143, before), "{ran:?}");
    }
    assert_eq!(repo.git(&["fsck", "--strict"]), "");
}

#[test]
fn a_second_run_waits_and_gives_up() {
    let repo = TestRepo::new(&[("a.txt", "one\n"), ("b.txt", "two\n")]);
    // The first run holds the lock as long as its hook does.
    repo.hook("pre-commit", "touch ../in-hook; while [ ! -e ../go-on ]; do sleep 0.05; done");
    let first = repo.start(&["apply", "--json", "--commit"], patches(&[("a.txt", "one", "1")]));
    wait_for(&repo.temp().join("in-hook"));
    let before = tree(repo.root());
    let second = repo.run(&["apply", "--json", "--lock-timeout", "0"], patches(&[("b.txt", "two", "2")]));
    assert_eq!((second.code, &second.codes()[..]), (5, &["locked".to_owned()][..]), "{second:?}");
    assert_eq!(second.json()["outcome"], "locked");
    let told = repo.run(&["apply", "--lock-timeout", "0"], patches(&[("b.txt", "two", "2")]));
    assert!(told.first_line().starts_with("nothing was written"), "{told:?}");
    assert_eq!(repo.run(&["recover", "--lock-timeout", "0"], "").code, 5);
    assert_eq!(tree(repo.root()), before);
    let waiting = repo.start(&["apply", "--lock-timeout", "20"], patches(&[("b.txt", "two", "2")]));
    std::fs::write(repo.temp().join("go-on"), "").unwrap();
    let first = Ran::of(&first.wait_with_output().unwrap());
    assert_eq!(first.code, 0, "{first:?}");
    let waited = Ran::of(&waiting.wait_with_output().unwrap());
    assert_eq!((waited.code, &*repo.read("b.txt")), (0, "2\n"), "{waited:?}");
}

#[test]
fn a_killed_run_is_undone_by_the_next() {
    let repo = TestRepo::new(&[("a.txt", "one\n"), ("b.txt", "two\n")]);
    let before = tree(repo.root());
    let ran = signalled_by_a_hook(&repo, "KILL");
    assert_eq!(ran.code, 137, "{ran:?}");
    let listed = repo.run(&["recover", "--list"], "");
    assert!(listed.out.ends_with(" roll-back\n"), "{listed:?}");
    let recovered = repo.run(&["recover", "--json"], "");
    assert_eq!((recovered.code, &recovered.json()["outcome"]), (0, &"rolled-back".into()), "{recovered:?}");
    assert_eq!(tree(repo.root()), before);
    assert!(repo.path(".git/index.lock").symlink_metadata().is_err());
    assert_eq!(repo.git(&["status", "--porcelain"]), "");
}

/// The program as a shell starts it that sets a limit first.
fn limited(repo: &TestRepo, limit: &str, arguments: &str, input: &str) -> Ran {
    std::fs::write(repo.temp().join("batch"), input).unwrap();
    let mut shell = repo.command("sh");
    shell.env("XDG_STATE_HOME", repo.temp().join("state"));
    let program = env!("CARGO_BIN_EXE_patchmany");
    shell.args(["-c", &format!("ulimit {limit} && exec '{program}' {arguments} ../batch")]);
    Ran::of(&shell.output().unwrap())
}

#[test]
fn a_limit_on_file_size_is_an_error_and_no_end() {
    let repo = TestRepo::new(&[("a.txt", "one\n")]);
    let text = "x".repeat(70_000);
    let before = tree(repo.root());
    let ran = limited(&repo, "-f 8", "apply --json", &patches(&[("a.txt", "one", &text)]));
    assert_eq!((ran.code, &ran.json()["outcome"]), (3, &"rolled-back".into()), "{ran:?}");
    assert!(tree(repo.root()) == before);
    assert_eq!(repo.run(&["recover"], "").out, "nothing to recover\n");
}

#[test]
fn a_low_limit_on_open_files_is_raised() {
    let paths: Vec<String> = (0..200).map(|n| format!("d{n}/f")).collect();
    let repo = TestRepo::folder(&paths.iter().map(|path| (&**path, "one\n")).collect::<Vec<_>>());
    let edits: Vec<_> = paths.iter().map(|path| (&**path, "one", "1")).collect();
    let ran = limited(&repo, "-S -n 100", "apply", &patches(&edits));
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(paths.iter().all(|path| repo.read(path) == "1\n"));
}
