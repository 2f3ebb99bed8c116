//! Plans in files: what they hold, what git makes of their diffs, when they are refused, and how they are narrowed.

use crate::support::{Ran, TestRepo, patches, tree};
use serde_json::{Value, json};
use std::os::unix::fs::symlink;
use std::process::{Command, Stdio};

const PLAN: &str = "../plan.json";

/// Makes a plan of `batch`, which must leave the tree alone.
#[track_caller]
fn plan(repo: &TestRepo, arguments: &[&str], batch: impl AsRef<[u8]>) -> Value {
    let state = || (tree(repo.root()), repo.path(".git/patchmany").exists());
    let before = state();
    let ran = repo.run(&[&["plan", "--json", "-o", PLAN], arguments].concat(), batch);
    let result = ran.json();
    assert_eq!(
        (ran.code, &result["outcome"], &result["mode"]),
        (0, &"would-apply".into(), &"plan".into()),
        "{ran:?}"
    );
    assert_eq!(state(), before);
    serde_json::from_slice(&std::fs::read(repo.path(PLAN)).unwrap()).unwrap()
}

fn apply(repo: &TestRepo, arguments: &[&str]) -> Ran {
    repo.run(&[&["apply", "--json", "--allow-symlinks", PLAN], arguments].concat(), "")
}

/// The codes, entries and paths of a refusal that touched nothing.
#[track_caller]
fn refused(repo: &TestRepo, arguments: &[&str]) -> Vec<(String, Value, Value)> {
    let before = tree(repo.root());
    let ran = apply(repo, arguments);
    let json = ran.json();
    assert_eq!((ran.code, &json["tree"]), (1, &"untouched".into()), "{ran:?}");
    assert_eq!(tree(repo.root()), before);
    let errors = json["errors"].as_array().unwrap().clone();
    errors
        .into_iter()
        .map(|e| (e["code"].as_str().unwrap().to_owned(), e["entry"].clone(), e["path"].clone()))
        .collect()
}

/// A tree in which a batch can do everything that git knows, and what is hard to carry in a text.
fn prepare() -> TestRepo {
    let repo = TestRepo::unborn();
    for (path, text) in [
        ("crlf.txt", &b"one\r\ntwo\r\nthree"[..]),
        ("run.sh", b"echo one\n"),
        ("raw", b"one \xff\ntwo\n"),
        ("bin", b"\0\x01\x02one"),
        ("gone", b"goes\n"),
        ("a b.txt", b"blank\n"),
        ("left", b"the left one\n"),
        ("right", b"the right one\n"),
        ("d/x", b"goes with its folder\n"),
        ("f", b"becomes a folder\n"),
        ("empty", b""),
    ] {
        repo.write(path, text);
    }
    repo.chmod("run.sh", 0o755);
    symlink("f", repo.path("link")).unwrap();
    repo.commit_all(&[]);
    repo
}

/// The changed tree of a batch as git would write it.
fn diff_of_everything(repo: &TestRepo) -> Vec<u8> {
    let copy = repo.twin();
    for (path, bytes) in [
        ("crlf.txt", &b"one\r\nTWO\r\nthree\r\nfour"[..]),
        ("raw", b"one \xff\nTWO\n"),
        ("bin", b"\0\x01\x02two\xfe"),
        ("new/deep.txt", b"new"),
        ("nothing", b""),
        ("empty", b"no more"),
        ("a b.txt", b"blank\nand more\n"),
    ] {
        copy.write(path, bytes);
    }
    copy.chmod("run.sh", 0o644);
    copy.chmod("crlf.txt", 0o755);
    for gone in ["gone", "d/x", "f", "link"] {
        std::fs::remove_file(copy.path(gone)).unwrap();
    }
    std::fs::remove_dir(copy.path("d")).unwrap();
    copy.write("d", "a file now\n");
    copy.write("f/inner", "in the new folder\n");
    symlink("run.sh", copy.path("link")).unwrap();
    std::fs::rename(copy.path("left"), copy.path("moved")).unwrap();
    copy.write("moved", "the left one\nmoved\n");
    copy.git(&["add", "-A"]);
    copy.command("git").args(["diff", "--cached", "--binary", "-M20%"]).output().unwrap().stdout
}

/// What `git apply` makes of the diff of the plan.
fn by_git(repo: &TestRepo, plan: &Value) -> TestRepo {
    let other = repo.twin();
    let diff = match &plan["diff"] {
        Value::String(text) => text.clone().into_bytes(),
        raw => {
            use base64::Engine;
            base64::engine::general_purpose::STANDARD.decode(raw["base64"].as_str().unwrap()).unwrap()
        }
    };
    std::fs::write(other.temp().join("diff"), diff).unwrap();
    other.git(&["apply", "--whitespace=nowarn", "../diff"]);
    other
}

#[test]
fn a_plan_and_git_with_its_diff_make_the_same() {
    let repo = prepare();
    // A diff with bytes that are not UTF-8 is no batch: that file is edited in another form.
    let diff = diff_of_everything(&repo);
    let cut: Vec<u8> = diff
        .split_inclusive(|b| *b == b'\n')
        .scan(false, |raw, line| {
            if line.starts_with(b"diff --git ") {
                *raw = line.ends_with(b"b/raw\n");
            }
            Some((*raw, line))
        })
        .filter(|(raw, _)| !raw)
        .flat_map(|(_, line)| line.to_owned())
        .collect();
    let swap = json!([
        {"path": "left", "moveTo": "right"},
        {"path": "right", "moveTo": "left"},
        {"path": "raw", "diff": "@@\n-two\n+TWO\n"},
    ]);
    for batch in [cut, swap.to_string().into_bytes()] {
        let plan = plan(&repo, &["--allow-symlinks"], &batch);
        let (git, direct, later) = (by_git(&repo, &plan), repo.twin(), repo.twin());
        std::fs::copy(repo.path(PLAN), later.path(PLAN)).unwrap();
        let ran = direct.run(&["apply", "--json", "--allow-symlinks"], &batch);
        assert_eq!(ran.code, 0, "{ran:?}");
        let ran = apply(&later, &[]);
        assert_eq!((ran.code, &ran.json()["format"]), (0, &"plan".into()), "{ran:?}");
        assert_eq!(tree(later.root()), tree(direct.root()));
        assert_eq!(tree(later.root()), tree(git.root()));
        // The same files are told, and the whole can be undone.
        let names = |ran: &Ran| -> Vec<Value> {
            let mut all: Vec<Value> = ran.json()["files"]
                .as_array()
                .unwrap()
                .iter()
                .map(|f| json!([f["path"], f["from"], f["action"]]))
                .collect();
            all.sort_by_key(ToString::to_string);
            all
        };
        assert_eq!(names(&ran), names(&repo.run(&["check", "--json", "--allow-symlinks"], &batch)));
        assert_eq!(later.run(&["undo", "--json"], "").code, 0);
        assert_eq!(tree(later.root()), tree(repo.root()));
    }
}

#[test]
fn every_path_that_moved_on_is_named() {
    let repo = TestRepo::new(&[
        ("a", "1\n"),
        ("b", "2\n"),
        ("c", "3\n"),
        ("d/e", "4\n"),
        ("gone", "5\n"),
        ("stays", "6\n"),
    ]);
    let mut batch: Vec<Value> = ["a", "b", "c", "d/e", "stays"]
        .iter()
        .zip(["1", "2", "3", "4", "6"])
        .map(|(path, old)| json!({"path": path, "old_string": old, "new_string": "new"}))
        .collect();
    batch.push(json!({"path": "n", "content": "mine\n"}));
    batch.push(json!({"path": "gone", "operation": "delete"}));
    plan(&repo, &[], Value::from(batch).to_string());
    repo.write("n", "theirs\n");
    repo.write("b", "2\nmore\n");
    repo.chmod("c", 0o755);
    std::fs::rename(repo.path("d"), repo.path("real")).unwrap();
    symlink("real", repo.path("d")).unwrap();
    std::fs::remove_file(repo.path("gone")).unwrap();
    let changed = |entry: u64, path: &str| ("changed-during".to_owned(), json!(entry), json!(path));
    assert_eq!(
        refused(&repo, &[]),
        [
            changed(2, "b"),
            changed(3, "c"),
            changed(4, "d/e"),
            changed(6, "n"),
            ("already-applied".into(), json!(7), json!("gone"))
        ]
    );
    assert_eq!(refused(&repo, &["--only", "b"]), [changed(2, "b")]);
    // What did not move can be applied alone.
    assert_eq!(apply(&repo, &["--only", "a", "--only", "st*"]).code, 0);
    assert_eq!(
        (repo.read("a"), repo.read("stays"), repo.read("b")),
        ("new\n".into(), "new\n".into(), "2\nmore\n".into())
    );
}

#[test]
fn a_plan_is_applied_once() {
    let repo = TestRepo::new(&[("a", "1\n"), ("b", "2\n")]);
    plan(&repo, &[], patches(&[("a", "1", "one"), ("b", "2", "two")]));
    assert_eq!(apply(&repo, &["--commit"]).json()["git"]["record"], "commit");
    let done = |entry: u64, path: &str| ("already-applied".to_owned(), json!(entry), json!(path));
    assert_eq!(refused(&repo, &[]), [done(1, "a"), done(2, "b")]);
    assert_eq!(apply(&repo, &["--skip-applied"]).json()["outcome"], "no-op");
    repo.write("a", "1\n");
    assert_eq!(apply(&repo, &["--skip-applied"]).json()["outcome"], "applied");
    assert_eq!(repo.read("a"), "one\n");
}

#[test]
fn a_plan_gives_no_permissions() {
    let repo = TestRepo::new(&[("a", "1\n"), ("target", "")]);
    repo.chmod("a", 0o444);
    symlink("target", repo.path("link")).unwrap();
    let batch = "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-1\n+one\ndiff --git a/link b/link\ndeleted file mode 120000\n--- a/link\n+++ /dev/null\n@@ -1 +0,0 @@\n-target\n\\ No newline at end of file\n";
    plan(&repo, &["--force-read-only", "--allow-symlinks"], batch);
    assert_eq!(refused(&repo, &[])[0].0, "read-only");
    let ran = repo.run(&["apply", "--json", "--force-read-only", PLAN], "");
    assert_eq!(ran.codes(), ["not-regular"]);
    assert_eq!(apply(&repo, &["--force-read-only"]).code, 0);
}

#[test]
fn a_plan_for_another_place_is_refused() {
    let repo = TestRepo::new(&[("d/a", "1\n"), ("b", "1\n")]);
    plan(&repo, &[], patches(&[("b", "1", "one")]));
    assert_eq!(refused(&repo, &["-C", "d"])[0].0, "outside-root");
    assert_eq!(repo.read("b"), "1\n");
    // Below a sub-folder the names are still those of the root.
    plan(&repo, &["-C", "d"], patches(&[("a", "1", "one")]));
    let mut program = repo.program(&["apply", "--json", "../../plan.json"]);
    let ran = Ran::of(&program.current_dir(repo.path("d")).stdin(Stdio::null()).output().unwrap());
    assert_eq!((ran.code, repo.read("d/a")), (0, "one\n".to_owned()), "{ran:?}");
}

#[test]
fn an_edited_or_broken_plan_is_refused() {
    let repo = TestRepo::new(&[("a", "1\n")]);
    plan(&repo, &[], patches(&[("a", "1", "one")]));
    let text = std::fs::read_to_string(repo.path(PLAN)).unwrap();
    for (what, changed) in [
        ("text", text.replace("one", "two")),
        ("path", text.replace("\"a\"", "\"b\"")),
        ("version", text.replace("\"patchmany_plan\": 1", "\"patchmany_plan\": 9")),
        ("half", text[..text.len() / 2].to_owned()),
    ] {
        std::fs::write(repo.path(PLAN), changed).unwrap();
        let ran = apply(&repo, &[]);
        assert_eq!((ran.code, ran.codes()), (2, vec!["parse".to_owned()]), "{what}: {ran:?}");
    }
    let compact: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(repo.run(&["apply", "--json"], compact.to_string()).code, 0, "only spaces differ");
}

#[test]
fn a_plan_that_cannot_be_made_leaves_the_file() {
    let repo = TestRepo::new(&[("a", "1\n")]);
    std::fs::write(repo.path(PLAN), "old").unwrap();
    let ran = repo.run(&["plan", "--json", "-o", PLAN], patches(&[("a", "x", "y")]));
    assert_eq!((ran.code, ran.codes()), (1, vec!["no-match".to_owned()]));
    assert_eq!(std::fs::read(repo.path(PLAN)).unwrap(), b"old");
    let ran = repo.run(&["plan", "--json", "-o", "none/plan.json"], patches(&[("a", "1", "y")]));
    assert_eq!((ran.code, ran.codes()), (1, vec!["io".to_owned()]), "{ran:?}");
    // Printed, it is a batch for a pipe.
    let printed = repo.run(&["plan", "-o", "-"], patches(&[("a", "1", "y")]));
    assert_eq!(repo.run(&["apply", "--json"], printed.out).code, 0);
    assert_eq!(repo.read("a"), "y\n");
}

fn many() -> (TestRepo, String) {
    let lines: String = (1..=9).map(|n| format!("line {n}\n")).collect();
    let repo = TestRepo::new(&[("src/a", &lines), ("src/b", "b\n"), ("doc/c", "c\n"), ("m", "m\n")]);
    let edit =
        |path: &str, old: &str, new: &str| json!({"path": path, "diff": format!("@@\n-{old}\n+{new}\n")});
    let batch = json!([
        {"path": "src/a", "diff": "@@\n-line 1\n+one\n@@\n-line 5\n+five\n@@\n-line 9\n+nine\n"},
        edit("src/b", "b", "B"),
        edit("doc/c", "c", "C"),
        {"path": "m", "moveTo": "lib/m"},
        edit("src/b", "B", "BB"),
    ]);
    (repo, batch.to_string())
}

/// Applies a part of the batch of [`many`]; what changed, in git's words.
#[track_caller]
fn part(arguments: &[&str], select: &str) -> String {
    let (repo, batch) = many();
    std::fs::write(repo.temp().join("select"), select).unwrap();
    let mut all = [&["apply", "--json"], arguments].concat();
    if !select.is_empty() {
        all.extend(["--select", "../select"]);
    }
    let ran = repo.run(&all, &batch);
    if ran.code != 0 {
        assert_eq!(repo.git(&["status", "--porcelain"]), "", "{ran:?}");
        let json = ran.json();
        let error = &json["errors"][0];
        return format!("{} {} {}", ran.code, error["entry"], error["message"].as_str().unwrap());
    }
    repo.git(&["add", "-A"]);
    let diff = repo.git(&["diff", "--cached", "-U0", "--no-renames"]);
    let rows = diff.lines().filter(|line| {
        line.starts_with(['+', '-']) && !line.starts_with("---") && !line.starts_with("+++ /")
    });
    rows.map(|row| row.replace("+++ b/", "=")).collect::<Vec<_>>().join(" ")
}

#[test]
fn patterns_and_numbers_choose() {
    assert_eq!(
        part(&["--only", "src/*"], ""),
        "=src/a -line 1 +one -line 5 +five -line 9 +nine =src/b -b +BB"
    );
    assert_eq!(part(&["--only", "doc"], ""), "=doc/c -c +C");
    assert_eq!(part(&["--only", "doc/", "--only", "**/b"], ""), "=doc/c -c +C =src/b -b +BB");
    assert_eq!(part(&[], "2-3"), "=doc/c -c +C =src/b -b +B");
    assert_eq!(part(&[], "1.1, 1.3"), "=src/a -line 1 +one -line 9 +nine");
    assert_eq!(part(&[], "[{\"entry\": 1, \"hunk\": 2}, 3]"), "=doc/c -c +C =src/a -line 5 +five");
    assert_eq!(part(&["--only", "src"], "1.2 2 3"), "=src/a -line 5 +five =src/b -b +B");
    assert_eq!(part(&["--only", "m", "--only", "lib"], ""), "=lib/m +m -m");
}

#[test]
fn halves_and_what_is_not_there_are_refused() {
    assert_eq!(
        part(&["--only", "m"], ""),
        "2 4 --only chooses one of m and lib/m alone, which move together"
    );
    assert_eq!(part(&["--only", "zzz*"], ""), "2 null --only zzz* chooses nothing of the batch");
    assert_eq!(part(&["--only", "doc"], "1"), "2 null --only doc chooses nothing of the batch");
    assert_eq!(part(&[], "9"), "2 null --select names entry 9, and there are 5 entries");
    assert_eq!(part(&[], "1.7"), "2 null --select names hunk 7 of entry 1, which has none such");
    assert_eq!(part(&[], "# none\n"), "2 null --select chooses nothing");
    assert!(part(&[], "a").starts_with("2 null \"a\" in line 1 of the choice"));
    assert!(part(&["--only", "../x"], "").starts_with("2 null "));
    let late = part(&[], "5");
    assert!(
        late.starts_with("1 5 ") && late.ends_with("; entry 2, which is not chosen, is about the same path"),
        "{late}"
    );
}

#[test]
fn what_is_not_chosen_need_not_fit() {
    let repo = TestRepo::new(&[("a", "1\n")]);
    let batch = json!([
        {"path": "a", "old_string": "1", "new_string": "one"},
        {"path": "b", "old_string": "absent", "new_string": "x"},
        {"path": "../out", "content": "x"},
        {"path": ".git/config", "content": "x"},
    ]);
    assert_eq!(repo.run(&["check", "--json"], batch.to_string()).codes().len(), 3);
    let ran = repo.run(&["apply", "--json", "--only", "a"], batch.to_string());
    assert_eq!((ran.code, repo.read("a")), (0, "one\n".to_owned()), "{ran:?}");
}

#[test]
fn a_plan_is_narrowed_by_a_plan() {
    let (repo, batch) = many();
    let whole = plan(&repo, &[], &batch);
    let paths = |plan: &Value| -> Vec<Value> {
        plan["changes"].as_array().unwrap().iter().map(|c| c["path"].clone()).collect()
    };
    assert_eq!(paths(&whole), ["src/a", "src/b", "doc/c", "lib/m", "m"]);
    std::fs::write(repo.temp().join("select"), "1.2 4").unwrap();
    let text = std::fs::read(repo.path(PLAN)).unwrap();
    let narrow = plan(&repo, &["--select", "../select"], &text);
    // The old place goes with the move.
    assert_eq!(paths(&narrow), ["src/a", "lib/m", "m"]);
    let git = by_git(&repo, &narrow);
    assert_eq!(apply(&repo, &[]).code, 0);
    assert_eq!(tree(repo.root()), tree(git.root()));
    assert!(
        repo.read("src/a").contains("line 1\n")
            && repo.read("src/a").contains("five\n")
            && !repo.path("m").exists()
    );
}

#[test]
fn half_a_move_of_a_plan_is_refused() {
    let (repo, batch) = many();
    plan(&repo, &[], &batch);
    let usage = |arguments: &[&str]| {
        let ran = apply(&repo, arguments);
        (ran.code, ran.json()["errors"][0]["message"].as_str().unwrap().to_owned())
    };
    let half = "--only chooses one of lib/m and m alone, which move together";
    assert_eq!(usage(&["--only", "m"]), (2, half.to_owned()));
    std::fs::write(repo.temp().join("select"), "5").unwrap();
    assert_eq!(
        usage(&["--select", "../select"]),
        (2, "the move needs entry 4 too, which is not chosen".to_owned())
    );
    assert_eq!(repo.git(&["status", "--porcelain"]), "");
}

#[test]
fn git_apply_refuses_and_takes_the_same() {
    // The diff of a plan, piped to git as people do.
    let repo = TestRepo::new(&[("a", "1\n")]);
    let diff = plan(&repo, &[], patches(&[("a", "1", "one")]))["diff"].as_str().unwrap().to_owned();
    let git = |repo: &TestRepo| {
        let mut git: Command = repo.command("git");
        let mut child = git.arg("apply").stdin(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        std::io::Write::write_all(&mut child.stdin.take().unwrap(), diff.as_bytes()).unwrap();
        child.wait().unwrap().success()
    };
    let other = repo.twin();
    assert!(git(&other));
    assert_eq!(other.read("a"), "one\n");
    repo.write("a", "2\n");
    assert!(!git(&repo));
    assert_eq!(refused(&repo, &[])[0].0, "changed-during");
}
