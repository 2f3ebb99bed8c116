//! The status of single paths, refusals, and the repositories that are not opened.

use crate::support::{TestRepo, options};
use patchmany::edit::{Code, RelPath};
use patchmany::git::{Discovery, Environment, GitError, Recorder, Repo, StatusReader, Tracking};
use std::path::Path;

fn path(path: &str) -> RelPath {
    RelPath::new(path).unwrap()
}

/// All that a path can be.
fn zoo() -> TestRepo {
    let repo = TestRepo::unborn();
    let names =
        ["clean", "unstaged", "staged", "both", "cached", "gone", "mode", "skipped", "dir/f", "wide", "lfs"];
    for name in names {
        repo.write(name, format!("{name}\n"));
    }
    repo.write(".gitignore", "*.log\nbuild/\n");
    repo.write(".gitattributes", "*.png binary\n*.raw -text -diff\nwide working-tree-encoding=UTF-16LE\n");
    repo.write("lfs", "version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 1\n");
    repo.write(".git/info/attributes", "lfs filter=lfs\n");
    repo.write("wide", b"w\0\n\0");
    repo.git(&["-c", "filter.lfs.clean=cat", "add", "-A"]);
    repo.git(&["commit", "-q", "-m", "base"]);
    repo.write("unstaged", "x");
    repo.write("staged", "x");
    repo.write("both", "x");
    repo.git(&["add", "staged", "both"]);
    repo.write("both", "y");
    repo.git(&["rm", "-q", "--cached", "cached"]);
    std::fs::remove_file(repo.path("gone")).unwrap();
    repo.chmod("mode", 0o755);
    repo.git(&["update-index", "--skip-worktree", "skipped"]);
    repo.write("untracked", "x");
    repo.write("x.log", "x");
    repo.write("announced", "x");
    repo.git(&["add", "-N", "announced"]);
    repo.git(&["init", "-q", "nested"]);
    repo.write("nested/f", "x");
    repo
}

#[test]
fn paths_are_told_apart() {
    use Tracking::{Ignored, IntentToAdd, NestedRepository, SkipWorktree, Tracked, Untracked};
    let repo = zoo();
    let mut reader = StatusReader::open(&repo.open()).unwrap();
    for (name, tracking, staged, unstaged) in [
        ("clean", Tracked, false, false),
        ("dir/f", Tracked, false, false),
        ("unstaged", Tracked, false, true),
        ("staged", Tracked, true, false),
        ("both", Tracked, true, true),
        ("gone", Tracked, false, true),
        ("mode", Tracked, false, true),
        ("cached", Untracked, true, true),
        ("untracked", Untracked, false, true),
        ("absent", Untracked, false, false),
        ("x.log", Ignored, false, true),
        ("build/deep/x", Ignored, false, false),
        ("announced", IntentToAdd, true, false),
        ("skipped", SkipWorktree, false, false),
        ("nested/f", NestedRepository, false, false),
    ] {
        let status = reader.status(&path(name)).unwrap();
        assert_eq!((status.tracking, status.staged, status.unstaged), (tracking, staged, unstaged), "{name}");
    }
    assert!(reader.status(&path("clean")).unwrap().is_clean());
    assert!(reader.is_binary(&path("a/b.png")).unwrap());
    assert!(!reader.is_binary(&path("a.raw")).unwrap());
    assert!(!reader.another(&repo.open()).unwrap().is_binary(&path("clean")).unwrap());
}

#[test]
fn refusals_name_path_and_reason() {
    let repo = zoo();
    let before = repo.state();
    let mut recorder = Recorder::begin(&repo.open(), &RelPath::root(), options(None)).unwrap();
    let exists = |name: &str| (path(name), repo.path(name).symlink_metadata().is_ok());
    let names = [
        "clean",
        "unstaged",
        "staged",
        "both",
        "gone",
        "mode",
        "cached",
        "untracked",
        "absent",
        "x.log",
        "announced",
        "skipped",
        "nested/f",
        "wide",
        "lfs",
    ];
    let paths: Vec<_> = names.iter().map(|n| exists(n)).collect();
    let found: Vec<_> =
        recorder.check(&paths).unwrap().into_iter().map(|r| format!("{} {}", r.path, r.message)).collect();
    assert_eq!(
        found,
        [
            "cached is staged for removal",
            "untracked is not tracked by git",
            "x.log is ignored by git",
            "announced is not committed yet",
            "skipped is left out of the work tree by sparse-checkout",
            "nested/f belongs to another repository",
            "wide has the working-tree-encoding UTF-16LE, which cannot be converted safely",
            "lfs is an LFS pointer whose content is not here",
        ]
    );
    let rival = recorder.check(&[exists("gone/below")]).unwrap();
    assert_eq!(rival[0].message, "stands in the way of gone, which git tracks");
    drop(recorder);
    assert_eq!(repo.state(), before);
}

#[test]
fn attributes_that_gix_ranks_wrongly_are_refused() {
    let repo = TestRepo::new(&[("a", "a\n"), ("sub/.gitattributes", "* -text\n"), ("sub/b", "b\n")]);
    repo.write(".git/info/attributes", "* text\n");
    let mut recorder = Recorder::begin(&repo.open(), &RelPath::root(), options(None)).unwrap();
    let refused = recorder.check(&[(path("a"), true), (path("sub/b"), true)]).unwrap();
    assert_eq!(refused.iter().map(|r| r.path.to_string()).collect::<Vec<_>>(), ["sub/b"]);
    assert!(refused[0].message.contains("info/attributes"));
}

#[test]
fn unmerged_and_sparse_paths_are_refused() {
    let repo = TestRepo::new(&[("in/a", "a\n"), ("out/b", "b\n"), ("c", "c\n")]);
    repo.git(&["sparse-checkout", "set", "--cone", "--sparse-index", "in"]);
    let mut reader = StatusReader::open(&repo.open()).unwrap();
    assert_eq!(reader.status(&path("out/b")).unwrap().tracking, Tracking::SparseFolder);
    assert_eq!(reader.status(&path("out/new")).unwrap().tracking, Tracking::SparseFolder);
    assert!(reader.status(&path("in/a")).unwrap().is_clean());
    crate::support::commit(&repo, &[crate::support::Edit::write("in/a", "edited\n")], None).unwrap();
    assert_eq!(repo.git(&["ls-files", "--sparse", "out"]), "out/");
    assert_eq!(repo.git(&["status", "--porcelain"]), "");

    let repo = TestRepo::new(&[("a", "a\n")]);
    repo.write("a", "b\n");
    repo.git(&["stash", "-q"]);
    repo.write("a", "c\n");
    repo.git(&["commit", "-qam", "c"]);
    assert!(!repo.try_git(&["stash", "pop", "-q"]).status.success());
    let mut reader = StatusReader::open(&repo.open()).unwrap();
    assert_eq!(reader.status(&path("a")).unwrap().tracking, Tracking::Unmerged);
}

#[test]
fn operations_in_progress_and_missing_identities_are_refused() {
    let repo = TestRepo::new(&[("a", "a\n")]);
    let begin = || Recorder::begin(&repo.open(), &RelPath::root(), options(None)).map(drop);
    begin().unwrap();
    for (file, what) in
        [("MERGE_HEAD", "a merge"), ("CHERRY_PICK_HEAD", "a cherry-pick"), ("BISECT_LOG", "a bis")]
    {
        repo.write(&format!(".git/{file}"), repo.git(&["rev-parse", "HEAD"]));
        assert!(begin().unwrap_err().to_string().starts_with(what));
        std::fs::remove_file(repo.path(&format!(".git/{file}"))).unwrap();
    }
    repo.write(".git/sequencer/todo", "");
    assert!(matches!(begin(), Err(GitError::InProgress(_))));
    std::fs::remove_dir_all(repo.path(".git/sequencer")).unwrap();
    repo.git(&["config", "--unset", "user.email"]);
    assert!(matches!(begin(), Err(GitError::NoIdentity("author"))));
    assert!(repo.path(".git/index.lock").symlink_metadata().is_err());
}

fn discover(start: &Path) -> Result<Discovery, GitError> {
    Repo::discover_with(start, Environment::Ignore)
}

#[test]
fn repositories_are_found_from_below() {
    let repo = TestRepo::new(&[("a/b/c", "c\n")]);
    let found = discover(&repo.path("a/b")).unwrap().into_repo().unwrap();
    assert_eq!(found.work_tree(), repo.root());
    assert_eq!(found.git_dir(), repo.path(".git"));
    assert!(!found.in_hook());
    assert_eq!(found.relative(&repo.path("a/b")).unwrap().as_bstr(), "a/b");
    assert!(matches!(discover(repo.temp()).unwrap(), Discovery::Nothing));
    repo.git(&["clone", "-q", "--bare", ".", "../bare.git"]);
    assert!(matches!(discover(&repo.temp().join("bare.git")).unwrap(), Discovery::Bare(_)));
}

#[test]
fn unknown_formats_are_refused() {
    let repo = TestRepo::new(&[("a", "a\n")]);
    repo.git(&["config", "core.repositoryFormatVersion", "1"]);
    discover(repo.root()).unwrap().into_repo().unwrap();
    repo.git(&["config", "extensions.futureThing", "true"]);
    assert!(matches!(discover(repo.root()), Err(GitError::Unsupported(_))));
    let reftable = TestRepo::with(&["--ref-format=reftable"]);
    assert!(matches!(discover(reftable.root()), Err(GitError::Unsupported(_))));
}

/// Run by [`the_environment_counts`] in a process of its own.
#[test]
#[ignore = "a child process of another test"]
fn child_prints_what_it_discovers() {
    use std::io::Write;
    let found = Repo::discover(&std::env::current_dir().unwrap()).unwrap().into_repo().unwrap();
    let begun = Recorder::begin(&found, &RelPath::root(), options(None));
    let outcome = begun.map_or_else(|error| format!("{:?} {error}", error.code()), |_| "begun".to_owned());
    let mut out = std::fs::File::create(std::env::var_os("REPORT").unwrap()).unwrap();
    write!(out, "{} {} {outcome}", found.work_tree().display(), found.in_hook()).unwrap();
}

#[test]
fn the_environment_counts() {
    let repo = TestRepo::new(&[("a", "a\n")]);
    let elsewhere = repo.temp().canonicalize().unwrap().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    let report = repo.temp().join("report");
    let child = |variables: &[(&str, &Path)], folder: &Path| {
        let mut command = repo.command(std::env::current_exe().unwrap());
        command.args(["--ignored", "--exact", "git::status::child_prints_what_it_discovers"]);
        command.current_dir(folder).env("REPORT", &report);
        command.envs(variables.iter().map(|(name, value)| (name, value.as_os_str())));
        assert!(command.output().unwrap().status.success());
        std::fs::read_to_string(&report).unwrap()
    };
    let (git_dir, index) = (repo.path(".git"), repo.path(".git/index"));
    assert_eq!(child(&[], repo.root()), format!("{} false begun", repo.root().display()));
    assert_eq!(child(&[("GIT_DIR", &git_dir)], &elsewhere), format!("{} false begun", elsewhere.display()));
    let both = [("GIT_DIR", git_dir.as_path()), ("GIT_WORK_TREE", repo.root())];
    assert_eq!(child(&both, &elsewhere), format!("{} false begun", repo.root().display()));
    let hook = child(&[("GIT_INDEX_FILE", &index)], repo.root());
    assert!(hook.contains(&format!("true {:?} a commit", Code::Git)), "{hook}");
}
