//! Whole batches: what they lower to, what is wrong with them, and that nothing makes the parser panic.

use super::*;
use crate::edit::{Action, Existing, FileOperation, Locator, Occurrence, PathBase, Precondition};
use proptest::prelude::*;

const BLOCK: &str = "<<<<<<< ORIGINAL\na\n=======\nb\n>>>>>>> UPDATED\n";

fn options(path: Option<&str>) -> Options<'static> {
    let default_path = path.map(BatchPath::from);
    Options {
        format: None,
        default_path,
        placeholders: false,
        strip: None,
        exists: &|path| {
            path.written == "my file" || (path.written == "here" && path.base == PathBase::Current)
        },
    }
}

/// Operations as `entry@line path verb…`, warnings as `~code`, errors as `code entry@line: message`.
fn read_all(input: &[u8], options: &Options<'_>) -> Vec<String> {
    match parse(input, options) {
        Ok(set) => {
            let mut found = vec![set.format.to_string()];
            found.extend(set.operations.iter().map(operation));
            found.extend(set.warnings.iter().map(|w| format!("~{} {}", w.code, w.message)));
            found
        }
        Err(failed) => failed.errors.iter().map(error).collect(),
    }
}

fn error(e: &ParseError) -> String {
    let number = |n: Option<usize>| n.map_or("-".to_owned(), |n| n.to_string());
    format!("{} {}@{}: {}", e.code, number(e.entry), number(e.line), e.message)
}

fn operation(op: &FileOperation) -> String {
    let verb = match &op.action {
        Action::Modify { steps } => format!("modify{}", steps.iter().map(step).collect::<String>()),
        Action::Create { content, existing: Existing::Refuse } => format!("create {:?}", &**content),
        Action::Create { content, existing: Existing::Replace } => format!("rewrite {:?}", &**content),
        Action::Create { content, existing: Existing::Fill } => format!("fill {:?}", &**content),
        Action::Create { content, .. } => format!("write {:?}", &**content),
        Action::Delete { steps } => format!("delete{}", steps.iter().map(step).collect::<String>()),
        Action::Rename { to, steps } => format!("move {to}{}", steps.iter().map(step).collect::<String>()),
        Action::Copy { to, steps } => format!("copy {to}{}", steps.iter().map(step).collect::<String>()),
    };
    let tag = match op.expects {
        Precondition::Any => "",
        Precondition::Tagged(_) => " tagged",
        Precondition::WeaklyTagged(_) => " weakly tagged",
        Precondition::FolderExists => " in a folder",
    };
    let mode = op.mode.map(|mode| format!(" {mode:?}").to_lowercase()).unwrap_or_default();
    let top = if op.path.base == PathBase::Top { "/" } else { "" };
    format!("{}@{} {top}{}{mode}{tag} {verb}", op.origin.entry, op.origin.line, op.path)
}

fn step(step: &crate::edit::Step) -> String {
    let hunks: Vec<String> = step
        .hunks
        .iter()
        .map(|hunk| match &hunk.locator {
            Locator::Text { old, new } => {
                let times = match hunk.occurrence {
                    Occurrence::Once => String::new(),
                    Occurrence::All => " all".into(),
                    Occurrence::Exactly(n) => format!(" x{n}"),
                };
                format!("{}@{} {}>{}{times}", hunk.origin.hunk, hunk.origin.line, &**old, &**new)
            }
            Locator::Binary(change) => {
                format!("{change:?}").split('(').next().unwrap_or_default().to_lowercase()
            }
            Locator::LineRange { first, last, rows } => format!("{first}-{last} {} rows", rows.len()),
            Locator::Gap { gap, rows } => format!("{gap:?} {} rows", rows.len()).to_lowercase(),
            Locator::Fill(new) => format!("fill {}", &**new),
            Locator::Pieces(pieces) => format!("{} pieces", pieces.len()),
            Locator::Lines(lines) => {
                format!("{}@{} {} rows", hunk.origin.hunk, hunk.origin.line, lines.rows.len())
            }
        })
        .collect();
    format!(" [{}]", hunks.join(", "))
}

fn check(input: &str, expected: &[&str]) {
    assert_eq!(read_all(input.as_bytes(), &options(None)), expected, "{input}");
}

/// A JSON entry for `path` with one block.
fn entry(path: &str) -> String {
    serde_json::json!({"path": path, "patch": BLOCK}).to_string()
}

#[test]
fn patch_many() {
    let (f, g) = (entry("f"), entry("g"));
    check(&f, &["patch-many", "1@1 f modify [1@1 a>b]"]);
    check(&format!("[{f},\n{g}]"), &["patch-many", "1@1 f modify [1@1 a>b]", "2@2 g modify [1@2 a>b]"]);
    check(&format!("{f}\n{g}\n"), &["patch-many", "1@1 f modify [1@1 a>b]", "2@2 g modify [1@2 a>b]"]);
    let list = format!("[{f},{g}]");
    let both = ["patch-many", "1@1 f modify [1@1 a>b]", "2@1 g modify [1@1 a>b]"];
    check(&serde_json::json!({"patches": list}).to_string(), &both);
    check(&serde_json::json!(list).to_string(), &both);
    check(&serde_json::json!(serde_json::json!({"patches": list}).to_string()).to_string(), &both);
    check(&f.replace("ORIGINAL\\na", "ORIGINAL\\n"), &["patch-many", "1@1 f modify [fill b]"]);
    let tagged = f.replace('}', ",\"tag\":\"0123abcd\",\"colour\":1,\"pth\":1}");
    check(
        &tagged,
        &[
            "patch-many",
            "1@1 f tagged modify [1@1 a>b]",
            "~unknown-key the key `colour` is unknown",
            "~unknown-key the key `pth` is unknown; did you mean `path`?",
        ],
    );
}

#[test]
fn ops() {
    check(r#"{"path":"f","op":"create","diff":"x\r\n"}"#, &["ops", "1@1 f create \"x\\r\\n\""]);
    check(r#"{"path":"f","operation":"delete","diff":null}"#, &["ops", "1@1 f delete"]);
    check(r#"{"path":"f","diff":"-a\n@@\n+b"}"#, &["ops", "1@1 f modify [1@1 1 rows, 2@1 1 rows]"]);
    check(r#"{"path":"f","rename":"g"}"#, &["ops", "1@1 f move g"]);
    check(r#"{"path":"f","move_to":"g","diff":""}"#, &["ops", "1@1 f move g"]);
    check(r#"{"path":"f","moveTo":"g","diff":"-a"}"#, &["ops", "1@1 f move g [1@1 1 rows]"]);
    let edits =
        r#"{"path":"f","tag":"01234567","edits":[{"diff":"-a"},{"diff":"-b"},{"path":"g","op":"delete"}]}"#;
    check(edits, &["ops", "1@1 f tagged modify [1@1 1 rows]", "2@1 f modify [1@1 1 rows]", "3@1 g delete"]);
    let mixed = format!("[{},\n{{\"path\":\"g\",\"op\":\"delete\"}}]", entry("f"));
    check(&mixed, &["mixed", "1@1 f modify [1@1 a>b]", "2@2 g delete"]);
}

#[test]
fn ops_faults() {
    check(r#"{"path":"f","op":"create"}"#, &["parse 1@1: `create` needs `diff`"]);
    check(
        r#"{"path":"f","op":"create","diff":"","rename":"g"}"#,
        &["parse 1@1: `create` cannot move a file"],
    );
    check(r#"{"path":"f","op":"delete","diff":""}"#, &["parse 1@1: `delete` takes no `diff`"]);
    check(r#"{"path":"f","op":"update"}"#, &["parse 1@1: `update` needs `diff` or `moveTo`"]);
    check(r#"{"path":"f","op":"add","diff":""}"#, &["parse 1@1: unknown operation `add`"]);
    check(r#"{"path":"f","diff":" \n"}"#, &["parse 1@1: line 1 of `diff`: the diff is empty"]);
    check(r#"{"path":"f","rename":"","diff":"-a"}"#, &["parse 1@1: `moveTo` is empty"]);
    check(r#"{"path":"","op":"delete"}"#, &["parse 1@1: the entry has no `path`"]);
}

#[test]
fn json_faults() {
    check("[{", &["parse -@1: not valid JSON: the end of the text while parsing an object"]);
    check("[]", &["parse -@-: no edit in the input"]);
    check("{\"patches\":[]}", &["parse -@-: no edit in the input"]);
    check(
        "[1,\n\"x\"]",
        &[
            "parse -@1: an entry must be an object, not a number",
            "parse -@2: an entry must be an object, not a string that is no JSON",
        ],
    );
    check("{\"pth\":\"f\"}", &["parse -@1: the object is no entry: its keys are `pth`"]);
    let two =
        "[{\"path\":\"f\",\"patch\":\"\",\"diff\":\"\"},\n{\"path\":\"f\",\"path\":\"f\",\"diff\":\"-a\"}]";
    check(
        two,
        &[
            "parse -@1: the object is two kinds of entry at once: its keys are `path`, `patch`, `diff`",
            "parse 1@2: the key `path` stands twice",
        ],
    );
    check(
        r#"{"path":"f","file_path":"f","diff":"-a"}"#,
        &["parse 1@1: the keys `path` and `file_path` mean the same"],
    );
    check(r#"{"path":1,"diff":"-a"}"#, &["parse 1@1: `path` must be a string, not a number"]);
    check(r#"{"path":"f","diff":["-a"]}"#, &["parse 1@1: `diff` must be a string, not an array"]);
    check(r#"{"path":"f","tag":"1f","diff":"-a"}"#, &["parse 1@1: `tag` must be 8 to 64 hex digits"]);
    let deep = format!("{}1{}", "[".repeat(40), "]".repeat(40));
    check(&deep, &["parse -@1: the JSON is wrapped too often"]);
}

#[test]
fn fenced() {
    let fence = |head: &str, body: &str| format!("Text\n```{head}\n{body}```\nmore\n");
    check(&fence("patch f", BLOCK), &["fenced", "1@2 f modify [1@3 a>b]"]);
    check(&fence("patch_many f", &BLOCK.repeat(2)), &["fenced", "1@2 f modify [1@3 a>b] [2@8 a>b]"]);
    let pairs = ["fenced", "1@2 f modify [1@3 a>b]", "2@2 g h modify [1@8 a>b]"];
    check(&fence("patch_many f 'g h'", &BLOCK.repeat(2)), &pairs);
    check(&fence("patch my file", BLOCK), &["fenced", "1@2 my file modify [1@3 a>b]"]);
    let sections = format!("=== PATH: f ===\n{BLOCK}=== PATH: g ===\n{BLOCK}");
    check(&sections, &["fenced", "1@1 f modify [1@2 a>b]", "2@7 g modify [1@8 a>b]"]);
    check(&fence("", &sections), &["fenced", "1@3 f modify [1@4 a>b]", "2@9 g modify [1@10 a>b]"]);
    let json =
        format!("{}{}", fence("json", &format!("{}\n", entry("f"))), fence("rust", "<<<<<<< ORIGINAL\n"));
    check(&json, &["fenced", "1@3 f modify [1@3 a>b]"]);
    check(
        &format!("1. a\n   ```patch f\n   {}   ```\n", BLOCK.replace('\n', "\n   ").trim_end_matches(' ')),
        &["fenced", "1@2 f modify [1@3 a>b]"],
    );
    let bare = read_all(BLOCK.as_bytes(), &options(Some("f")));
    assert_eq!(bare, ["fenced", "1@1 f modify [1@1 a>b]"]);
    let hunk = read_all(b"\n@@\n-a\n", &options(Some("f")));
    assert_eq!(hunk, ["diff", "1@1 f modify [1@2 1 rows]"]);
}

#[test]
fn fenced_faults() {
    let fence = |head: &str, body: &str| format!("Text\n```{head}\n{body}```\n");
    check(BLOCK, &["usage 1@1: the blocks name no path"]);
    check("@@\n-a\n", &["usage 1@1: the diff names no path"]);
    check(&fence("patch", BLOCK), &["usage 1@3: the blocks name no path"]);
    check(&fence("patch f", ""), &["parse -@2: the fence holds no block"]);
    check(&fence("patch f g", BLOCK), &["parse -@2: 2 paths, but 1 block: they pair by position"]);
    check(&fence("patch 'f", BLOCK), &["parse -@2: the quote ' in the fence header is never closed"]);
    check(&format!("```patch f\n{BLOCK}"), &["parse -@1: the fence is never closed"]);
    check(&fence("patch", "=== PATH: f ===\n"), &["parse -@3: the section of `f` holds no block"]);
    let cut = fence("patch f", &BLOCK.replace("b\n", "```\nb\n"));
    check(
        &cut,
        &[
            "parse 1@3: the block is never closed: the fence line on line 6 cuts it in two, or its closer is missing",
        ],
    );
    let two = format!("{}{}", fence("patch f", "x\n"), fence("patch g", "y\n"));
    check(
        &two,
        &["parse 1@3: text before the first block: `x`", "parse 2@7: text before the first block: `y`"],
    );
    check(&format!("{}{BLOCK}", fence("patch f", BLOCK)), &["parse -@9: a block outside of the edit fences"]);
    check(
        &format!("{}<p>\n```patch g\n{BLOCK}```\n", fence("patch f", BLOCK)),
        &["parse -@10: the `patch` fence stands inside HTML and would be ignored"],
    );
    check(
        &format!("{}```py\n{}", fence("patch f", BLOCK), fence("patch g", BLOCK)),
        &["parse -@11: the `patch` fence stands inside the open fence of line 9 and would be ignored"],
    );
    let short = fence("patch f", BLOCK).replace("<<<<<<< ", "<<<<<< ");
    check(&short, &["parse 1@3: the marker `<<<<<< ORIGINAL` is misspelt"]);
}

#[test]
fn edits() {
    for (old, new) in [("old_string", "new_string"), ("oldText", "newText"), ("old", "new")] {
        let text = format!(r#"{{"file_path":"f","{old}":"a","{new}":"b"}}"#);
        check(&text, &["edits", "1@1 f modify [1@1 a>b]"]);
    }
    check(r#"{"path":"f","old":"a","new":"b","replace_all":true}"#, &["edits", "1@1 f modify [1@1 a>b all]"]);
    check(r#"{"path":"f","old":"a","new":"b","all":false}"#, &["edits", "1@1 f modify [1@1 a>b]"]);
    check(r#"{"path":"f","old":"a","new":"","expected":2}"#, &["edits", "1@1 f modify [1@1 a> x2]"]);
    check(
        r#"{"path":"f","old":"a","new":"b","all":"true"}"#,
        &["edits", "1@1 f modify [1@1 a>b all]", "~string-args `replace_all` is written as a string"],
    );
    check(r#"{"path":"f","content":"a\r\n"}"#, &["edits", "1@1 f write \"a\\r\\n\""]);
    check(r#"{"path":"f","content":"","allow_empty":true}"#, &["edits", "1@1 f rewrite \"\""]);
    let shared = r#"{"path":"f","edits":[{"oldText":"a","newText":"b"},{"path":"g","content":"x"}]}"#;
    check(shared, &["edits", "1@1 f modify [1@1 a>b]", "2@1 g write \"x\""]);
}

#[test]
fn calls() {
    let edit = r#"{"tool":"file_edit","args":["f","a","b"]}"#;
    check(edit, &["edits", "1@1 f modify [1@1 a>b]"]);
    check(&edit.replace("\"b\"", "\"b\",\"replace_all=true\""), &["edits", "1@1 f modify [1@1 a>b all]"]);
    let write = r#"{"tool":"file_write","args":["g","x"]}"#;
    let both = ["edits", "1@1 f modify [1@1 a>b]", "2@1 g in a folder write \"x\""];
    check(&format!("{{\"calls\":[{edit},{write}]}}"), &both);
    check(&format!("{{\"steps\":[{edit},{write}]}}"), &both);
    check(&format!("Text\n```json\n{{\"calls\":[{edit}]}}\n```\n"), &["fenced", "1@3 f modify [1@3 a>b]"]);
    let of = |call: &str, expected: &str| check(call, &[&format!("parse 1@1: {expected}")]);
    of(r#"{"tool":"file_edit","args":["f",1,"b"]}"#, "`args[1]` must be a string, not a number");
    of(r#"{"tool":"file_edit","args":"f"}"#, "`args` must be an array of strings, not a string");
    of(r#"{"tool":"file_edit","args":["f","a"]}"#, "`file_edit` needs three arguments");
    of(r#"{"tool":"file_edit","args":["f","a","b","all"]}"#, "unknown option `all`");
    of(r#"{"tool":"file_write","args":["","x"]}"#, "the entry has no `path`");
    of(r#"{"tool":"file_read","args":["f"]}"#, "`file_read` changes nothing");
    of(r#"{"tool":"rm","args":["f"]}"#, "unknown tool `rm`");
}

#[test]
fn edits_faults() {
    let of = |entry: &str, expected: &str| check(entry, &[&format!("parse 1@1: {expected}")]);
    of(r#"{"path":"f","old":"a","new":1}"#, "`new_string` must be a string, not a number");
    of(r#"{"path":"f","old":"a","new":"b","all":1}"#, "`replace_all` must be true or false");
    of(r#"{"path":"f","old":"a","new":"b","expected":0}"#, "`expected` must be 1 or more");
    of(r#"{"path":"f","old":"a","new":"b","expected":-1}"#, "`expected` must be a whole number from 1 on");
    of(
        r#"{"path":"f","old":"a","content":"b"}"#,
        "the entry has both `content` and `old_string` or `new_string`",
    );
}

/// An envelope of these lines.
fn envelope_of(lines: &str) -> String {
    format!("*** Begin Patch\n{lines}*** End Patch\n")
}

#[test]
fn envelope() {
    let of = |lines: &str, expected: &[&str]| check(&envelope_of(lines), expected);
    of("*** Add File: a b\n+x\n+\n++y\n", &["envelope", "1@2 a b create \"x\\n\\n+y\\n\""]);
    of("*** Add File: f\n+x\r\n", &["envelope", "1@2 f create \"x\\r\\n\""]);
    of("*** Delete File: f\n\n  *** Delete File: g\n", &["envelope", "1@2 f delete", "2@4 g delete"]);
    of("*** Update File: f\n-a\n@@\n+b\n", &["envelope", "1@2 f modify [1@3 1 rows, 2@4 1 rows]"]);
    of("*** Update File: f\n*** Move to: g\n", &["envelope", "1@2 f move g"]);
    of("*** Update File: f\n*** Move to: g\n@@\n-a\n", &["envelope", "1@2 f move g [1@4 1 rows]"]);
    // A header behind a blank is context; an empty line above a header is none.
    of("*** Update File: f\n@@\n *** Add File: g\n-x\n", &["envelope", "1@2 f modify [1@3 2 rows]"]);
    let two = ["envelope", "1@2 f modify [1@3 1 rows]", "2@6 g create \"x\\n\""];
    of("*** Update File: f\n@@\n-a\n\n*** Add File: g\n+x\n\n", &two);
    let delete = envelope_of("*** Delete File: f\n");
    check(&format!("cat <<'EOF'\n{delete}EOF\n"), &["envelope", "1@3 f delete"]);
    check(&serde_json::json!({"input": delete}).to_string(), &["envelope", "1@1 f delete"]);
    check(&format!("Text\n```apply_patch\n{delete}```\n"), &["fenced", "1@4 f delete"]);
    check(&delete.replace('\n', "\r\n"), &["envelope", "1@2 f delete"]);
}

#[test]
fn envelope_faults() {
    let of = |lines: &str, expected: &[&str]| check(&envelope_of(lines), expected);
    of("", &["parse -@-: no edit in the input"]);
    of("*** Frobnicate File: f\n", &["parse -@2: `*** Frobnicate File: f` is no section of the envelope"]);
    of("*** Add File: f\n+a\nb\n", &["parse 1@4: `b` lacks the `+` of an added line"]);
    of("*** Add File:\n+a\n", &["parse 1@2: the section names no path"]);
    of("*** Delete File: f\n-a\n", &["parse 1@3: `-a` below `*** Delete File:`"]);
    of("*** Update File: f\n", &["parse 1@2: the update has no hunks"]);
    of("*** Update File: f\n*** Move to:\n", &["parse 1@3: `*** Move to:` names no path"]);
    of("*** Update File: f\n@@\n*** End of File\n", &["parse 1@3: the hunk has no body"]);
    of(
        "*** Update File: f\n@@\n-a\n*** Rename File: g\n",
        &["parse 1@5: the envelope line `*** Rename File: g` inside a diff body"],
    );
    check("*** Begin Patch\n*** Delete File: f\n", &["parse -@1: the envelope is never closed"]);
    check("```apply_patch\n```\n", &["parse -@2: the envelope does not begin with `*** Begin Patch`"]);
}

#[test]
fn forms_that_come_later_are_named() {
    for (input, format) in [("{\"changes\":{}}", "lsp"), ("{\"reason\":\"build-finished\"}", "suggestions")] {
        let found = read_all(input.as_bytes(), &options(None));
        let message = format!("the {format} format is recognised, but this version cannot read it yet");
        assert!(found.len() == 1 && found[0].ends_with(&message), "{input}: {found:?}");
    }
}

#[test]
fn the_form_asked_for_is_the_only_one() {
    let forced = |format, input: &str| {
        let options = Options { format: Some(format), ..options(None) };
        read_all(input.as_bytes(), &options)
    };
    let f = entry("f");
    assert_eq!(forced(Format::PatchMany, &f)[0], "patch-many");
    assert_eq!(forced(Format::Ops, &f), ["parse 1@1: this is patch-many, but the batch is to be ops"]);
    assert_eq!(forced(Format::Ops, "x"), ["parse -@1: ops is JSON, but the input starts with `x`"]);
    assert!(forced(Format::Fenced, "x")[0].starts_with("parse -@1: no edit in the input"));
}

#[test]
fn bytes_that_are_no_text() {
    assert_eq!(read_all(b"a\n\xff", &options(None)), ["parse -@2: the input is not UTF-8"]);
    let marked = format!("\u{feff}{}", entry("f"));
    check(&marked, &["patch-many", "1@1 f modify [1@1 a>b]"]);
}

#[test]
fn diffs() {
    let plain = "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n";
    check(plain, &["diff", "1@1 f modify [1@3 2 rows]"]);
    let git = |lines: &str| format!("diff --git a/f b/f\n{lines}");
    check(&git(&format!("index 1..2 100644\n{plain}")), &["diff", "1@1 /f modify [1@5 2 rows]"]);
    check(&git("old mode 100644\nnew mode 100755\n"), &["diff", "1@1 /f executable modify"]);
    check(&git("deleted file mode 100644\n"), &["diff", "1@1 /f delete []"]);
    let created = "new file mode 100644\n--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+x\n";
    check(&git(created), &["diff", "1@1 /f regular create \"x\\n\""]);
    check("diff --git a/f b/g\nrename from f\nrename to g\n", &["diff", "1@1 /f move g"]);
    check("diff --git a/f b/g\ncopy from f\ncopy to g\n", &["diff", "1@1 /f copy g"]);
    check(&git("Binary files a/f and b/f differ\n"), &["diff", "1@1 /f modify [untold]"]);
    check(&git("GIT binary patch\nliteral 0\nx\n"), &["diff", "1@1 /f modify [patch]"]);
    check(&format!("Text\n```diff\n{plain}```\n"), &["fenced", "1@3 f modify [1@5 2 rows]"]);
    check(&format!("Text\n\n{plain}"), &["diff", "1@3 f modify [1@5 2 rows]"]);
    check(&plain.replace('\n', "\r\n"), &["diff", "1@1 f modify [1@3 2 rows]"]);
    let counted = [
        "diff",
        "1@1 f modify [1@3 2 rows]",
        "~counts-ignored hunk 1: the counts of the header do not fit the body; the body counts",
    ];
    check(&plain.replace("-1 ", "-1,7 "), &counted);
    // Names that are not at the top, but here.
    let here = git(&format!("index 1..2 100644\n{plain}")).replace("/f", "/here");
    check(&here, &["diff", "1@1 here modify [1@5 2 rows]"]);
    let both = git("old mode 100644\nnew mode 100755\n") + &here;
    check(&both, &["diff", "1@1 /f executable modify", "2@4 /here modify [1@8 2 rows]"]);
}

#[test]
fn diffs_faults() {
    let of = |hunk: &str, expected: &str| check(&format!("--- a/f\n+++ b/f\n{hunk}"), &[expected]);
    of("", "parse 1@1: the diff changes nothing of the file");
    of("@@ -1 +1 @@\n a\n", "parse 1@3: the diff changes nothing: all its lines are context");
    of(
        "@@ -1 +1 @@\n+a\n",
        "parse 1@3: the hunk adds lines, and neither its text nor its header says after which line",
    );
    check(
        "--- /dev/null\n+++ b/f\n@@ -0,0 +1,2 @@\n a\n+b\n",
        &["parse 1@3: a new file has a line that is not added"],
    );
    check(
        "diff --git a/f b/f\nBinary files x differ\nold mode 1\n",
        &["parse -@1: the header of the file: error parsing patches at byte 0: invalid file mode: 1"],
    );
    check(
        "diff --git a/f b/f\ndeleted file mode 100644\n\nBinary files g and h differ\n",
        &["parse -@4: `Binary files g and h differ` holds no bytes to apply"],
    );
}

/// A SEARCH/REPLACE block.
fn search(old: &str, new: &str) -> String {
    format!("<<<<<<< SEARCH\n{old}=======\n{new}>>>>>>> REPLACE\n")
}

#[test]
fn blocks() {
    let (ab, cd) = (search("a\n", "b\n"), search("c\n", "d\n"));
    check(&format!("f\n{ab}"), &["blocks", "1@2 f modify [1@2 2 rows]"]);
    let one = ["blocks", "1@2 f modify [1@2 2 rows, 2@7 2 rows]", "2@13 g modify [1@13 2 rows]"];
    check(&format!("f\n{ab}{cd}g\n{ab}"), &one);
    check(&format!("f\n{}", search("", "x\n\n")), &["blocks", "1@2 f fill \"x\\n\\n\""]);
    check(
        &format!("Do this:\n\n**f**\n```py\n{ab}```\nand then\n```py\n{cd}```\n"),
        &["blocks", "1@5 f modify [1@5 2 rows, 2@13 2 rows]"],
    );
    check(&format!("Do this:\n\n`f`\n\n```\n{ab}```\n"), &["fenced", "1@6 f modify [1@6 2 rows]"]);
    assert_eq!(read_all(ab.as_bytes(), &options(Some("f"))), ["blocks", "1@1 f modify [1@1 2 rows]"]);
    let long = ab
        .replace("<<<<<<<", "<<<<<<<<<")
        .replace("=======\n", "=======\n=========\n")
        .replace(">>>>>>>", ">>>>>>>>>");
    check(&format!("f\n{long}"), &["blocks", "1@2 f modify [1@2 3 rows]"]);
    check(&format!("f\n{ab}").replace('\n', "\r\n"), &["blocks", "1@2 f modify [1@2 2 rows]"]);
}

#[test]
fn blocks_faults() {
    let ab = search("a\n", "b\n");
    check(&ab, &["usage 1@1: the block names no path"]);
    let of = |text: &str, expected: &str| check(&format!("f\n{text}"), &[expected]);
    of("<<<<<<< SEARCH\na\n>>>>>>> REPLACE\n", "parse -@4: the block closes without a divider");
    of("<<<<<<< SEARCH\na\n=======\nb\n", "parse -@2: the block is never closed");
    of(&ab.replace("=======\n", "=====\n"), "parse -@6: the block closes without a divider");
    of(&search("a\n=======\n", "b\n"), "parse -@5: a second divider in one block");
    of(&format!("<<<<<<< SEARCH\na\n{ab}"), "parse -@2: the block is never closed");
    of(&format!("{ab}>>>>>>> REPLACE\n"), "parse -@7: `REPLACE` closes no block");
    let mixed = format!("```patch f\n{BLOCK}```\n```py\n{ab}```\n");
    check(&mixed, &["parse -@9: a block outside of the edit fences"]);
}

#[test]
fn hashline() {
    check("[f#01234567]\nSWAP 2.=3:\n+a\n+\n", &["hashline", "1@1 f tagged modify [2-3 2 rows]"]);
    let all = "\n[a b#0123]\nINS.HEAD:\n+x\n\nDEL 4\nINS.POST 5:\n++y\nMV d/g\n\n[g#01234567]\nREM\n";
    check(
        all,
        &[
            "hashline",
            "1@2 a b weakly tagged move d/g [start 1 rows, 4-4 0 rows, after(5) 1 rows]",
            "2@11 g tagged delete",
        ],
    );
    check(
        "*** Begin Patch\r\n[f#01234567]\r\nDEL 1\r\n*** End Patch\r\n",
        &["hashline", "1@2 f tagged modify [1-1 0 rows]"],
    );
    check(
        "```apply_patch\n*** Begin Patch\n[f#01234567]\nREM\n*** End Patch\n```\n",
        &["fenced", "1@3 f tagged delete"],
    );
}

#[test]
fn hashline_faults() {
    let of = |lines: &str, expected: &str| check(&format!("[f#01234567]\n{lines}"), &[expected]);
    of("", "parse 1@1: the section has no operation");
    of("SWAP 2:\n+x\n", "parse 1@2: `SWAP 2:` is no operation and no `+` row");
    of("SWAP 2.=2:\nx\n", "parse 1@3: `x` is no operation and no `+` row");
    of("SWAP 2.=2:\n", "parse 1@2: `SWAP 2.=2:` has no body");
    of("SWAP 2.=2:\nDEL 3\n", "parse 1@2: `SWAP 2.=2:` has no body");
    of("DEL 2\n+x\n", "parse 1@3: a body row below `DEL 2`, which takes none");
    of("+x\nDEL 2\n", "parse 1@2: a body row without an operation above it");
    of("SWAP 2.=2:\n+a\n\n+b\n", "parse 1@4: an empty line inside a body");
    of("DEL 1\nREM\n", "parse 1@3: `REM` beside edits of the same file");
    of("MV g\nMV h\n", "parse 1@3: a second `MV`");
    of("MV g\nREM\n", "parse 1@3: `REM` beside `MV`");
    of("DEL 2\n*** Abort\n", "parse 1@3: `*** Abort` is no operation and no `+` row");
    check("[f]\nDEL 1\n", &["parse 1@1: the section has no tag"]);
    check(
        "[f#012345]\nDEL 1\n",
        &["parse 1@1: `012345` is no tag: it has 8 to 64 hex digits, or the 4 of other tools"],
    );
    check(
        "*** Begin Patch\n[f#01234567]\nDEL 1\n*** End Patch\nDEL 2\n",
        &["parse -@5: text after `*** End Patch`"],
    );
}

/// Valid batches to be broken.
fn seeds() -> Vec<String> {
    let ops = r#"[{"path":"f","op":"update","diff":"@@ -1,2 +1,2 @@ é\n a\n-b\n+c\n\\ No newline at end of file\n"}]"#;
    vec![
        entry("é"),
        ops.to_owned(),
        serde_json::json!({"patches": format!("[{}]", entry("f"))}).to_string(),
        format!("Text\r\n  ~~~~patch_many 'a b' c\r\n{BLOCK}{BLOCK}  ~~~~\n> ```patch é\n> {BLOCK}\n```\n"),
        format!("=== PATH: f ===\n{}=== PATH: é ===\n{BLOCK}", BLOCK.replace("a\n", "# ...\né\n")),
        r#"{"calls":[{"tool":"file_edit","args":["é","a","b","replace_all=true"]},{"path":"f","content":"x"}]}"#.into(),
        "From 1\n---\n\ndiff --git a/é b/f\nnew mode 100755\nrename from é\nrename to f\n--- a/é\n+++ b/f\n@@ -1,2 +1 @@ é\n é\n-- x\n\\ No\n-- \n".into(),
        "diff --git \"a/\\303\" b/f\nGIT binary patch\nliteral 9\nQcmeAS@N;MQ|Bsmk01_qxa{vGU\n\ndelta 8\nx\n\n".into(),
        format!("**é**\n\n```x\n{}f\n{}\n```\n", search("a\né\n", "é\nb\n"), search("", "é\n")),
        "[é#01234567]\nSWAP 1.=2:\n+é\n+\nINS.PRE 3:\n+x\nDEL 4\nMV f\n[f#1234]\nINS.TAIL:\n+[é]\n".into(),
        envelope_of("*** Update File: é\n*** Move to: f\n@@ c\n-é\n\n*** End of File\n*** Add File: f\n+é\n"),
        "@@ class é: @@ def\n@@ lines 3-5\n-é\n+\n*** End of File\n@@\n".to_owned(),
    ]
}

fn survives(input: &[u8]) {
    for format in [None, Some(Format::Fenced), Some(Format::Diff), Some(Format::Ops), Some(Format::Envelope)]
    {
        let default_path = format.map(|_| BatchPath::from("f"));
        let options = Options { format, default_path, placeholders: true, strip: None, exists: &|_| false };
        if let Err(failed) = parse(input, &options) {
            assert!(!failed.errors.is_empty());
        }
    }
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in "\\PC{0,80}", bytes in proptest::collection::vec(any::<u8>(), 0..60)) {
        survives(text.as_bytes());
        survives(&bytes);
    }

    #[test]
    fn lines_of_syntax_are_read_or_refused(lines in proptest::collection::vec(
        "(@@|@@ [a-e@ -]{0,6}|@@ -[0-9],[0-9] \\+[0-9] @@|[-+ ]?[a-eé]{0,3}|```|  ```patch f|~~~diff|<<<<<<< ORIGINAL\
         |=======|>>>>>>> UPDATED|=== PATH: é ===|> ```|\\*\\*\\* End of File|\\\\ No|<p>|1\\. )(\r|\t)?", 0..24)) {
        survives(lines.join("\n").as_bytes());
    }

    #[test]
    fn broken_batches_are_read_or_refused(
        seed in 0usize..12, cuts in proptest::collection::vec((any::<u16>(), 0usize..8, "\\PC{0,3}"), 1..5)
    ) {
        let mut text = seeds().swap_remove(seed).into_bytes();
        for (at, length, put) in cuts {
            let at = usize::from(at) % (text.len() + 1);
            let end = (at + length).min(text.len());
            text.splice(at..end, put.into_bytes());
        }
        survives(&text);
        survives(String::from_utf8_lossy(&text).as_bytes());
    }
}
