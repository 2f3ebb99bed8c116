//! What people see: colours, summaries, diffs, closed pipes, exit codes that tell of change.

use crate::support::{Ran, TestRepo, patches, tree};
use std::io::Read;

fn repo() -> TestRepo {
    TestRepo::new(&[("a.txt", "one\n"), ("b.txt", "two\n")])
}

fn good() -> String {
    patches(&[("a.txt", "one", "1"), ("b.txt", "two", "2")])
}

#[test]
fn a_check_prints_the_diff() {
    let expected = "diff --git a/a.txt b/a.txt\n--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+1\n\
                    diff --git a/b.txt b/b.txt\n--- a/b.txt\n+++ b/b.txt\n@@ -1 +1 @@\n-two\n+2\n";
    let ran = repo().run(&["check"], good());
    assert_eq!((ran.code, &*ran.out, &*ran.err), (0, expected, ""));
}

#[test]
fn an_apply_prints_a_summary() {
    let repo = repo();
    let ran = repo.run(&["apply"], good());
    let expected = " a.txt | +1 -1\n b.txt | +1 -1\n2 files changed, 2 insertions(+), 2 deletions(-)\n";
    assert_eq!((ran.code, &*ran.out, &*ran.err), (0, expected, ""));
    let again = repo.run(&["apply"], patches(&[("a.txt", "1", "1")]));
    assert_eq!((again.code, again.out.starts_with("nothing to do")), (0, true), "{again:?}");
    let quiet = repo.run(&["apply", "-q"], patches(&[("a.txt", "1", "one")]));
    assert_eq!((quiet.code, &*quiet.out, &*quiet.err), (0, "", ""));
    let one = repo.run(&["apply"], patches(&[("a.txt", "one", "1\nI")]));
    assert!(one.out.ends_with("1 file changed, 2 insertions(+), 1 deletion(-)\n"), "{one:?}");
}

#[test]
fn exit_code_tells_of_change() {
    let repo = repo();
    assert_eq!(repo.run(&["check", "--exit-code"], good()).code, 1);
    assert_eq!(repo.run(&["apply", "--exit-code"], good()).code, 1);
    assert_eq!((&*repo.read("a.txt"), &*repo.read("b.txt")), ("1\n", "2\n"));
    assert_eq!(repo.run(&["apply", "--exit-code"], patches(&[("a.txt", "1", "1")])).code, 0);
    assert_eq!(repo.run(&["apply", "--exit-code"], "[").code, 2);
}

#[test]
fn a_diff_of_check_does_what_apply_does() {
    let files =
        [("a.txt", "one\ntwo\n"), ("b c.txt", "x"), ("old.sh", "#!/bin/sh\n"), ("gone\u{e9}.txt", "g\n")];
    let repo = TestRepo::new(&files);
    repo.chmod("old.sh", 0o755);
    repo.commit_all(&[]);
    let twin = repo.twin();
    let batch = serde_json::json!([
        {"path": "a.txt", "diff": "@@\n-one\n+1\n"},
        {"path": "b c.txt", "diff": "@@\n-x\n+y\n"},
        {"path": "old.sh", "moveTo": "bin/new.sh"},
        {"path": "gone\u{e9}.txt", "operation": "delete"},
        {"path": "new/n.txt", "operation": "create", "diff": "n\nm"},
        {"path": "new/empty", "operation": "create", "diff": ""},
    ]);
    let diff = repo.run(&["check"], batch.to_string());
    std::fs::write(twin.temp().join("batch.diff"), &diff.out).unwrap();
    twin.git(&["apply", "../batch.diff"]);
    assert_eq!(repo.run(&["apply"], batch.to_string()).code, 0);
    assert_eq!(tree(repo.root()), tree(twin.root()), "{diff:?}");
}

#[test]
fn a_diff_that_deletes_a_link_does_what_apply_does() {
    let repo = TestRepo::new(&[("a.txt", "a\n")]);
    std::os::unix::fs::symlink("a.txt", repo.path("l")).unwrap();
    repo.commit_all(&[]);
    let twin = repo.twin();
    let batch = r#"[{"path": "l", "operation": "delete"}]"#;
    let diff = repo.run(&["check", "--allow-symlinks"], batch);
    std::fs::write(twin.temp().join("batch.diff"), &diff.out).unwrap();
    twin.git(&["apply", "../batch.diff"]);
    let ran = repo.run(&["apply", "--allow-symlinks"], batch);
    assert!(ran.code == 0 && ran.out.contains(" l | +0 -1 (gone)\n"), "{ran:?}");
    assert_eq!((tree(repo.root()), repo.read("a.txt")), (tree(twin.root()), "a\n".to_owned()), "{diff:?}");
}

#[test]
fn a_diff_of_a_swap_does_what_apply_does() {
    let repo = TestRepo::new(&[("a.txt", "a\n"), ("b.txt", "b\n")]);
    let twin = repo.twin();
    let batch = serde_json::json!([
        {"path": "a.txt", "moveTo": "t"}, {"path": "b.txt", "moveTo": "a.txt"}, {"path": "t", "moveTo": "b.txt"},
    ]);
    let diff = repo.run(&["check"], batch.to_string());
    std::fs::write(twin.temp().join("batch.diff"), &diff.out).unwrap();
    twin.git(&["apply", "../batch.diff"]);
    assert_eq!(repo.run(&["apply"], batch.to_string()).code, 0);
    assert_eq!(tree(repo.root()), tree(twin.root()), "{diff:?}");
}

/// Whether `check` paints its diff under these variables and arguments.
#[track_caller]
fn paints(variables: &[(&str, &str)], arguments: &[&str], expected: bool) {
    let repo = repo();
    std::fs::write(repo.temp().join("batch.json"), good()).unwrap();
    let mut command = repo.program(&[&["check", "../batch.json"], arguments].concat());
    let ran = Ran::of(&command.envs(variables.iter().copied()).output().unwrap());
    assert_eq!(ran.out.contains('\u{1b}'), expected, "{variables:?} {arguments:?}: {ran:?}");
}

#[test]
fn colours_are_for_those_who_want_them() {
    paints(&[], &[], false);
    paints(&[], &["--color", "always"], true);
    paints(&[("CLICOLOR_FORCE", "1")], &[], true);
    paints(&[("CLICOLOR_FORCE", "1")], &["--color", "never"], false);
    paints(&[("NO_COLOR", "1")], &[], false);
    paints(&[("NO_COLOR", "1"), ("CLICOLOR_FORCE", "0")], &[], false);
    paints(&[("CLICOLOR_FORCE", "1")], &["--json"], false);
}

#[test]
fn a_closed_pipe_ends_the_output_quietly() {
    let long = "line\n".repeat(200_000);
    let repo = TestRepo::new(&[("long.txt", &*long)]);
    let batch = serde_json::json!([{"path": "long.txt", "operation": "delete"}]).to_string();
    for (arguments, code) in [(&["check"][..], 0), (&["check", "--json"], 0), (&["apply"], 0)] {
        let mut child = repo.start(arguments, &batch);
        drop(child.stdout.take());
        let mut said = String::new();
        child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        let status = child.wait().unwrap();
        assert_eq!((status.code(), &*said), (Some(code), ""), "{arguments:?}: {status:?}");
    }
    assert!(!repo.path("long.txt").exists());
}

/// The last line for people says what to run, and the last hint of the JSON object says the same.
#[track_caller]
fn ends_with(prepare: fn(&TestRepo), arguments: &[&str], batch: &str, expected: &str) {
    let (repo, twin) = (repo(), repo());
    prepare(&repo);
    prepare(&twin);
    let ran = repo.run(arguments, batch);
    let json = twin.run(&[arguments, &["--json"]].concat(), batch).json();
    let last = ran.err.lines().last().unwrap();
    assert!(last.contains(expected) && (last.starts_with("next: ") || last.starts_with("run: ")), "{ran:?}");
    let hint = json["errors"].as_array().unwrap().last().unwrap()["hint"].as_str().unwrap();
    assert!(last == format!("next: {hint}") || last == hint, "{last:?} {hint:?}");
}

#[test]
fn every_failure_ends_with_what_to_run() {
    let nothing = |_: &TestRepo| {};
    let absent = patches(&[("b.txt", "two", "2"), ("a.txt", "none", "1")]);
    ends_with(nothing, &["apply"], &absent, "; then run patchmany check");
    ends_with(
        nothing,
        &["check"],
        &patches(&[("n", "one", "1")]),
        "next: correct the batch, then run patchmany check",
    );
    ends_with(nothing, &["apply"], "[{", "run patchmany check");
    ends_with(nothing, &["apply", "no.json"], "", "patchmany --help");
    ends_with(nothing, &["apply", "-C", "nowhere"], "", "patchmany --help");
    ends_with(nothing, &["read", "nowhere"], "", "run it again");
    ends_with(nothing, &["undo"], "", "patchmany log");
    let exists = r#"[{"path": "a.txt", "operation": "create", "diff": ""}]"#;
    ends_with(nothing, &["apply"], exists, "next: delete it in the batch first, or run with --overwrite");
    let hook = |repo: &TestRepo| repo.hook("pre-commit", "exit 1");
    ends_with(hook, &["apply", "--commit"], &good(), "--no-hooks");
    let locked = |repo: &TestRepo| repo.write(".git/index.lock", "");
    ends_with(
        locked,
        &["apply", "--commit", "--lock-timeout", "0"],
        &good(),
        "remove the file; then run the command again",
    );
    let unreadable = |repo: &TestRepo| repo.write(".git/patchmany", "in the way");
    ends_with(unreadable, &["apply"], &good(), "remove the cause, then run the command again");
}

#[test]
fn the_nearest_lines_are_shown_beside_those_of_the_batch() {
    let text: String = (1..=9).map(|n| format!("value_{n} = compute({n})\n")).collect();
    let repo = TestRepo::new(&[("f", &*text)]);
    let old = "value_4 = compute(4)\nvalue_5 = compote(5)\nvalue_6 = compute(6)";
    let ran = repo.run(&["apply"], patches(&[("f", old, "x")]));
    let rows = "\n         4   value_4 = compute(4)\n           - value_5 = compote(5)\n         \
                5 + value_5 = compute(5)\n         6   value_6 = compute(6)\n";
    assert!(ran.err.contains(rows), "{}", ran.err);
    let json = repo.run(&["apply", "--json"], patches(&[("f", old, "x")])).json();
    let keys: Vec<_> = json["errors"][0]["nearest"].as_object().unwrap().keys().cloned().collect();
    assert_eq!(keys, ["differs", "end", "line", "reason", "rows"]);
    let long = (1..3000).map(|n| format!("value_{n} = {}\n", "compute ".repeat(30))).collect::<String>();
    repo.write("f", &long);
    let ran = repo.run(&["apply"], patches(&[("f", &long.replace("compute", "compote"), "x")]));
    assert!(ran.err.len() < 4096, "{}", ran.err.len());
}
