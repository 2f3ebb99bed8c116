//! Random repositories with random dirt, and a random batch: what the program records equals what git records of the same
//! bytes. `GIT_FUZZ_ROUNDS` and `GIT_FUZZ_SEED` change how many rounds are run, and from which seed on.

#![allow(clippy::print_stderr)] // what was met is for whoever reads the run
use super::fuzz_batch::{Batch, Op};
use crate::support::{Rng, TestRepo, tree};
use std::sync::OnceLock;

const FOLDERS: [&str; 5] = ["", "a/", "a/b/", "c/", "d/e/f/"];
const STATUS: [&str; 5] = ["--no-optional-locks", "status", "--porcelain=v2", "-uall", "--ignored"];
const KINDS: [&str; 5] = ["txt", "dos", "id", "auto", "up"];

/// The rounds to run: fewer in the ordinary suite.
pub(super) fn rounds(ordinary: u64) -> std::ops::Range<u64> {
    let number = |name| std::env::var(name).ok().map(|text| text.parse::<u64>().expect("a number"));
    let first = number("GIT_FUZZ_SEED").unwrap_or(1);
    first..first + number("GIT_FUZZ_ROUNDS").unwrap_or(ordinary)
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    /// `--commit` of files without other changes.
    Clean,
    /// `--commit --whole-files` of any files.
    Whole,
    /// `--stage` of files that are as in the index.
    Stage,
}

#[test]
fn equals_what_git_records() {
    let mut met = Met::default();
    let rounds = rounds(50);
    for seed in rounds.clone() {
        let kind = [Kind::Clean, Kind::Whole, Kind::Whole, Kind::Stage][seed as usize % 4];
        round(seed, kind, &mut met);
    }
    let count = (rounds.end - rounds.start) as usize;
    eprintln!("{count} rounds, no difference: {met:?}");
    assert!(met.dirty * 2 > count && met.recorded * 10 > count * 9, "{met:?}");
}

/// What the rounds have met.
#[derive(Default, Debug)]
struct Met {
    /// Rounds in which something was recorded.
    recorded: usize,
    /// Paths of batches.
    paths: usize,
    /// Those with other changes.
    dirty: usize,
}

fn round(seed: u64, kind: Kind, met: &mut Met) {
    let mut rng = Rng::new(seed);
    let ours = template().twin();
    let files = base(&ours, &mut rng);
    let mut clean = files.clone();
    let batch = if kind == Kind::Whole {
        dirt(&ours, &mut rng, &mut clean);
        // Half of the files without other changes: mostly those with some are wanted.
        clean.truncate(clean.len() / 2);
        let moved = (0..9).map(|n| format!("moved{n}.txt"));
        let new = ["untracked0", "untracked1", "announced2", "announced3"].map(str::to_owned);
        let mut all: Vec<_> = files.into_iter().filter(|path| !clean.contains(path)).collect();
        all.extend(new.into_iter().chain(moved));
        all.retain(|path| ours.path(path).is_file());
        Batch::random(&ours, &mut rng, &mut all)
    } else {
        let batch = Batch::random(&ours, &mut rng, &mut clean);
        dirt(&ours, &mut rng, &mut clean);
        batch
    };
    let theirs = ours.twin();
    let dirty = theirs.git(&["--no-optional-locks", "status", "--porcelain", "-uall"]);
    let is_dirty =
        |path: &&&str| dirty.lines().any(|line| line[3..].split(" -> ").any(|name| name == **path));
    met.dirty += batch.paths().iter().filter(is_dirty).count();
    met.paths += batch.paths().len();

    let message = format!("--commit=round {seed}\n\nbody");
    let arguments: &[&str] = match kind {
        Kind::Clean => &[&message],
        Kind::Whole => &[&message, "--whole-files"],
        Kind::Stage => &["--stage"],
    };
    let options = ["apply", "--json", "--allow-symlinks", "--force-read-only", "--durability", "none"];
    let ran = ours.run(&[&options[..], arguments].concat(), batch.diff());
    batch.land(&theirs);
    let recorded = with_git(&theirs, &batch, kind, &message["--commit=".len()..]);
    assert_eq!(ran.code == 0, recorded, "seed {seed} {kind:?}: {ran:?}\n{}", batch.diff());
    if !recorded {
        return;
    }
    met.recorded += 1;
    assert_eq!(tree(ours.root()), tree(theirs.root()), "seed {seed} {kind:?}: files");
    let when = format!("seed {seed} {kind:?}");
    for arguments in [&["ls-files", "-s", "-v"][..], &STATUS] {
        assert_eq!(ours.git(arguments), theirs.git(arguments), "{when}: git {arguments:?}");
    }
    assert_eq!(logs(&ours), logs(&theirs), "{when}");
    assert_eq!(write_tree(&ours), write_tree(&theirs), "{when}: cached trees");
    for repo in [&ours, &theirs] {
        repo.git(&["commit", "-q", "--allow-empty", "-m", "next"]);
    }
    assert_eq!(logs(&ours), logs(&theirs), "{when}: the next commit");
    assert_eq!(ours.git(&STATUS), theirs.git(&STATUS), "{when}: after the next commit");
    ours.git(&["fsck", "--strict", "--no-dangling"]);
    assert_eq!(super::left(&ours), Vec::<String>::new(), "seed {seed}: private files stay");
    assert!(ours.path(".git/index.lock").symlink_metadata().is_err());
}

#[test]
fn a_stash_entry_is_the_commit_that_git_makes() {
    let rounds = rounds(12);
    let mut made = 0;
    for seed in rounds.clone() {
        let mut rng = Rng::new(seed);
        let ours = template().twin();
        let mut files = base(&ours, &mut rng);
        let batch = Batch::random(&ours, &mut rng, &mut files).of_old_paths();
        if batch.ops().is_empty() {
            continue;
        }
        let theirs = ours.twin();
        let before = (tree(ours.root()), ours.git(&STATUS));
        let ran = ours.run(&["apply", "--stash=round", "--force-read-only"], batch.diff());
        batch.land(&theirs);
        theirs.git(&["stash", "push", "-q", "-m", "round"]);
        let id = |repo: &TestRepo| repo.try_git(&["rev-parse", "-q", "--verify", "stash"]).stdout;
        assert_eq!(id(&ours), id(&theirs), "seed {seed}: {ran:?}\n{}", batch.diff());
        assert_eq!(ran.code == 0, !id(&ours).is_empty(), "seed {seed}: {ran:?}");
        assert_eq!((tree(ours.root()), ours.git(&STATUS)), before, "seed {seed}");
        if ran.code != 0 {
            continue;
        }
        made += 1;
        let ran = ours.run(&["apply", "--stash=second", "--force-read-only"], batch.diff());
        assert_eq!(ran.code, 0, "seed {seed}: {ran:?}");
        ours.git(&["stash", "drop", "-q"]);
        for arguments in [
            &["stash", "list"][..],
            &["stash", "show", "-p", "--binary"],
            &["stash", "apply", "-q"],
            &["diff", "--binary"],
            &["reset", "-q", "--hard"],
            &["stash", "pop", "-q"],
            &STATUS,
            &["reset", "-q", "--hard"],
            &["stash", "list"],
        ] {
            let (a, b) = (ours.try_git(arguments), theirs.try_git(arguments));
            assert_eq!(a, b, "seed {seed}: git {arguments:?}");
        }
        ours.git(&["fsck", "--strict", "--no-dangling"]);
    }
    eprintln!("{} rounds, {made} entries, no difference", rounds.count());
    assert!(made > 0, "no round has made an entry");
}

/// An empty repository that is made once.
fn template() -> &'static TestRepo {
    static TEMPLATE: OnceLock<TestRepo> = OnceLock::new();
    TEMPLATE.get_or_init(|| {
        let repo = TestRepo::unborn();
        std::fs::remove_dir_all(repo.path(".git/hooks")).unwrap();
        repo.git(&["config", "filter.up.clean", "tr a-z A-Z"]);
        repo.git(&["config", "maintenance.auto", "false"]);
        repo
    })
}

/// A dozen files, some executable, with line endings and words that filters change.
fn base(repo: &TestRepo, rng: &mut Rng) -> Vec<String> {
    if rng.one_in(4) {
        repo.git(&["config", "core.fileMode", "false"]);
    }
    if rng.one_in(2) {
        repo.git(&["config", "core.autocrlf", ["true", "input"][rng.below(2)]]);
    }
    repo.write(".gitattributes", "*.dos text eol=crlf\n*.id ident\n*.auto text=auto\n*.up filter=up -text\n");
    repo.write(".gitignore", "*.log\n");
    let mut files = Vec::new();
    for n in 0..12 {
        let kind = if rng.one_in(12) { "up" } else { KINDS[rng.below(4)] };
        let path = format!("{}f{n}.{kind}", FOLDERS[rng.below(FOLDERS.len())]);
        let end = if kind == "dos" || rng.one_in(6) { "\r\n" } else { "\n" };
        let lines = (0..9).map(|k| format!("f{n} {k} {}{end}", if k == 4 { "$Id$" } else { "row" }));
        repo.write(&path, lines.collect::<String>());
        if rng.one_in(5) {
            repo.chmod(&path, 0o755);
        }
        files.push(path);
    }
    repo.git(&["add", "-A"]);
    repo.git(&["commit", "-q", "-m", "base"]);
    if rng.one_in(8) {
        repo.git(&["repack", "-q", "-a", "-d"]);
        repo.git(&["pack-refs", "--all"]);
    }
    files
}

/// Whatever a user may have lying about. Takes the files that it changes.
fn dirt(repo: &TestRepo, rng: &mut Rng, files: &mut Vec<String>) {
    for n in 0..2 {
        repo.write(&format!("untracked{n}"), "untracked\nand\nlong\n");
    }
    for n in 0..3 + rng.below(6) {
        let Some(path) = rng.take(files) else { break };
        let old = repo.read(&path);
        // Near the end; a batch may well change it too.
        let changed = |word: &str| old.replacen(" 7 row", &format!(" 7 {word}"), 1) + word + "\n";
        match rng.below(14) {
            0 => repo.write(&path, changed("unstaged")),
            1 => {
                repo.write(&path, changed("staged"));
                repo.git(&["add", &path]);
            }
            2 => {
                repo.write(&path, changed("staged"));
                repo.git(&["add", &path]);
                repo.write(&path, changed("STAGED"));
            }
            3 => drop(repo.git(&["rm", "-q", "--cached", &path])),
            4 => drop(repo.git(&["rm", "-q", &path])),
            5 => repo.chmod(&path, [0o644, 0o755][rng.below(2)]),
            6 => drop(repo.git(&["update-index", ["--chmod=+x", "--chmod=-x"][rng.below(2)], &path])),
            7 | 8 => {
                let name = format!("announced{}", 2 + n % 2);
                repo.write(&name, "announced\nand\nlong\n");
                repo.git(&["add", "-N", &name]);
            }
            9 => {
                repo.write(&format!("ignored{n}.log"), "ignored\n");
                std::fs::remove_file(repo.path(&path)).unwrap();
            }
            10 => drop(repo.git(&["mv", &path, &format!("moved{n}.txt")])),
            11 => {
                // Line endings that the filters would not let into the index.
                repo.write(&path, old.replace("\r\n", "\n").replace('\n', "\r\n"));
                repo.git(&["-c", "core.autocrlf=false", "-c", "core.attributesFile=/dev/null", "add", &path]);
            }
            12 => drop(repo.git(&["update-index", "--assume-unchanged", &path])),
            _ => {
                std::fs::remove_file(repo.path(&path)).unwrap();
                std::os::unix::fs::symlink("f0.txt", repo.path(&path)).unwrap();
            }
        }
    }
}

/// Records what stands in the work tree of `theirs`. `false` when git sees nothing to commit.
fn with_git(theirs: &TestRepo, batch: &Batch, kind: Kind, message: &str) -> bool {
    let known = theirs.git(&["ls-files"]) + "\n" + &theirs.git(&["ls-tree", "-r", "--name-only", "HEAD"]);
    let knows = |path: &&str| known.lines().any(|line| line == *path);
    let there = |path: &&str| theirs.path(path).symlink_metadata().is_ok_and(|found| !found.is_dir());
    let paths = batch.paths();
    let new: Vec<_> = paths.iter().copied().filter(|path| !knows(path) && there(path)).collect();
    if !new.is_empty() {
        theirs.git(&[&["add", "-N", "--"], &new[..]].concat());
    }
    // What gave way to a folder, or to a file, goes by itself: git cannot name it any more.
    let gave_way = |path: &&str| {
        theirs.path(path).is_dir()
            || path.rsplit_once('/').is_some_and(|(above, _)| theirs.path(above).is_file())
    };
    let named = |path: &&str| (knows(path) || there(path)) && !gave_way(path);
    let paths: Vec<_> = paths.iter().copied().filter(named).collect();
    if paths.is_empty() {
        return false;
    }
    if kind == Kind::Stage {
        theirs.git(&[&["add", "-A", "--"], &paths[..]].concat());
        return true;
    }
    let ended = theirs.try_git(&[&["commit", "-q", "--only", "-m", message, "--"], &paths[..]].concat());
    ended.status.success()
}

/// Both reflogs: the ids of all commits, and so their trees, authors, dates and messages.
fn logs(repo: &TestRepo) -> [String; 2] {
    [".git/logs/HEAD", ".git/logs/refs/heads/main"].map(|log| repo.read(log))
}

/// What the index as it is makes of its cached trees.
fn write_tree(repo: &TestRepo) -> String {
    let copy = repo.temp().join("index-copy");
    std::fs::copy(repo.path(".git/index"), &copy).unwrap();
    let output = repo.command("git").env("GIT_INDEX_FILE", &copy).arg("write-tree").output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_batch_that_lands_by_hand_is_its_diff() {
    // The two ways in which a round applies its batch are one.
    let repo = template().twin();
    let mut files = base(&repo, &mut Rng::new(7));
    let batch = Batch::random(&repo, &mut Rng::new(7), &mut files);
    assert!(batch.ops().iter().any(|op| matches!(op, Op::Edit { .. })), "{:?}", batch.ops());
    let theirs = repo.twin();
    assert_eq!(repo.run(&["apply", "--allow-symlinks"], batch.diff()).code, 0);
    batch.land(&theirs);
    assert_eq!(tree(repo.root()), tree(theirs.root()));
}
