//! Recording that fails, seen from outside: files, index, refs, reflogs and stash list are byte for byte as before, and
//! the cause is told. What others did meanwhile stays.

#![allow(clippy::print_stderr)] // what was met is for whoever reads the run
use super::beside::{dirty, rows};
use crate::support::{Ran, TestRepo, can_trace, patches, tree};
use std::collections::BTreeMap;

/// Two batch files: one with changes of the user's beside the batch, one without.
fn batch() -> String {
    patches(&[("f", "row 10", "batch"), ("g", "g", "G")])
}

/// The work tree, and every file of git's that is no object and not ours.
fn all(repo: &TestRepo) -> [BTreeMap<String, String>; 2] {
    let git = tree(&repo.path(".git")).into_iter();
    let git = git.filter(|(path, _)| !path.starts_with("objects") && !path.starts_with("patchmany"));
    [tree(repo.root()), git.collect()]
}

/// Applies the batch with `--commit`; it must fail with `code` and leave everything as it was. Returns what was said.
#[track_caller]
fn fails(repo: &TestRepo, arguments: &[&str], (code, outcome): (i32, &str)) -> Ran {
    let (before, state) = (all(repo), repo.state());
    let ran = repo.run(&[&["apply", "--json", "--lock-timeout", "0"], arguments].concat(), batch());
    assert_eq!((ran.code, &ran.json()["outcome"]), (code, &outcome.into()), "{ran:?}");
    assert_eq!(ran.json()["applied"], false);
    assert_eq!(all(repo), before, "{ran:?}");
    assert_eq!(repo.state(), state, "{ran:?}");
    ran
}

/// What is left of the run but versions that were put aside.
fn left(repo: &TestRepo) -> Vec<String> {
    let left = super::left(repo);
    left.into_iter().filter(|name| name != "recovered").collect()
}

#[test]
fn a_hook_that_fails() {
    for name in ["pre-commit", "commit-msg"] {
        let repo = dirty();
        repo.hook(name, "echo 'not on Mondays' >&2; exit 1");
        for how in [&["--commit"][..], &["--commit", "--whole-files"]] {
            let ran = fails(&repo, how, (3, "rolled-back"));
            let message = ran.json()["errors"][0]["message"].as_str().unwrap().to_owned();
            assert!(message.contains(name) && message.contains("not on Mondays"), "{message}");
            assert_eq!(left(&repo), Vec::<String>::new());
        }
    }
}

#[test]
fn a_hook_that_rewrites_a_batch_file_and_fails() {
    for script in [
        "echo formatted > f; exit 1",
        "echo formatted > f; git add f; exit 1",
        "echo formatted > t; mv t f; exit 1",
        "echo formatted > f; echo formatted > g; git add g; exit 1",
    ] {
        let repo = dirty();
        repo.hook("pre-commit", script);
        let ran = fails(&repo, &["--commit"], (3, "rolled-back"));
        let kept: Vec<_> = ran.json()["warnings"].as_array().unwrap().to_vec();
        assert!(
            kept.iter().any(|kept| kept["path"] == "f" && kept["code"] == "recovered"),
            "{script}: {ran:?}"
        );
        let place = kept[0]["message"].as_str().unwrap().rsplit(' ').next().unwrap().to_owned();
        assert!(std::fs::read_to_string(place).unwrap().ends_with("formatted\n"), "{script}: {ran:?}");
        assert_eq!(left(&repo), Vec::<String>::new());
    }
    let repo = dirty();
    repo.hook("pre-commit", "rm f; exit 1");
    fails(&repo, &["--commit"], (3, "rolled-back"));
}

#[test]
fn a_signer_that_fails() {
    for (format, program) in [("openpgp", "gpg.program"), ("ssh", "gpg.ssh.program")] {
        let repo = dirty();
        for (name, value) in [
            ("commit.gpgSign", "true"),
            ("gpg.format", format),
            ("user.signingKey", "key"),
            (program, "false"),
        ] {
            repo.git(&["config", name, value]);
        }
        let ran = fails(&repo, &["--commit"], (3, "rolled-back"));
        assert!(ran.json()["errors"][0]["message"].as_str().unwrap().contains("cannot sign"), "{ran:?}");
        assert_eq!(left(&repo), Vec::<String>::new());
    }
}

#[test]
fn a_head_that_moves_between_plan_and_record() {
    for moves in [
        "git update-ref refs/heads/main $(git commit-tree -p HEAD -m theirs HEAD^{tree})",
        "git symbolic-ref HEAD refs/heads/other",
    ] {
        let repo = dirty();
        repo.git(&["branch", "other"]);
        repo.hook("pre-commit", moves);
        let twin = repo.twin();
        assert!(twin.command("sh").args(["-c", moves]).status().unwrap().success());
        let ran = repo.run(&["apply", "--json", "--commit"], batch());
        assert_eq!((ran.code, &ran.json()["outcome"]), (3, &"rolled-back".into()), "{moves}: {ran:?}");
        assert!(ran.out.contains("HEAD moved while the batch was applied"), "{ran:?}");
        assert_eq!(all(&repo), all(&twin), "only they have changed anything");
        assert_eq!(left(&repo), Vec::<String>::new());
    }
}

#[test]
fn a_lock_that_is_held() {
    let repo = dirty();
    repo.write(".git/index.lock", "");
    for how in ["--commit", "--stage"] {
        let ran = fails(&repo, &[how], (5, "locked"));
        assert_eq!(ran.codes(), ["locked"]);
        assert_eq!(left(&repo), Vec::<String>::new());
    }
}

/// The calls on files of git's objects that an undisturbed run makes and a full disk can refuse.
fn object_calls(how: &str) -> Vec<(String, usize)> {
    let repo = dirty_for(how);
    let ran = traced(&repo, "signal=none", how);
    assert_eq!(ran.code, 0, "{ran:?}");
    let log = std::fs::read_to_string(repo.temp().join("log")).unwrap();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let mut found = Vec::new();
    for line in log.lines() {
        let Some((name, rest)) = line.split_once('(') else { continue };
        *counts.entry(name).or_default() += 1;
        if rest.contains("/objects/") && (name != "openat" || rest.contains("O_CREAT")) {
            found.push((name.to_owned(), counts[name]));
        }
    }
    found
}

fn traced(repo: &TestRepo, option: &str, how: &str) -> Ran {
    let path = repo.temp().join("batch.json");
    std::fs::write(&path, batch()).unwrap();
    let trace = "trace=openat,write,pwrite64,mkdir,mkdirat,link,linkat,rename,renameat,renameat2";
    let mut command = repo.command("strace");
    command
        .args(["-qq", "-y", "-e", trace, "-e", option, "-o"])
        .arg(repo.temp().join("log"))
        .arg(env!("CARGO_BIN_EXE_patchmany"))
        .args(["apply", "--json", "--jobs", "1", "--durability", "none", how])
        .arg(path)
        .env("XDG_STATE_HOME", repo.temp().join("state"));
    Ran::of(&command.output().unwrap())
}

#[test]
fn a_disk_that_is_full_when_objects_are_written() {
    if !can_trace() {
        return;
    }
    for how in ["--commit=ours", "--stage", "--stash=ours"] {
        let calls = object_calls(how);
        assert!(calls.len() > 3, "{how}: {calls:?}");
        // Once, and for good: a disk that is full refuses what is written, and still moves files.
        let for_good = calls.iter().filter(|(name, _)| name == "write");
        let for_good = for_good.map(|(name, number)| (name, format!("{number}+")));
        let once = calls.iter().map(|(name, number)| (name, number.to_string()));
        for (name, number) in once.chain(for_good) {
            let repo = dirty_for(how);
            let (before, state) = (all(&repo), repo.state());
            let ran = traced(&repo, &format!("inject={name}:error=ENOSPC:when={number}"), how);
            let what = format!("{how} {name} {number}: {ran:?}");
            if ran.code == 0 {
                // A folder that cannot be made may not be needed.
                assert!(name.starts_with("mkdir"), "{what}");
                continue;
            }
            assert_eq!(ran.code, 3, "{what}");
            // The result cannot be written either where nothing can.
            assert!(number.ends_with('+') || ran.out.contains("No space left"), "{what}");
            assert_eq!((all(&repo), repo.state()), (before, state), "{what}");
            assert_eq!(left(&repo), Vec::<String>::new(), "{what}");
        }
        eprintln!("{how}: {} calls refused", calls.len());
    }
}

/// A stash entry has no place for other changes.
fn dirty_for(how: &str) -> TestRepo {
    if how.starts_with("--stash") { TestRepo::new(&[("f", &rows(&[])), ("g", "g\n")]) } else { dirty() }
}
