//! Whole batches over a tree in memory: the tree before, the batch as written, the tree after or the refusals.

use super::*;
use crate::disk::{Kind, Owner, Stamp, Stat};
use crate::edit::{
    Action, BatchPath, ChangeSet, Code, Existing, FileOperation, Format, Mode, Origin, Precondition, RelPath,
    Step,
};
use crate::input;
use bstr::{BString, ByteSlice};
use std::collections::BTreeMap;
use std::io;
use std::sync::Mutex;

/// What stands at a path.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Object {
    File(Vec<u8>, u32),
    Link(BString),
}

/// A tree without folders of its own: a folder is there when something stands below it.
#[derive(Clone, Default, Debug)]
struct Memory(BTreeMap<RelPath, Object>);

impl Memory {
    /// `path` or `path@mode` with their texts; `path@link` with the target.
    fn new(files: &[(&str, &str)]) -> Self {
        let object = |(name, text): &(&str, &str)| {
            let (path, mode) = name.split_once('@').unwrap_or((name, "644"));
            let object = match mode {
                "link" => Object::Link((*text).into()),
                mode => {
                    let mode = u32::from_str_radix(mode, 8).expect("an octal mode");
                    Object::File(text.as_bytes().to_vec(), mode)
                }
            };
            (RelPath::new(path).expect("a good path"), object)
        };
        Self(files.iter().map(object).collect())
    }

    /// In the form of [`Memory::new`].
    fn shown(&self) -> Vec<(String, String)> {
        let shown = |(path, object): (&RelPath, &Object)| match object {
            Object::Link(target) => (format!("{path}@link"), target.to_string()),
            Object::File(bytes, mode) => {
                let mode = if *mode == 0o644 { String::new() } else { format!("@{mode:o}") };
                (format!("{path}{mode}"), bytes.to_str_lossy().into_owned())
            }
        };
        self.0.iter().map(shown).collect()
    }

    fn is_folder(&self, path: &RelPath) -> bool {
        self.0.keys().any(|p| p.is_below(path))
    }

    fn put(&mut self, file: &Resolved) {
        match (&file.after, &file.new) {
            (crate::disk::Node::File { mode, .. }, Some(new)) => {
                let mode = if file.metadata != Metadata::New { *mode } else { mode & !0o022 };
                self.0.insert(file.path.clone(), Object::File(new.whole().to_vec(), mode));
            }
            (crate::disk::Node::Link { target }, _) => {
                self.0.insert(file.path.clone(), Object::Link(target.clone()));
            }
            _ => {
                self.0.remove(&file.path);
            }
        }
    }
}

impl Source for Memory {
    fn resolve(&self, written: &BatchPath, _last: LastLink) -> Result<Target, Refusal> {
        let outside = || Refusal::new(Code::OutsideRoot, "outside");
        let mut names: Vec<&[u8]> = Vec::new();
        for name in written.written.split_str("/") {
            match name {
                b"" | b"." => {}
                b".." => drop(names.pop().ok_or_else(outside)?),
                name => names.push(name),
            }
        }
        let path = RelPath::new(bstr::join("/", names)).map_err(|_| outside())?;
        Ok(Target { path, via: None })
    }

    fn stat(&self, path: &RelPath) -> io::Result<Option<Stat>> {
        let stamp = Stamp { file: (0, 0), size: 0, modified: 0, changed: 0 };
        let stat = |kind, mode| Stat {
            kind,
            mode,
            size: 0,
            links: 1,
            owner: Owner { user: 0, group: 0 },
            bare: false,
            stamp,
            mount: 0,
        };
        Ok(match self.0.get(path) {
            Some(Object::File(_, mode)) => Some(stat(Kind::File, *mode)),
            Some(Object::Link(_)) => Some(stat(Kind::Link, 0o777)),
            None => self.is_folder(path).then(|| stat(Kind::Directory, 0o755)),
        })
    }

    fn read(&self, path: &RelPath) -> io::Result<(Vec<u8>, Stat)> {
        let Some(Object::File(bytes, _)) = self.0.get(path) else {
            return Err(io::ErrorKind::NotFound.into());
        };
        Ok((bytes.clone(), self.stat(path)?.expect("stands there")))
    }

    fn read_link(&self, path: &RelPath) -> io::Result<BString> {
        match self.0.get(path) {
            Some(Object::Link(target)) => Ok(target.clone()),
            _ => Err(io::ErrorKind::InvalidInput.into()),
        }
    }

    fn list(&self, path: &RelPath) -> io::Result<Vec<BString>> {
        let below = self.0.keys().filter(|p| p.is_below(path));
        let skip = path.names().count();
        Ok(below.filter_map(|p| p.names().nth(skip).map(ToOwned::to_owned)).collect())
    }

    fn is_binary(&self, path: &RelPath) -> bool {
        path.name().ends_with_str(".bin")
    }

    /// What stands beside it with the ending `.base`.
    fn base(&self, path: &RelPath, present: &[u8], _seen: Option<&Stamp>) -> Option<Vec<u8>> {
        match self.0.get(&RelPath::new(format!("{path}.base")).ok()?)? {
            Object::File(bytes, _) => Some(bytes.clone()).filter(|bytes| bytes != present),
            Object::Link(_) => None,
        }
    }
}

#[derive(Default)]
struct Collected(Mutex<Vec<Resolved>>);

impl Sink for Collected {
    fn put(&self, file: &Resolved) -> Result<(), SinkFull> {
        self.0.lock().expect("no panic").push(file.clone());
        Ok(())
    }
}

/// The outcome of `batch`: the tree and the plan, or the refusals as `code path`.
fn run(batch: &str, before: &[(&str, &str)], options: Options) -> Result<(Memory, Plan), Vec<String>> {
    let reading = input::Options {
        format: None,
        default_path: None,
        placeholders: false,
        strip: None,
        exists: &|_| false,
    };
    let set = input::parse(batch.as_bytes(), &reading).map_err(|failed| {
        failed.errors.iter().map(|e| format!("{} {}", e.code, e.message)).collect::<Vec<_>>()
    })?;
    run_set(&set, before, options)
}

/// The same for a change set.
fn run_set(
    set: &ChangeSet,
    before: &[(&str, &str)],
    options: Options,
) -> Result<(Memory, Plan), Vec<String>> {
    let (tree, sink) = (Memory::new(before), Collected::default());
    match plan(set, &tree, &options, &sink) {
        Ok(plan) => {
            let mut after = tree.clone();
            let files = sink.0.into_inner().expect("no panic");
            for file in &files {
                after.0.remove(&file.path);
            }
            files.iter().for_each(|file| after.put(file));
            Ok((after, plan))
        }
        Err(NoPlan::Refused { refusals, .. }) => {
            let path = |r: &Refusal| r.path.as_ref().map(ToString::to_string).unwrap_or_default();
            Err(refusals.iter().map(|r| format!("{} {}", r.code, path(r))).collect())
        }
        Err(NoPlan::SinkFull) => panic!("the sink takes everything"),
    }
}

/// The batch makes `after` of `before`.
fn check(batch: &str, before: &[(&str, &str)], after: &[(&str, &str)]) {
    match run(batch, before, Options::default()) {
        Ok((tree, _)) => assert_eq!(tree.shown(), Memory::new(after).shown(), "{batch}"),
        Err(refusals) => panic!("{batch}: {refusals:?}"),
    }
}

/// The batch is refused for these reasons.
fn refused(batch: &str, before: &[(&str, &str)], expected: &[&str]) {
    match run(batch, before, Options::default()) {
        Ok((tree, _)) => panic!("{batch}: {:?}", tree.shown()),
        Err(refusals) => assert_eq!(refusals, expected, "{batch}"),
    }
}

fn envelope(lines: &str) -> String {
    format!("*** Begin Patch\n{lines}*** End Patch\n")
}

#[test]
fn envelopes_compose_their_sections() {
    let twice = "*** Update File: f\n@@\n-a\n+x\n*** Update File: ./f\n@@\n-x\n+y\n";
    check(&envelope(twice), &[("f", "a\nb\n")], &[("f", "y\nb\n")]);
    let moved = "*** Update File: f\n*** Move to: d/g\n@@\n-a\n+A\n*** Update File: d/g\n@@\n-b\n+B\n";
    check(&envelope(moved), &[("f@755", "a\nb\n")], &[("d/g@755", "A\nB\n")]);
    let added = "*** Add File: f\n+a\n+b\n*** Update File: f\n@@\n-b\n+B\n";
    check(&envelope(added), &[], &[("f", "a\nB\n")]);
    let gone = "*** Update File: f\n*** Move to: g\n@@\n-a\n+A\n*** Update File: f\n@@\n-b\n+B\n";
    refused(&envelope(gone), &[("f", "a\nb\n")], &["missing f"]);
    let several = "*** Update File: f\n@@\n-zzz\n+A\n*** Delete File: g\n*** Add File: f\n+x\n";
    refused(&envelope(several), &[("f", "a\nb\n")], &["no-match f", "missing g", "exists f"]);
    refused(&envelope("*** Add File: ../x\n+a\n"), &[], &["outside-root ../x"]);
}

#[test]
fn crlf_in_an_envelope_is_not_content() {
    let batch = envelope("*** Add File: g\n+x\n*** Update File: f\n@@\n-a\n+A\n").replace('\n', "\r\n");
    check(&batch, &[("f", "a\nb\n")], &[("f", "A\nb\n"), ("g", "x\n")]);
    check(&batch, &[("f", "a\r\nb\n")], &[("f", "A\r\nb\n"), ("g", "x\n")]);
}

/// The JSON entry that replaces `old` by `new` in `f`, with further keys.
fn replacing(old: &str, new: &str, more: &str) -> String {
    let (old, new) = (serde_json::json!(old), serde_json::json!(new));
    format!("{{\"path\":\"f\",\"old\":{old},\"new\":{new}{more}}}")
}

#[test]
fn edits_replace_as_often_as_they_say() {
    let f = |text| [("f", text)];
    check(&replacing("a", "aa", ",\"all\":true"), &f("a a\n"), &f("aa aa\n"));
    check(&replacing("a", "b", ",\"expected\":2"), &f("a a\n"), &f("b b\n"));
    refused(&replacing("a", "b", ""), &f("a a\n"), &["ambiguous f"]);
    refused(&replacing("a", "b", ",\"expected\":2"), &f("a a a\n"), &["ambiguous f"]);
    refused(&replacing("a", "b", ",\"expected\":3"), &f("a a\n"), &["no-match f"]);
    // A newline that only the end of the file lacks.
    check(&replacing("b\n", "B\n", ""), &f("a\nb"), &f("a\nB"));
    check(&replacing("b\n", "", ",\"all\":true"), &f("b\na\nb"), &f("a\n"));
    refused(&replacing("b\n", "B\n", ""), &f("b\na\nb"), &["ambiguous f"]);
}

#[test]
fn an_empty_old_text_fills_an_empty_file() {
    check(&replacing("", "x\n", ""), &[("f", "")], &[("f", "x\n")]);
    refused(&replacing("", "x\n", ""), &[("f", "a")], &["usage f"]);
    refused(&replacing("", "x\n", ""), &[], &["missing f"]);
}

#[test]
fn an_edit_that_changes_nothing_is_told_as_a_hunk() {
    let (_, plan) = run(&replacing("a", "a", ""), &[("f", "a\n")], Options::default()).expect("fits");
    assert!(plan.is_no_op());
    assert_eq!((plan.files.len(), plan.files[0].hunks.len(), plan.files[0].added), (1, 1, 0));
}

#[test]
fn writes_replace_but_do_not_empty() {
    check(r#"{"path":"n/f","content":"x"}"#, &[], &[("n/f", "x")]);
    check(r#"{"path":"f","content":"x"}"#, &[("f@755", "old")], &[("f@755", "x")]);
    check(r#"{"path":"f","content":""}"#, &[], &[("f", "")]);
    check(r#"{"path":"f","content":"","allow_empty":true}"#, &[("f", "old")], &[("f", "")]);
    refused(r#"{"path":"f","content":""}"#, &[("f", "old")], &["usage f"]);
    let call = r#"{"tool":"file_write","args":["d/f","x"]}"#;
    check(call, &[("d/g", "")], &[("d/f", "x"), ("d/g", "")]);
    refused(call, &[("g", "")], &["missing d/f"]);
    refused(call, &[("d", "")], &["not-regular d/f"]);
}

#[test]
fn a_byte_order_mark_never_comes_or_goes_silently() {
    for (before, content, words) in [("a\n", "\u{feff}b\n", "adds"), ("\u{feff}a\n", "b\n", "removes")] {
        let batch = serde_json::json!({"path": "f", "content": content}).to_string();
        let (_, plan) = run(&batch, &[("f", before)], Options::default()).expect("fits");
        assert_eq!(plan.warnings[0].code, crate::edit::WarningCode::BomChanged);
        assert!(plan.warnings[0].message.contains(words), "{:?}", plan.warnings);
    }
    let (_, plan) = run(&replacing("a", "b", ""), &[("f", "\u{feff}a\n")], Options::default()).expect("fits");
    assert!(plan.warnings.is_empty());
}

/// A change set of one operation on `f`, planned where links are allowed; in the form of [`Memory::shown`].
fn acting(action: Action, mode: Option<Mode>, before: &[(&str, &str)]) -> Result<Vec<String>, Vec<String>> {
    let origin = Origin { entry: 1, hunk: 0, line: 1 };
    let operation = FileOperation { path: "f".into(), action, expects: Precondition::Any, mode, origin };
    let set = ChangeSet { format: Format::Diff, operations: vec![operation], warnings: Vec::new() };
    let options = Options { allow_symlinks: true, ..Options::default() };
    let (tree, plan) = run_set(&set, before, options)?;
    let actions = plan.files.iter().map(|file| file.action.as_str().to_owned());
    Ok(actions.chain(tree.shown().into_iter().map(|(path, text)| format!("{path} {text}"))).collect())
}

#[test]
fn modes_are_part_of_the_plan() {
    let create = |content: &str| Action::Create { content: content.into(), existing: Existing::Refuse };
    let modify = || Action::Modify { steps: Vec::new() };
    let run = |action, mode, before, expected: &[&str]| {
        assert_eq!(
            acting(action, Some(mode), before).as_deref(),
            Ok(&expected.iter().map(ToString::to_string).collect::<Vec<_>>()[..])
        );
    };
    run(modify(), Mode::Executable, &[("f@640", "a")], &["mode", "f@750 a"]);
    run(modify(), Mode::Regular, &[("f@755", "a")], &["mode", "f a"]);
    run(create("x"), Mode::Executable, &[], &["create", "f@755 x"]);
    run(create("d/x"), Mode::Link, &[], &["create", "f@link d/x"]);
    run(Action::Delete { steps: Vec::new() }, Mode::Link, &[("f@link", "g")], &["delete"]);
    let delete = Action::Delete { steps: Vec::new() };
    assert_eq!(acting(delete, None, &[("f@link", "g")]), Ok(vec!["delete".to_owned()]));
    let refused = |action, mode, before| acting(action, Some(mode), before).expect_err("refused");
    assert_eq!(refused(create("../x"), Mode::Link, &[]), ["outside-root f"]);
    assert_eq!(refused(modify(), Mode::Link, &[("f", "a")]), ["not-regular f"]);
    assert_eq!(refused(modify(), Mode::Regular, &[("f@link", "a")]), ["not-regular f"]);
    assert_eq!(refused(create("x"), Mode::Submodule, &[]), ["not-regular f"]);
}

#[test]
fn copies_keep_their_source() {
    let copy = |to: &str| Action::Copy { to: to.into(), steps: Vec::new() };
    let found = acting(copy("g"), None, &[("f@755", "a\n")]).expect("fits");
    assert_eq!(found, ["none", "create", "f@755 a\n", "g@755 a\n"]);
    let edited = "diff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n\
                  diff --git a/f b/g\ncopy from f\ncopy to g\n--- a/f\n+++ b/g\n@@ -1 +1 @@\n-a\n+c\n";
    check(edited, &[("f", "a\n")], &[("f", "b\n"), ("g", "c\n")]);
    assert_eq!(acting(copy("g"), None, &[("f", ""), ("g", "")]).expect_err("refused"), ["exists g"]);
    assert_eq!(acting(copy("f"), None, &[("f", "")]).expect_err("refused"), ["exists f"]);
}

#[test]
fn a_deletion_that_says_what_it_removes_removes_no_more() {
    let delete = || Action::Delete { steps: vec![Step { hunks: Vec::new() }] };
    assert_eq!(acting(delete(), None, &[("f", "")]).expect("fits"), ["delete"]);
    assert_eq!(acting(delete(), None, &[("f", "a")]).expect_err("refused"), ["no-match f"]);
}

/// A git diff of `f` with these lines below `diff --git`.
fn git(lines: &str) -> String {
    format!("diff --git a/f b/f\n{lines}")
}

#[test]
fn diffs_create_delete_move_and_change_modes() {
    check(
        &git("new file mode 100755\n--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+x\n"),
        &[],
        &[("f@755", "x\n")],
    );
    check(&git("new file mode 100644\nindex 0..e69\n"), &[], &[("f", "")]);
    let unterminated = "--- /dev/null\n+++ b/f\n@@ -0,0 +1,2 @@\n+x\n+y\n\\ No newline at end of file\n";
    check(unterminated, &[], &[("f", "x\ny")]);
    check("--- a/f\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n", &[("f", "x\n")], &[]);
    refused("--- a/f\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n", &[("f", "x\ny\n")], &["no-match f"]);
    refused(&git("deleted file mode 100644\n"), &[("f", "x\n")], &["no-match f"]);
    check(&git("deleted file mode 100644\n"), &[("f", "")], &[]);
    check(&git("old mode 100644\nnew mode 100755\n"), &[("f", "x\n")], &[("f@755", "x\n")]);
    let moved = "diff --git a/f b/d/g\nold mode 100644\nnew mode 100755\nrename from f\nrename to d/g\n\
                 --- a/f\n+++ b/d/g\n@@ -1 +1 @@\n-x\n+y\n";
    check(moved, &[("f", "x\n")], &[("d/g@755", "y\n")]);
    let copied = "diff --git a/f b/g\ncopy from f\ncopy to g\n--- a/f\n+++ b/g\n@@ -1 +1 @@\n-x\n+y\n";
    check(copied, &[("f", "x\n")], &[("f", "x\n"), ("g", "y\n")]);
    refused(
        &git("new file mode 120000\n--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+x\n"),
        &[],
        &["not-regular f"],
    );
    refused(
        &git(
            "index 1..2 160000\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-Subproject commit 1\n+Subproject commit 2\n",
        ),
        &[],
        &["not-regular f"],
    );
}

#[test]
fn numbers_of_a_diff_break_ties_and_place_insertions() {
    let hunk = |header: &str, rows: &str| format!("--- a/f\n+++ b/f\n@@ {header} @@ fn elsewhere()\n{rows}");
    let f = |text| [("f", text)];
    check(&hunk("-2,0 +3", "+new\n"), &f("a\nb\nc\n"), &f("a\nb\nnew\nc\n"));
    check(&hunk("-0,0 +1", "+new\n"), &f("a\n"), &f("new\na\n"));
    refused(&hunk("-9,0 +10", "+new\n"), &f("a\n"), &["range f"]);
    check(&hunk("-2,1 +2,1", "-a\n+A\n"), &f("a\na\n"), &f("a\nA\n"));
    check(&hunk("-7,1 +7,1", "-b\n+B\n"), &f("a\nb\n"), &f("a\nB\n"));
    refused(&hunk("-7,1 +7,1", "-a\n+A\n"), &f("a\na\n"), &["ambiguous f"]);
    check(&hunk("-1,1 +0,0", "--- a\n"), &f("-- a\nb\n"), &f("b\n"));
    check(&hunk("-1,5 +1,5", "-a\n+A\n b\n\n"), &f("a\nb\n"), &f("A\nb\n"));
    let two = "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+A\n--- a/g\n+++ b/g\n@@ -1 +1 @@\n-y\n+Y\n";
    refused(two, &[("f", "a\n"), ("g", "x\n")], &["no-match g"]);
}

#[test]
fn a_binary_section_is_made_exactly_or_refuses_the_batch() {
    let literal = "new file mode 100644\nindex 0..1\nGIT binary patch\nliteral 10\nUcmV+l0QLU>0RjUA1qKHQ2>`DEE&u=k\n\n\
                   literal 0\nKcmV+b0RR6000031\n\n";
    let text = "diff --git a/g b/g\n--- a/g\n+++ b/g\n@@ -1 +1 @@\n-x\n+y\n";
    let bytes = "\0\u{1}\u{2}\u{3}\u{4}\u{5}\u{6}\u{7}\u{8}\t";
    check(&format!("{}{text}", git(literal)), &[("g", "x\n")], &[("f", bytes), ("g", "y\n")]);
    let changed = literal.replace("new file mode 100644\n", "");
    refused(&format!("{text}{}", git(&changed)), &[("f", "other"), ("g", "x\n")], &["stale f"]);
    refused(
        &format!("{text}{}", git("index 1..2 100644\nBinary files a/f and b/f differ\n")),
        &[("f", "\0"), ("g", "x\n")],
        &["not-text f"],
    );
}

/// A SEARCH/REPLACE block for `f`.
fn search(old: &str, new: &str) -> String {
    format!("f\n<<<<<<< SEARCH\n{old}=======\n{new}>>>>>>> REPLACE\n")
}

#[test]
fn blocks_of_one_path_see_the_file_as_it_was() {
    let two = format!("{}{}", search("pin\non\n", "pin\ngen\non\n"), search("gen\n", ""));
    check(&two, &[("f", "pin\non\nmid\ngen\n")], &[("f", "pin\ngen\non\nmid\n")]);
    let turned = format!("{}{}", search("b\n", "B\n"), search("a\n", "A\n"));
    check(&turned, &[("f", "a\r\nb\n")], &[("f", "A\r\nB\n")]);
    check(&search("x = 1\n", "y\n"), &[("f", "max = 1\nx = 1\n")], &[("f", "max = 1\ny\n")]);
    refused(&search("a\n", "b\n"), &[("f", "a\na\n")], &["ambiguous f"]);
    refused(&search("a\n", "b\n"), &[("g", "a\n")], &["missing f"]);
}

#[test]
fn an_empty_search_makes_or_fills_a_file() {
    check(&search("", "x\n"), &[], &[("f", "x\n")]);
    check(&search("", "x\n"), &[("f@755", "")], &[("f@755", "x\n")]);
    refused(&search("", "x\n"), &[("f", "a")], &["usage f"]);
}

/// A hashline section of `f`, which holds `text`.
fn section(text: &str, lines: &str) -> String {
    format!("[f#{}]\n{lines}", crate::edit::Hash::of(text.as_bytes()).tag())
}

#[test]
fn numbered_edits_count_the_lines_of_the_tagged_file() {
    let of = |before: &str, lines: &str, after: &str| {
        check(&section(before, lines), &[("f", before)], &[("f", after)]);
    };
    let (open, closed) = ("a\nb\nc\nd\ne", "a\nb\nc\nd\ne\n");
    of(open, "INS.PRE 3:\n+y\nINS.POST 2:\n+x\n", "a\nb\nx\ny\nc\nd\ne");
    of(open, "INS.POST 2:\n+after\nSWAP 2.=2:\n+B\nINS.PRE 2:\n+before\n", "a\nbefore\nB\nafter\nc\nd\ne");
    of(open, "INS.TAIL:\n+t\nINS.POST 5:\n+p\nINS.PRE 1:\n+q\nINS.HEAD:\n+h\n", "h\nq\na\nb\nc\nd\ne\np\nt");
    of(open, "DEL 5\nINS.TAIL:\n+t\n", "a\nb\nc\nd\nt");
    of(open, "DEL 4.=5\n", "a\nb\nc");
    of(open, "DEL 1.=5\n", "");
    of(closed, "DEL 2.=4\nINS.POST 3:\n+mid\n", "a\nmid\ne\n");
    of(closed, "SWAP 2.=4:\n+X\nINS.PRE 3:\n+mid\n", "a\nX\nmid\ne\n");
    of(closed, "DEL 2\nSWAP 3.=3:\n+C\n+C2\n", "a\nC\nC2\nd\ne\n");
    of("", "INS.TAIL:\n+t\nINS.HEAD:\n+h\n", "h\nt\n");
    of("a\nb\r\nc\n", "SWAP 1.=1:\n+A\nINS.POST 2:\n+n\n", "A\nb\r\nn\r\nc\n");
    of("\u{feff}a\rb\nc\n", "SWAP 2.=2:\n+C\nINS.HEAD:\n+h\n", "\u{feff}h\na\rb\nC\n");
}

#[test]
fn numbered_edits_that_do_not_fit() {
    let text = "a\nb\n";
    let of = |lines: &str, expected: &[&str]| refused(&section(text, lines), &[("f", text)], expected);
    of("DEL 3\n", &["range f"]);
    of("DEL 0\n", &["range f"]);
    of("INS.POST 3:\n+x\n", &["range f"]);
    of("SWAP 2.=1:\n+x\n", &["range f"]);
    of("SWAP 1.=2:\n+x\nDEL 2\nDEL 9\n", &["overlap f", "range f"]);
    refused(&section("", "DEL 1\n"), &[("f", "")], &["range f"]);
    refused("[f#01234567]\nDEL 1\n", &[("f", text)], &["stale f"]);
    refused("[f#0123]\nDEL 1\n", &[("f", text)], &["stale f"]);
    refused("[f#01234567]\nREM\n", &[("f", text)], &["stale f"]);
    refused("[f#01234567]\nDEL 1\n", &[], &["missing f"]);
}

#[test]
fn sections_of_one_file_are_one_step() {
    let (text, more) = ("1\n2\n3\n", [("f", "1\n2\n3\n")]);
    let two =
        section(text, "SWAP 1.=1:\n+a\n+b\n") + &section(text, "INS.POST 3:\n+c\n").replace("[f", "[./f");
    check(&two, &more, &[("f", "a\nb\n2\n3\nc\n")]);
    check(&(two.clone() + &section(text, "DEL 2\nMV g\n")), &more, &[("g", "a\nb\n3\nc\n")]);
    refused(&(section(text, "DEL 2\n") + &section(text, "DEL 2.=3\n")), &more, &["overlap f"]);
    refused(&(section(text, "DEL 9\n") + "[f#00000000]\nDEL 8\n"), &more, &["stale f"]);
    // The numbers of a section count a version that an entry of another form has changed.
    let batch = format!(
        "```patch f\n<<<<<<< ORIGINAL\n1\n=======\n0\n1\n>>>>>>> UPDATED\n```\n\n```edit\n*** Begin Patch\n{}*** End Patch\n```\n",
        section(text, "DEL 2\n")
    );
    refused(&batch, &more, &["stale f"]);
}

#[test]
fn what_is_odd_about_numbered_edits_is_told() {
    let weak = format!("[f#{}]\nSWAP 1.=1:\n+b\n", crate::edit::WeakTag::of(b"a\n"));
    let warnings = |batch: &str, text: &str| {
        let (_, plan) = run(batch, &[("f", text)], Options::default()).expect("fits");
        plan.warnings.iter().map(|w| w.code.as_str()).collect::<Vec<_>>()
    };
    assert_eq!(warnings(&weak, "a\n"), ["weak-tag"]);
    let text = "keep\nold\nkeep\n";
    assert_eq!(warnings(&section(text, "SWAP 2.=2:\n+keep\n+new\n"), text), ["boundary-echo"]);
    assert_eq!(warnings(&section(text, "SWAP 2.=2:\n+f(\n"), text), ["boundary-echo"]);
    assert!(warnings(&section(text, "SWAP 2.=2:\n+new\n"), text).is_empty());
    // The line that an insertion names, typed again.
    assert_eq!(warnings(&section(text, "INS.POST 2:\n+old\n+new\n"), text), ["boundary-echo"]);
    assert_eq!(warnings(&section(text, "INS.PRE 2:\n+new\n+old\n"), text), ["boundary-echo"]);
    assert!(warnings(&section(text, "INS.POST 2:\n+new(\n+keep\n"), text).is_empty());
}

#[test]
fn names_can_be_chained_and_swapped() {
    let moves = |pairs: &[(&str, &str)]| {
        let entry = |(from, to): &(&str, &str)| serde_json::json!({"path": from, "moveTo": to});
        serde_json::Value::from(pairs.iter().map(entry).collect::<Vec<_>>()).to_string()
    };
    let three = [("a", "1"), ("b", "2"), ("c", "3")];
    check(&moves(&[("a", "b"), ("b", "c"), ("c", "d")]), &three, &[("b", "1"), ("c", "2"), ("d", "3")]);
    check(&moves(&[("c", "d"), ("b", "c"), ("a", "b")]), &three, &[("b", "1"), ("c", "2"), ("d", "3")]);
    check(&moves(&[("a", "b"), ("b", "a")]), &three, &[("a", "2"), ("b", "1"), ("c", "3")]);
    check(&moves(&[("a", "b"), ("b", "c"), ("c", "a")]), &three, &[("a", "3"), ("b", "1"), ("c", "2")]);
    refused(&moves(&[("a", "b")]), &three, &["exists b"]);
    refused(&moves(&[("a", "b"), ("b", "c")]), &three, &["exists c"]);
    // Where nothing stands in the way, the second move goes on with the first file.
    check(&moves(&[("a", "x"), ("x", "y")]), &three, &[("b", "2"), ("c", "3"), ("y", "1")]);
    let made = r#"[{"path":"a","op":"create","diff":"new"},{"path":"a","moveTo":"x"}]"#;
    check(made, &three, &[("a", "new"), ("b", "2"), ("c", "3"), ("x", "1")]);
    let deleted = r#"[{"path":"a","moveTo":"b"},{"path":"b","op":"delete"}]"#;
    refused(deleted, &three, &["exists b"]);
}

#[test]
fn lines_that_stand_in_another_file_of_the_batch_are_told() {
    let reading = input::Options {
        format: None,
        default_path: None,
        placeholders: false,
        strip: None,
        exists: &|_| false,
    };
    let lines = "*** Update File: f\n@@\n-key one\n+key 1\n key two\n*** Update File: g\n@@\n-last\n+end\n";
    let set = input::parse(envelope(lines).as_bytes(), &reading).expect("parses");
    let tree = Memory::new(&[("f", "something\n"), ("g", "x\nkey one  \nkey two\nlast\n")]);
    let Err(NoPlan::Refused { refusals, .. }) = plan(&set, &tree, &Options::default(), &()) else {
        panic!("placed");
    };
    let hint = refusals[0].hint.as_deref().unwrap_or_default();
    assert!(refusals.len() == 1 && hint.contains("stand in g, line 2"), "{refusals:?}");
}

#[test]
fn a_place_that_is_unique_only_since_the_base_is_not_believed() {
    let (once, twice) = ("a()\nt()\nz()\n", "a()\nt()\nz()\nmid\n  a()\n  t()\n  z()\n");
    let edit = envelope("*** Update File: f\n@@\n a()\n-t()\n+hit()\n z()\n");
    let after = "a()\nhit()\nz()\n";
    refused(&edit, &[("f", once), ("f.base", twice)], &["ambiguous f"]);
    refused(&replacing("t()", "hit()", ""), &[("f", once), ("f.base", twice)], &["ambiguous f"]);
    for base in [once, "x\n", &once.replace('\n', "\r\n")] {
        check(&edit, &[("f", once), ("f.base", base)], &[("f", after), ("f.base", base)]);
    }
    let tag = crate::edit::Hash::of(once.as_bytes()).tag();
    let tagged = replacing("t()", "hit()", &format!(",\"tag\":\"{tag}\""));
    check(&tagged, &[("f", once), ("f.base", twice)], &[("f", after), ("f.base", twice)]);
    // What an earlier entry makes has no base.
    let chain = format!("[{},{}]", replacing("mid", "t()", ""), replacing("t()", "hit()", ""));
    check(&chain, &[("f", "mid\n"), ("f.base", "t()\n")], &[("f", "hit()\n"), ("f.base", "t()\n")]);
}
