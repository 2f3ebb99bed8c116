//! T1 to T3 with the real program: SIGKILL at every system call that changes something, and every call on files failing,
//! once and from there on; then `patchmany recover`.
//!
//! Guards invariants 1, 3, 6, 7 and 8 on the file system of this machine. Needs strace; `scripts/faults` kills at all
//! other calls too, inside recovery and rollback, and at all levels.

use super::tally::Tally;
use crate::support::{Ran, TestRepo, can_trace};
use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// System calls that can change what others see. A kill at one that only looks is a kill at the next of these.
const CHANGING: &str = "openat,write,pwrite64,renameat2,renameat,rename,unlinkat,unlink,mkdirat,mkdir,linkat,link,\
                        symlinkat,symlink,fchmod,fchmodat,fchown,fsetxattr,ftruncate,utimensat,fsync,fdatasync,syncfs,flock";
/// The calls on files of T2 and T3: those, and all that look.
const LOOKING: &str = "openat2,read,pread64,statx,newfstatat,fstat,readlinkat,readlink,getdents64,fgetxattr,flistxattr,\
                       faccessat2,fstatfs,lseek";
const ERRORS: [&str; 3] = ["ENOSPC", "EIO", "EACCES"];
const BATCH: &str = "batch.diff";

/// A call: its name, and which of that name it is in its thread, as strace counts.
type Call = (String, usize);
/// Every path of a tree, as lines.
pub(super) type Listing = BTreeSet<String>;

/// Every path below `root` but the git directory, as a line.
pub(super) fn listing(root: &Path) -> Listing {
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
pub(super) fn repository() -> TestRepo {
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
    let others = ["--", ".", ":!left", ":!right"];
    let diff = |filter| {
        let options = ["diff", "--cached", "--no-renames", filter];
        repo.git(&[&options[..], &others].concat()).replace('\r', "") + "\n"
    };
    let moved = |from, to| {
        format!("diff --git a/{from} b/{to}\nsimilarity index 100%\nrename from {from}\nrename to {to}\n")
    };
    let cycle = moved("left/a", "right/a") + &moved("right/a", "left/a");
    std::fs::write(repo.temp().join(BATCH), cycle + &diff("--diff-filter=D") + &diff("--diff-filter=d"))
        .unwrap();
    repo.git(&["reset", "-q", "--hard"]);
    repo.chmod("src/readonly.txt", 0o444);
    repo
}

/// `repo` as it was, elsewhere.
pub(super) fn fresh(repo: &TestRepo) -> TestRepo {
    let copy = repo.twin();
    std::fs::copy(repo.temp().join(BATCH), copy.temp().join(BATCH)).unwrap();
    copy
}

/// The arguments of a run that applies the batch.
pub(super) fn arguments(repo: &TestRepo) -> Vec<String> {
    let batch = repo.temp().join(BATCH).to_str().unwrap().to_owned();
    let options = "apply --json --jobs 1 --durability batch --force-read-only --allow-symlinks";
    options.split(' ').map(str::to_owned).chain([batch]).collect()
}

/// What is run under every fault.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum What {
    Apply,
    /// Of the applied batch.
    Undo,
}

impl What {
    fn arguments(self, repo: &TestRepo) -> Vec<String> {
        match self {
            Self::Apply => arguments(repo),
            Self::Undo => "undo --json --durability batch".split(' ').map(str::to_owned).collect(),
        }
    }

    /// The repository before the run.
    fn repository(self) -> TestRepo {
        let repo = repository();
        if self == Self::Undo {
            assert_eq!(Self::Apply.run(&repo, &["-e", "trace=none"]).code, 0);
        }
        repo
    }

    /// Runs the program under strace with some of its options.
    fn run(self, repo: &TestRepo, strace: &[&str]) -> Ran {
        let mut command: Command = repo.command("strace");
        command
            .args(["-f", "-qq"])
            .args(strace)
            .arg(env!("CARGO_BIN_EXE_patchmany"))
            .args(self.arguments(repo));
        Ran::of(&command.stdin(Stdio::null()).output().unwrap())
    }
}

/// The calls of a run among `names`, from the first on that holds `begins`. Opening counts among those that change
/// where it creates.
fn calls(what: What, repo: &TestRepo, names: &[&str], begins: &str) -> BTreeSet<Call> {
    let log = repo.temp().join("log");
    let (log, trace) = (log.to_str().unwrap(), format!("trace={}", names.join(",")));
    assert_eq!(what.run(repo, &["-o", log, "-e", &trace]).code, 0, "a run that nobody disturbs");
    let mut made: BTreeMap<(String, String), usize> = BTreeMap::new();
    let (mut found, mut begun) = (BTreeSet::new(), false);
    for line in std::fs::read_to_string(log).unwrap().lines() {
        let (thread, rest) = line.split_once(' ').unwrap();
        let Some((call, arguments)) = rest.trim_start().split_once('(') else { continue };
        if !names.iter().any(|group| group.split(',').any(|known| known == call)) {
            continue;
        }
        let n = made.entry((thread.to_owned(), call.to_owned())).or_default();
        *n += 1;
        begun |= arguments.contains(begins);
        if begun && (names != [CHANGING] || call != "openat" || arguments.contains("O_CREAT")) {
            found.insert((call.to_owned(), *n));
        }
    }
    found
}

/// A run, and what the tree is like before and after it.
struct Bench {
    what: What,
    repo: TestRepo,
    old: Listing,
    new: Listing,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Side {
    Old,
    New,
    Mixed,
}

impl Bench {
    fn new(what: What) -> Self {
        let repo = what.repository();
        let (old, whole) = (listing(repo.root()), fresh(&repo));
        assert_eq!(what.run(&whole, &["-e", "trace=none"]).code, 0, "a run that nobody disturbs");
        let differ = |repo: &TestRepo| repo.git(&["diff", "--name-only", "HEAD"]).lines().count();
        let (before, after) = if what == What::Apply { (0, 11) } else { (11, 0) };
        assert_eq!((differ(&repo), differ(&whole)), (before, after), "tracked paths that differ");
        let new = listing(whole.root());
        Self { what, repo, old, new }
    }

    /// Folders that the run empties may stay: the system may refuse to remove one after the commit point.
    fn side(&self, copy: &TestRepo) -> Side {
        let mut now = listing(copy.root());
        if now == self.old {
            return Side::Old;
        }
        let emptied = if self.what == What::Apply { ["/lone", "/lone"] } else { ["/fresh/deep", "/fresh"] };
        for folder in emptied {
            if !now.iter().any(|line| line.starts_with(&format!("{folder}/"))) {
                now.retain(|line| !line.starts_with(&format!("{folder} ")));
            }
        }
        if now == self.new { Side::New } else { Side::Mixed }
    }

    /// Recovers; which side the tree is on then.
    fn settle(&self, copy: &TestRepo) -> Result<Side, String> {
        let mut recover: Command = copy.command(env!("CARGO_BIN_EXE_patchmany"));
        let recovered = recover.args(["recover", "--json"]).output().unwrap();
        if !recovered.status.success() {
            return Err(format!("recovery: {}", String::from_utf8_lossy(&recovered.stdout)));
        }
        let running = std::fs::read_dir(copy.path(".git/patchmany")).into_iter().flatten();
        let strays: Vec<_> =
            running.map(|e| e.unwrap().file_name()).filter(|n| n != "lock" && n != "undo").collect();
        if !strays.is_empty() || copy.path(".git/index.lock").symlink_metadata().is_ok() {
            return Err(format!("left behind: {strays:?}, or the lock of the index"));
        }
        match self.side(copy) {
            Side::Mixed => {
                let now = listing(copy.root());
                Err(format!("mixed: {:?}", now.symmetric_difference(&self.old).collect::<Vec<_>>()))
            }
            side => Ok(side),
        }
    }

    fn kill_at(&self, (call, n): &Call) -> Result<(), String> {
        let copy = fresh(&self.repo);
        let (trace, inject) = (format!("trace={call}"), format!("inject={call}:signal=SIGKILL:when={n}"));
        let ran = self.what.run(&copy, &["-o", "/dev/null", "-e", &trace, "-e", &inject]);
        match self.settle(&copy)? {
            Side::Old if ran.code == 0 => Err("old after success".to_owned()),
            _ => Ok(()),
        }
    }

    /// One call fails, or all of its kind from there on.
    fn fail_at(&self, (call, n): &Call, errno: &str, lasts: &str) -> Result<(), String> {
        let copy = fresh(&self.repo);
        let (trace, inject) =
            (format!("trace={call}"), format!("inject={call}:error={errno}:when={n}{lasts}"));
        let ran = self.what.run(&copy, &["-o", "/dev/null", "-e", &trace, "-e", &inject]);
        let promised = promised(&ran)?;
        let was = self.side(&copy);
        if promised.is_some_and(|side| side != was) {
            return Err(format!("{ran:?}: the tree is {was:?}"));
        }
        let side = self.settle(&copy)?;
        if promised.is_some_and(|promised| side != promised) {
            return Err(format!("{ran:?}: after recovery the tree is {side:?}"));
        }
        Ok(())
    }
}

/// The side that a run says the tree is on; none where it says that recovery is needed, or cannot say anything.
fn promised(ran: &Ran) -> Result<Option<Side>, String> {
    let Ok(json) = serde_json::from_str::<serde_json::Value>(&ran.out) else {
        // Its result could not be written.
        return Ok((ran.code == 0).then_some(Side::New));
    };
    match (json["tree"].as_str(), ran.code) {
        (Some("applied"), 0) => Ok(Some(Side::New)),
        (Some("untouched"), 1 | 2 | 3 | 5) | (Some("rolled-back"), 3) => Ok(Some(Side::Old)),
        (Some("needs-recovery"), 4) => Ok(None),
        _ => Err(format!("exit and tree do not fit: {ran:?}")),
    }
}

/// Judges cases on all processors.
fn each<T: Sync>(cases: &[T], tally: &mut Tally, judge: impl Fn(&T) -> Result<(), String> + Sync) {
    let (next, tally) = (AtomicUsize::new(0), Mutex::new(tally));
    let work = || {
        while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
            let judged = judge(case);
            tally.lock().unwrap().count(judged);
        }
    };
    std::thread::scope(|scope| {
        // Most of the time goes into waiting for the medium.
        for _ in 0..2 * std::thread::available_parallelism().map_or(2, usize::from) {
            scope.spawn(work);
        }
    });
}

#[test]
#[ignore = "needs strace and starts some hundred processes; .ci/run runs it"]
fn invariants_1_3_6_7_8_sigkill_at_every_call_that_changes_something() {
    if !can_trace() {
        return;
    }
    for what in [What::Apply, What::Undo] {
        let bench = Bench::new(what);
        let changes: Vec<Call> = calls(what, &fresh(&bench.repo), &[CHANGING], "").into_iter().collect();
        assert!(changes.len() > 50, "{what:?} makes more calls than {}", changes.len());
        let mut tally = Tally::new("T1", format!("strace, SIGKILL, {what:?}, level batch"));
        each(&changes, &mut tally, |call| bench.kill_at(call).map_err(|why| format!("{call:?}: {why}")));
        tally.sound();
    }
}

#[test]
#[ignore = "needs strace and starts some hundred processes; .ci/run runs it"]
fn invariants_1_3_6_7_8_sigkill_at_every_other_call_of_undo() {
    if !can_trace() {
        return;
    }
    let bench = Bench::new(What::Undo);
    // From where the program looks at its state: before that it knows of no tree.
    let looks: Vec<Call> =
        calls(What::Undo, &fresh(&bench.repo), &[LOOKING], "patchmany").into_iter().collect();
    assert!(looks.len() > 100, "an undo makes more calls than {}", looks.len());
    let mut tally = Tally::new("T1", "strace, SIGKILL, Undo, calls that only look");
    each(&looks, &mut tally, |call| bench.kill_at(call).map_err(|why| format!("{call:?}: {why}")));
    tally.sound();
}

#[test]
#[ignore = "needs strace and starts some thousand processes; .ci/run runs it"]
fn invariants_1_3_6_7_8_every_call_on_files_fails() {
    if !can_trace() {
        return;
    }
    let bench = Bench::new(What::Apply);
    // From where the program reads its batch: before that it knows of no tree.
    let all: Vec<Call> =
        calls(What::Apply, &fresh(&bench.repo), &[CHANGING, LOOKING], BATCH).into_iter().collect();
    assert!(all.len() > 200, "a whole batch makes more calls than {}", all.len());
    for (test, lasts) in [("T2", ""), ("T3", "+")] {
        for errno in ERRORS {
            let mut tally = Tally::new(test, format!("strace, {errno}{lasts}, level batch"));
            each(&all, &mut tally, |call| {
                bench.fail_at(call, errno, lasts).map_err(|why| format!("{call:?} {errno}{lasts}: {why}"))
            });
            tally.sound();
        }
    }
}
