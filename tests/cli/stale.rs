//! Stale edits: refused with what stands there now, or merged with it.

use crate::support::{Ran, TestRepo, identity};
use patchmany::edit::{Hash, WeakTag};
use serde_json::json;

const OLD: &str = "one\ntwo\nthree\nfour\nfive\nsix\n";

fn tag(text: &str) -> String {
    Hash::of(text.as_bytes()).tag().to_string()
}

/// A folder whose file was read as `old` and is `new` now.
fn read_then(old: &str, new: &str) -> TestRepo {
    let folder = TestRepo::folder(&[("f", old)]);
    assert_eq!(folder.run(&["read", "f"], "").code, 0);
    folder.write("f", new);
    folder
}

fn recover(folder: &TestRepo, batch: &str) -> Ran {
    folder.run(&["apply", "--json", "--recover-stale"], batch)
}

/// Merges `edit`, made for `old`, into `new`.
#[track_caller]
fn check(old: &str, new: &str, edit: &str, expected: &str) {
    let folder = read_then(old, new);
    let ran = recover(&folder, &format!("[f#{}]\n{edit}\n", tag(old)));
    assert_eq!((ran.code, &*folder.read("f")), (0, expected), "{old:?} {new:?} {ran:?}");
}

/// What both have changed is refused; all `parts` are told.
#[track_caller]
fn conflict(new: &str, edit: &str, parts: &[&str]) {
    let folder = read_then(OLD, new);
    let before = identity(folder.root());
    let ran = recover(&folder, &format!("[f#{}]\n{edit}\n", tag(OLD)));
    let error = ran.json()["errors"][0].clone();
    assert_eq!((ran.code, error["code"].as_str()), (1, Some("stale")), "{ran:?}");
    let message = error["message"].as_str().unwrap();
    parts.iter().for_each(|part| assert!(message.contains(part), "{part:?}: {message}"));
    assert_eq!(identity(folder.root()), before);
}

#[test]
fn an_edit_follows_its_lines() {
    check(OLD, &format!("zero\n{OLD}"), "SWAP 5.=5:\n+FIVE", "zero\none\ntwo\nthree\nfour\nFIVE\nsix\n");
    check(OLD, "one\nthree\nfour\nfive\nsix\n", "DEL 6", "one\nthree\nfour\nfive\n");
    check(
        OLD,
        "ONE\ntwo\nthree\nfour\nfive\nsix\n",
        "INS.TAIL:\n+seven",
        &OLD.replace("one", "ONE").replace("six\n", "six\nseven\n"),
    );
    check(OLD, &format!("{OLD}seven"), "SWAP 1.=2:\n+1", "1\nthree\nfour\nfive\nsix\nseven");
}

#[test]
fn terminators_and_mark_are_those_of_the_present_file() {
    let crlf = |text: &str| text.replace('\n', "\r\n");
    check(
        OLD,
        &crlf(&format!("zero\n{OLD}")),
        "SWAP 5.=5:\n+FIVE\n+5",
        &crlf(&format!("zero\n{}", OLD.replace("five", "FIVE\n5"))),
    );
    check(&crlf(OLD), &format!("zero\n{OLD}"), "DEL 5", &format!("zero\n{}", OLD.replace("five\n", "")));
    check(OLD, &format!("\u{feff}{OLD}"), "DEL 1", &format!("\u{feff}{}", &OLD[4..]));
    check(&format!("\u{feff}{OLD}"), OLD, "INS.HEAD:\n+0", &format!("0\n{OLD}"));
    let mixed = "one\r\ntwo\nthree\r\nfour\nfive\r\nsix\nseven\r\n";
    check(OLD, mixed, "SWAP 3.=4:\n+3\n+4\n+4.5", "one\r\ntwo\n3\r\n4\n4.5\nfive\r\nsix\nseven\r\n");
}

#[test]
fn what_both_have_changed_is_shown() {
    let parts = ["line 6 is now\n6:FIVE", "but was\n-five", "to become\n+5\n+5.5"];
    conflict("zero\none\ntwo\nthree\nfour\nFIVE\nsix\n", "SWAP 5.=5:\n+5\n+5.5", &parts);
    conflict("one\ntwo\nthree\nfour\n", "SWAP 6.=6:\n+6", &["after line 4 stands nothing now", "-six", "+6"]);
    conflict("nothing like it\n", "DEL 2", &["line 1 is now\n1:nothing like it", "-two"]);
}

#[test]
fn the_result_tells_of_the_merge() {
    let folder = read_then(OLD, &format!("zero\n{OLD}"));
    let batch = format!("[f#{}]\nSWAP 5.=5:\n+FIVE\nINS.HEAD:\n+top\n", tag(OLD));
    let before = identity(folder.temp());
    let checked = folder.run(&["check", "--json", "--recover-stale"], &batch).json();
    assert_eq!(identity(folder.temp()), before);
    let conflict = &checked["errors"][0];
    assert_eq!(conflict["code"], "stale", "an insertion at one gap by both: {checked}");
    let ran = recover(&folder, &batch.replace("INS.HEAD:\n+top\n", "DEL 2\n")).json();
    assert_eq!(ran["warnings"][0]["code"], "merged");
    let hunks: Vec<_> = ran["files"][0]["hunks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|h| (h["old_lines"].clone(), h["new_lines"].clone()))
        .collect();
    assert_eq!(hunks, [(json!([6, 6]), json!([5, 5])), (json!([3, 3]), json!([3, 2]))]);
    assert_eq!((&ran["files"][0]["added"], &ran["files"][0]["removed"]), (&json!(1), &json!(2)));
}

#[test]
fn an_edit_that_is_there_already_is_told_or_left_out() {
    let folder = read_then(OLD, &OLD.replace("five", "FIVE"));
    let batch = format!("[f#{}]\nSWAP 5.=5:\n+FIVE\n", tag(OLD));
    assert_eq!(recover(&folder, &batch).json()["errors"][0]["code"], "already-applied");
    let ran = folder.run(&["apply", "--json", "--recover-stale", "--skip-applied"], &batch).json();
    assert_eq!(ran["outcome"], "no-op");
}

#[test]
fn versions_come_from_head_and_index_too() {
    let repo = TestRepo::new(&[("f", OLD)]);
    repo.write("f", "staged\ntoo\n");
    repo.git(&["add", "f"]);
    repo.write("f", format!("{OLD}seven\n"));
    let code = recover(&repo, &format!("[f#{}]\nDEL 1\n", tag(OLD))).code;
    assert_eq!((code, &*repo.read("f")), (0, &*format!("{}seven\n", &OLD[4..])));
    repo.write("f", "new\nstaged\ntoo\n");
    let code = recover(&repo, &format!("[f#{}]\nDEL 2\n", tag("staged\ntoo\n"))).code;
    assert_eq!((code, &*repo.read("f")), (0, "new\nstaged\n"));
    // Git keeps LF where the file had CRLF.
    repo.write("f", format!("zero\r\n{}", OLD.replace('\n', "\r\n")));
    let ran = recover(&repo, &format!("[f#{}]\nDEL 2.=6\n", tag(&OLD.replace('\n', "\r\n"))));
    assert_eq!((ran.code, &*repo.read("f")), (0, "zero\r\none\r\n"));
}

#[test]
fn an_unknown_version_stays_refused() {
    let folder = TestRepo::folder(&[("f", "new\n")]);
    let batch = format!("[f#{}]\nDEL 1\n", tag(OLD));
    let error = recover(&folder, &batch).json()["errors"][0].clone();
    assert_eq!(error["code"], "stale");
    assert!(error["hint"].as_str().unwrap().contains("not known here"), "{error}");
    let folder = read_then(OLD, "new\n");
    let error = folder.run(&["apply", "--json"], &batch).json()["errors"][0].clone();
    assert!(error["hint"].as_str().unwrap().contains("--recover-stale"), "{error}");
    // To delete or replace what others have changed is not merging.
    for batch in [
        format!("[f#{}]\nREM\n", tag(OLD)),
        json!({"path": "f", "content": "x", "tag": tag(OLD)}).to_string(),
    ] {
        assert_eq!(recover(&folder, &batch).json()["errors"][0]["code"], "stale", "{batch}");
    }
}

#[test]
fn sections_of_two_versions_are_refused() {
    let folder = read_then(OLD, &format!("zero\n{OLD}"));
    let (old, new) = (tag(OLD), tag(&format!("zero\n{OLD}")));
    let ran = recover(&folder, &format!("[f#{old}]\nDEL 1\n[f#{new}]\nDEL 7\n"));
    assert_eq!(ran.json()["errors"][0]["code"], "stale");
    let ran =
        recover(&folder, &format!("[f#{old}]\nDEL 2\n[./f#{}]\nDEL 6\nMV g\n", Hash::of(OLD.as_bytes())));
    assert_eq!((ran.code, &*folder.read("g")), (0, "zero\none\nthree\nfour\nfive\n"), "{ran:?}");
}

#[test]
fn edits_by_text_are_merged_too() {
    let folder = read_then(OLD, &OLD.replace("two", "five\ntwo"));
    let batch =
        json!([{"path": "f", "old_string": "five", "new_string": "FIVE", "tag": tag(OLD)}]).to_string();
    assert_eq!(
        (recover(&folder, &batch).code, &*folder.read("f")),
        (0, "one\nfive\ntwo\nthree\nfour\nFIVE\nsix\n")
    );
}

#[test]
fn the_version_before_earlier_entries_is_known() {
    let folder = TestRepo::folder(&[("f", OLD)]);
    let batch = |edit: &str| {
        format!(
            "```patch f\n<<<<<<< ORIGINAL\none\n=======\nzero\none\n>>>>>>> UPDATED\n```\n\n```\n*** Begin Patch\n[f#{}]\n{edit}\n*** End Patch\n```\n",
            tag(OLD)
        )
    };
    assert_eq!(folder.run(&["apply", "--json"], batch("DEL 6")).json()["errors"][0]["code"], "stale");
    assert_eq!(
        (recover(&folder, &batch("DEL 6")).code, &*folder.read("f")),
        (0, "zero\none\ntwo\nthree\nfour\nfive\n")
    );
}

#[test]
fn a_short_tag_is_that_of_what_was_shown() {
    let (old, new) = ("one\ntwo\nthree\n", "one\ntwo\nthree \n");
    let short = WeakTag::of(old.as_bytes());
    assert_eq!(short, WeakTag::of(new.as_bytes()));
    let folder = read_then(old, new);
    let batch = format!("[f#{short}]\nDEL 1\n");
    assert_eq!(folder.run(&["apply", "--json"], &batch).json()["errors"][0]["code"], "stale");
    assert_eq!((recover(&folder, &batch).code, &*folder.read("f")), (0, "two\nthree \n"));
    // Nobody was shown another version of this file.
    folder.write("g", new);
    assert_eq!(folder.run(&["apply"], batch.replace("[f", "[g")).code, 0);
}
