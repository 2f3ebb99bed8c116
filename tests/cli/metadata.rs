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

/// An access list as the kernel stores it: a version, then tag, permissions and id of each entry.
fn access_list(entries: &[(u16, u16, u32)]) -> Vec<u8> {
    let mut bytes = 2u32.to_le_bytes().to_vec();
    for (tag, permissions, id) in entries {
        bytes.extend([tag.to_le_bytes(), permissions.to_le_bytes()].concat());
        bytes.extend(id.to_le_bytes());
    }
    bytes
}

const NOBODY: u32 = 65_534;
const NO_ID: u32 = u32::MAX;

/// The owner all, one user and the group a part, others nothing.
fn default_list() -> Vec<u8> {
    access_list(&[(1, 7, NO_ID), (2, 6, NOBODY), (4, 5, NO_ID), (16, 7, NO_ID), (32, 0, NO_ID)])
}

const DEFAULT: &str = "system.posix_acl_default";
const ACCESS: &str = "system.posix_acl_access";

/// Owner, group, mode and access lists of a path.
fn guard(repo: &TestRepo, path: &str) -> (u32, u32, u32, Option<Vec<u8>>, Option<Vec<u8>>) {
    let stat = repo.path(path).metadata().unwrap();
    let lists = [ACCESS, DEFAULT].map(|name| attribute(repo, path, name));
    let [access, default] = lists;
    (stat.uid(), stat.gid(), stat.mode(), access, default)
}

/// New files and folders made by the program in `folder`, beside what `touch` and `mkdir` make there.
#[track_caller]
fn as_plain_programs_do(repo: &TestRepo, folder: &str) {
    let create = |path: &str| serde_json::json!({"path": path, "operation": "create", "diff": "n\n"});
    let script = "--- /dev/null\n+++ b/run.sh\n";
    let (file, deep) = (format!("{folder}/ours"), format!("{folder}/our/own/deep"));
    let batch = serde_json::json!([create(&file), create(&deep)]);
    let ran = repo.run(&["apply"], batch.to_string());
    assert_eq!(ran.code, 0, "{ran:?}");
    let plain = format!("cd {folder} && touch theirs && mkdir -p their/own && touch their/own/deep");
    assert!(repo.command("sh").args(["-c", &plain]).status().unwrap().success());
    for (ours, theirs) in
        [("ours", "theirs"), ("our", "their"), ("our/own", "their/own"), ("our/own/deep", "their/own/deep")]
    {
        let (ours, theirs) = (format!("{folder}/{ours}"), format!("{folder}/{theirs}"));
        assert_eq!(guard(repo, &ours), guard(repo, &theirs), "{ours}");
    }
    let diff = format!(
        "diff --git a/{folder}/run b/{folder}/run\nnew file mode 100755\n{script}@@ -0,0 +1 @@\n+x\n"
    );
    let ran = repo.run(&["apply"], diff.replace("run.sh", &format!("{folder}/run")));
    assert_eq!(ran.code, 0, "{ran:?}");
    // As a compiler makes programs.
    let mut made = std::fs::OpenOptions::new();
    std::os::unix::fs::OpenOptionsExt::mode(&mut made, 0o777);
    made.write(true).create_new(true).open(repo.path(&format!("{folder}/their-run"))).unwrap();
    assert_eq!(guard(repo, &format!("{folder}/run")), guard(repo, &format!("{folder}/their-run")));
    for _ in 0..2 {
        let ran = repo.run(&["undo"], "");
        assert_eq!(ran.code, 0, "{ran:?}");
    }
    assert!(!repo.path(&file).exists() && !repo.path(&format!("{folder}/our")).exists());
}

#[test]
fn new_files_inherit_from_their_folder() {
    for repo in [TestRepo::new(&[("shared/keep", "k\n")]), TestRepo::folder(&[("shared/keep", "k\n")])] {
        as_plain_programs_do(&repo, "shared");
        // Giving away a group takes privileges; without them the group stays the own one.
        let _ = std::os::unix::fs::chown(repo.path("shared"), None, Some(12_345));
        repo.chmod("shared", 0o2775);
        std::fs::remove_dir_all(repo.path("shared/their")).unwrap();
        std::fs::remove_file(repo.path("shared/theirs")).unwrap();
        std::fs::remove_file(repo.path("shared/their-run")).unwrap();
        as_plain_programs_do(&repo, "shared");
        std::fs::create_dir(repo.path("listed")).unwrap();
        if set_attribute(&repo, "listed", DEFAULT, &default_list()).is_ok() {
            as_plain_programs_do(&repo, "listed");
            assert!(guard(&repo, "listed/theirs").3.is_some(), "or the test tests nothing");
        }
    }
}

#[test]
fn nothing_is_inherited_from_the_state_directory() {
    let repo = TestRepo::new(&[("a", "one\n")]);
    let _ = std::os::unix::fs::chown(repo.path(".git"), None, Some(12_345));
    repo.chmod(".git", 0o2775);
    let _ = set_attribute(&repo, ".git", DEFAULT, &default_list());
    let before = guard(&repo, "a");
    assert_eq!(repo.run(&["apply"], patches(&[("a", "one", "1")])).code, 0);
    assert_eq!(guard(&repo, "a"), before);
    as_plain_programs_do(&repo, ".");
}
