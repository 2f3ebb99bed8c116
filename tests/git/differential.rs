//! Random repositories with random dirt: what `Recorder` leaves equals what `git commit --only` leaves.

use crate::support::{Edit, Rng, TestRepo, commit};

const ROUNDS: u64 = 30;
const FOLDERS: [&str; 5] = ["", "a/", "a/b/", "c/", "d/e/f/"];

#[test]
fn equals_git_commit_only() {
    for seed in 1..=ROUNDS {
        let mut rng = Rng::new(seed);
        let ours = TestRepo::unborn();
        if rng.one_in(4) {
            ours.git(&["config", "core.fileMode", "false"]);
        }
        let mut files = base(&ours, &mut rng);
        let batch = batch(&ours, &mut rng, &mut files);
        dirt(&ours, &mut rng, files);
        let theirs = ours.twin();

        let message = format!("round {seed}\n\nbody");
        commit(&ours, &batch, Some(&message)).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        commit_with_git(&theirs, &batch, &message);
        compare(seed, &ours, &theirs, "after the commit");

        ours.git(&["commit", "-q", "--allow-empty", "-m", "next"]);
        theirs.git(&["commit", "-q", "--allow-empty", "-m", "next"]);
        compare(seed, &ours, &theirs, "after the next commit");
    }
}

/// Twenty files, some executable, some with line endings that a filter changes.
fn base(repo: &TestRepo, rng: &mut Rng) -> Vec<String> {
    repo.write(".gitattributes", "*.dos text eol=crlf\n*.id ident\n");
    repo.write(".gitignore", "*.log\n");
    let mut files = Vec::new();
    for n in 0..20 {
        let kind = ["txt", "dos", "id"][rng.below(3)];
        let path = format!("{}f{n}.{kind}", FOLDERS[rng.below(FOLDERS.len())]);
        let end = if kind == "dos" { "\r\n" } else { "\n" };
        repo.write(&path, format!("{n}{end}$Id$ two{end}three{end}"));
        if rng.one_in(5) {
            repo.chmod(&path, 0o755);
        }
        files.push(path);
    }
    repo.git(&["add", "-A"]);
    repo.git(&["commit", "-q", "-m", "base"]);
    if rng.one_in(3) {
        repo.git(&["repack", "-q", "-a", "-d"]);
        repo.git(&["pack-refs", "--all"]);
    }
    files
}

/// A batch over clean files; takes what it uses out of `files`.
fn batch(repo: &TestRepo, rng: &mut Rng, files: &mut Vec<String>) -> Vec<Edit> {
    let mut batch = Vec::new();
    for n in 0..1 + rng.below(6) {
        let Some(path) = rng.take(files) else { break };
        let old = repo.read(&path);
        match rng.below(7) {
            0 => batch.push(Edit::Delete(path)),
            1 => batch.push(Edit::Write(path, old.into_bytes(), [0o644, 0o755][rng.below(2)])),
            2 => batch.push(Edit::Link(format!("{}link{n}", FOLDERS[rng.below(5)]), "f0.txt".into())),
            3 => {
                batch.push(Edit::write(&format!("{path}/inside/new{n}.txt"), "a file became a folder\n"));
                batch.push(Edit::Delete(path));
            }
            4 => batch.push(Edit::write(&format!("{}new{n}.dos", FOLDERS[rng.below(5)]), "new\r\nfile\r\n")),
            5 => batch.push(Edit::write(&format!("new/folder{n}/x"), "")),
            _ => batch.push(Edit::write(&path, &format!("edited {n}\n{old}"))),
        }
    }
    let inside: Vec<_> = repo.git(&["ls-files", "c/"]).lines().map(str::to_owned).collect();
    if rng.one_in(3) && !inside.is_empty() && inside.iter().all(|path| files.contains(path)) {
        files.retain(|path| !inside.contains(path));
        batch.retain(|edit| !edit.path().starts_with("c/"));
        batch.extend(inside.into_iter().map(Edit::Delete));
        batch.push(Edit::write("c", "a folder became a file\n"));
    }
    batch.push(Edit::write("always.txt", "always\n"));
    batch
}

/// Whatever a user may have lying about in the other files.
fn dirt(repo: &TestRepo, rng: &mut Rng, mut files: Vec<String>) {
    for n in 0..rng.below(9) {
        let Some(path) = rng.take(&mut files) else { break };
        let old = repo.read(&path);
        match rng.below(9) {
            0 => repo.write(&path, format!("{old}unstaged")),
            1 => {
                repo.write(&path, format!("{old}staged"));
                repo.git(&["add", &path]);
            }
            2 => {
                repo.write(&path, format!("{old}staged"));
                repo.git(&["add", &path]);
                repo.write(&path, format!("{old}STAGED"));
            }
            3 => drop(repo.git(&["rm", "-q", "--cached", &path])),
            4 => drop(repo.git(&["rm", "-q", &path])),
            5 => repo.chmod(&path, [0o644, 0o755][rng.below(2)]),
            6 => repo.write(&format!("untracked{n}/x"), "untracked"),
            7 => {
                repo.write(&format!("announced{n}"), "announced");
                repo.git(&["add", "-N", &format!("announced{n}")]);
            }
            _ => {
                repo.write(&format!("ignored{n}.log"), "ignored");
                std::fs::remove_file(repo.path(&path)).unwrap();
            }
        }
    }
}

fn commit_with_git(repo: &TestRepo, batch: &[Edit], message: &str) {
    let is_file = |path: &&str| repo.path(path).is_file();
    let new: Vec<_> = batch.iter().map(Edit::path).filter(|path| !is_file(path)).collect();
    crate::support::land(repo.root(), batch);
    for path in new {
        repo.git(&["add", "-N", path]);
    }
    // What gave way to a folder or a file goes by itself; git cannot name it any more.
    let gave_way =
        |path: &str| repo.path(path).is_dir() || repo.path("c").is_file() && path.starts_with("c/");
    let paths: Vec<_> = batch.iter().map(Edit::path).filter(|path| !gave_way(path)).collect();
    repo.git(&[&["commit", "-q", "--only", "-m", message, "--"], &paths[..]].concat());
}

fn compare(seed: u64, ours: &TestRepo, theirs: &TestRepo, when: &str) {
    for arguments in [
        &["ls-files", "-s", "-t"][..],
        &["rev-parse", "HEAD^{tree}"],
        &["log", "-1", "--format=%B%an%ae"],
        &["reflog", "show", "--format=%gs", "HEAD"],
        &["reflog", "show", "--format=%gs", "main"],
        &["--no-optional-locks", "status", "--porcelain=v2", "-uall", "--ignored"],
    ] {
        let (a, b) = (ours.git(arguments), theirs.git(arguments));
        assert_eq!(a, b, "seed {seed} {when}: git {arguments:?}");
    }
    assert_eq!(write_tree(ours), write_tree(theirs), "seed {seed} {when}: cached trees");
    ours.git(&["fsck", "--strict"]);
    assert!(ours.path(".git/index.lock").symlink_metadata().is_err());
    assert_eq!(std::fs::read_dir(ours.path(".git/patchmany")).unwrap().count(), 0, "private files stay");
}

/// What the index as it is makes of its cached trees.
fn write_tree(repo: &TestRepo) -> String {
    let copy = repo.temp().join("index-copy");
    std::fs::copy(repo.path(".git/index"), &copy).unwrap();
    let output = repo.command("git").env("GIT_INDEX_FILE", &copy).arg("write-tree").output().unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap()
}
