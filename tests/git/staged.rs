//! `--stage`: the batch is in the index and in the work tree, and nothing else is.

use super::beside::{dirty, rows, versions};
use crate::support::{TestRepo, identity, patches, tree};
use std::time::{Duration, Instant};

fn stage(repo: &TestRepo, batch: &str) {
    let ran = repo.run(&["apply", "--json", "--stage"], batch);
    assert_eq!(ran.code, 0, "{ran:?}");
    let git = &ran.json()["git"];
    assert_eq!(*git, serde_json::json!({"record": "stage", "commit": null, "ref": null}), "{ran:?}");
}

#[test]
fn the_batch_is_staged_beside_what_is_not() {
    let repo = dirty();
    let before = repo.git(&["rev-parse", "HEAD"]);
    stage(&repo, &patches(&[("f", "row 10", "batch"), ("g", "g", "G")]));
    assert_eq!(
        versions(&repo, "f"),
        [
            rows(&[]),
            rows(&[(2, "staged"), (10, "batch")]),
            rows(&[(2, "staged"), (6, "unstaged"), (10, "batch")])
        ]
    );
    assert_eq!(repo.git(&["--no-optional-locks", "status", "--porcelain"]), "MM f\nM  g");
    assert_eq!((repo.git(&["rev-parse", "HEAD"]), super::left(&repo)), (before, vec![]));
    let ran = repo.run(&["apply", "--stage"], patches(&[("g", "G", "g")]));
    assert!(ran.out.ends_with("1 file changed, 1 insertion(+), 1 deletion(-); staged\n"), "{ran:?}");
}

#[test]
fn on_files_without_other_changes_it_is_git_apply_index() {
    let repo =
        TestRepo::new(&[("a", "a\n"), ("b", "b\n"), ("sub/c", "c\n"), ("mine", "m\n"), ("run", "r\n")]);
    repo.write("mine", "mine\n");
    repo.write("b", "staged\nb\n");
    repo.git(&["add", "b"]);
    let twin = repo.twin();
    twin.write("b", "staged\nB\n");
    twin.write("new/n", "n\n");
    twin.chmod("run", 0o755);
    twin.git(&["mv", "a", "moved"]);
    twin.git(&["rm", "-q", "sub/c"]);
    twin.git(&["add", "b", "new/n", "run"]);
    let theirs = repo.twin();
    let diff = twin.git(&["diff", "--cached", "-M", "HEAD", "--", ".", ":!b"])
        + "\n--- a/b\n+++ b/b\n@@ -1,2 +1,2 @@\n staged\n-b\n+B\n";
    theirs.write("../batch.diff", &diff);
    theirs.git(&["update-index", "-q", "--refresh"]);
    theirs.git(&["apply", "--index", "../batch.diff"]);
    stage(&repo, &diff);
    for arguments in
        [&["ls-files", "-s"][..], &["--no-optional-locks", "status", "--porcelain=v2"], &["write-tree"]]
    {
        assert_eq!(repo.git(arguments), theirs.git(arguments), "git {arguments:?}");
    }
    assert_eq!(tree(repo.root()), tree(theirs.root()));
}

#[test]
fn what_is_not_in_the_index_is_refused() {
    let repo = dirty();
    repo.write("untracked", "one\n");
    repo.write("announced", "one\n");
    repo.git(&["add", "-N", "announced"]);
    repo.git(&["rm", "-q", "--cached", "g"]);
    repo.write(".git/info/exclude", "*.log\n");
    let (files, state) = (identity(repo.root()), repo.state());
    for (path, old, words) in [
        ("untracked", "one", "is not tracked by git"),
        ("announced", "one", "is only announced to git"),
        ("g", "g", "is not tracked by git"),
        ("f", "unstaged", "unstaged changes of its own where the batch changes it too"),
    ] {
        let ran = repo.run(&["apply", "--json", "--stage"], patches(&[(path, old, "x")]));
        assert_eq!(ran.code, 1, "{ran:?}");
        let error = ran.json()["errors"][0].clone();
        assert!(error["message"].as_str().unwrap().contains(words), "{ran:?}");
        assert!(!error["hint"].as_str().unwrap().contains("--whole-files"), "{ran:?}");
    }
    let ignored = r#"[{"path": "x.log", "operation": "create", "diff": "x\n"}]"#;
    assert_eq!(repo.run(&["apply", "--stage"], ignored).code, 1);
    assert_eq!((identity(repo.root()), repo.state()), (files, state));
    repo.git(&["add", "g", "untracked"]);
    stage(&repo, &patches(&[("untracked", "one", "two"), ("g", "g", "G")]));
    assert_eq!(repo.git(&["show", ":untracked"]), "two");
}

#[test]
fn a_moved_file_takes_what_is_not_staged_along() {
    let repo = dirty();
    stage(&repo, r#"[{"path": "f", "moveTo": "sub/h", "diff": "@@\n row 11\n-row 12\n+batch\n"}]"#);
    assert_eq!(repo.git(&["show", ":sub/h"]) + "\n", rows(&[(2, "staged"), (12, "batch")]));
    assert_eq!(repo.read("sub/h"), rows(&[(2, "staged"), (6, "unstaged"), (12, "batch")]));
    let status = repo.git(&["--no-optional-locks", "status", "--porcelain", "--no-renames"]);
    assert_eq!(status, "D  f\nAM sub/h");
}

#[test]
fn a_first_commit_is_not_needed() {
    let repo = TestRepo::unborn();
    repo.write("a", "one\n2\n3\n");
    repo.git(&["add", "a"]);
    repo.write("a", "one\n2\n3\nmine\n");
    stage(
        &repo,
        r#"[{"path": "a", "diff": "@@\n-one\n+1\n"}, {"path": "b", "operation": "create", "diff": "b\n"}]"#,
    );
    assert_eq!(
        (repo.git(&["show", ":a"]), repo.git(&["show", ":b"])),
        ("1\n2\n3".to_owned(), "b".to_owned())
    );
    assert_eq!(repo.git(&["status", "--porcelain"]), "AM a\nA  b");
}

#[test]
fn the_index_of_the_environment_is_the_one() {
    let repo = dirty();
    std::fs::create_dir(repo.path("sub")).unwrap();
    let own = std::fs::read(repo.path(".git/index")).unwrap();
    for name in ["../elsewhere", ".git/other"] {
        std::fs::copy(repo.path(".git/index"), repo.path(name)).unwrap();
        let batch = patches(&[("f", "row 10", "batch")]);
        let mut child = repo.program(&["apply", "--stage"]);
        // From a folder below: a relative name begins at the top of the work tree, as for git.
        child.current_dir(repo.path("sub")).env("GIT_INDEX_FILE", name);
        let batch = batch.replace(r#""f""#, r#""../f""#);
        let ran = crate::support::feed(&mut child, &batch);
        assert_eq!(ran.code, 0, "{ran:?}");
        let mut git = repo.command("git");
        git.env("GIT_INDEX_FILE", name).args(["diff", "--cached", "-U0"]);
        let staged = String::from_utf8(git.output().unwrap().stdout).unwrap();
        assert!(staged.ends_with("-row 10\n+batch\n"), "{name}: {staged}");
        assert_eq!(std::fs::read(repo.path(".git/index")).unwrap(), own, "{name}");
        assert_eq!(super::left(&repo), Vec::<String>::new(), "{name}");
        assert!(!repo.path(&format!("{name}.lock")).exists());
        repo.write("f", repo.read("f").replace("batch", "row 10"));
    }
}

#[test]
fn it_works_inside_a_hook() {
    let repo = TestRepo::new(&[("a", "a\n"), ("b", "b\n")]);
    let batch = repo.temp().join("batch.json");
    std::fs::write(&batch, patches(&[("a", "a", "A")])).unwrap();
    let program = env!("CARGO_BIN_EXE_patchmany");
    repo.hook("pre-commit", &format!("exec {program} apply --stage {} >../said", batch.display()));
    repo.write("b", "B\n");
    repo.git(&["commit", "-qam", "both"]);
    assert_eq!(repo.git(&["show", "--format=", "--name-only"]), "a\nb");
    assert_eq!(repo.git(&["--no-optional-locks", "status", "--porcelain"]), "");
}

#[test]
fn a_held_lock_is_waited_for() {
    let repo = dirty();
    repo.write(".git/index.lock", "");
    let (files, state) = (identity(repo.root()), repo.state());
    let begun = Instant::now();
    let ran = repo.run(&["apply", "--json", "--stage", "--lock-timeout", "1"], patches(&[("g", "g", "G")]));
    assert!(begun.elapsed() >= Duration::from_secs(1));
    assert_eq!(
        (ran.code, &ran.json()["outcome"], ran.codes()),
        (5, &"locked".into(), vec!["locked".to_owned()])
    );
    assert_eq!(
        (identity(repo.root()), repo.state(), repo.read(".git/index.lock")),
        (files, state, String::new())
    );
    let child = repo.start(&["apply", "--stage"], patches(&[("g", "g", "G")]));
    std::thread::sleep(Duration::from_millis(200));
    std::fs::remove_file(repo.path(".git/index.lock")).unwrap();
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(0));
    assert_eq!(repo.git(&["show", ":g"]), "G");
}

#[test]
fn an_operation_in_progress_forbids_it() {
    let repo = dirty();
    repo.write(".git/MERGE_HEAD", repo.git(&["rev-parse", "HEAD"]));
    let ran = repo.run(&["apply", "--stage"], patches(&[("g", "g", "G")]));
    assert!(ran.code == 1 && ran.err.contains("a merge is in progress"), "{ran:?}");
    assert_eq!(repo.run(&["apply", "--stage", "--commit"], "[]").code, 2);
}

#[test]
fn log_tells_of_it_and_undo_brings_the_files_back() {
    let repo = dirty();
    let before = repo.read("f");
    stage(&repo, &patches(&[("f", "row 10", "batch")]));
    assert!(repo.run(&["log"], "").out.contains("; staged"));
    let ran = repo.run(&["undo"], "");
    assert_eq!((ran.code, repo.read("f")), (0, before), "{ran:?}");
    assert!(ran.err.contains("what was staged stays in the index"), "{ran:?}");
}
