//! Stash entries: git can show, apply and pop them, and nothing but `refs/stash` moves.

use crate::support::{Edit, TestRepo};
use patchmany::disk::Node;
use patchmany::edit::{Hash, RelPath};
use patchmany::git::{GitError, Recorded, StashOptions, StashRecorder, remove_own_stash_lock};
use patchmany::plan::{Metadata, Resolved, Sink};

fn resolved(edit: &Edit) -> Resolved {
    let (after, new): (_, Option<Vec<u8>>) = match edit {
        Edit::Delete(_) => (Node::Absent, None),
        Edit::Link(_, target) => {
            (Node::Link { target: target.as_str().into() }, Some(target.as_bytes().into()))
        }
        Edit::Write(_, bytes, mode) => {
            let file = Node::File { hash: Hash::of(bytes), mode: *mode, size: bytes.len() as u64 };
            (file, Some(bytes.as_slice().into()))
        }
    };
    let path = RelPath::new(edit.path()).unwrap();
    Resolved {
        path,
        before: Node::Absent,
        after,
        seen: None,
        old: None,
        new: new.map(Into::into),
        metadata: Metadata::New,
    }
}

fn begin(repo: &TestRepo, message: Option<&str>) -> Result<StashRecorder, GitError> {
    let options = StashOptions { message: message.map(str::to_owned), operation_id: "op-1".into() };
    StashRecorder::begin(&repo.open(), &RelPath::root(), options)
}

/// Puts from several threads, as the planner does.
fn stash(repo: &TestRepo, batch: &[Edit], message: Option<&str>) -> Result<Recorded, GitError> {
    let recorder = begin(repo, message)?;
    std::thread::scope(|scope| {
        for part in batch.chunks(2) {
            let recorder = &recorder;
            scope.spawn(move || part.iter().for_each(|edit| recorder.put(&resolved(edit)).unwrap()));
        }
    });
    recorder.finish()
}

fn repo() -> TestRepo {
    let repo = TestRepo::new(&[
        (".gitattributes", "*.dos text eol=crlf\n"),
        ("a.txt", "a\n"),
        ("b.txt", "b\n"),
        ("c.dos", "c\r\n"),
        ("gone.txt", "gone\n"),
    ]);
    repo.write("b.txt", "dirty\n");
    repo.git(&["add", "b.txt"]);
    repo.write("b.txt", "dirtier\n");
    repo
}

fn batch() -> Vec<Edit> {
    vec![
        Edit::write("a.txt", "edited\n"),
        Edit::write("c.dos", "edited\r\n"),
        Edit::write("new/file", "new\n"),
        Edit::Delete("gone.txt".into()),
        Edit::Link("link".into(), "a.txt".into()),
    ]
}

#[test]
fn git_shows_applies_and_pops_it() {
    let repo = repo();
    let dirt = ["status", "--porcelain=v2", "-uall"];
    let before =
        (repo.git(&dirt), std::fs::read(repo.path(".git/index")).unwrap(), repo.git(&["rev-parse", "HEAD"]));
    let recorded = stash(&repo, &batch(), Some("a message")).unwrap();
    let after =
        (repo.git(&dirt), std::fs::read(repo.path(".git/index")).unwrap(), repo.git(&["rev-parse", "HEAD"]));
    assert_eq!(before, after);
    assert_eq!(recorded.reference(), Some("refs/stash"));
    assert_eq!(recorded.commit().unwrap(), repo.git(&["rev-parse", "stash@{0}"]));
    assert_eq!(repo.git(&["stash", "list"]), "stash@{0}: On main: a message");
    assert_eq!(
        repo.git(&["stash", "show", "--name-status"]),
        "M\ta.txt\nM\tc.dos\nD\tgone.txt\nA\tlink\nA\tnew/file"
    );
    assert_eq!(repo.git(&["show", "stash@{0}:c.dos"]), "edited");
    repo.git(&["fsck", "--strict"]);

    repo.git(&["reset", "-q", "--hard"]);
    repo.git(&["stash", "apply", "-q"]);
    assert_eq!(repo.read("c.dos"), "edited\r\n");
    assert!(!repo.path("gone.txt").exists() && repo.path("link").is_symlink());
    repo.git(&["reset", "-q", "--hard"]);
    repo.git(&["clean", "-qfd"]);
    repo.git(&["commit", "-q", "--allow-empty", "-m", "moved on"]);
    repo.git(&["stash", "pop", "-q"]);
    assert_eq!(repo.read("new/file"), "new\n");
    assert_eq!(repo.git(&["stash", "list"]), "");
}

#[test]
fn the_objects_are_those_of_git() {
    let ours = TestRepo::new(&[("a.txt", "a\n"), ("b.txt", "b\n")]);
    let theirs = ours.twin();
    stash(&ours, &[Edit::write("a.txt", "edited\n")], Some("message")).unwrap();
    theirs.write("a.txt", "edited\n");
    theirs.git(&["stash", "push", "-q", "-m", "message"]);
    for arguments in [
        &["log", "-1", "--format=%T %P %B", "stash^2"][..],
        &["log", "-1", "--format=%T %B", "stash"],
        &["stash", "list"],
        &["reflog", "show", "--format=%gs", "refs/stash"],
    ] {
        assert_eq!(ours.git(arguments), theirs.git(arguments), "git {arguments:?}");
    }
}

#[test]
fn entries_pile_up_even_without_reflogs() {
    let repo = repo();
    repo.git(&["config", "core.logAllRefUpdates", "false"]);
    stash(&repo, &batch()[..1], Some("one")).unwrap();
    repo.git(&["reset", "-q", "--hard"]);
    repo.write("a.txt", "by hand\n");
    repo.git(&["stash", "push", "-q", "-m", "two"]);
    stash(&repo, &batch(), None).unwrap();
    assert_eq!(
        repo.git(&["stash", "list"]),
        "stash@{0}: On main: patchmany: 5 files (a.txt, …)\nstash@{1}: On main: two\nstash@{2}: On main: one"
    );
}

#[test]
fn a_detached_head_has_no_branch() {
    let repo = repo();
    repo.git(&["checkout", "-q", "--detach"]);
    stash(&repo, &batch(), Some("x")).unwrap();
    assert_eq!(repo.git(&["stash", "list"]), "stash@{0}: On (no branch): x");
}

#[test]
fn what_cannot_be_stashed_is_refused() {
    let unborn = TestRepo::unborn();
    assert!(matches!(begin(&unborn, None), Err(GitError::Unborn)));
    let repo = repo();
    let before = repo.state();
    assert!(matches!(stash(&repo, &[Edit::write("a.txt", "a\n")], None), Err(GitError::NothingToCommit)));
    let path = |p: &str| RelPath::new(p).unwrap();
    let recorder = begin(&repo, None).unwrap();
    let refused =
        recorder.check(&[(path("a.txt"), true), (path("b.txt"), true), (path("new"), false)]).unwrap();
    assert_eq!(refused.iter().map(|r| r.path.to_string()).collect::<Vec<_>>(), ["b.txt"]);
    assert_eq!(repo.state(), before);
}

#[test]
fn a_failing_filter_ends_the_plan() {
    let repo = repo();
    repo.git(&["config", "filter.broken.clean", "false"]);
    repo.git(&["config", "filter.broken.required", "true"]);
    repo.write(".git/info/attributes", "*.txt filter=broken\n");
    let recorder = begin(&repo, None).unwrap();
    assert!(recorder.put(&resolved(&Edit::write("a.txt", "x\n"))).is_err());
    assert!(matches!(recorder.finish(), Err(GitError::Filter { .. })));
}

#[test]
fn only_a_lock_that_a_draft_tells_of_is_removed() {
    let repo = repo();
    let id = repo.git(&["rev-parse", "HEAD"]);
    for (draft, lock, stays) in [
        (format!("{id}\n"), format!("{id}\n"), false),
        (format!("{id}\n"), String::new(), true),
        (String::new(), String::new(), true),
        (id.clone(), id.clone(), true),
    ] {
        repo.write(".git/patchmany/stash-op-1", &draft);
        repo.write(".git/refs/stash.lock", &lock);
        remove_own_stash_lock(&repo.open()).unwrap();
        assert_eq!(repo.path(".git/refs/stash.lock").exists(), stays, "{draft:?} {lock:?}");
        assert!(!repo.path(".git/patchmany/stash-op-1").exists());
    }
}
