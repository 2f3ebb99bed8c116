//! Cases as folders, `testdata/<format>/<case>/`, run through the program.
//!
//! ```text
//! case.md       why the case exists
//! batch.*       the batch
//! before/       the tree it meets; none is an empty one
//! after/        the tree it leaves, byte for byte; none is an empty one, except where there is an error.json
//! error.json    the part of the JSON result that a refusal must have; the tree stays as it is
//! result.json   the same for a run that succeeds
//! args          more arguments, one a line
//! setup         what files cannot carry, one a line: `mode 755 PATH`, `link PATH TARGET`, `folder PATH`, `git`.
//!               All of it must still be there afterwards; a line that starts with `before` or `after` holds for the
//!               tree before or after the run alone
//! ```
//!
//! `UPDATE_EXPECT=1 cargo test scenarios` rewrites after/, error.json and result.json from what happens.

use crate::support::{Ran, TestRepo, identity, tree, tree_and_folders};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

#[test]
fn patch_many() {
    suite("patch-many");
}

#[test]
fn fenced() {
    suite("fenced");
}

#[test]
fn ops() {
    suite("ops");
}

#[test]
#[ignore = "starts some thousand processes; .ci/run runs it"]
fn every_form_of_every_case_goes_there_and_back() {
    let forms = ["patch-many", "fenced", "ops", "envelope", "edits", "hashline", "diff", "blocks"];
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata");
    let all = ["patch-many", "fenced", "ops"].map(|format| fs::read_dir(root.join(format)).unwrap());
    let cases: Vec<Case> =
        all.into_iter().flatten().map(|entry| Case::read(&entry.unwrap().path())).collect();
    for form in forms {
        let mut gone = 0;
        for case in &cases {
            match case.in_form(form) {
                Ok(there) => gone += usize::from(there),
                Err(why) => panic!("{} as {form}: {why}", case.folder.display()),
            }
        }
        assert!(gone >= 10, "only {gone} cases can be said as {form}");
    }
}

/// Checks every case of a format; fails with all that differ.
#[track_caller]
fn suite(format: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata").join(format);
    let mut cases: Vec<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    cases.sort();
    assert!(cases.len() >= 15, "only {} cases in {}", cases.len(), folder.display());
    let failed: Vec<String> = cases
        .iter()
        .filter_map(|case| {
            let failure = Case::read(case).check().err()?;
            Some(format!("{format}/{}: {failure}", case.file_name().unwrap().display()))
        })
        .collect();
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

struct Case {
    folder: PathBuf,
    batch: PathBuf,
    args: Vec<String>,
    setup: Vec<Setup>,
}

/// A line of `setup`.
struct Setup {
    when: When,
    words: Vec<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum When {
    /// Made before the run, and still there afterwards.
    Always,
    /// Made before the run, and gone or changed by it.
    Before,
    /// Part of the expected tree alone.
    After,
}

impl Case {
    fn read(folder: &Path) -> Self {
        let optional = |name: &str| fs::read_to_string(folder.join(name)).unwrap_or_default();
        assert!(!optional("case.md").trim().is_empty(), "{} does not say why it exists", folder.display());
        let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let is_batch = |path: &PathBuf| path.file_stem().is_some_and(|stem| stem == "batch");
        Self {
            folder: folder.to_owned(),
            batch: names.into_iter().find(is_batch).unwrap(),
            args: optional("args").lines().map(str::to_owned).collect(),
            setup: optional("setup").lines().map(Setup::parse).collect(),
        }
    }

    /// Runs `check`, which must write nothing, then `apply`, which must agree with it.
    fn check(&self) -> Result<(), String> {
        let repo = self.before();
        let everything = identity(repo.temp());
        let checked = self.run(&repo, "check");
        same("the tree after `check`", &everything, &identity(repo.temp()))?;

        let before = identity(repo.root());
        let old = tree_and_folders(repo.root());
        let applied = self.run(&repo, "apply");
        let result = applied.json();
        agree(&checked, &applied)?;
        if result["outcome"] != "applied" {
            same("the tree, which nothing should touch", &before, &identity(repo.root()))?;
        }
        if std::env::var_os("UPDATE_EXPECT").is_some() {
            self.update(&repo, &result);
        }
        self.judge(&repo, &applied)?;
        if result["applied"] == true { there_and_back(&repo, &old) } else { Ok(()) }
    }

    /// Undo and redo of the batch said in another form; whether that can say it.
    fn in_form(&self, form: &str) -> Result<bool, String> {
        let repo = self.before();
        let wanted = |arg: &&String| !["--commit", "--skip-applied", "--overwrite"].contains(&arg.as_str());
        if !self.args.iter().all(|arg| wanted(&arg)) {
            return Ok(false);
        }
        let converted = repo.run(&["convert", "--to", form, self.batch.to_str().unwrap()], "");
        if converted.code != 0 {
            return Ok(false);
        }
        let old = tree_and_folders(repo.root());
        let applied = repo.run(
            &["apply", "--json", "--force-read-only", "--allow-symlinks", "--format", form],
            &converted.out,
        );
        if applied.json()["outcome"] != "applied" {
            return Ok(false);
        }
        there_and_back(&repo, &old).map(|()| true)
    }

    /// The tree that the batch meets.
    fn before(&self) -> TestRepo {
        let repo = TestRepo::folder(&[]);
        copy(&self.folder.join("before"), repo.root());
        self.setup.iter().filter(|line| line.when != When::After).for_each(|line| line.make(repo.root()));
        repo
    }

    fn run(&self, repo: &TestRepo, command: &str) -> Ran {
        let args = self.args.iter().map(String::as_str);
        let all: Vec<&str> =
            [command, "--json"].into_iter().chain(args).chain([self.batch.to_str().unwrap()]).collect();
        repo.run(&all, "")
    }

    fn judge(&self, repo: &TestRepo, ran: &Ran) -> Result<(), String> {
        let expected = |name: &str| {
            let text = fs::read_to_string(self.folder.join(name)).ok()?;
            Some(serde_json::from_str::<Value>(&text).unwrap())
        };
        let result = ran.json();
        match (expected("error.json"), expected("result.json")) {
            (Some(error), _) => {
                covers(&error, &result, "")?;
                let code = if result["outcome"] == "invalid" { 2 } else { 1 };
                same("the exit code", &code, &ran.code)
            }
            (None, expected) => {
                covers(&expected.unwrap_or_else(|| json!({"outcome": "applied"})), &result, "")?;
                same("the exit code", &0, &ran.code)?;
                let wanted = TestRepo::folder(&[]);
                copy(&self.folder.join("after"), wanted.root());
                let there = self.setup.iter().filter(|line| line.when != When::Before);
                there.for_each(|line| line.make(wanted.root()));
                same("the tree", &tree(wanted.root()), &tree(repo.root()))
            }
        }
    }

    fn update(&self, repo: &TestRepo, result: &Value) {
        let write = |name: &str, value: Value| {
            fs::write(self.folder.join(name), serde_json::to_string_pretty(&value).unwrap() + "\n").unwrap();
        };
        let after = self.folder.join("after");
        if !result["errors"].as_array().unwrap().is_empty() {
            let keys = ["code", "entry", "hunk", "path", "line", "column", "candidates_total"];
            let errors = part_of_each(&result["errors"], &keys);
            let _ = fs::remove_dir_all(&after);
            return write("error.json", json!({"outcome": result["outcome"], "errors": errors}));
        }
        let _ = fs::remove_file(self.folder.join("error.json"));
        if self.folder.join("result.json").exists() || result["outcome"] != "applied" {
            let files = part_of_each(
                &result["files"],
                &["path", "action", "from", "mode", "added", "removed", "hunks"],
            );
            let warnings = part_of_each(&result["warnings"], &["code", "path"]);
            write("result.json", json!({"outcome": result["outcome"], "files": files, "warnings": warnings}));
        }
        let _ = fs::remove_dir_all(&after);
        copy(repo.root(), &after);
        // What is no file is said in `setup`; folders stay only for the files in them.
        self.setup.iter().for_each(|line| line.unmake(&after));
    }
}

impl Setup {
    fn parse(line: &str) -> Self {
        let mut words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let when = match &*words[0] {
            "before" => When::Before,
            "after" => When::After,
            _ => return Self { when: When::Always, words },
        };
        words.remove(0);
        Self { when, words }
    }

    fn make(&self, root: &Path) {
        let words: Vec<&str> = self.words.iter().map(String::as_str).collect();
        match &words[..] {
            ["mode", mode, path] => {
                let mode = u32::from_str_radix(mode, 8).unwrap();
                // A file that the batch deletes or moves has no mode afterwards.
                let _ = fs::set_permissions(root.join(path), PermissionsExt::from_mode(mode));
            }
            ["link", path, target] => std::os::unix::fs::symlink(target, root.join(path)).unwrap(),
            ["folder", path] => fs::create_dir_all(root.join(path)).unwrap(),
            ["git"] => {
                let made = std::process::Command::new("git").args(["init", "-q"]).arg(root).status();
                assert!(made.unwrap().success());
            }
            other => panic!("no line of a setup: {other:?}"),
        }
    }

    fn unmake(&self, root: &Path) {
        if self.words[0] == "link" {
            let _ = fs::remove_file(root.join(&self.words[1]));
        }
    }
}

/// Undo, redo and undo again: bytes, modes, links and folders are those before and after the batch. After somebody else's
/// edit of a file nothing is undone, and the file is named.
fn there_and_back(repo: &TestRepo, old: &BTreeMap<String, String>) -> Result<(), String> {
    let new = tree_and_folders(repo.root());
    for (command, expected) in [("undo", old), ("redo", &new), ("undo", old), ("redo", &new)] {
        let ran = repo.run(&[command, "--json"], "");
        same(&format!("the exit code of {command}: {ran:?}"), &0, &ran.code)?;
        same(&format!("the tree after {command}"), expected, &tree_and_folders(repo.root()))?;
    }
    let is_file = |path: &&String| !new[*path].ends_with("folder") && !new[*path].starts_with("link");
    let Some(path) = new.keys().filter(|path| old.get(*path) != new.get(*path)).find(is_file) else {
        return Ok(());
    };
    let mut text = fs::read(repo.path(path)).unwrap();
    text.extend_from_slice(b"theirs");
    let mode = fs::metadata(repo.path(path)).unwrap().permissions();
    fs::set_permissions(repo.path(path), PermissionsExt::from_mode(0o644)).unwrap();
    fs::write(repo.path(path), text).unwrap();
    fs::set_permissions(repo.path(path), mode).unwrap();
    let edited = tree_and_folders(repo.root());
    let ran = repo.run(&["undo", "--json"], "");
    same("the exit code of an undo over another's edit", &1, &ran.code)?;
    same("the tree after that", &edited, &tree_and_folders(repo.root()))?;
    let errors = json!([{"code": "changed-during", "path": path}]);
    covers(&errors, &ran.json()["errors"], "the errors of that")
}

/// Copies files with mode 644, whatever the clone made of them. Links and a `.git` are not copied.
fn copy(from: &Path, to: &Path) {
    let Ok(entries) = fs::read_dir(from) else { return };
    fs::create_dir_all(to).unwrap();
    for entry in entries.map(Result::unwrap).filter(|entry| entry.file_name() != ".git") {
        let target = to.join(entry.file_name());
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            copy(&entry.path(), &target);
        } else if kind.is_file() {
            fs::write(&target, fs::read(entry.path()).unwrap()).unwrap();
            fs::set_permissions(&target, PermissionsExt::from_mode(0o644)).unwrap();
        }
    }
}

/// `check` and `apply` say the same about a batch.
fn agree(checked: &Ran, applied: &Ran) -> Result<(), String> {
    let word = |outcome: &Value| if outcome == "would-apply" { json!("applied") } else { outcome.clone() };
    let (one, other) = (checked.json(), applied.json());
    same("the outcome of `check` and `apply`", &word(&one["outcome"]), &word(&other["outcome"]))?;
    same("the exit code of `check` and `apply`", &checked.code, &applied.code)?;
    for key in ["format", "errors", "warnings"] {
        same(&format!("{key} of `check` and `apply`"), &one[key], &other[key])?;
    }
    Ok(())
}

fn same<T: PartialEq + std::fmt::Debug>(what: &str, expected: &T, found: &T) -> Result<(), String> {
    if expected == found {
        return Ok(());
    }
    Err(format!("{what}:\n  expected {expected:?}\n  found    {found:?}"))
}

/// Every field and element of `expected` stands in `found`; objects may hold more, lists may not.
fn covers(expected: &Value, found: &Value, at: &str) -> Result<(), String> {
    match (expected, found) {
        (Value::Object(wanted), Value::Object(there)) => wanted.iter().try_for_each(|(key, value)| {
            covers(value, there.get(key).unwrap_or(&Value::Null), &format!("{at}.{key}"))
        }),
        (Value::Array(wanted), Value::Array(there)) if wanted.len() == there.len() => {
            let mut pairs = wanted.iter().zip(there).enumerate();
            pairs.try_for_each(|(n, (value, other))| covers(value, other, &format!("{at}[{n}]")))
        }
        _ => same(at, expected, found),
    }
}

fn part_of_each(list: &Value, keys: &[&str]) -> Value {
    let part = |item: &Value| {
        let kept = keys.iter().filter(|key| !item[**key].is_null());
        Value::Object(kept.map(|key| ((*key).to_owned(), item[*key].clone())).collect())
    };
    list.as_array().unwrap().iter().map(part).collect()
}
