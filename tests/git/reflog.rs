//! Reflogs, byte for byte those of `git commit --only`: which there are, and what they say.

use crate::support::{TestRepo, patches};
use std::collections::BTreeMap;
use std::path::Path;

fn repo() -> TestRepo {
    TestRepo::new(&[("a.txt", "one\n"), ("b.txt", "two\n")])
}

/// Every log below `folder`.
fn logs(folder: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut waiting = vec![folder.to_owned()];
    while let Some(path) = waiting.pop() {
        if path.is_dir() {
            waiting.extend(std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        } else if path.exists() {
            let name = path.strip_prefix(folder).unwrap().to_str().unwrap().to_owned();
            found.insert(name, std::fs::read_to_string(path).unwrap());
        }
    }
    found
}

/// Commits the same edit with the program and with git.
#[track_caller]
fn check(ours: &TestRepo, message: &str) {
    let theirs = ours.twin();
    let ran = ours.run(&["apply", &format!("--commit={message}")], patches(&[("a.txt", "one", "1")]));
    assert_eq!(ran.code, 0, "{ran:?}");
    theirs.write("a.txt", "1\n");
    theirs.git(&["add", "-N", "a.txt"]);
    theirs.git(&["commit", "-q", "--only", "-m", message, "--", "a.txt"]);
    assert_eq!(logs(&ours.path(".git/logs")), logs(&theirs.path(".git/logs")));
    assert_eq!(ours.git(&["for-each-ref"]), theirs.git(&["for-each-ref"]));
}

#[test]
fn lines_are_those_of_git() {
    check(&repo(), "plain");
    check(&repo(), "two\t words   and\r more\n\nbody");
    let named = repo();
    named.git(&["config", "user.name", "Ann  B"]);
    named.git(&["config", "user.email", "ann@example.com"]);
    check(&named, "by somebody else");
}

#[test]
fn logs_are_kept_where_git_keeps_them() {
    for (value, exists) in [("false", false), ("false", true), ("true", false), ("always", false)] {
        let repo = repo();
        repo.git(&["config", "core.logAllRefUpdates", value]);
        if !exists {
            std::fs::remove_dir_all(repo.path(".git/logs")).unwrap();
        }
        check(&repo, value);
    }
    let half = repo();
    half.git(&["config", "core.logAllRefUpdates", "false"]);
    std::fs::remove_file(half.path(".git/logs/HEAD")).unwrap();
    check(&half, "only the branch has a log");
}

#[test]
fn a_detached_head_has_its_own_log_alone() {
    let repo = repo();
    repo.git(&["checkout", "-q", "--detach"]);
    check(&repo, "detached");
}

#[test]
fn a_first_commit_comes_from_nothing() {
    let repo = repo();
    repo.git(&["symbolic-ref", "HEAD", "refs/heads/deep/new"]);
    repo.git(&["rm", "-rq", "--cached", "."]);
    check(&repo, "first");
}

#[test]
fn a_linked_work_tree_logs_its_head_apart() {
    let logs_of = |commit: &dyn Fn(&TestRepo)| {
        let main = repo();
        let linked = main.temp().join("linked");
        main.git(&["worktree", "add", "-q", "-b", "side", linked.to_str().unwrap()]);
        let git = main.path(".git");
        let linked = main.at(linked.canonicalize().unwrap());
        commit(&linked);
        (
            logs(&git.join("logs")),
            logs(&git.join("worktrees/linked/logs")),
            linked.git(&["rev-parse", "HEAD"]),
        )
    };
    let ours = logs_of(&|repo| {
        let ran = repo.run(&["apply", "--commit=one"], patches(&[("a.txt", "one", "1")]));
        assert_eq!(ran.code, 0, "{ran:?}");
    });
    let theirs = logs_of(&|repo| {
        repo.write("a.txt", "1\n");
        repo.git(&["commit", "-q", "-m", "one", "--", "a.txt"]);
    });
    assert_eq!(ours, theirs);
}
