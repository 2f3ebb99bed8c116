//! Programs that go on writing to a file that was replaced under them: what they wrote until the clean-up is kept and
//! named, what they write later lands in the undo store.

use crate::support::{TestRepo, resolved};
use patchmany::disk::{Disk, Folders, OsDisk};
use patchmany::history::About;
use patchmany::plan::Sink;
use patchmany::transaction::{Durability, Finished, Ground, Landed, Participant, ParticipantError, Staging};
use patchmany::transaction::{Stop, Store, Unrecorded, Version};
use std::fs::File;
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::time::{Duration, SystemTime};

/// Somebody who writes after the commit point.
struct Writer<'a>(&'a dyn Fn());

impl Participant for Writer<'_> {
    fn prepare(&mut self, _: &dyn Landed) -> Result<Vec<u8>, ParticipantError> {
        Ok(Vec::new())
    }
    fn finish(&mut self, _: &[u8]) -> Result<(), Unrecorded> {
        (self.0)();
        Ok(())
    }
    fn abort(&mut self) {}
}

/// Applies an edit of `a.txt`; `swapped` and `committed` happen then.
fn apply(repo: &TestRepo, swapped: &dyn Fn(), committed: &dyn Fn()) -> Finished {
    let folders = Folders::new(OsDisk, OsDisk.open_root(repo.root()).unwrap());
    let store = Store::open(OsDisk, &repo.path(".git/patchmany")).unwrap();
    let ground = Ground { folders: &folders, store: &store, head: b"" };
    let mut staging = Staging::begin(ground, Durability::None).unwrap();
    staging.put(&resolved(("a.txt", "one\n", "1\n"))).unwrap();
    staging.describe(&About::default().to_bytes()).unwrap();
    let done = staging.seal().unwrap().swap(&Stop::new(0)).unwrap();
    swapped();
    let mut writer = Writer(committed);
    done.commit(Some(&mut writer)).unwrap().finish(Some(&mut writer))
}

fn opened(repo: &TestRepo) -> File {
    File::options().write(true).append(false).open(repo.path("a.txt")).unwrap()
}

fn repo() -> TestRepo {
    TestRepo::new(&[("a.txt", "one\n")])
}

#[track_caller]
fn kept(finished: &Finished, text: &str) {
    let [late] = &finished.late[..] else { panic!("{finished:?}") };
    assert_eq!((late.path.to_string().as_str(), late.whose), ("a.txt", Version::Late));
    assert_eq!(std::fs::read_to_string(&late.at).unwrap(), text);
}

#[test]
fn what_is_written_after_the_swap_is_kept() {
    for after_commit in [false, true] {
        let repo = repo();
        let file = opened(&repo);
        let write = || file.write_all_at(b"late\n", 4).unwrap();
        let finished = if after_commit { apply(&repo, &|| (), &write) } else { apply(&repo, &write, &|| ()) };
        kept(&finished, "one\nlate\n");
        assert_eq!(repo.read("a.txt"), "1\n");
    }
}

#[test]
fn a_write_that_changes_neither_size_nor_time_is_kept() {
    let repo = repo();
    let file = opened(&repo);
    // As after a write in the same tick of the clock, or with a clock that was wrong.
    let time = SystemTime::now() + Duration::from_secs(3600);
    file.set_modified(time).unwrap();
    let write = || {
        file.write_all_at(b"ONE", 0).unwrap();
        file.set_modified(time).unwrap();
    };
    kept(&apply(&repo, &write, &|| ()), "ONE\n");
}

#[test]
fn an_untouched_old_file_is_no_late_one() {
    for age in [Duration::ZERO, Duration::from_secs(5)] {
        let repo = repo();
        opened(&repo).set_modified(SystemTime::now() - age).unwrap();
        assert_eq!(apply(&repo, &|| (), &|| ()).late, []);
    }
}

#[test]
fn what_is_written_after_the_end_lands_in_the_undo_store() {
    let repo = repo();
    let mut file = opened(&repo);
    assert_eq!(apply(&repo, &|| (), &|| ()).late, []);
    file.write_all(b"much later\n").unwrap();
    let undo = repo.path(".git/patchmany/undo");
    let operation = std::fs::read_dir(undo).unwrap().next().unwrap().unwrap().path();
    assert_eq!(std::fs::read_to_string(operation.join("n0")).unwrap(), "much later\n");
    let ran = repo.run(&["undo"], "");
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.err.contains("a program that had it open has written to it"), "{ran:?}");
    assert_eq!(repo.read("a.txt"), "1\n");
}
