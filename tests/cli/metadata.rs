//! Everything about a file but its bytes: what new text keeps, what it drops, and what undo brings back.

use crate::support::{TestRepo, patches};
use std::os::unix::fs::MetadataExt;
use std::time::{Duration, SystemTime};

fn mode(repo: &TestRepo, path: &str) -> u32 {
    repo.path(path).metadata().unwrap().mode() & 0o7777
}

fn modified(repo: &TestRepo, path: &str) -> SystemTime {
    repo.path(path).metadata().unwrap().modified().unwrap()
}

#[test]
fn new_text_drops_setuid_and_says_so() {
    let repo = TestRepo::folder(&[("u", "one\n"), ("g", "one\n"), ("both", "one\n"), ("data", "one\n")]);
    let modes =
        [("u", 0o4755, 0o755), ("g", 0o2755, 0o755), ("both", 0o6755, 0o755), ("data", 0o2644, 0o2644)];
    for (path, old, _) in modes {
        repo.chmod(path, old);
        assert_eq!(mode(&repo, path), old);
    }
    let edits = modes.map(|(path, ..)| (path, "one", "1"));
    let ran = repo.run(&["apply", "--json"], patches(&edits));
    assert_eq!(ran.code, 0, "{ran:?}");
    for (path, _, new) in modes {
        assert_eq!(mode(&repo, path), new, "{path}");
    }
    let json = ran.json();
    let warned: Vec<_> =
        json["warnings"].as_array().unwrap().iter().map(|w| (&w["code"], &w["path"])).collect();
    let code = &"setuid-dropped".into();
    assert_eq!(warned, [(code, &"u".into()), (code, &"g".into()), (code, &"both".into())]);

    assert_eq!(repo.run(&["undo"], "").code, 0);
    for (path, old, _) in modes {
        assert_eq!((mode(&repo, path), repo.read(path).as_str()), (old, "one\n"), "{path}");
    }
}

/// `cap_net_raw=ep`, as `setcap` stores it.
const CAPABILITY: [u8; 20] = [1, 0, 0, 2, 0, 0x20, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];

fn attribute(repo: &TestRepo, path: &str, name: &str) -> Option<Vec<u8>> {
    let mut value = vec![0; 1024];
    let used = rustix::fs::getxattr(repo.path(path), name, &mut value[..]).ok()?;
    value.truncate(used);
    Some(value)
}

fn set_attribute(repo: &TestRepo, path: &str, name: &str, value: &[u8]) -> rustix::io::Result<()> {
    rustix::fs::setxattr(repo.path(path), name, value, rustix::fs::XattrFlags::empty())
}

#[test]
fn new_text_keeps_attributes_but_no_capability() {
    let repo = TestRepo::folder(&[("a", "one\n")]);
    // A file system without them has nothing to keep; setting a capability takes privileges.
    let has_attributes = set_attribute(&repo, "a", "user.note", b"kept").is_ok();
    let has_capability = set_attribute(&repo, "a", "security.capability", &CAPABILITY).is_ok();
    assert_eq!(repo.run(&["apply"], patches(&[("a", "one", "1")])).code, 0);
    assert_eq!(attribute(&repo, "a", "user.note"), has_attributes.then(|| b"kept".to_vec()));
    assert_eq!(attribute(&repo, "a", "security.capability"), None, "there before: {has_capability}");
}

#[test]
fn changed_files_are_new_and_undo_brings_the_old_time_back() {
    let repo = TestRepo::folder(&[("a", "one\n"), ("gone", "g\n")]);
    let old = SystemTime::UNIX_EPOCH + Duration::new(1_000_000_000, 123_456_789);
    for path in ["a", "gone"] {
        let file = std::fs::File::options().write(true).open(repo.path(path)).unwrap();
        file.set_modified(old).unwrap();
    }
    let begun = SystemTime::now() - Duration::from_millis(20);
    let batch = r#"[{"path":"a","old_string":"one","new_string":"1"},{"path":"gone","operation":"delete"},
                    {"path":"new","operation":"create","diff":"n\n"}]"#;
    let ran = repo.run(&["apply"], batch);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(modified(&repo, "a") >= begun && modified(&repo, "new") >= begun);

    assert_eq!(repo.run(&["undo"], "").code, 0);
    assert_eq!((modified(&repo, "a"), modified(&repo, "gone")), (old, old));
    assert_eq!(repo.run(&["redo"], "").code, 0);
    assert!(modified(&repo, "a") >= begun, "the time of the new version");
}
