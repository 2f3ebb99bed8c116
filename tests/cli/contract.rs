//! The JSON object: exactly the documented fields, in every way a run can end.

use crate::support::{Ran, TestRepo, block, patches};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// The object as the README documents it. A field that is missing or unknown does not deserialise.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Object {
    v: u32,
    mode: String,
    applied: bool,
    outcome: String,
    tree: String,
    #[serde(deserialize_with = "present")]
    transaction: Option<String>,
    #[serde(deserialize_with = "present")]
    format: Option<String>,
    files: Vec<File>,
    errors: Vec<Error>,
    warnings: Vec<Warning>,
    #[serde(deserialize_with = "present")]
    git: Option<Git>,
    stats: Stats,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    path: Value,
    action: String,
    #[serde(deserialize_with = "present")]
    from: Option<Value>,
    written: bool,
    #[serde(deserialize_with = "present")]
    old_hash: Option<String>,
    #[serde(deserialize_with = "present")]
    new_hash: Option<String>,
    #[serde(deserialize_with = "present")]
    tag: Option<String>,
    #[serde(deserialize_with = "present")]
    mode: Option<String>,
    added: usize,
    removed: usize,
    hunks: Vec<Hunk>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Hunk {
    entry: usize,
    hunk: usize,
    pass: String,
    old_lines: [usize; 2],
    new_lines: [usize; 2],
    notes: Vec<String>,
    twins: Vec<usize>,
    twins_total: usize,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Error {
    code: String,
    message: String,
    entry: Option<usize>,
    hunk: Option<usize>,
    path: Option<Value>,
    line: Option<usize>,
    column: Option<usize>,
    pass: Option<String>,
    #[serde(default)]
    candidates: Vec<Candidate>,
    #[serde(default)]
    candidates_total: usize,
    nearest: Option<Nearest>,
    hint: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Candidate {
    line: usize,
    end: usize,
    text: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Nearest {
    line: usize,
    end: usize,
    reason: String,
    differs: String,
    rows: Vec<Row>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    of: String,
    #[serde(deserialize_with = "present")]
    line: Option<usize>,
    text: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Warning {
    code: String,
    path: Option<Value>,
    message: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Git {
    record: String,
    commit: String,
    #[serde(rename = "ref", deserialize_with = "present")]
    reference: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Stats {
    files: usize,
    hunks: usize,
    added: usize,
    removed: usize,
    #[serde(rename = "elapsed_ms")]
    _elapsed_ms: u64,
}

/// A field that may be null, but not missing.
fn present<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    Option::deserialize(deserializer)
}

/// The object of a run, with the words that must go together.
#[track_caller]
fn check(ran: &Ran, mode: &str, outcome: &str, tree: &str, code: i32) -> Object {
    assert_eq!(ran.out.lines().count(), 1, "one object and nothing else: {ran:?}");
    let object: Object = serde_json::from_str(&ran.out).unwrap_or_else(|error| panic!("{error}: {ran:?}"));
    let words = (object.v, &*object.mode, &*object.outcome, &*object.tree, ran.code);
    assert_eq!(words, (1, mode, outcome, tree, code), "{ran:?}");
    assert_eq!(object.errors.is_empty(), ran.code == 0, "{ran:?}");
    for error in &object.errors {
        assert!(!error.code.is_empty() && !error.message.is_empty(), "{ran:?}");
    }
    object
}

#[test]
fn the_readme_shows_the_object() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    let readme = std::fs::read_to_string(path).unwrap();
    let shown = readme.split("```json\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    serde_json::from_str::<Object>(shown).unwrap_or_else(|error| panic!("{error}: {shown}"));
}

fn repo() -> TestRepo {
    TestRepo::new(&[("a.txt", "one\ntwo\n"), ("b.txt", "x\nx\n"), ("c.sh", "c\n")])
}

#[test]
fn applied() {
    let repo = repo();
    let text = format!("{}{}", block("one", "1"), block("two", ""));
    let batch = serde_json::json!([
        {"path": "a.txt", "patch": text, "extra": 1},
        {"path": "c.sh", "operation": "update", "moveTo": "d.sh"},
        {"path": "b.txt", "operation": "delete"},
        {"path": "new.txt", "operation": "create", "diff": "n\n"},
    ]);
    let ran = repo.run(&["apply", "--json", "--commit"], batch.to_string());
    let object = check(&ran, "apply", "applied", "applied", 0);
    assert!(object.applied && object.transaction.is_some());
    assert_eq!(object.format.as_deref(), Some("mixed"));
    let actions: Vec<_> = object.files.iter().map(|file| (&*file.action, file.written)).collect();
    assert_eq!(actions, [("modify", true), ("rename", true), ("delete", true), ("create", true)]);
    let [a, d, b, new] = &object.files[..] else { panic!("four files: {ran:?}") };
    assert_eq!((&a.path, &d.from), (&Value::from("a.txt"), &Some(Value::from("c.sh"))));
    assert_eq!((a.from.is_none(), a.mode.as_deref()), (true, Some("100644")));
    assert_eq!((b.new_hash.is_none(), b.tag.is_none(), new.old_hash.is_none()), (true, true, true));
    let hash = a.new_hash.as_deref().unwrap();
    assert_eq!((hash.len(), a.tag.as_deref()), (64, Some(&hash[..8])));
    assert_eq!(a.old_hash, Some(blake3::hash(b"one\ntwo\n").to_hex().to_string()));
    let lines: Vec<_> = a.hunks.iter().map(|h| (h.entry, h.hunk, h.old_lines, h.new_lines)).collect();
    assert_eq!(lines, [(1, 1, [1, 1], [1, 1]), (1, 2, [2, 2], [2, 2])]);
    assert_eq!((a.hunks[0].twins.len(), a.hunks[0].twins_total), (0, 0));
    assert_eq!((&*a.hunks[0].pass, &a.hunks[1].notes[..]), ("exact", &["empty-line-left".to_owned()][..]));
    assert_eq!((a.added, a.removed), (2, 2));
    let stats = &object.stats;
    assert_eq!((stats.files, stats.hunks, stats.added, stats.removed), (4, 2, 3, 4));
    let mut warned: Vec<_> = object.warnings.iter().map(|warning| &*warning.code).collect();
    warned.sort_unstable();
    assert_eq!(warned, ["empty-line-left", "unknown-key"]);
    assert!(object.warnings.iter().all(|warning| !warning.message.is_empty()));
    assert!(object.warnings.iter().any(|warning| warning.path == Some("a.txt".into())));
    let git = object.git.unwrap();
    assert_eq!((&*git.record, git.reference.as_deref()), ("commit", Some("refs/heads/main")));
    assert_eq!(git.commit, repo.git(&["rev-parse", "HEAD"]));
}

#[test]
fn refused() {
    let batch = patches(&[("a.txt", "ones\ntwo", "1"), ("b.txt", "x", "y"), ("gone", "g", "h")]);
    let object = check(&repo().run(&["apply", "--json"], batch), "apply", "refused", "untouched", 1);
    let [absent, twice, missing] = &object.errors[..] else { panic!("three errors") };
    assert_eq!((absent.entry, absent.hunk, absent.line), (Some(1), Some(1), Some(1)));
    let nearest = absent.nearest.as_ref().unwrap();
    assert_eq!((nearest.line, nearest.end, nearest.differs.is_empty()), (1, 2, false));
    assert_eq!((&*nearest.reason, nearest.rows.len()), ("stale", 3));
    assert_eq!(
        (&*nearest.rows[1].of, nearest.rows[1].line, &*nearest.rows[1].text),
        ("file", Some(1), "one")
    );
    assert_eq!((twice.candidates.len(), twice.candidates_total), (2, 2));
    let second = &twice.candidates[1];
    assert_eq!((second.line, second.end, &*second.text), (2, 2, "x"));
    assert_eq!((twice.pass.as_deref(), twice.hint.is_some()), (Some("exact"), true));
    assert_eq!((&*missing.code, &missing.path), ("missing", &Some(Value::from("gone"))));
    assert!(!object.applied && object.files.is_empty() && object.transaction.is_none());
}

#[test]
fn every_other_end() {
    let repo = repo();
    let good = patches(&[("a.txt", "one", "1")]);
    let run = |arguments: &[&str], input: &str| repo.run(arguments, input);
    let object = check(&run(&["check", "--json"], &good), "check", "would-apply", "untouched", 0);
    assert!(!object.applied && !object.files[0].written && object.transaction.is_none());
    check(&run(&["apply", "-n", "--json"], &good), "check", "would-apply", "untouched", 0);
    let same = patches(&[("a.txt", "one", "one")]);
    let object = check(&run(&["apply", "--json"], &same), "apply", "no-op", "untouched", 0);
    assert_eq!((&*object.files[0].action, object.files[0].written), ("none", false));
    let object = check(&run(&["apply", "--json"], "[\n  {"), "apply", "invalid", "untouched", 2);
    assert_eq!((object.errors[0].line, object.errors[0].column.is_some()), (Some(2), true));
    check(&run(&["recover", "--json"], ""), "recover", "no-op", "untouched", 0);
    check(&run(&["undo", "--json"], ""), "undo", "refused", "untouched", 1);
    assert_eq!(run(&["apply", "--json"], &good).code, 0);
    let object = check(&run(&["undo", "--json"], ""), "undo", "applied", "applied", 0);
    assert!(object.applied && object.transaction.is_some() && object.format.is_none());
    let file = &object.files[0];
    assert_eq!((&*file.action, file.written, file.added, file.removed), ("modify", true, 1, 1));
    check(&run(&["redo", "--json"], ""), "redo", "applied", "applied", 0);
    check(&run(&["redo", "--json"], ""), "redo", "refused", "untouched", 1);
    check(&run(&["undo", "--json"], ""), "undo", "applied", "applied", 0);
    repo.hook("pre-commit", "exit 1");
    let ran = run(&["apply", "--json", "--commit"], &good);
    check(&ran, "apply", "rolled-back", "rolled-back", 3);
}

#[test]
fn usage_errors_are_an_object_too() {
    for (arguments, mode) in [
        (&["apply", "--json", "--bogus"][..], "apply"),
        (&["check", "--json", "--format", "morse"], "check"),
        (&["recover", "--json", "extra"], "recover"),
        (&["undo", "--json", "--bogus"], "undo"),
        (&["redo", "--json", "extra"], "redo"),
        (&["apply", "-n", "--json", "--jobs", "0"], "check"),
        (&["apply", "--json", "no-such-batch.json"], "apply"),
        (&["apply", "--json", "-C", "no-such-folder"], "apply"),
    ] {
        let ran = repo().run(arguments, "");
        let json = ran.json();
        let outcome = json["outcome"].as_str().unwrap();
        let code = if outcome == "invalid" { 2 } else { 1 };
        check(&ran, mode, outcome, "untouched", code);
        assert!(ran.err.is_empty(), "{ran:?}");
        assert!(["invalid", "refused"].contains(&outcome), "{arguments:?}: {ran:?}");
    }
}

#[test]
fn names_that_are_no_text_are_in_base64() {
    use std::os::unix::ffi::OsStrExt;
    let repo = repo();
    let name = std::ffi::OsStr::from_bytes(b"caf\xe9");
    std::fs::create_dir(repo.root().join(name)).unwrap();
    std::fs::write(repo.root().join(name).join("a"), "one\n").unwrap();
    std::os::unix::fs::symlink(name, repo.path("plain")).unwrap();
    let ran = repo.run(&["check", "--json"], patches(&[("plain/a", "one", "1")]));
    let object = check(&ran, "check", "would-apply", "untouched", 0);
    assert_eq!(object.files[0].path, serde_json::json!({"base64": "Y2Fm6S9h"}));
}
