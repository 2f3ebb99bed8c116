//! `apply --commit` killed before every system call that writes, from the swap on: recovery leaves old or new, no lock.
//!
//! strace counts the calls and sends the signal. Where there is none, or it may not trace, the tests say so and pass.

#![allow(clippy::print_stderr)] // what was ignored, or met, is for whoever reads the run
use crate::support::{Ran, TestRepo, block, can_trace};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const WRITING: &str = "openat,write,pwrite64,link,linkat,rename,renameat,renameat2,unlink,unlinkat,mkdir,mkdirat,\
                       rmdir,chmod,fchmod,fchmodat,ftruncate,fsync,fdatasync,syncfs,utimensat";
const EDITS: [(&str, &str, &str); 2] = [("a.txt", "one", "1"), ("b.txt", "two", "2")];

/// One call: its name, and which call of that name it is.
type Call = (String, usize);

fn repo() -> TestRepo {
    TestRepo::new(&[("a.txt", "one\n"), ("b.txt", "two\n"), ("mine.txt", "m\n")])
}

fn batch(repo: &TestRepo) -> PathBuf {
    let entry =
        |(path, old, new): &(&str, &str, &str)| serde_json::json!({"path": path, "patch": block(old, new)});
    let path = repo.temp().join("batch.json");
    std::fs::write(&path, serde_json::Value::from_iter(EDITS.iter().map(entry)).to_string()).unwrap();
    path
}

/// The program under strace, with one more option for it; `record` may name another index too. Only its main thread
/// counts: there all writing is done.
fn traced(repo: &TestRepo, option: &str, record: &str) -> Ran {
    let log = repo.temp().join("log");
    let (record, index) = record.split_once(' ').map_or((record, None), |(how, index)| (how, Some(index)));
    let mut command = repo.command("strace");
    if let Some(index) = index {
        command.env("GIT_INDEX_FILE", index);
    }
    command
        .args(["-qq", "-y", "-e", &format!("trace={WRITING}"), "-e", option, "-o"])
        .arg(log)
        .arg(env!("CARGO_BIN_EXE_patchmany"))
        .args(["apply", record, "--durability", "none"])
        .arg(batch(repo))
        .env("XDG_STATE_HOME", repo.temp().join("state"));
    Ran::of(&command.output().unwrap())
}

/// The calls of an undisturbed run that write, from the first on that `begins` finds.
fn calls(repo: &TestRepo, record: &str, begins: &str) -> Vec<Call> {
    let ran = traced(repo, "signal=none", record);
    assert_eq!(ran.code, 0, "{ran:?}");
    let log = std::fs::read_to_string(repo.temp().join("log")).unwrap();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let mut found = Vec::new();
    let mut begun = false;
    for line in log.lines() {
        let Some((name, rest)) = line.split_once('(') else { continue };
        *counts.entry(name).or_default() += 1;
        begun |= rest.contains(begins);
        if begun && (name != "openat" || ["O_WRONLY", "O_RDWR"].iter().any(|how| rest.contains(how))) {
            found.push((name.to_owned(), counts[name]));
        }
    }
    found
}

/// Kills a fresh run before each call, and lets `judge` see what is left after recovery.
fn kill_at_every_call(
    record: &str,
    begins: &str,
    make: &dyn Fn() -> TestRepo,
    judge: &dyn Fn(&TestRepo) -> Side,
) {
    if !can_trace() {
        return;
    }
    let mut met: BTreeMap<Side, usize> = BTreeMap::new();
    let calls = calls(&make(), record, begins);
    for (name, number) in &calls {
        let repo = make();
        let ran = traced(&repo, &format!("inject={name}:signal=KILL:when={number}"), record);
        assert_eq!(ran.code, 137, "{name} {number}: {ran:?}");
        let ran = repo.run(&["recover"], "");
        assert!([0, 3].contains(&ran.code), "{name} {number}: {ran:?}");
        let git = repo.git(&["rev-parse", "--path-format=absolute", "--git-common-dir"]);
        assert_eq!(left(Path::new(&git)), Vec::<PathBuf>::new(), "killed at {name} {number}");
        repo.git(&["fsck", "--strict", "--no-dangling"]);
        let side = judge(&repo);
        *met.entry(side).or_default() += 1;
        repo.git(&["commit", "-q", "--allow-empty", "-m", "the user's next"]);
    }
    eprintln!("{} kills: {met:?}", calls.len());
    assert!(met.len() > 1, "some on each side: {met:?}");
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Side {
    Old,
    New,
}

/// Locks and drafts of ours below `folder`.
fn left(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut waiting = vec![folder.to_owned()];
    while let Some(path) = waiting.pop() {
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if name.ends_with(".lock")
            || ["ref-", "stash-", "index-", "lock-"].iter().any(|n| name.starts_with(n))
        {
            found.push(path);
        } else if path.is_dir() && !path.is_symlink() {
            waiting.extend(std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        }
    }
    found
}

/// Files, branch, index and reflogs are all old or all new.
fn committed(repo: &TestRepo, commits_before: usize) -> Side {
    let commits = repo.try_git(&["rev-list", "HEAD"]);
    let commits = String::from_utf8(commits.stdout).unwrap().lines().count();
    let side = if commits == commits_before { Side::Old } else { Side::New };
    assert_eq!(commits, commits_before + usize::from(side == Side::New));
    for (path, old, new) in EDITS {
        let text = if side == Side::Old { old } else { new };
        assert_eq!(repo.read(path), format!("{text}\n"), "{side:?}");
    }
    let paths = EDITS.map(|(path, ..)| path);
    let status = repo.git(&[&["status", "--porcelain", "-uno", "--"][..], &paths].concat());
    assert!(status.is_empty() || commits == 0, "{side:?}: {status}");
    if side == Side::New {
        assert_eq!(repo.git(&["show", "--format=", "--name-only", "HEAD"]), "a.txt\nb.txt");
    }
    let branch = String::from_utf8(repo.try_git(&["symbolic-ref", "-q", "HEAD"]).stdout).unwrap();
    for name in ["HEAD", branch.trim_end()].into_iter().filter(|name| !name.is_empty()) {
        let log = repo.path(&repo.git(&["rev-parse", "--git-path", &format!("logs/{name}")]));
        let log = std::fs::read_to_string(log).unwrap_or_default();
        let ours = log.lines().filter(|line| line.ends_with(": ours")).count();
        assert_eq!(ours, usize::from(side == Side::New), "{name}: {log}");
    }
    side
}

#[test]
#[ignore = "kills some hundred processes; .ci/run runs it"]
fn a_commit() {
    let make = || {
        let repo = repo();
        repo.write("mine.txt", "staged\n");
        repo.git(&["add", "mine.txt"]);
        repo.write("mine.txt", "then changed\n");
        repo
    };
    kill_at_every_call("--commit=ours", "RENAME_EXCHANGE", &make, &|repo| {
        assert_eq!(repo.git(&["status", "--porcelain"]), "MM mine.txt");
        committed(repo, 1)
    });
}

#[test]
#[ignore = "kills some hundred processes; .ci/run runs it"]
fn a_first_commit_on_a_branch_in_folders() {
    let make = || {
        let repo = repo();
        repo.git(&["symbolic-ref", "HEAD", "refs/heads/deep/new"]);
        repo.git(&["rm", "-rq", "--cached", "."]);
        repo
    };
    kill_at_every_call("--commit=ours", "\"record\", O_", &make, &|repo| committed(repo, 0));
}

#[test]
#[ignore = "kills some hundred processes; .ci/run runs it"]
fn a_commit_on_a_detached_head_in_a_linked_work_tree() {
    let make = || {
        let main = repo();
        let linked = main.temp().join("linked");
        main.git(&["worktree", "add", "-q", "--detach", linked.to_str().unwrap()]);
        main.at(linked.canonicalize().unwrap())
    };
    kill_at_every_call("--commit=ours", "\"record\", O_", &make, &|repo| committed(repo, 1));
}

/// `a.txt` is all old or all new, beside a change of the user's that is not staged.
fn beside(repo: &TestRepo, commits: &str) -> Side {
    let side = if repo.read("a.txt").starts_with("1\n") { Side::New } else { Side::Old };
    let first = if side == Side::Old { "one" } else { "1" };
    assert_eq!(repo.read("a.txt"), format!("{first}\n2\n3\nmine\n"), "{side:?}");
    assert_eq!(repo.git(&["show", ":a.txt"]), format!("{first}\n2\n3\n4"), "{side:?}");
    assert_eq!(repo.git(&["show", ":b.txt"]), if side == Side::Old { "two" } else { "2" });
    if commits == "--commit=ours" {
        assert_eq!(repo.git(&["log", "-1", "--format=%s"]), if side == Side::Old { "base" } else { "ours" });
        assert_eq!(repo.git(&["--no-optional-locks", "status", "--porcelain"]), " M a.txt");
    }
    side
}

fn with_a_change() -> TestRepo {
    let repo = TestRepo::new(&[("a.txt", "one\n2\n3\n4\n"), ("b.txt", "two\n"), ("mine.txt", "m\n")]);
    repo.write("a.txt", "one\n2\n3\nmine\n");
    repo
}

#[test]
#[ignore = "kills some hundred processes; .ci/run runs it"]
fn a_commit_beside_other_changes() {
    let judge = |repo: &TestRepo| beside(repo, "--commit=ours");
    kill_at_every_call("--commit=ours", "RENAME_EXCHANGE", &with_a_change, &judge);
}

#[test]
#[ignore = "kills some hundred processes; .ci/run runs it"]
fn staging() {
    kill_at_every_call("--stage", "index.lock", &with_a_change, &|repo| beside(repo, "--stage"));
}

#[test]
#[ignore = "kills some hundred processes; .ci/run runs it"]
fn staging_in_another_index() {
    let make = || {
        let repo = with_a_change();
        std::fs::copy(repo.path(".git/index"), repo.path("../other")).unwrap();
        repo
    };
    let judge = |repo: &TestRepo| {
        assert!(!repo.path("../other.lock").exists());
        std::fs::copy(repo.path("../other"), repo.path(".git/index")).unwrap();
        beside(repo, "--stage")
    };
    kill_at_every_call("--stage ../other", "patchmany/place-", &make, &judge);
}

#[test]
#[ignore = "kills some hundred processes; .ci/run runs it"]
fn a_stash() {
    let judge = |repo: &TestRepo| {
        let entries = repo.git(&["stash", "list", "--format=%gs"]);
        let name = repo.try_git(&["rev-parse", "-q", "--verify", "refs/stash"]);
        assert_eq!(repo.git(&["status", "--porcelain"]), "");
        if !name.status.success() {
            return Side::Old;
        }
        assert_eq!(entries, "On main: ours");
        repo.git(&["stash", "pop", "-q"]);
        assert_eq!(repo.read("a.txt"), "1\n");
        Side::New
    };
    kill_at_every_call("--stash=ours", "patchmany/stash-", &repo, &judge);
}
