//! Recording in git, seen from outside: git itself is the judge.

use crate::support::{TestRepo, identity, patches, tree};

fn repo() -> TestRepo {
    TestRepo::new(&[("a.txt", "one\n"), ("b.txt", "two\n"), ("mine.txt", "m\n"), ("staged.txt", "s\n")])
}

/// Changes of the user beside the batch: staged, unstaged, both, removed, untracked.
fn dirty(repo: &TestRepo) {
    repo.write("staged.txt", "s staged\n");
    repo.write("added.txt", "added\n");
    repo.git(&["add", "staged.txt", "added.txt"]);
    repo.write("added.txt", "added, then changed\n");
    repo.write("mine.txt", "m unstaged\n");
    repo.write("untracked.txt", "u\n");
}

fn batch() -> String {
    serde_json::json!([
        {"path": "a.txt", "diff": "@@\n-one\n+1\n"},
        {"path": "b.txt", "operation": "delete"},
        {"path": "new/n.txt", "operation": "create", "diff": "n\n"},
    ])
    .to_string()
}

fn seen(repo: &TestRepo) -> Vec<String> {
    [
        &["rev-parse", "HEAD^{tree}"][..],
        &["status", "--porcelain"],
        &["diff", "--cached"],
        &["diff"],
        &["ls-files", "-s"],
        &["fsck", "--strict", "--no-dangling"],
        &["log", "--format=%s%n%P"],
    ]
    .iter()
    .map(|arguments| repo.git(arguments))
    .collect()
}

#[test]
fn a_commit_is_what_git_commit_only_makes() {
    let repo = repo();
    dirty(&repo);
    let twin = repo.twin();
    let ran = repo.run(&["apply", "--json", "--commit=Batch"], batch());
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(ran.json()["git"]["commit"], repo.git(&["rev-parse", "HEAD"]));

    twin.write("a.txt", "1\n");
    std::fs::remove_file(twin.path("b.txt")).unwrap();
    twin.write("new/n.txt", "n\n");
    twin.git(&["add", "-N", "new/n.txt"]);
    twin.git(&["commit", "-q", "-m", "Batch", "--only", "--", "a.txt", "b.txt", "new/n.txt"]);
    assert_eq!(seen(&repo), seen(&twin));
    assert_eq!(tree(repo.root()), tree(twin.root()));
}

#[test]
fn the_next_commit_does_not_revert_the_batch() {
    let repo = repo();
    dirty(&repo);
    assert_eq!(repo.run(&["apply", "--commit"], batch()).code, 0);
    repo.git(&["commit", "-q", "-m", "The user's own"]);
    let names = repo.git(&["show", "--format=", "--name-status", "HEAD"]);
    assert_eq!(names, "A\tadded.txt\nM\tstaged.txt");
    assert_eq!(repo.git(&["show", "HEAD:a.txt"]), "1");
    assert_eq!(repo.git(&["show", "HEAD:new/n.txt"]), "n");
    assert_eq!(repo.git(&["log", "--format=%s", "-1", "HEAD~"]), "patchmany: 3 files (a.txt, …)");
}

#[test]
fn a_stash_leaves_the_tree_and_pops_to_the_batch() {
    let repo = repo();
    let before = identity(repo.root());
    let index = std::fs::read(repo.path(".git/index")).unwrap();
    let ran = repo.run(&["apply", "--json", "--stash=Later"], batch());
    let json = ran.json();
    assert_eq!(
        (ran.code, &json["tree"], &json["applied"]),
        (0, &"untouched".into(), &true.into()),
        "{ran:?}"
    );
    assert_eq!((identity(repo.root()), std::fs::read(repo.path(".git/index")).unwrap()), (before, index));
    assert!(repo.git(&["stash", "list"]).ends_with("Later"));
    repo.git(&["fsck", "--strict"]);
    repo.git(&["stash", "pop", "-q"]);
    let status = repo.git(&["status", "--porcelain"]);
    assert_eq!(status.lines().map(|line| &line[3..]).collect::<Vec<_>>(), ["a.txt", "b.txt", "new/n.txt"]);
    assert_eq!((&*repo.read("a.txt"), &*repo.read("new/n.txt")), ("1\n", "n\n"));
    assert!(!repo.path("b.txt").exists());
}

#[test]
fn a_dirty_batch_file_is_not_committed() {
    let repo = repo();
    repo.write("a.txt", "one\nand mine\n");
    let (tree, state) = (identity(repo.root()), repo.state());
    let ran = repo.run(&["apply", "--json", "--commit"], patches(&[("a.txt", "one", "1")]));
    assert_eq!((ran.code, &ran.json()["outcome"]), (1, &"refused".into()), "{ran:?}");
    assert_eq!(ran.json()["errors"][0]["path"], "a.txt");
    assert_eq!((identity(repo.root()), repo.state()), (tree, state));
    assert_eq!(repo.run(&["apply"], patches(&[("a.txt", "one", "1")])).code, 0);
    assert_eq!(repo.read("a.txt"), "1\nand mine\n");
}

/// Every file below `.git` that a failed commit must leave alone, byte for byte.
fn git_files(repo: &TestRepo) -> Vec<(String, String)> {
    let all = tree(&repo.path(".git"));
    let ours = |path: &str| path.starts_with("patchmany") || path.starts_with("objects");
    all.into_iter().filter(|(path, _)| !ours(path)).collect()
}

#[test]
fn a_failing_hook_rolls_everything_back() {
    let repo = repo();
    dirty(&repo);
    repo.hook("pre-commit", "echo 'no commits on Mondays' >&2; exit 1");
    let (before, git, state) = (tree(repo.root()), git_files(&repo), repo.state());
    let ran = repo.run(&["apply", "--json", "--commit"], batch());
    assert_eq!((ran.code, &ran.json()["outcome"]), (3, &"rolled-back".into()), "{ran:?}");
    assert!(ran.out.contains("no commits on Mondays"), "{ran:?}");
    assert_eq!(git_files(&repo), git);
    assert_eq!((tree(repo.root()), repo.state()), (before.clone(), state));
    let ran = repo.run(&["apply", "--commit"], batch());
    assert!(ran.first_line().starts_with("rolled back: every file is as before"), "{ran:?}");
    assert_eq!(tree(repo.root()), before);
    assert_eq!(repo.run(&["apply", "--commit", "--no-hooks"], batch()).code, 0);
}

#[test]
fn recording_twice_is_a_usage_error() {
    let repo = repo();
    let ran = repo.run(&["apply", "--json", "--commit", "--stash"], batch());
    assert_eq!((ran.code, &ran.codes()[..]), (2, &["usage".to_owned()][..]), "{ran:?}");
}
