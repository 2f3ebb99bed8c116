//! Commits of batches whose files hold other changes: the batch is committed, and the user's changes stay where they
//! were, staged or not. What cannot be told apart is refused before anything is written.

use crate::support::{TestRepo, identity, options, patches, tree};
use patchmany::disk::Node;
use patchmany::edit::{Code, Hash, RelPath};
use patchmany::git::Recorder;
use patchmany::transaction::{Change, Staged};

/// Twenty rows, with some of them changed.
pub(super) fn rows(changed: &[(usize, &str)]) -> String {
    let row =
        |n: usize| changed.iter().find(|(at, _)| *at == n).map_or(format!("row {n}"), |c| c.1.to_owned());
    (1..=20).map(|n| row(n) + "\n").collect()
}

/// `f` with a staged change of row 2 and another, unstaged one of row 6.
pub(super) fn dirty() -> TestRepo {
    let repo = TestRepo::new(&[("f", &rows(&[])), ("g", "g\n")]);
    repo.write("f", rows(&[(2, "staged")]));
    repo.git(&["add", "f"]);
    repo.write("f", rows(&[(2, "staged"), (6, "unstaged")]));
    repo
}

/// What stands in HEAD, in the index and on disk.
pub(super) fn versions(repo: &TestRepo, path: &str) -> [String; 3] {
    let blob = |name: &str| repo.git(&["cat-file", "-p", &format!("{name}:{path}")]) + "\n";
    [blob("HEAD"), blob(""), repo.read(path)]
}

/// The batch `edits` is refused for `path` with these words, and nothing at all is written.
#[track_caller]
fn refused(repo: &TestRepo, arguments: &[&str], batch: &str, (path, words): (&str, &str)) {
    let (tree, state) = (identity(repo.root()), repo.state());
    let ran = repo.run(&[&["apply", "--json"], arguments].concat(), batch);
    let json = ran.json();
    assert_eq!(
        (ran.code, &json["outcome"], &json["tree"]),
        (1, &"refused".into(), &"untouched".into()),
        "{ran:?}"
    );
    let error = &json["errors"][0];
    assert_eq!((&error["path"], &error["code"]), (&path.into(), &"git".into()), "{ran:?}");
    assert!(error["message"].as_str().unwrap().contains(words), "{ran:?}");
    assert!(error["hint"].is_string(), "{ran:?}");
    assert_eq!((identity(repo.root()), repo.state()), (tree, state));
    assert_eq!(super::left(repo), Vec::<String>::new(), "nothing of ours stays");
}

#[test]
fn the_commit_holds_the_batch_and_the_rest_stays() {
    let repo = dirty();
    let ran =
        repo.run(&["apply", "--json", "--commit=one"], patches(&[("f", "row 10", "batch"), ("g", "g", "G")]));
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(
        versions(&repo, "f"),
        [
            rows(&[(10, "batch")]),
            rows(&[(2, "staged"), (10, "batch")]),
            rows(&[(2, "staged"), (6, "unstaged"), (10, "batch")])
        ]
    );
    assert_eq!(repo.git(&["--no-optional-locks", "status", "--porcelain"]), "MM f");
    assert_eq!(repo.git(&["show", "--format=%s", "--name-only"]), "one\n\nf\ng");
    repo.git(&["fsck", "--strict"]);
    repo.git(&["commit", "-qm", "the user's own"]);
    assert_eq!(repo.git(&["show", "--format=", "-U0"]).lines().last(), Some("+staged"));
}

#[test]
fn a_change_that_is_only_staged_or_only_unstaged_stays_so() {
    for staged in [true, false] {
        let repo = TestRepo::new(&[("f", &rows(&[]))]);
        repo.write("f", rows(&[(20, "mine")]));
        if staged {
            repo.git(&["add", "f"]);
        }
        assert_eq!(repo.run(&["apply", "--commit"], patches(&[("f", "row 1\n", "batch\n")])).code, 0);
        let both = rows(&[(1, "batch"), (20, "mine")]);
        let index = if staged { both.clone() } else { rows(&[(1, "batch")]) };
        assert_eq!(versions(&repo, "f"), [rows(&[(1, "batch")]), index, both]);
        let status = repo.git(&["--no-optional-locks", "status", "--porcelain"]);
        assert_eq!(status, if staged { "M  f" } else { " M f" });
        // A file that is as in the index is not looked at again.
        assert_eq!(repo.git(&["ls-files", "--debug", "f"]).contains("size: 0"), !staged);
    }
}

#[test]
fn an_overlap_is_refused_and_named() {
    let repo = dirty();
    for (old, words) in [
        ("unstaged", "unstaged changes of its own where the batch changes it too, or right beside: unstaged"),
        ("row 7\n", "unstaged changes of its own where the batch changes it too, or right beside: unstaged"),
        (
            "staged\nrow 3",
            "staged changes of its own where the batch changes it too, or right beside: staged",
        ),
    ] {
        let batch = patches(&[("g", "g", "G"), ("f", old, "x\n")]);
        refused(&repo, &["--commit"], &batch, ("f", words));
    }
    let deletion = r#"[{"path": "f", "operation": "delete"}]"#;
    refused(&repo, &["--commit"], deletion, ("f", "unstaged changes of its own, and the batch deletes it"));
}

#[test]
fn files_that_head_or_index_do_not_hold_are_refused() {
    let repo = TestRepo::new(&[("cached", "c\n"), ("gone", "g\n"), ("removed", "r\n")]);
    for path in ["added", "announced", "untracked"] {
        repo.write(path, "one\n");
    }
    repo.git(&["add", "added"]);
    repo.git(&["add", "-N", "announced"]);
    repo.git(&["rm", "-q", "--cached", "cached"]);
    repo.git(&["rm", "-q", "removed"]);
    std::fs::remove_file(repo.path("gone")).unwrap();
    for (path, old, words) in [
        ("added", "one", "is not committed yet"),
        ("announced", "one", "is not committed yet"),
        ("untracked", "one", "is not tracked by git"),
        ("cached", "c", "is staged for removal"),
    ] {
        refused(&repo, &["--commit"], &patches(&[(path, old, "x")]), (path, words));
    }
    for (path, words) in
        [("gone", "changes of its own, and the batch creates it"), ("removed", "is staged for removal")]
    {
        let batch = serde_json::json!([{"path": path, "operation": "create", "diff": "new\n"}]).to_string();
        refused(&repo, &["--commit"], &batch, (path, words));
    }
}

#[test]
fn a_binary_file_with_other_changes_is_refused() {
    let bytes = |first: &str, last: &str| format!("{first}\n\0\n{}{last}\n", rows(&[]));
    let repo = TestRepo::new(&[("f.bin", &bytes("a", "z"))]);
    repo.write("f.bin", bytes("mine", "z"));
    let twin = repo.twin();
    twin.git(&["add", "f.bin"]);
    twin.write("f.bin", bytes("mine", "batch"));
    let batch = twin.git(&["diff", "--binary"]) + "\n\n";
    refused(&repo, &["--commit"], &batch, ("f.bin", "is binary and has unstaged changes of its own"));
    // Another mode alone is no overlap.
    let batch = "diff --git a/f.bin b/f.bin\nold mode 100644\nnew mode 100755\n";
    assert_eq!(repo.run(&["apply", "--commit"], batch).code, 0);
    assert_eq!(repo.git(&["ls-tree", "HEAD", "f.bin"])[..6], *"100755");
    assert_eq!(repo.git(&["show", "HEAD:f.bin"]) + "\n", bytes("a", "z"));
    assert_eq!(repo.git(&["status", "--porcelain"]), " M f.bin");
}

#[test]
fn modes_go_with_whom_they_belong_to() {
    let repo = TestRepo::new(&[("f", &rows(&[])), ("g", &rows(&[]))]);
    repo.chmod("f", 0o755);
    repo.write("g", rows(&[(1, "mine")]));
    let batch = "--- a/f\n+++ b/f\n@@ -9,3 +9,3 @@\n row 9\n-row 10\n+batch\n row 11\n\
                 diff --git a/g b/g\nold mode 100644\nnew mode 100755\n";
    assert_eq!(repo.run(&["apply", "--commit"], batch).code, 0);
    let modes = repo.git(&["ls-tree", "--format=%(objectmode) %(path)", "HEAD"]);
    assert_eq!(modes, "100644 f\n100755 g", "the mode of f is the user's");
    assert_eq!(repo.git(&["diff", "--summary"]).trim(), "mode change 100644 => 100755 f");
    assert_eq!(versions(&repo, "g"), [rows(&[]), rows(&[]), rows(&[(1, "mine")])]);
}

#[test]
fn the_changes_of_a_moved_file_move_with_it() {
    for (text, hunks) in [(rows(&[]), ""), (rows(&[(12, "batch")]), "@@\n row 11\n-row 12\n+batch\n")] {
        let repo = dirty();
        let entry = serde_json::json!([{"path": "f", "moveTo": "sub/h", "diff": hunks}]).to_string();
        let ran = repo.run(&["apply", "--commit"], entry);
        assert_eq!(ran.code, 0, "{ran:?}");
        let of_batch = text;
        let with = |from: &str, to: &str, text: &str| text.replace(from, to);
        let index = with("row 2\n", "staged\n", &of_batch);
        let disk = with("row 6\n", "unstaged\n", &index);
        assert_eq!(versions(&repo, "sub/h"), [of_batch, index, disk]);
        assert_eq!(repo.git(&["show", "--format=", "--name-status", "--no-renames"]), "D\tf\nA\tsub/h");
        assert_eq!(repo.git(&["--no-optional-locks", "status", "--porcelain"]), "MM sub/h");
    }
}

#[test]
fn files_that_change_places_take_their_changes_along() {
    let repo = TestRepo::new(&[("a", &rows(&[])), ("b", "b\n")]);
    repo.write("a", rows(&[(3, "mine")]));
    let moved = |from, to| {
        format!("diff --git a/{from} b/{to}\nsimilarity index 100%\nrename from {from}\nrename to {to}\n")
    };
    let ran = repo.run(&["apply", "--commit"], moved("a", "b") + &moved("b", "a"));
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(versions(&repo, "b"), [rows(&[]), rows(&[]), rows(&[(3, "mine")])]);
    assert_eq!(versions(&repo, "a"), ["b\n", "b\n", "b\n"]);
    assert_eq!(repo.git(&["--no-optional-locks", "status", "--porcelain"]), " M b");
    repo.write("c", "c\n");
    repo.git(&["add", "c"]);
    repo.git(&["commit", "-qm", "c", "c"]);
    let onto = r#"[{"path": "c", "moveTo": "b"}]"#;
    refused(&repo, &["--commit", "--overwrite"], onto, ("b", "the batch moves another file to it"));
}

#[test]
fn a_copy_would_hold_the_changes_of_its_source() {
    let copied =
        |from| format!("diff --git a/{from} b/h\nsimilarity index 100%\ncopy from {from}\ncopy to h\n");
    let repo = dirty();
    repo.write("untracked", "u\n");
    for how in ["--commit", "--stage", "--stash"] {
        refused(&repo, &[how], &copied("f"), ("f", "has changes of its own, and the batch copies it"));
        refused(&repo, &[how], &copied("untracked"), ("untracked", "and the batch copies it"));
    }
    assert_eq!(repo.run(&["apply", "--commit"], copied("g")).code, 0);
    assert_eq!(repo.git(&["show", "HEAD:h"]), "g");
    let again = copied("f").replace("b/h", "b/i").replace("to h", "to i");
    assert_eq!(repo.run(&["apply", "--commit", "--whole-files"], again).code, 0);
    assert_eq!(repo.git(&["--no-optional-locks", "status", "--porcelain"]), "MM f\n?? untracked");
}

#[test]
fn filters_stand_between_disk_and_commit() {
    for (setting, attributes) in
        [("true", ""), ("input", "*.txt text eol=crlf\n"), ("false", "*.txt text eol=crlf ident\n")]
    {
        let repo = TestRepo::new(&[(".gitattributes", attributes)]);
        repo.git(&["config", "core.autocrlf", setting]);
        let crlf = |text: &str| text.replace('\n', "\r\n");
        repo.write("f.txt", crlf(&rows(&[(4, "$Id$")])));
        repo.git(&["add", "."]);
        repo.git(&["commit", "-qm", "f"]);
        std::fs::remove_file(repo.path("f.txt")).unwrap();
        repo.git(&["checkout", "f.txt"]);
        let checked_out = repo.read("f.txt");
        repo.write("f.txt", checked_out.replace("row 2\r", "staged\r"));
        repo.git(&["add", "f.txt"]);
        repo.write("f.txt", repo.read("f.txt").replace("row 7\r", "unstaged\r"));
        let ran = repo.run(&["apply", "--commit"], patches(&[("f.txt", "row 12", "batch")]));
        assert_eq!(ran.code, 0, "{ran:?}");
        let id = (4, "$Id$");
        let [head, index, disk] = versions(&repo, "f.txt");
        assert_eq!(head, rows(&[id, (12, "batch")]), "{setting}");
        assert_eq!(index, rows(&[id, (2, "staged"), (12, "batch")]), "{setting}");
        let expected = checked_out.replace("row 2\r", "staged\r").replace("row 7\r", "unstaged\r");
        assert_eq!(disk, expected.replace("row 12\r", "batch\r"), "{setting}");
        assert_eq!(repo.git(&["--no-optional-locks", "status", "--porcelain"]), "MM f.txt");
    }
}

#[test]
fn attributes_that_the_batch_changes_stand_in_the_way() {
    let repo = dirty();
    let batch = serde_json::json!([
        {"path": ".gitattributes", "operation": "create", "diff": "* text\n"},
        {"path": "f", "diff": "@@\n-row 12\n+batch\n"},
    ]);
    refused(&repo, &["--commit"], &batch.to_string(), ("f", "changes a .gitattributes above it"));
}

#[test]
fn a_hook_sees_the_batch_and_must_not_stage_the_rest() {
    let repo = dirty();
    repo.hook("pre-commit", "git diff --cached -U0 f | tail -n 1 > seen; git update-index -q --refresh; git diff-files --name-only >> seen");
    assert_eq!(repo.run(&["apply", "--commit"], patches(&[("f", "row 10", "batch")])).code, 0);
    assert_eq!(repo.read("seen"), "+batch\nf\n");
    std::fs::remove_file(repo.path("seen")).unwrap();

    repo.hook("pre-commit", "git add f");
    let before = (tree(repo.root()), repo.state());
    let batch = patches(&[("f", "row 14", "batch")]);
    let ran = repo.run(&["apply", "--json", "--commit"], &batch);
    assert_eq!((ran.code, &ran.json()["outcome"]), (3, &"rolled-back".into()), "{ran:?}");
    assert!(
        ran.json()["errors"][0]["message"].as_str().unwrap().contains("not part of the batch"),
        "{ran:?}"
    );
    assert_eq!((tree(repo.root()), repo.state()), before);
    let ran = repo.run(&["apply", "--commit", "--whole-files"], &batch);
    assert_eq!((ran.code, repo.git(&["status", "--porcelain"])), (0, String::new()), "{ran:?}");
}

#[test]
fn whole_files_are_committed_as_they_stand() {
    let repo = dirty();
    repo.write("new", "untracked\n");
    repo.write("announced", "announced\n");
    repo.git(&["add", "-N", "announced"]);
    repo.git(&["rm", "-q", "--cached", "g"]);
    let batch = patches(&[
        ("f", "row 10", "batch"),
        ("g", "g", "G"),
        ("new", "untracked", "tracked"),
        ("announced", "announced", "there"),
    ]);
    assert_eq!(repo.run(&["apply", "--commit", "--whole-files"], batch).code, 0);
    assert_eq!(repo.git(&["--no-optional-locks", "status", "--porcelain"]), "");
    assert_eq!(repo.git(&["show", "HEAD:f"]) + "\n", rows(&[(2, "staged"), (6, "unstaged"), (10, "batch")]));
    assert_eq!(repo.git(&["show", "--format=", "--name-only"]), "announced\nf\ng\nnew");
    let ran = repo.run(&["apply", "--json", "--whole-files"], "[]");
    assert_eq!((ran.code, &ran.codes()[..]), (2, &["usage".to_owned()][..]), "{ran:?}");
}

#[test]
fn undo_commits_its_own_part_too() {
    let moved = r#"[{"path": "f", "moveTo": "sub/h", "diff": "@@\n row 11\n-row 12\n+batch\n"}]"#;
    for batch in [patches(&[("f", "row 10", "batch")]), moved.to_owned()] {
        let repo = dirty();
        let before = (versions(&repo, "f"), repo.git(&["ls-files", "-s"]), tree(repo.root()));
        assert_eq!(repo.run(&["apply", "--commit"], batch).code, 0);
        let ran = repo.run(&["undo", "--commit"], "");
        assert_eq!(ran.code, 0, "{ran:?}");
        assert_eq!((versions(&repo, "f"), repo.git(&["ls-files", "-s"]), tree(repo.root())), before);
        assert_eq!(repo.git(&["rev-parse", "HEAD^{tree}"]), repo.git(&["rev-parse", "HEAD~2^{tree}"]));
    }
}

#[test]
fn a_local_change_that_git_shall_not_see_stays_out_of_sight() {
    let repo = TestRepo::new(&[("f", &rows(&[]))]);
    repo.git(&["update-index", "--assume-unchanged", "f"]);
    repo.write("f", rows(&[(2, "local")]));
    assert_eq!(repo.run(&["apply", "--commit"], patches(&[("f", "row 10", "batch")])).code, 0);
    assert_eq!(repo.git(&["--no-optional-locks", "status", "--porcelain"]), "");
    let batch = rows(&[(10, "batch")]);
    assert_eq!(versions(&repo, "f"), [batch.clone(), batch, rows(&[(2, "local"), (10, "batch")])]);
}

/// A batch over `f`, which somebody has changed since it was planned.
struct Changed;

impl Staged for Changed {
    fn changes(&self) -> Vec<Change> {
        let node = |text: &str| Node::File { hash: Hash::of(text.as_bytes()), mode: 0o644, size: 1 };
        vec![Change { path: RelPath::new("f").unwrap(), before: node("a"), after: node("b") }]
    }
    fn old_content(&self, _: &Change) -> std::io::Result<Vec<u8>> {
        Err(std::io::ErrorKind::InvalidData.into())
    }
    fn new_content(&self, _: &Change) -> std::io::Result<Vec<u8>> {
        Ok(b"b".to_vec())
    }
}

#[test]
fn a_file_that_changes_before_it_is_merged_is_told() {
    let repo = dirty();
    let mut recorder = Recorder::begin(&repo.open(), &RelPath::root(), options(None)).unwrap();
    assert_eq!(recorder.check(&[(RelPath::new("f").unwrap(), true)]).unwrap(), []);
    let error = recorder.weigh(&Changed, &[]).unwrap_err();
    assert_eq!((error.code(), error.to_string().starts_with("cannot read f")), (Code::ChangedDuring, true));
}
