//! `--require-clean`: refused where `git status` shows a file of the batch, and only there.

use crate::support::{Ran, TestRepo, tree};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// A repository in which every file is in another state; `clean` is in none.
fn states() -> TestRepo {
    let repo = TestRepo::unborn();
    let names = ["clean", "unstaged", "staged", "both", "uncached", "mode", "lost", "unmerged"];
    repo.commit_all(&names.map(|name| (name, "1\n")));
    repo.git(&["branch", "other"]);
    repo.commit_all(&[("unmerged", "ours\n")]);
    repo.git(&["switch", "-q", "other"]);
    repo.commit_all(&[("unmerged", "theirs\n")]);
    repo.git(&["switch", "-q", "main"]);
    assert!(!repo.try_git(&["merge", "other"]).status.success());
    repo.write(".git/info/exclude", "ignored\n");
    for name in ["unstaged", "staged", "both", "untracked", "ignored", "announced"] {
        repo.write(name, "1\nmine\n");
    }
    repo.git(&["add", "staged", "both"]);
    repo.write("both", "1\nmine too\n");
    repo.git(&["rm", "-q", "--cached", "uncached"]);
    repo.git(&["add", "-N", "announced"]);
    repo.chmod("mode", 0o755);
    std::fs::remove_file(repo.path("lost")).unwrap();
    repo
}

const ALL: [&str; 11] = [
    "clean",
    "unstaged",
    "staged",
    "both",
    "uncached",
    "mode",
    "lost",
    "untracked",
    "ignored",
    "announced",
    "unmerged",
];

fn batch() -> String {
    // What is not there is made; everything else is replaced.
    let entry = |name: &str| json!({"path": name, "content": "new\n"});
    Value::from_iter(ALL.iter().map(|name| entry(name)).chain([entry("fresh")])).to_string()
}

#[test]
fn what_git_status_shows_is_refused() {
    let repo = states();
    let before = (tree(repo.root()), repo.state());
    for command in ["check", "apply", "plan"] {
        let output = repo.temp().join("plan");
        let mut arguments = vec![command, "--json", "--require-clean"];
        if command == "plan" {
            arguments.extend(["-o", output.to_str().unwrap()]);
        }
        let ran = repo.run(&arguments, batch());
        let json = ran.json();
        assert_eq!((ran.code, &json["outcome"]), (1, &"refused".into()), "{ran:?}");
        let named: BTreeSet<&str> =
            json["errors"].as_array().unwrap().iter().map(|error| error["path"].as_str().unwrap()).collect();
        let status = repo.git(&["status", "--porcelain", "--no-renames"]);
        let shown: BTreeSet<&str> =
            status.lines().map(|line| line.trim_start().split_once(' ').unwrap().1.trim()).collect();
        assert_eq!(named, shown, "{status}");
        assert_eq!(shown.len(), 9);
        assert_eq!((tree(repo.root()), repo.state()), before);
        assert!(!output.exists());
    }
    let ran = repo.run(&["apply", "--json"], batch());
    assert_eq!(ran.code, 0, "without the option they are edited as they stand: {ran:?}");
}

#[test]
fn clean_files_are_edited() {
    let repo = states();
    let batch = |names: &[&str]| {
        Value::from_iter(names.iter().map(|name| json!({"path": name, "content": "new\n"}))).to_string()
    };
    let run =
        |repo: &TestRepo, names: &[&str]| repo.run(&["apply", "--json", "--require-clean"], batch(names));
    let ran = run(&repo, &["clean", "ignored", "fresh"]);
    assert_eq!((ran.code, repo.read("clean")), (0, "new\n".to_owned()), "{ran:?}");
    // Now it has changes of its own, ours.
    assert_eq!(
        Ran::codes(&repo.run(
            &["apply", "--json", "--require-clean"],
            json!([{"path": "clean", "content": "newer\n"}]).to_string()
        )),
        ["git"]
    );
    // What stays as it is needs not be clean.
    assert_eq!(run(&repo, &["clean"]).json()["outcome"], "no-op");
    let folder = TestRepo::folder(&[("a", "1\n")]);
    let ran = run(&folder, &["a"]);
    assert_eq!((ran.code, ran.codes()), (2, vec!["usage".to_owned()]));
    // Of a move both ends count.
    let repo = states();
    let ran = repo.run(
        &["apply", "--json", "--require-clean"],
        json!([{"path": "clean", "moveTo": "lost"}]).to_string(),
    );
    assert_eq!((ran.code, &ran.json()["errors"][0]["path"]), (1, &"lost".into()), "{ran:?}");
}
