//! A commit that cannot be put on its branch after the commit point: it waits, or it is pinned; it is never lost. And a
//! branch that moves before the commit point, while an interrupted run waits.

use crate::support::{TestRepo, die, patches, resolved};
use patchmany::disk::{Disk, Folders, OsDisk};
use patchmany::edit::RelPath;
use patchmany::git::{Hooks, RecordKind, RecordOptions, Recorder, head_mark};
use patchmany::plan::Sink;
use patchmany::transaction::{
    Durability, Finished, Ground, Landed, Participant, ParticipantError, Staging, Stop, Store, Unrecorded,
};
use std::path::Path;
use std::time::Duration;

/// Somebody acts after COMMIT, just before the branch is moved.
struct Disturbed<'a> {
    recorder: Recorder,
    act: &'a dyn Fn(),
}

impl Participant for Disturbed<'_> {
    fn prepare(&mut self, landed: &dyn Landed) -> Result<Vec<u8>, ParticipantError> {
        self.recorder.prepare(landed)
    }
    fn finish(&mut self, record: &[u8]) -> Result<(), Unrecorded> {
        (self.act)();
        self.recorder.finish(record)
    }
    fn abort(&mut self) {
        self.recorder.abort();
    }
}

fn repo() -> TestRepo {
    TestRepo::new(&[("a.txt", "one\n"), ("b.txt", "two\n")])
}

/// Applies and commits one edit of `a.txt`, as the program does. Returns the id of the operation.
fn apply(repo: &TestRepo, act: &dyn Fn()) -> (String, Finished) {
    let root = OsDisk.open_root(repo.root()).unwrap();
    let folders = Folders::new(OsDisk, root);
    let store = Store::open(OsDisk, &repo.path(".git/patchmany")).unwrap();
    let _lock = store.lock(Duration::ZERO).unwrap();
    let staging =
        Staging::begin(Ground { folders: &folders, store: &store, head: b"" }, Durability::None).unwrap();
    let id = staging.id().to_string();
    staging.put(&resolved(("a.txt", "one\n", "1\n"))).unwrap();
    let options = RecordOptions {
        kind: RecordKind::Commit,
        message: Some("ours".to_owned()),
        hooks: Hooks::Run,
        lock_timeout: Duration::ZERO,
        operation_id: id.clone(),
    };
    let recorder = Recorder::begin(&repo.open(), &RelPath::root(), options).unwrap();
    let mut participant = Disturbed { recorder, act };
    let swapped = staging.seal().unwrap().swap(&Stop::new(0)).unwrap();
    let committed = swapped.commit(Some(&mut participant)).unwrap();
    (id, committed.finish(Some(&mut participant)))
}

fn left(repo: &TestRepo) -> Vec<String> {
    let names = std::fs::read_dir(repo.path(".git/patchmany")).unwrap();
    let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name.starts_with("t-")).collect()
}

#[test]
fn a_lock_that_is_held_lets_the_commit_wait() {
    let repo = repo();
    let lock = repo.path(".git/refs/heads/main.lock");
    let (id, finished) = apply(&repo, &|| std::fs::write(&lock, "").unwrap());
    assert!(matches!(finished.participant, Err(Unrecorded::Waits(_))), "{finished:?}");
    assert_eq!(repo.read("a.txt"), "1\n");
    assert_eq!(repo.git(&["log", "--format=%s"]), "base");
    assert_eq!(left(&repo), [format!("t-{id}")]);
    assert!(repo.path(".git/index.lock").symlink_metadata().is_err(), "git goes on working meanwhile");

    let edit = patches(&[("b.txt", "two", "2")]);
    for command in
        [&["recover", "--json", "--lock-timeout", "0"][..], &["apply", "--json", "--lock-timeout", "0"]]
    {
        let ran = repo.run(command, &edit);
        assert_eq!((ran.code, ran.codes()), (5, vec!["locked".to_owned()]), "{ran:?}");
        let message = ran.json()["errors"][0]["message"].as_str().unwrap().to_owned();
        assert!(message.contains(&id) && message.contains("not recorded yet"), "{message}");
        assert_eq!(ran.json()["tree"], "untouched");
    }
    assert_eq!(repo.read("b.txt"), "two\n");

    std::fs::remove_file(lock).unwrap();
    let ran = repo.run(&["apply", "--commit=next"], &edit);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(repo.git(&["log", "--format=%s"]), "next\nours\nbase");
    assert_eq!(repo.git(&["show", "--format=", "--name-only", "HEAD^"]), "a.txt");
    assert_eq!(repo.git(&["status", "--porcelain"]), "");
    assert_eq!(left(&repo), Vec::<String>::new());
    let ran = repo.run(&["undo", &id], "");
    assert_eq!((ran.code, repo.read("a.txt").as_str()), (0, "one\n"), "{ran:?}");
}

#[test]
fn a_branch_that_moved_pins_the_commit() {
    let repo = repo();
    let moves = || {
        let theirs = repo.git(&["commit-tree", "-p", "HEAD", "-m", "theirs", "HEAD^{tree}"]);
        repo.git(&["update-ref", "refs/heads/main", &theirs]);
    };
    let (id, finished) = apply(&repo, &moves);
    assert!(matches!(finished.participant, Err(Unrecorded::Never(_))), "{finished:?}");
    finished.clean_up.unwrap();
    assert_eq!(repo.git(&["log", "-1", "--format=%s", &format!("refs/patchmany/{id}")]), "ours");
    assert_eq!((repo.read("a.txt").as_str(), left(&repo)), ("1\n", Vec::new()));
    let ran = repo.run(&["recover"], "");
    assert_eq!((ran.code, ran.out.as_str()), (0, "nothing to recover\n"), "{ran:?}");
}

/// Makes the log of the branch a folder: nothing can be written to it, by anybody.
fn block_reflog(repo: &TestRepo) -> std::path::PathBuf {
    let log = repo.path(".git/logs/refs/heads/main");
    std::fs::rename(&log, repo.temp().join("kept")).unwrap();
    std::fs::create_dir(&log).unwrap();
    std::fs::write(log.join("x"), "").unwrap();
    log
}

fn unblock(repo: &TestRepo, log: &Path) {
    std::fs::remove_dir_all(log).unwrap();
    std::fs::rename(repo.temp().join("kept"), log).unwrap();
}

#[test]
fn the_program_says_so_and_recover_records_it() {
    let repo = repo();
    let log = block_reflog(&repo);
    let edit = patches(&[("a.txt", "one", "1")]);
    let ran = repo.run(&["apply", "--json", "--commit=ours"], &edit);
    let json = ran.json();
    assert_eq!(ran.code, 4, "{ran:?}");
    assert_eq!(json["outcome"], "needs-recovery");
    assert_eq!((&json["applied"], &json["tree"]), (&true.into(), &"applied".into()));
    assert_eq!(json["git"], serde_json::Value::Null);
    assert!(json["errors"][0]["hint"].as_str().unwrap().contains("patchmany recover"), "{json}");
    assert_eq!((repo.read("a.txt").as_str(), repo.git(&["log", "--format=%s"]).as_str()), ("1\n", "base"));
    assert_eq!(repo.run(&["recover"], "").code, 4);

    unblock(&repo, &log);
    let ran = repo.run(&["recover"], "");
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(repo.git(&["log", "--format=%s"]), "ours\nbase");
    assert_eq!(repo.git(&["status", "--porcelain"]), "");
}

#[test]
fn a_commit_that_waited_too_long_is_pinned_and_told_once() {
    let repo = repo();
    let log = block_reflog(&repo);
    assert_eq!(repo.run(&["apply", "--commit=ours"], patches(&[("a.txt", "one", "1")])).code, 4);
    unblock(&repo, &log);
    repo.git(&["commit", "-q", "--allow-empty", "-m", "theirs"]);
    let ran = repo.run(&["recover"], "");
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.err.contains("refs/patchmany/"), "{ran:?}");
    assert_eq!(repo.git(&["for-each-ref", "--format=%(contents:subject)", "refs/patchmany"]), "ours");
    assert_eq!(repo.read("a.txt"), "1\n");
    assert_eq!(repo.run(&["recover"], "").out, "nothing to recover\n");
}

/// A run of `a.txt` that dies before the commit point.
fn died(repo: &TestRepo) {
    let store = Store::open(OsDisk, &repo.path(".git/patchmany")).unwrap();
    die(repo.root(), &store, &head_mark(&repo.open()), ("a.txt", "one\n", "1\n"));
    assert_eq!(repo.read("a.txt"), "1\n");
}

#[test]
fn an_interrupted_run_is_rolled_back_where_head_stays() {
    let repo = repo();
    died(&repo);
    let ran = repo.run(&["recover", "--list", "--json"], "");
    let listed: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!((&listed["action"], &listed["head_moved"]), (&"roll-back".into(), &false.into()));
    assert!(listed["since"].as_str().unwrap().starts_with("20"), "{listed}");
    assert_eq!(repo.run(&["recover"], "").code, 0);
    assert_eq!(repo.read("a.txt"), "one\n");
}

#[test]
fn a_head_that_moved_since_asks_for_a_decision() {
    for (word, text) in [("--back", "one\n"), ("--forward", "1\n")] {
        for moves in
            [&["commit", "-q", "--allow-empty", "-m", "theirs"][..], &["checkout", "-q", "-b", "other"]]
        {
            let repo = repo();
            died(&repo);
            repo.git(moves);
            for command in ["recover", "apply"] {
                let ran = repo.run(&[command, "--json"], patches(&[("b.txt", "two", "2")]));
                assert_eq!((ran.code, &ran.json()["outcome"]), (4, &"needs-recovery".into()), "{ran:?}");
                assert!(
                    ran.json()["errors"][0]["message"].as_str().unwrap().contains("HEAD has moved"),
                    "{ran:?}"
                );
            }
            assert_eq!(repo.read("a.txt"), "1\n");
            let listed = repo.run(&["recover", "--list", "--json"], "");
            assert!(listed.out.contains(r#""head_moved":true"#), "{listed:?}");
            assert_eq!(repo.run(&["recover", word], "").code, 0);
            assert_eq!((repo.read("a.txt").as_str(), repo.read("b.txt").as_str()), (text, "two\n"), "{word}");
        }
    }
}
