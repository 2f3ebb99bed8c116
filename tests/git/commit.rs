//! Commits in all the places a commit can be made, and what stays as it was when one cannot.

use crate::support::{Edit, TestRepo, commit, land, options, recorder};
use patchmany::edit::{Code, RelPath};
use patchmany::git::{GitError, Recorder, remove_own_lock};
use patchmany::transaction::{Participant, Unrecorded};
use std::time::{Duration, Instant};

fn edit() -> Vec<Edit> {
    vec![Edit::write("a.txt", "edited\n")]
}

fn two_files() -> TestRepo {
    TestRepo::new(&[("a.txt", "a\n"), ("sub/b.txt", "b\n")])
}

#[test]
fn the_default_message_counts_files() {
    let repo = two_files();
    let recorded = commit(&repo, &edit(), None).unwrap();
    assert_eq!(repo.git(&["log", "-1", "--format=%B"]), "patchmany: 1 file (a.txt)");
    assert_eq!(recorded.commit().unwrap(), repo.git(&["rev-parse", "HEAD"]));
    assert_eq!(recorded.reference(), Some("refs/heads/main"));
    assert_eq!(repo.git(&["show", "-s", "--format=%an <%ae>"]), "Test <test@example.com>");
    commit(&repo, &[Edit::write("c", "c"), Edit::write("a.txt", "x\n")], None).unwrap();
    assert_eq!(repo.git(&["log", "-1", "--format=%B"]), "patchmany: 2 files (a.txt, …)");
    assert_eq!(repo.git(&["status", "--porcelain"]), "");
}

#[test]
fn an_unborn_branch_gets_its_first_commit() {
    let repo = TestRepo::unborn();
    commit(&repo, &[Edit::write("x/y", "first\n")], Some("first")).unwrap();
    assert_eq!(repo.git(&["status", "--porcelain"]), "");
    assert_eq!(repo.git(&["log", "--format=%s", "main"]), "first");
    assert_eq!(repo.git(&["reflog", "--format=%gs"]), "commit (initial): first");
    repo.git(&["fsck", "--strict"]);
}

#[test]
fn a_detached_head_moves_alone() {
    let repo = two_files();
    repo.git(&["checkout", "-q", "--detach"]);
    let recorded = commit(&repo, &edit(), Some("one")).unwrap();
    assert_eq!(recorded.reference(), None);
    assert_eq!(repo.git(&["log", "-1", "--format=%s"]), "one");
    assert_eq!(repo.git(&["log", "-1", "--format=%s", "main"]), "base");
    assert_eq!(repo.git(&["status", "--porcelain"]), "");
}

#[test]
fn a_linked_work_tree_has_its_own_index_and_head() {
    let main = two_files();
    let linked = main.temp().join("linked");
    main.git(&["worktree", "add", "-q", "-b", "side", linked.to_str().unwrap()]);
    let main_state = main.git(&["status", "--porcelain=v2", "--branch"]);
    let root = main.root().to_owned();
    let repo = main.at(linked.canonicalize().unwrap());
    assert!(repo.open().git_dir().ends_with("work/.git/worktrees/linked"));
    let recorded = commit(&repo, &edit(), Some("one")).unwrap();
    assert_eq!(recorded.reference(), Some("refs/heads/side"));
    assert_eq!(repo.git(&["status", "--porcelain"]), "");
    assert_eq!(repo.git(&["log", "--format=%s", "side"]), "one\nbase");
    assert_eq!(repo.git(&["reflog", "--format=%gs", "-1", "HEAD"]), "commit: one");
    let main = repo.at(root);
    assert_eq!(main.git(&["status", "--porcelain=v2", "--branch"]), main_state);
}

#[test]
fn a_submodule_is_a_repository_of_its_own() {
    let outer = two_files();
    let inner = two_files();
    let url = inner.root().to_str().unwrap();
    outer.git(&["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", url, "mod"]);
    outer.git(&["commit", "-q", "-m", "with a submodule"]);
    let mut recorder = Recorder::begin(&outer.open(), &RelPath::root(), options(None)).unwrap();
    let refused = recorder.check(&[(RelPath::new("mod/a.txt").unwrap(), true)]).unwrap();
    assert_eq!(refused[0].code, Code::ProtectedPath);
    drop(recorder);
    let root = outer.path("mod");
    let repo = outer.at(root);
    repo.git(&["config", "user.name", "Test"]);
    repo.git(&["config", "user.email", "t@example.com"]);
    commit(&repo, &edit(), Some("inside")).unwrap();
    assert_eq!(repo.git(&["status", "--porcelain"]), "");
}

#[test]
fn sha256_repositories_work() {
    let repo = TestRepo::with(&["--object-format=sha256"]);
    repo.commit_all(&[("a.txt", "a\n")]);
    let recorded = commit(&repo, &edit(), Some("one")).unwrap();
    assert_eq!(recorded.commit().unwrap().len(), 64);
    assert_eq!(repo.git(&["status", "--porcelain"]), "");
    repo.git(&["fsck", "--strict"]);
}

#[test]
fn the_root_may_be_a_folder_of_the_work_tree() {
    let repo = two_files();
    let root = repo.open().relative(&repo.path("sub")).unwrap();
    let mut recorder = Recorder::begin(&repo.open(), &root, options(None)).unwrap();
    let batch = [Edit::write("b.txt", "edited\n")];
    assert_eq!(recorder.check(&[(RelPath::new("b.txt").unwrap(), true)]).unwrap(), []);
    let record = recorder.prepare(&land(&repo.path("sub"), &batch)).unwrap();
    recorder.finish(&record).unwrap();
    assert_eq!(repo.git(&["log", "-1", "--format=%B"]), "patchmany: 1 file (sub/b.txt)");
    assert_eq!(repo.git(&["status", "--porcelain"]), "");
}

#[test]
fn a_racily_changed_file_stays_visible() {
    for _ in 0..5 {
        let repo = two_files();
        repo.write("sub/b.txt", "1\n");
        repo.git(&["add", "."]);
        repo.git(&["commit", "-q", "-m", "two"]);
        // The same size within the second of the last index write.
        repo.write("sub/b.txt", "2\n");
        commit(&repo, &edit(), Some("one")).unwrap();
        std::thread::sleep(Duration::from_millis(20));
        assert_eq!(repo.git(&["--no-optional-locks", "status", "--porcelain"]), " M sub/b.txt");
        assert!(!repo.git(&["ls-files", "--debug", "a.txt"]).contains("size: 0"));
    }
}

#[test]
fn a_file_written_after_it_was_read_is_not_called_clean() {
    let repo = two_files();
    let mut recorder = recorder(&repo, &edit(), Some("one")).unwrap();
    let record = recorder.prepare(&land(repo.root(), &edit())).unwrap();
    std::thread::sleep(Duration::from_millis(20));
    repo.write("a.txt", "EDITED\n");
    recorder.finish(&record).unwrap();
    assert_eq!(repo.git(&["--no-optional-locks", "status", "--porcelain"]), " M a.txt");
}

#[test]
fn a_held_index_lock_is_waited_for_and_never_removed() {
    let repo = two_files();
    repo.write(".git/index.lock", "");
    let before = repo.state();
    let begun = Instant::now();
    let error = recorder(&repo, &edit(), None).unwrap_err();
    assert!(begun.elapsed() >= Duration::from_millis(50));
    assert!(matches!(error, GitError::Locked { .. }), "{error}");
    assert_eq!(error.code(), Code::Locked);
    assert!(!remove_own_lock(&repo.open(), "op-1").unwrap());
    assert!(repo.path(".git/index.lock").exists());
    repo.write(".git/index.lock", "patchmany op-2\n");
    assert!(recorder(&repo, &edit(), None).unwrap_err().to_string().contains("op-2"));
    assert_eq!(repo.state(), before);
}

#[test]
fn a_lock_of_our_own_is_recognised_after_a_crash() {
    let repo = two_files();
    std::mem::forget(recorder(&repo, &edit(), None).unwrap());
    let lock = repo.path(".git/index.lock");
    assert_eq!(lock.read_link().unwrap().to_str(), Some("patchmany op-1"));
    assert!(!repo.try_git(&["add", "."]).status.success());
    assert!(remove_own_lock(&repo.open(), "op-1").unwrap());
    assert!(!remove_own_lock(&repo.open(), "op-1").unwrap());
    // As it is where there are no links.
    repo.write(".git/index.lock", "patchmany op-1\n");
    assert!(remove_own_lock(&repo.open(), "op-1").unwrap());
    repo.git(&["add", "."]);
    assert!(remove_own_lock(&repo.open(), "../x").is_err());
}

#[test]
fn a_held_branch_lock_fails_before_the_commit_point() {
    let repo = two_files();
    let mut recorder = recorder(&repo, &edit(), None).unwrap();
    let landed = land(repo.root(), &edit());
    repo.write(".git/refs/heads/main.lock", "");
    let error = recorder.prepare(&landed).unwrap_err();
    assert!(error.to_string().contains("main.lock"), "{error}");
    recorder.abort();
    assert!(repo.path(".git/refs/heads/main.lock").exists());
    assert!(repo.path(".git/index.lock").symlink_metadata().is_err());
    assert_eq!(repo.git(&["log", "--format=%s"]), "base");
}

#[test]
fn the_rehearsal_holds_no_lock_and_minds_that_of_head() {
    let repo = two_files();
    repo.write(".git/HEAD.lock", "");
    let error = commit(&repo, &edit(), None).unwrap_err();
    assert!(error.contains("HEAD.lock exists"), "{error}");
    std::fs::remove_file(repo.path(".git/HEAD.lock")).unwrap();
    let mut recorder = recorder(&repo, &[Edit::write("new", "new\n")], None).unwrap();
    recorder.prepare(&land(repo.root(), &[Edit::write("new", "new\n")])).unwrap();
    for lock in [".git/HEAD.lock", ".git/packed-refs.lock", ".git/refs/heads/main.lock"] {
        assert!(!repo.path(lock).exists(), "{lock}");
    }
}

#[test]
fn a_foreign_lock_is_no_part_of_recovery() {
    let repo = two_files();
    let mut recorder = recorder(&repo, &edit(), None).unwrap();
    let record = recorder.prepare(&land(repo.root(), &edit())).unwrap();
    repo.write(".git/refs/heads/main.lock", "");
    let error = recorder.finish(&record).unwrap_err();
    assert!(error.to_string().contains("main.lock"), "{error}");
    assert_eq!(repo.read(".git/refs/heads/main.lock"), "");
    let new =
        serde_json::from_slice::<serde_json::Value>(&record).unwrap()["new"].as_str().unwrap().to_owned();
    repo.write(".git/refs/heads/side.lock", format!("{new}\n"));
    std::fs::remove_file(repo.path(".git/refs/heads/main.lock")).unwrap();
    Recorder::resume(&repo.open(), &RelPath::root(), Duration::ZERO).finish(&record).unwrap();
    assert!(repo.path(".git/refs/heads/side.lock").exists(), "the record does not name it");
    assert_eq!(repo.git(&["rev-parse", "HEAD"]), new);
}

#[test]
fn a_new_branch_finds_its_folders() {
    let repo = two_files();
    repo.git(&["symbolic-ref", "HEAD", "refs/heads/deep/er/new"]);
    repo.git(&["rm", "-rq", "--cached", "."]);
    commit(&repo, &edit(), Some("one")).unwrap();
    assert_eq!(repo.git(&["log", "--format=%s", "deep/er/new"]), "one");
    // Folders that a deleted branch leaves are no branch.
    std::fs::create_dir_all(repo.path(".git/refs/heads/next/x/y")).unwrap();
    std::fs::create_dir_all(repo.path(".git/logs/refs/heads/next/x")).unwrap();
    repo.git(&["symbolic-ref", "HEAD", "refs/heads/next"]);
    commit(&repo, &[Edit::write("b.txt", "again\n")], Some("two")).unwrap();
    assert_eq!(repo.git(&["log", "--format=%s", "next"]), "two");
    assert_eq!(repo.git(&["reflog", "--format=%gs", "next"]), "commit (initial): two");
    repo.git(&["fsck", "--strict"]);
}

#[test]
fn a_new_branch_above_or_below_another_is_refused() {
    for pack in [false, true] {
        for (there, new) in [("main", "main/new"), ("side/x/y", "side/x")] {
            let repo = two_files();
            repo.git(&["branch", "-f", "side/x/y"]);
            if pack {
                repo.git(&["pack-refs", "--all"]);
            }
            repo.git(&["symbolic-ref", "HEAD", &format!("refs/heads/{new}")]);
            let before = repo.git(&["for-each-ref"]);
            let error = commit(&repo, &[Edit::write("new", "new\n")], None).unwrap_err();
            assert!(error.contains(&format!("refs/heads/{there} exists")), "{error}");
            assert_eq!(repo.git(&["for-each-ref"]), before);
        }
    }
}

#[test]
fn nothing_to_commit_is_an_error() {
    let repo = two_files();
    let before = repo.state();
    let error = commit(&repo, &[Edit::write("a.txt", "a\n")], None).unwrap_err();
    assert!(error.contains("nothing to commit"), "{error}");
    assert_eq!(repo.state(), before);
}

#[test]
fn an_abort_leaves_everything_as_it_was() {
    let repo = two_files();
    repo.write("sub/b.txt", "dirty\n");
    let before = repo.state();
    let mut recorder = recorder(&repo, &edit(), None).unwrap();
    let landed = land(repo.root(), &edit());
    recorder.prepare(&landed).unwrap();
    recorder.abort();
    recorder.abort();
    repo.write("a.txt", "a\n");
    assert_eq!(repo.state(), before);
}

#[test]
fn a_crash_after_the_branch_moved_is_finished_from_the_record() {
    let repo = two_files();
    repo.write("sub/b.txt", "staged\n");
    repo.git(&["add", "."]);
    let batch = [Edit::write("a.txt", "edited\n"), Edit::write("new", "new\n")];
    let mut recorder = recorder(&repo, &batch, Some("one")).unwrap();
    let record = recorder.prepare(&land(repo.root(), &batch)).unwrap();
    std::mem::forget(recorder);
    let new =
        serde_json::from_slice::<serde_json::Value>(&record).unwrap()["new"].as_str().unwrap().to_owned();
    repo.git(&["update-ref", "-m", "commit: one", "HEAD", &new]);

    for _ in 0..2 {
        let mut resumed = Recorder::resume(&repo.open(), &RelPath::root(), Duration::ZERO);
        resumed.finish(&record).unwrap();
        assert_eq!(resumed.recorded().unwrap().commit(), Some(new.as_str()));
        assert_eq!(repo.git(&["status", "--porcelain"]), "M  sub/b.txt");
        assert_eq!(repo.git(&["reflog", "--format=%gs"]), "commit: one\ncommit (initial): base");
        assert!(repo.path(".git/index.lock").symlink_metadata().is_err());
    }
}

#[test]
fn a_crash_before_the_branch_moved_is_finished_from_the_record() {
    let repo = two_files();
    let mut recorder = recorder(&repo, &edit(), Some("one")).unwrap();
    let record = recorder.prepare(&land(repo.root(), &edit())).unwrap();
    std::mem::forget(recorder);
    let new =
        serde_json::from_slice::<serde_json::Value>(&record).unwrap()["new"].as_str().unwrap().to_owned();
    // Killed while it held the lock of the branch.
    repo.write(".git/refs/heads/main.lock", format!("{new}\n"));
    Recorder::resume(&repo.open(), &RelPath::root(), Duration::ZERO).finish(&record).unwrap();
    assert_eq!(repo.git(&["log", "--format=%s"]), "one\nbase");
    assert_eq!(repo.git(&["status", "--porcelain"]), "");
}

#[test]
fn what_the_user_staged_after_a_crash_stays() {
    let repo = two_files();
    let mut recorder = recorder(&repo, &edit(), Some("one")).unwrap();
    let record = recorder.prepare(&land(repo.root(), &edit())).unwrap();
    std::mem::forget(recorder);
    remove_own_lock(&repo.open(), "op-1").unwrap();
    repo.write("a.txt", "the user's\n");
    repo.git(&["add", "a.txt"]);
    Recorder::resume(&repo.open(), &RelPath::root(), Duration::ZERO).finish(&record).unwrap();
    assert_eq!(repo.git(&["show", ":a.txt"]), "the user's");
    assert_eq!(repo.git(&["show", "HEAD:a.txt"]), "edited");
}

#[test]
fn a_branch_that_moved_meanwhile_keeps_our_commit_pinned() {
    let repo = two_files();
    let mut recorder = recorder(&repo, &edit(), Some("ours")).unwrap();
    let record = recorder.prepare(&land(repo.root(), &edit())).unwrap();
    let other = repo.git(&["commit-tree", "-p", "HEAD", "-m", "theirs", "HEAD^{tree}"]);
    repo.git(&["update-ref", "refs/heads/main", &other]);
    let error = recorder.finish(&record).unwrap_err();
    assert!(matches!(error, Unrecorded::Never(_)), "{error:?}");
    assert!(error.to_string().contains("refs/patchmany/op-1"), "{error}");
    assert_eq!(repo.git(&["log", "-1", "--format=%s", "refs/patchmany/op-1"]), "ours");
    assert_eq!(repo.git(&["rev-parse", "HEAD"]), other);
    assert!(repo.path(".git/index.lock").symlink_metadata().is_err());
}

#[test]
fn head_moved_before_the_commit_point_fails() {
    let repo = two_files();
    let mut recorder = recorder(&repo, &edit(), None).unwrap();
    let landed = land(repo.root(), &edit());
    repo.git(&["symbolic-ref", "HEAD", "refs/heads/other"]);
    assert!(recorder.prepare(&landed).unwrap_err().message.contains("HEAD moved"));
}

#[test]
fn folders_of_a_shared_repository_are_shared() {
    use std::os::unix::fs::MetadataExt;
    let repo = TestRepo::with(&["--shared=group"]);
    repo.git(&["symbolic-ref", "HEAD", "refs/heads/deep/new"]);
    commit(&repo, &edit(), None).unwrap();
    for path in ["refs/heads/deep", "refs/heads/deep/new", "logs/refs/heads/deep", "logs/HEAD"] {
        let mode = repo.path(".git").join(path).metadata().unwrap().mode();
        assert_eq!(mode & 0o060, 0o060, "{path}");
    }
}

#[test]
fn a_symlinked_index_and_shared_permissions_stay() {
    use std::os::unix::fs::MetadataExt;
    let repo = TestRepo::with(&["--shared=group"]);
    repo.commit_all(&[("a.txt", "a\n")]);
    std::fs::create_dir(repo.temp().join("elsewhere")).unwrap();
    let real = repo.temp().join("elsewhere/index");
    std::fs::rename(repo.path(".git/index"), &real).unwrap();
    std::os::unix::fs::symlink(&real, repo.path(".git/index")).unwrap();
    commit(&repo, &edit(), None).unwrap();
    assert!(repo.path(".git/index").is_symlink());
    for path in [real, repo.path(".git/refs/heads/main"), repo.path(".git/logs/refs/heads/main")] {
        assert_eq!(path.metadata().unwrap().mode() & 0o060, 0o060, "{}", path.display());
    }
    assert_eq!(repo.git(&["status", "--porcelain"]), "");
}

#[test]
fn skip_hash_and_packed_references_are_kept() {
    let repo = two_files();
    repo.git(&["config", "index.skipHash", "true"]);
    repo.git(&["pack-refs", "--all"]);
    commit(&repo, &edit(), Some("one")).unwrap();
    let index = std::fs::read(repo.path(".git/index")).unwrap();
    assert!(index.ends_with(&[0; 20]));
    assert_eq!(repo.git(&["log", "--format=%s"]), "one\nbase");
    assert_eq!(repo.git(&["status", "--porcelain"]), "");
}

#[test]
fn commits_are_signed_as_configured() {
    let repo = two_files();
    let key = repo.temp().join("key");
    let made = repo.command("ssh-keygen").args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(&key).status();
    assert!(made.unwrap().success());
    let public = std::fs::read_to_string(key.with_extension("pub")).unwrap();
    let signers = repo.temp().join("signers");
    std::fs::write(&signers, format!("test@example.com {public}")).unwrap();
    for (name, value) in [
        ("commit.gpgSign", "true"),
        ("gpg.format", "ssh"),
        ("user.signingKey", key.to_str().unwrap()),
        ("gpg.ssh.allowedSignersFile", signers.to_str().unwrap()),
    ] {
        repo.git(&["config", name, value]);
    }
    commit(&repo, &edit(), Some("signed")).unwrap();
    repo.git(&["verify-commit", "HEAD"]);

    repo.git(&["config", "gpg.ssh.program", "false"]);
    let before = repo.git(&["rev-parse", "HEAD"]);
    let error = commit(&repo, &[Edit::write("a.txt", "again\n")], None).unwrap_err();
    assert!(error.contains("sign"), "{error}");
    assert_eq!(repo.git(&["rev-parse", "HEAD"]), before);
}
