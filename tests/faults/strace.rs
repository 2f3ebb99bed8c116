//! T1 with the real program: SIGKILL at every system call that changes something, then `patchmany recover`.
//!
//! Guards invariants 1, 3, 6, 7 and 8 on the file system of this machine. Needs strace; `scripts/faults` kills at all
//! other calls too, and inside recovery.

use super::tally::Tally;
use crate::support::TestRepo;
use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

/// System calls that can change what others see. A kill at one that only looks is a kill at the next of these.
const CHANGING: &str = "openat,write,pwrite64,renameat2,renameat,rename,unlinkat,unlink,mkdirat,mkdir,linkat,link,\
                        symlinkat,symlink,fchmod,fchmodat,fchown,fsetxattr,ftruncate,utimensat,fsync,fdatasync,syncfs,flock";
const BATCH: &str = "batch.diff";

/// Every path below `root` but the git directory, as a line.
fn listing(root: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut open = vec![root.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
            let (path, meta) = (entry.path(), entry.metadata().unwrap());
            if path == root.join(".git") {
                continue;
            }
            let what = if meta.is_dir() {
                open.push(path.clone());
                "folder".to_owned()
            } else if meta.is_symlink() {
                format!("-> {:?}", std::fs::read_link(&path).unwrap())
            } else {
                patchmany::edit::Hash::of(&std::fs::read(&path).unwrap()).to_string()
            };
            found.insert(format!("{} {:o} {what}", path.display(), meta.permissions().mode()));
        }
    }
    // Copies lie elsewhere: only what is below the root counts.
    let prefix = root.to_str().unwrap();
    found.into_iter().map(|line| line.replace(prefix, "")).collect()
}

/// The mixed batch of T1, as git writes it, in a repository that holds the tree before it.
fn repository() -> TestRepo {
    let old = [
        ("crlf.txt", "one\r\ntwo\r\nthree\r\n"),
        ("lone/gone.txt", "goes\n"),
        ("left/a", "the left one\n"),
        ("right/a", "the right one\n"),
        ("grows", "a file that becomes a folder\n"),
        ("shrinks/inner.txt", "goes with its folder\n"),
        ("src/emptied.txt", "not empty\n"),
        ("src/readonly.txt", "do not touch\n"),
        ("keep.txt", "stays\n"),
    ];
    let big = |word: &str| format!("{word} {}\n", "x".repeat(60)).repeat(1_600);
    let repo = TestRepo::unborn();
    repo.write("bin/run.sh", format!("#!/bin/sh\n{}", big("# old")[..9_000].to_owned() + "\n"));
    repo.chmod("bin/run.sh", 0o755);
    repo.write("src/big.txt", big("old"));
    std::os::unix::fs::symlink("crlf.txt", repo.path("link")).unwrap();
    repo.commit_all(&old);
    for gone in ["lone/gone.txt", "grows", "shrinks/inner.txt", "link"] {
        std::fs::remove_file(repo.path(gone)).unwrap();
    }
    std::fs::remove_dir(repo.path("shrinks")).unwrap();
    for (path, text) in [
        ("crlf.txt", "one\r\nTWO\r\nthree\r\n"),
        ("fresh/deep/new.txt", "new\n"),
        ("left/a", "the right one\n"),
        ("right/a", "the left one\n"),
        ("grows/inner.txt", "in the new folder\n"),
        ("shrinks", "a folder that became a file\n"),
        ("src/emptied.txt", ""),
        ("src/readonly.txt", "touched\n"),
    ] {
        repo.write(path, text);
    }
    repo.write("bin/run.sh", format!("#!/bin/sh\n{}", big("# new")[..9_100].to_owned() + "\n"));
    repo.write("src/big.txt", big("new"));
    std::os::unix::fs::symlink("bin/run.sh", repo.path("link")).unwrap();
    repo.git(&["add", "-A"]);
    // What goes comes first in the batch; its lines end in LF alone, the file's own in CRLF.
    let diff = |filter| repo.git(&["diff", "--cached", "--no-renames", filter]).replace('\r', "") + "\n";
    std::fs::write(repo.temp().join(BATCH), diff("--diff-filter=D") + &diff("--diff-filter=d")).unwrap();
    repo.git(&["reset", "-q", "--hard"]);
    repo.chmod("src/readonly.txt", 0o444);
    repo
}

/// `repo` as it was, elsewhere.
fn fresh(repo: &TestRepo) -> TestRepo {
    let copy = repo.twin();
    std::fs::copy(repo.temp().join(BATCH), copy.temp().join(BATCH)).unwrap();
    copy
}

/// Runs `patchmany apply` under strace with some of its options.
fn apply(repo: &TestRepo, strace: &[&str]) -> Option<i32> {
    let mut command: Command = repo.command("strace");
    command.args(["-f", "-qq"]).args(strace).arg(env!("CARGO_BIN_EXE_patchmany"));
    command.args([
        "apply",
        "-q",
        "--jobs",
        "1",
        "--durability",
        "batch",
        "--force-read-only",
        "--allow-symlinks",
    ]);
    command.arg(repo.temp().join(BATCH)).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().unwrap().code()
}

/// The calls of a run that change something: which of their kind they are in their thread, as strace counts.
fn changes(repo: &TestRepo) -> BTreeSet<(String, usize)> {
    let log = repo.temp().join("log");
    let (log, trace) = (log.to_str().unwrap(), format!("trace={CHANGING}"));
    assert_eq!(apply(repo, &["-o", log, "-e", &trace]), Some(0), "a run that nobody disturbs");
    let mut made: BTreeMap<(String, String), usize> = BTreeMap::new();
    let mut found = BTreeSet::new();
    for line in std::fs::read_to_string(log).unwrap().lines() {
        let (thread, rest) = line.split_once(' ').unwrap();
        let Some((call, arguments)) = rest.trim_start().split_once('(') else { continue };
        if !CHANGING.split(',').any(|known| known == call) {
            continue;
        }
        let n = made.entry((thread.to_owned(), call.to_owned())).or_default();
        *n += 1;
        if call != "openat" || arguments.contains("O_CREAT") {
            found.insert((call.to_owned(), *n));
        }
    }
    found
}

fn kill_at(
    repo: &TestRepo,
    call: &str,
    n: usize,
    (old, new): (&BTreeSet<String>, &BTreeSet<String>),
) -> Result<(), String> {
    let copy = fresh(repo);
    let (trace, inject) = (format!("trace={call}"), format!("inject={call}:signal=SIGKILL:when={n}"));
    let status = apply(&copy, &["-o", "/dev/null", "-e", &trace, "-e", &inject]);
    let mut recover: Command = copy.command(env!("CARGO_BIN_EXE_patchmany"));
    let recovered = recover.args(["recover", "--json"]).output().unwrap();
    if !recovered.status.success() {
        return Err(format!("recovery: {}", String::from_utf8_lossy(&recovered.stdout)));
    }
    let running = std::fs::read_dir(copy.path(".git/patchmany")).into_iter().flatten();
    let strays: Vec<_> =
        running.map(|e| e.unwrap().file_name()).filter(|n| n.to_str().unwrap().starts_with("t-")).collect();
    if !strays.is_empty() || copy.path(".git/index.lock").exists() {
        return Err(format!("left behind: {strays:?}, or the lock of the index"));
    }
    let now = listing(copy.root());
    match (&now == old, &now == new, status) {
        (_, true, _) => Ok(()),
        (true, _, code) if code != Some(0) => Ok(()),
        (true, ..) => Err("old after success".to_owned()),
        _ => Err(format!("mixed: {:?}", now.symmetric_difference(old).collect::<Vec<_>>())),
    }
}

#[test]
#[ignore = "starts some hundred processes; .ci/run runs it"]
fn invariants_1_3_6_7_8_sigkill_at_every_call_that_changes_something() {
    if Command::new("strace").arg("-V").stdout(Stdio::null()).status().is_err() {
        eprintln!("ignored: strace is not installed");
        return;
    }
    let repo = repository();
    let (old, whole) = (listing(repo.root()), fresh(&repo));
    let changes = changes(&whole);
    let new = listing(whole.root());
    assert_eq!(whole.git(&["diff", "--name-only", "HEAD"]).lines().count(), 11, "tracked paths that differ");
    let mut tally = Tally::new("T1", "strace, SIGKILL, level batch");
    for (call, n) in changes {
        let judged = kill_at(&repo, &call, n, (&old, &new));
        tally.count(judged.map_err(|why| format!("{call} {n}: {why}")));
    }
    assert!(tally.runs > 50, "a whole batch makes more calls than {}", tally.runs);
    tally.sound();
}
