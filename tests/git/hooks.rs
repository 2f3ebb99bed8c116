//! Hooks: they see the batch and nothing else, they can refuse, and what they format is committed.

use crate::support::{Edit, TestRepo, commit, land, options, recorder};
use patchmany::edit::RelPath;
use patchmany::git::{Hooks, RecordOptions, Recorder};
use patchmany::transaction::Participant;

fn repo() -> TestRepo {
    let repo = TestRepo::new(&[("a.txt", "a\n"), ("b.txt", "b\n")]);
    repo.write("b.txt", "staged by the user\n");
    repo.git(&["add", "b.txt"]);
    repo
}

fn edit() -> Vec<Edit> {
    vec![Edit::write("a.txt", "edited\n")]
}

#[test]
fn a_hook_sees_only_the_batch() {
    let repo = repo();
    repo.hook("pre-commit", "git diff --cached --name-only > seen; git update-index -q --refresh; git diff-files --name-only >> seen");
    commit(&repo, &edit(), Some("one")).unwrap();
    assert_eq!(repo.read("seen"), "a.txt\nb.txt\n", "staged; then different from the private index");
    assert_eq!(repo.git(&["status", "--porcelain", "-uno"]), "M  b.txt");
}

#[test]
fn a_failing_hook_leaves_everything_as_it_was() {
    for (name, script) in
        [("pre-commit", "echo not today; exit 1"), ("commit-msg", "echo not today >&2; exit 1")]
    {
        let repo = repo();
        repo.hook(name, script);
        let before = repo.state();
        let mut recorder = recorder(&repo, &edit(), Some("one")).unwrap();
        let landed = land(repo.root(), &edit());
        let error = recorder.prepare(&landed).unwrap_err();
        assert!(error.message.contains("not today") && error.message.contains(name), "{error}");
        recorder.abort();
        repo.write("a.txt", "a\n");
        assert_eq!(repo.state(), before);
        assert_eq!(std::fs::read_dir(repo.path(".git/patchmany")).unwrap().count(), 0);
    }
}

#[test]
fn a_formatted_version_is_committed_and_staged() {
    let repo = repo();
    repo.hook("pre-commit", "tr a-z A-Z < a.txt > t && cat t > a.txt && rm t && git add a.txt");
    commit(&repo, &edit(), Some("one")).unwrap();
    assert_eq!(repo.read("a.txt"), "EDITED\n");
    assert_eq!(repo.git(&["show", "HEAD:a.txt"]), "EDITED");
    assert_eq!(repo.git(&["show", ":a.txt"]), "EDITED");
    assert_eq!(repo.git(&["--no-optional-locks", "status", "--porcelain"]), "M  b.txt");
    assert_eq!(repo.git(&["show", "--format=", "--name-only"]), "a.txt");
}

#[test]
fn a_hook_that_stages_another_path_is_refused() {
    let repo = repo();
    repo.hook("pre-commit", "git add b.txt");
    let error = commit(&repo, &edit(), Some("one")).unwrap_err();
    assert!(error.contains("b.txt"), "{error}");
    assert_eq!(repo.git(&["log", "--format=%s"]), "base");
}

#[test]
fn commit_msg_may_rewrite_the_message() {
    let repo = repo();
    repo.hook("commit-msg", "git diff --cached --name-only > seen; echo 'Change: 1  ' >> \"$1\"");
    commit(&repo, &edit(), Some("one\n\ntwo")).unwrap();
    assert_eq!(repo.git(&["log", "-1", "--format=%B"]), "one\n\ntwo\nChange: 1");
    assert_eq!(repo.read("seen"), "a.txt\n");
    repo.hook("commit-msg", ": > \"$1\"");
    let error = commit(&repo, &[Edit::write("a.txt", "x\n")], Some("one")).unwrap_err();
    assert!(error.contains("message is empty"), "{error}");
}

#[test]
fn post_commit_runs_after_everything_and_may_fail() {
    let repo = repo();
    repo.hook("post-commit", "git log -1 --format=%s > seen; git add b.txt; exit 1");
    commit(&repo, &edit(), Some("one")).unwrap();
    assert_eq!(repo.read("seen"), "one\n");
}

#[test]
fn hooks_can_be_skipped_and_live_elsewhere() {
    let repo = repo();
    repo.write("hooks/pre-commit", "#!/bin/sh\nexit 1\n");
    repo.chmod("hooks/pre-commit", 0o755);
    repo.git(&["config", "core.hooksPath", "hooks"]);
    assert!(commit(&repo, &edit(), None).is_err());
    repo.write("a.txt", "a\n");
    let options = RecordOptions { hooks: Hooks::Skip, ..options(None) };
    let mut recorder = Recorder::begin(&repo.open(), &RelPath::root(), options).unwrap();
    let record = recorder.prepare(&land(repo.root(), &edit())).unwrap();
    recorder.finish(&record).unwrap();
    assert_eq!(repo.git(&["show", "HEAD:a.txt"]), "edited");
}
