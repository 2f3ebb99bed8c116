//! `--test`: what the command sees, that only its success lets a batch land, and that nothing is left behind.

use crate::support::{Ran, TestRepo, patches, tree};
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// What is left of copies in the state directory.
fn leftovers(repo: &TestRepo) -> Vec<String> {
    let all = tree(&repo.temp().join("state")).into_keys();
    all.filter(|path| path.contains("scratch")).collect()
}

/// Makes the state directory, so that it can be listed.
fn state(repo: &TestRepo) {
    std::fs::create_dir_all(repo.temp().join("state")).unwrap();
}

fn project() -> TestRepo {
    let repo = TestRepo::new(&[
        ("a", "1\n"),
        ("b", "2\n"),
        ("d/c", "3\n"),
        (".gitignore", "out/\n*.log\n"),
        ("gone", "g\n"),
    ]);
    state(&repo);
    repo
}

fn test(repo: &TestRepo, line: &str) -> Ran {
    repo.run(&["apply", "--json", "--test", line], patches(&[("a", "1", "one")]))
}

#[test]
fn only_success_lets_a_batch_land() {
    for repo in [project(), TestRepo::folder(&[("a", "1\n")])] {
        state(&repo);
        let before = tree(repo.root());
        let ran = test(&repo, "grep one a; echo said; echo wrong >&2; exit 3");
        let json = ran.json();
        let error = &json["errors"][0];
        assert_eq!(
            (ran.code, &json["outcome"], &json["tree"]),
            (3, &"rolled-back".into(), &"rolled-back".into()),
            "{ran:?}"
        );
        assert_eq!((&error["code"], &json["applied"]), (&"test".into(), &false.into()));
        assert!(error["message"].as_str().unwrap().ends_with("exit 3:\none\nsaid\nwrong"), "{error}");
        assert_eq!((tree(repo.root()), leftovers(&repo)), (before, vec![]));
        let log = repo.run(&["log"], "");
        assert_eq!((log.code, log.out), (0, String::new()), "nothing has happened");
        let ran = test(&repo, "grep -q one a && echo said");
        assert_eq!((ran.code, repo.read("a")), (0, "one\n".to_owned()), "{ran:?}");
        assert_eq!(leftovers(&repo), Vec::<String>::new());
    }
}

#[test]
fn the_copy_is_the_tree_after_the_batch() {
    let repo = project();
    repo.chmod("b", 0o755);
    repo.write("d/c", "3\nmine\n");
    repo.write("untracked/x", "x\n");
    repo.write("out/ignored", "i\n");
    repo.write("x.log", "i\n");
    repo.write("kept.log", "tracked though ignored\n");
    repo.git(&["add", "-f", "kept.log"]);
    std::os::unix::fs::symlink("a", repo.path("link")).unwrap();
    let batch = serde_json::json!([
        {"path": "a", "old_string": "1", "new_string": "one"},
        {"path": "gone", "operation": "delete"},
        {"path": "gone/in", "content": "i\n"},
        {"path": "d/c", "moveTo": "n/c"},
        {"path": "new", "content": "new\n"},
    ]);
    let seen = repo.temp().join("seen");
    let line = format!("cp -a . {}; git status --porcelain > {0}.status", seen.display());
    let ran = repo.run(&["apply", "--json", "--test", &line], batch.to_string());
    assert_eq!(ran.code, 0, "{ran:?}");
    let mut now = tree(repo.root());
    now.retain(|path, _| !["out", "out/ignored", "x.log"].contains(&&**path));
    assert_eq!(tree(&seen), now);
    let status = std::fs::read_to_string(seen.with_extension("status")).unwrap();
    assert_eq!(status.trim_end(), repo.git(&["status", "--porcelain"]).trim_end());
}

#[test]
fn what_the_command_does_stays_in_the_copy() {
    let repo = project();
    repo.write("d/c", "staged\n");
    repo.git(&["add", "d/c"]);
    repo.git(&["tag", "v1"]);
    let before = (repo.state(), repo.git(&["count-objects"]));
    let line = "git describe --tags && git -c user.name=x -c user.email=x@x commit -qam all && git rm -rqf . && git tag -d v1 \
                && rm -rf * && chmod 000 . ; mkdir -p ro/x; chmod 500 ro; exit 1";
    let ran = test(&repo, line);
    assert_eq!((ran.code, repo.state(), repo.git(&["count-objects"])), (3, before.0, before.1), "{ran:?}");
    assert!(ran.json()["errors"][0]["message"].as_str().unwrap().contains("v1"), "{ran:?}");
    assert_eq!((repo.read("a"), leftovers(&repo)), ("1\n".to_owned(), vec![]));
}

#[test]
fn git_variables_do_not_reach_the_command() {
    let repo = project();
    let mut program = repo.program(&[
        "apply",
        "--json",
        "--test",
        "git add -A; env | grep '^GIT_DIR\\|^GIT_WORK\\|^GIT_INDEX'; exit 1",
    ]);
    program.env("GIT_DIR", repo.path(".git")).env("GIT_WORK_TREE", repo.root());
    std::fs::write(repo.temp().join("batch"), patches(&[("a", "1", "one")])).unwrap();
    let before = repo.state();
    let ran =
        Ran::of(&program.stdin(std::fs::File::open(repo.temp().join("batch")).unwrap()).output().unwrap());
    assert!(ran.json()["errors"][0]["message"].as_str().unwrap().ends_with("exit 1"), "{ran:?}");
    assert_eq!(repo.state(), before);
}

#[test]
fn caches_are_shared_where_they_are_named() {
    let repo = project();
    repo.write("out/cache", "c\n");
    let run = |arguments: &[&str]| {
        repo.run(&[&["apply", "--json"], arguments].concat(), patches(&[("a", "1", "one")]))
    };
    assert_eq!(run(&["--test", "test ! -e out"]).code, 0);
    assert_eq!(repo.run(&["undo"], "").code, 0);
    let line =
        "grep -q c out/cache && echo more >> out/cache && mkdir none && test -d none && ! test -L none";
    assert_eq!(run(&["--test-cache", "out", "--test-cache", "none", "--test", line]).code, 0);
    assert_eq!((repo.read("out/cache"), repo.path("none").exists()), ("c\nmore\n".to_owned(), false));
    let batch = serde_json::json!([{"path": "d/new", "content": "x\n"}]).to_string();
    let ran = repo.run(&["apply", "--json", "--test", "true", "--test-cache", "d"], &batch);
    assert_eq!(
        (ran.code, ran.codes(), repo.path("d/new").exists()),
        (2, vec!["usage".to_owned()], false),
        "{ran:?}"
    );
    let ran = repo.run(&["apply", "--json", "--test", "true", "--test-cache", "../x"], &batch);
    assert_eq!((ran.code, ran.codes()), (1, vec!["outside-root".to_owned()]));
    for command in ["check", "plan"] {
        let ran = repo.run(
            &[
                &[command, "--json", "--test", "true"][..],
                if command == "plan" { &["-o", "../p"] } else { &[] },
            ]
            .concat(),
            &batch,
        );
        assert_eq!(ran.code, 2, "{ran:?}");
    }
}

#[test]
fn it_runs_where_relative_paths_start() {
    let repo = project();
    let mut program = repo.program(&["apply", "--json", "--test", "pwd; echo \"$PATCHMANY_ROOT\"; exit 1"]);
    std::fs::write(repo.temp().join("batch"), patches(&[("c", "3", "three")])).unwrap();
    program.current_dir(repo.path("d")).stdin(std::fs::File::open(repo.temp().join("batch")).unwrap());
    let ran = Ran::of(&program.stdout(Stdio::piped()).output().unwrap());
    let message = ran.json()["errors"][0]["message"].as_str().unwrap().to_owned();
    assert!(message.ends_with(&format!("/scratch/work/d\n{}", repo.root().display())), "{message}");
}

#[test]
fn only_the_users_own_configuration_names_a_command() {
    let repo = project();
    let run = |configure: &dyn Fn(&mut std::process::Command), arguments: &[&str]| {
        let copy = repo.twin();
        state(&copy);
        std::fs::write(copy.temp().join("batch"), patches(&[("a", "1", "one")])).unwrap();
        let mut program = copy.program(&[&["apply", "--json"], arguments].concat());
        configure(&mut program);
        let ran = Ran::of(
            &program.stdin(std::fs::File::open(copy.temp().join("batch")).unwrap()).output().unwrap(),
        );
        let json = ran.json();
        (
            ran.code,
            json["warnings"]
                .as_array()
                .unwrap()
                .iter()
                .map(|w| w["code"].as_str().unwrap().to_owned())
                .collect::<Vec<_>>(),
        )
    };
    let by_command = |program: &mut std::process::Command| {
        program
            .env("GIT_CONFIG_COUNT", "1")
            .env("GIT_CONFIG_KEY_0", "patchmany.test")
            .env("GIT_CONFIG_VALUE_0", "exit 1");
    };
    let global = repo.temp().join("global");
    std::fs::write(&global, "[patchmany]\n\ttest = exit 1\n").unwrap();
    let by_user = |program: &mut std::process::Command| _ = program.env("GIT_CONFIG_GLOBAL", &global);
    assert_eq!(run(&|_| (), &[]), (0, vec![]));
    assert_eq!(run(&by_command, &[]), (3, vec![]));
    assert_eq!(run(&by_user, &[]), (3, vec![]));
    assert_eq!(run(&by_user, &["--test", ""]), (0, vec![]));
    assert_eq!(run(&by_user, &["--test", "true"]), (0, vec![]));
    // The repository's own, and what it includes.
    repo.git(&["config", "patchmany.test", "exit 1"]);
    let ignored = || vec!["config-ignored".to_owned()];
    assert_eq!(run(&|_| (), &[]), (0, ignored()));
    assert_eq!(run(&|_| (), &["--test", "true"]), (0, vec![]));
    assert_eq!(run(&by_user, &[]), (3, vec![]));
    repo.git(&["config", "--unset", "patchmany.test"]);
    repo.git(&["config", "include.path", global.to_str().unwrap()]);
    assert_eq!(run(&|_| (), &[]), (0, ignored()));
    repo.git(&["config", "--unset", "include.path"]);
    repo.git(&["config", "extensions.worktreeConfig", "true"]);
    repo.git(&["config", "--worktree", "patchmany.test", "exit 1"]);
    assert_eq!(run(&|_| (), &[]), (0, ignored()));
}

#[test]
fn commits_and_stash_entries_wait_for_it() {
    let repo = project();
    let run = |arguments: &[&str]| {
        repo.run(&[&["apply", "--json"], arguments].concat(), patches(&[("a", "1", "one")]))
    };
    let before = repo.state();
    for record in ["--commit", "--stash"] {
        assert_eq!(run(&[record, "--test", "grep -q two a"]).code, 3);
        assert_eq!(repo.state(), before);
    }
    assert_eq!(run(&["--stash", "--test", "grep -q one a"]).json()["git"]["record"], "stash");
    // The lock of git is free meanwhile.
    let line = format!("grep -q one a && git -C {} add -N a", repo.root().display());
    assert_eq!(run(&["--commit", "--test", &line]).json()["git"]["record"], "commit");
    assert_eq!(repo.git(&["status", "--porcelain"]), "");
}

#[test]
fn whoever_changes_a_file_meanwhile_is_noticed() {
    let repo = project();
    let line = format!("echo theirs > {}/a", repo.root().display());
    let ran = test(&repo, &line);
    assert_eq!(
        (ran.code, ran.codes(), repo.read("a")),
        (1, vec!["changed-during".to_owned()], "theirs\n".to_owned()),
        "{ran:?}"
    );
}

#[track_caller]
fn wait_for(path: &Path) {
    let begun = Instant::now();
    while !path.exists() {
        assert!(begun.elapsed() < Duration::from_secs(60), "{} never came", path.display());
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Whether the process runs; one that nobody has waited for does not.
fn is_alive(id: &str) -> bool {
    std::fs::read_to_string(format!("/proc/{id}/stat")).is_ok_and(|stat| !stat.contains(") Z "))
}

#[test]
fn a_signal_ends_the_test_and_leaves_nothing() {
    for (name, code) in [("INT", 130), ("TERM", 143), ("KILL", 137)] {
        let repo = project();
        let before = tree(repo.root());
        let begun = repo.temp().join("begun");
        let line = format!("sleep 300 & echo $! > {0}.tmp; mv {0}.tmp {0}; wait", begun.display());
        let child = repo.start(&["apply", "--json", "--test", &line], patches(&[("a", "1", "one")]));
        wait_for(&begun);
        let id = child.id().to_string();
        assert!(std::process::Command::new("kill").args(["-s", name, &id]).status().unwrap().success());
        let ran = Ran::of(&child.wait_with_output().unwrap());
        assert_eq!((ran.code, tree(repo.root())), (code, before), "{ran:?}");
        let sleeper = std::fs::read_to_string(&begun).unwrap();
        if name == "KILL" {
            assert_ne!(leftovers(&repo), Vec::<String>::new(), "nobody could remove it");
            let _ = std::process::Command::new("kill").args(["-9", sleeper.trim()]).status();
            assert_eq!(repo.run(&["apply"], patches(&[("b", "2", "two")])).code, 0);
        } else {
            assert_eq!(ran.json()["outcome"], "interrupted");
            std::thread::sleep(Duration::from_millis(50));
            assert!(!is_alive(sleeper.trim()));
        }
        assert_eq!(leftovers(&repo), Vec::<String>::new());
    }
}
