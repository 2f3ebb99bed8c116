//! `schema`: what is printed is true of every JSON batch among the test cases, the bad ones included.

use crate::support::TestRepo;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Bad batches that fit: what is wrong stands inside of a string, needs the file, or is a key that stands twice, which no
/// schema sees.
const UNSEEN: [&str; 7] = [
    "unprefixed-line",
    "empty-original-on-text",
    "key-twice",
    "no-block",
    "second-divider",
    "text-between-blocks",
    "unclosed-block",
];

fn validator() -> jsonschema::Validator {
    let printed = TestRepo::folder(&[]).run(&["schema", "batch"], "");
    assert_eq!((printed.code, &*printed.err), (0, ""));
    let schema: Value = serde_json::from_str(&printed.out).unwrap();
    jsonschema::meta::validate(&schema).unwrap();
    jsonschema::validator_for(&schema).unwrap()
}

/// The cases with a batch in JSON that needs no further argument.
fn cases() -> Vec<(PathBuf, Value)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata");
    let mut found = Vec::new();
    for format in ["patch-many", "ops", "fenced"] {
        let folders = std::fs::read_dir(root.join(format)).unwrap().map(|entry| entry.unwrap().path());
        found.extend(folders.map(|folder| folder.join("batch.json")));
    }
    found.push(root.join("example/batch.json"));
    found.sort();
    let json = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).ok().filter(|_| !path.with_file_name("args").exists())?;
        Some((path, serde_json::from_str(text.trim_start_matches('\u{feff}')).ok()?))
    };
    found.into_iter().filter_map(json).collect()
}

/// Whether all that is wrong with the case is its form.
fn is_bad(batch: &Path) -> bool {
    let Ok(error) = std::fs::read_to_string(batch.with_file_name("error.json")) else { return false };
    let error: Value = serde_json::from_str(&error).unwrap();
    error["errors"].as_array().unwrap().iter().all(|error| error["code"] == "parse")
}

#[test]
fn the_schema_is_true_of_every_case() {
    let (validator, cases) = (validator(), cases());
    assert!(cases.len() >= 50, "only {} cases", cases.len());
    let mut fitting = Vec::new();
    for (path, batch) in &cases {
        let name = path.parent().unwrap().file_name().unwrap().to_str().unwrap();
        match (is_bad(path), validator.is_valid(batch)) {
            (false, fits) => assert!(fits, "{name} is good, and does not fit: {batch}"),
            (true, true) => fitting.push(name.to_owned()),
            (true, false) => {}
        }
    }
    assert_eq!(fitting, UNSEEN);
}

#[test]
fn every_spelling_fits_and_faults_do_not() {
    let validator = validator();
    let entry = json!({"path": "f", "patch": ""});
    for good in [
        json!(entry),
        json!([[entry]]),
        json!({"patches": [entry]}),
        json!("[{\"path\": \"f\", \"patch\": \"\"}]"),
        json!({"input": "*** Begin Patch\n"}),
        json!([{"file_path": "f", "oldText": "a", "newText": "b", "all": "true", "expected": "2"}]),
        json!({"filePath": "f", "content": "", "allow_empty": true, "note": 1}),
        json!({"path": "f", "edits": [{"old": "a", "new": "b"}, {"diff": "@@\n-a\n"}]}),
        json!({"edits": [{"path": "f", "old_str": "a", "new_str": "b"}]}),
        json!({"calls": [{"tool": "file_edit", "args": ["f", "a", "b"]}]}),
        json!([{"path": "f", "op": "delete", "diff": null}, {"path": "f", "rename": "g"}]),
        json!([{"path": "f", "patch": "", "tag": "0123ABCD"}]),
    ] {
        assert!(validator.is_valid(&good), "{good}");
    }
    for bad in [
        json!([]),
        json!(1),
        json!([1]),
        json!([null]),
        json!({}),
        json!({"path": "f"}),
        json!({"patch": ""}),
        json!({"path": null, "patch": ""}),
        json!({"path": "f", "patch": 1}),
        json!({"path": "f", "patch": "", "diff": ""}),
        json!({"path": "f", "patch": "", "tag": "123"}),
        json!({"path": "f", "operation": "create"}),
        json!({"path": "f", "op": "create", "diff": "", "moveTo": "g"}),
        json!({"path": "f", "operation": "delete", "diff": ""}),
        json!({"path": "f", "operation": "update"}),
        json!({"path": "f", "operation": "truncate"}),
        json!({"path": "f", "old_string": "a"}),
        json!({"path": "f", "old_string": "a", "new_string": "b", "content": "c"}),
        json!({"path": "f", "old_string": "a", "new_string": "b", "expected": 0}),
        json!({"tool": "file_read", "args": ["f", "g"]}),
        json!({"tool": "file_write", "args": ["f", 1]}),
        json!({"edits": [{"old": "a", "new": "b"}]}),
    ] {
        assert!(!validator.is_valid(&bad), "{bad}");
        let repo = TestRepo::folder(&[]);
        assert_eq!(repo.run(&["check", "--json"], bad.to_string()).codes()[0], "parse", "{bad}");
    }
}
