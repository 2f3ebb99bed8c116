//! Diffs that git made and diffs that `check` shows: both programs take both, and come to the same tree.

use crate::support::{Rng, TestRepo};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// What stands at a path.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Object {
    File(Vec<u8>, u32),
    Link(String),
}

type Tree = BTreeMap<Vec<u8>, Object>;

const NAMES: [&[u8]; 18] = [
    b"a",
    b"b c",
    b"q\"uote'",
    b"tab\there",
    b"line\nfeed",
    b"back\\slash",
    "\u{e9}".as_bytes(),
    b"\xff\xfe",
    b"-dash",
    b"[odd]",
    b" lead",
    b"trail ",
    b"d/x",
    b"d/y z",
    b"d/e/f",
    b"d",
    b"p/b/ b/b",
    b"p",
];

fn free(rng: &mut Rng, tree: &Tree) -> Option<Vec<u8>> {
    let below = |a: &[u8], b: &[u8]| a.strip_prefix(b).is_some_and(|rest| rest.starts_with(b"/"));
    let fits =
        |name: &[u8]| !tree.keys().any(|other| other == name || below(other, name) || below(name, other));
    // Other systems have no names that are not UTF-8.
    let is_possible = |name: &[u8]| cfg!(target_os = "linux") || name.is_ascii();
    let mut left: Vec<&[u8]> = NAMES.into_iter().filter(|name| is_possible(name) && fits(name)).collect();
    rng.take(&mut left).map(<[u8]>::to_vec)
}

fn line(rng: &mut Rng, number: usize) -> String {
    let words = [
        "",
        "    return x",
        "}",
        "-- minus",
        "++ plus",
        "@@ -1 +1 @@",
        "diff --git a/a b/a",
        "\u{e9}t\u{e9}",
        "\\ No newline",
        "tab\t",
    ];
    if rng.one_in(3) {
        words[rng.below(words.len())].to_owned()
    } else {
        format!("line {number} of {}", rng.below(50))
    }
}

fn end(rng: &mut Rng, ends: usize) -> &'static str {
    if ends == 0 || (ends == 2 && rng.one_in(2)) { "\r\n" } else { "\n" }
}

fn text(rng: &mut Rng) -> Vec<u8> {
    let (ends, mut text) = (rng.below(4), String::new());
    for number in 0..rng.below(24) {
        text += &line(rng, number);
        text += end(rng, ends);
    }
    if rng.one_in(4) {
        text += "the end";
    }
    text.into_bytes()
}

fn binary(rng: &mut Rng) -> Vec<u8> {
    let mut bytes: Vec<u8> = (0..rng.below(400)).map(|_| rng.below(256).to_le_bytes()[0]).collect();
    bytes.insert(0, 0);
    bytes
}

fn object(rng: &mut Rng) -> Object {
    match rng.below(8) {
        0 => Object::File(binary(rng), 0o644),
        1 => Object::Link(["nowhere", "else/where"][rng.below(2)].to_owned()),
        2 => Object::File(text(rng), 0o755),
        _ => Object::File(text(rng), 0o644),
    }
}

/// The object with some lines or bytes changed.
fn edited(rng: &mut Rng, object: &Object) -> Object {
    match object {
        Object::Link(_) => Object::Link("elsewhere".to_owned()),
        Object::File(bytes, mode) if bytes.contains(&0) => {
            let mut bytes = bytes.clone();
            bytes.extend((0..rng.below(9)).map(|n| n.to_le_bytes()[0]));
            Object::File(bytes, *mode)
        }
        Object::File(bytes, mode) => {
            let mut lines: Vec<Vec<u8>> =
                bytes.split_inclusive(|b| *b == b'\n').map(<[u8]>::to_vec).collect();
            for number in 0..1 + rng.below(3) {
                let at = rng.below(lines.len() + 1);
                let new = [line(rng, number), end(rng, number).to_owned()].concat().into_bytes();
                match rng.below(3) {
                    0 if at < lines.len() => drop(lines.remove(at)),
                    1 if at < lines.len() => lines[at] = new,
                    _ => lines.insert(at, new),
                }
            }
            Object::File(lines.concat(), *mode)
        }
    }
}

fn changed(rng: &mut Rng, before: &Tree) -> Tree {
    let mut after = before.clone();
    for (path, object) in before {
        match rng.below(7) {
            0 => drop(after.remove(path)),
            1 | 2 => drop(after.insert(path.clone(), edited(rng, object))),
            3 => {
                after.remove(path);
                let Some(name) = free(rng, &after) else { continue };
                let moved = if rng.one_in(2) { object.clone() } else { edited(rng, object) };
                after.insert(name, moved);
            }
            4 => {
                if let Some(Object::File(_, mode)) = after.get_mut(path) {
                    *mode ^= 0o111;
                }
            }
            _ => {}
        }
    }
    for _ in 0..rng.below(3) {
        if let Some(name) = free(rng, &after) {
            after.insert(name, object(rng));
        }
    }
    after
}

struct Place<'a> {
    repo: &'a TestRepo,
}

impl Place<'_> {
    fn path(&self, name: &[u8]) -> PathBuf {
        self.repo.root().join(Path::new(OsStr::from_bytes(name)))
    }

    /// Makes the work tree exactly `tree`.
    fn write(&self, tree: &Tree) {
        for entry in std::fs::read_dir(self.repo.root()).unwrap().map(|entry| entry.unwrap()) {
            match entry.file_type().unwrap().is_dir() {
                _ if entry.file_name() == ".git" => {}
                true => std::fs::remove_dir_all(entry.path()).unwrap(),
                false => std::fs::remove_file(entry.path()).unwrap(),
            }
        }
        for (name, object) in tree {
            let path = self.path(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            match object {
                Object::Link(target) => symlink(target, &path).unwrap(),
                Object::File(bytes, mode) => {
                    std::fs::write(&path, bytes).unwrap();
                    std::fs::set_permissions(&path, PermissionsExt::from_mode(*mode)).unwrap();
                }
            }
        }
    }

    /// The id of the work tree as git sees it.
    fn tree(&self) -> String {
        self.repo.git(&["add", "-A"]);
        self.repo.git(&["write-tree"])
    }

    fn run(&self, mut command: Command, input: &[u8]) -> Output {
        use std::io::Write;
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let _ = child.stdin.take().unwrap().write_all(input);
        child.wait_with_output().unwrap()
    }
}

/// Both programs make `after` of `before` by the diff of git, and by the one that `check` shows for it.
fn check(place: &Place<'_>, seed: u64, before: &Tree, after: &Tree, diff: &[&str]) {
    let repo = place.repo;
    place.write(before);
    let old = place.tree();
    place.write(after);
    let new = place.tree();
    let mut command = repo.command("git");
    command.args(["diff", "--binary", "--full-index"]).args(diff).args([&old, &new]);
    let batch = place.run(command, b"").stdout;
    if batch.is_empty() {
        return;
    }
    let told = |what: &str, output: &Output| {
        let shown = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        format!(
            "seed {seed}, {what}\n{}\n{}\n{}",
            shown(&batch),
            shown(&output.stdout),
            shown(&output.stderr)
        )
    };
    place.write(before);
    let shown = place.run(repo.program(&["check", "--allow-symlinks"]), &batch);
    assert!(shown.status.success(), "{}", told("check", &shown));
    let mut apply = repo.command("git");
    apply
        .args(["apply", "--whitespace=nowarn"])
        .args(diff.iter().filter(|arg| **arg == "-U0").map(|_| "--unidiff-zero"));
    let applied = place.run(apply, &shown.stdout);
    assert!(
        applied.status.success(),
        "{}",
        told("git apply", &applied) + &String::from_utf8_lossy(&shown.stdout)
    );
    assert_eq!(place.tree(), new, "{}", told("the tree after git apply", &shown));
    place.write(before);
    let applied = place.run(repo.program(&["apply", "--allow-symlinks", "--durability", "none"]), &batch);
    assert!(applied.status.success(), "{}", told("apply", &applied));
    assert_eq!(place.tree(), new, "{}", told("the tree after apply", &applied));
}

#[test]
fn git_takes_what_check_shows() {
    let repo = TestRepo::new(&[("seed", "")]);
    let place = Place { repo: &repo };
    for seed in 0..60 {
        let mut rng = Rng::new(seed);
        let mut before = Tree::new();
        for _ in 0..3 + rng.below(6) {
            if let Some(name) = free(&mut rng, &before) {
                before.insert(name, object(&mut rng));
            }
        }
        let after = changed(&mut rng, &before);
        let diff = [&["-M"][..], &["--no-renames"], &["-M30", "-B"], &["-C", "-C"], &["-U1"]][rng.below(5)];
        check(&place, seed, &before, &after, diff);
    }
}

/// Both programs come from the files `before` to the files `after`.
#[track_caller]
fn both(before: &[(&str, &str)], after: &[(&str, &str)]) {
    let repo = TestRepo::new(&[("seed", "")]);
    let tree = |files: &[(&str, &str)]| {
        let object = |text: &str| Object::File(text.as_bytes().to_vec(), 0o644);
        files.iter().map(|(name, text)| (name.as_bytes().to_vec(), object(text))).collect::<Tree>()
    };
    for diff in [&["-M"][..], &["--no-renames"], &["-U0"]] {
        check(&Place { repo: &repo }, 0, &tree(before), &tree(after), diff);
    }
}

#[test]
fn files_and_folders_change_places() {
    let (one, two) = ("1\n2\n3\n4\n", "one\ntwo\nthree\n");
    both(&[("d/x", one), ("d/y", two)], &[("d", "new\n")]);
    both(&[("d/x", one), ("d/y", two)], &[("d", two)]);
    both(&[("d/x", one), ("d/y", two)], &[("d", "new\n"), ("e", two), ("c", one)]);
    both(&[("d", one), ("e", two)], &[("d/x", two), ("e", one)]);
}

#[test]
fn terminators_are_those_of_the_diff() {
    let crlf = |text: &str| text.replace('\n', "\r\n");
    let (old, new) = ("a\nb\nc\nd\ne\nf\ng\nh\n", "a\nB\nc\nd\ne\nf\ng\nnew\nh\n");
    both(&[("f", &crlf(old))], &[("f", &crlf(new))]);
    both(&[("f", old)], &[("f", &crlf(new))]);
    both(&[("f", &crlf(old))], &[("f", new)]);
    both(&[("f", "a\nb\r\nc\n")], &[("f", "a\nb2\r\nc\n")]);
    both(&[("f", "a\r\nb\nc\r\nd")], &[("f", "a\r\nx\nb\r\nc\r\nd\r\n")]);
    both(&[("f", "a\r\nb\r")], &[("f", "a\r\nb\r\n")]);
    both(&[("f", "a\r\nb\r\nc")], &[("f", "a\r\nb")]);
    both(&[("f", "a\nb\r\nc")], &[("f", "b\r\nd\n")]);
    both(&[("f", "a\r\r\nb\n")], &[("f", "a\r\nb\r\r\n")]);
    both(&[("f", ""), ("g", &crlf(old))], &[("f", &crlf(old))]);
}

#[test]
fn a_diff_of_crlf_lines_fits_the_same_lines_with_lf() {
    let repo = TestRepo::new(&[("f", "a\nb\nc\n")]);
    let diff =
        |change: &str| format!("diff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n a\r\n{change} c\r\n");
    let ran = repo.run(&["apply"], diff("-b\r\n+B\r\n"));
    assert_eq!((ran.code, &*repo.read("f")), (0, "a\nB\nc\n"), "{ran:?}");
    // Where the terminator is what changes, it counts.
    let ran = repo.run(&["apply", "--json"], diff("-B\r\n+B\n"));
    assert_eq!(ran.codes(), ["no-match"]);
}
