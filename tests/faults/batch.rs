//! The batches that the fault tests apply: trees before and after, and the entries between them.

use super::tree::{Object, Tree, file, rel};
use patchmany::plan::{Metadata, Resolved};

/// A tree before and after, with what leads from one to the other.
#[derive(Clone, Debug)]
pub(super) struct Batch {
    pub old: Tree,
    pub new: Tree,
    pub entries: Vec<Resolved>,
}

/// A folder that goes with its last file counts as no entry; one that a file replaces does.
fn batch(old: Tree, new: Tree, moves: &[(&str, &str)]) -> Batch {
    let mut entries = Vec::new();
    for path in old.keys().chain(new.keys().filter(|p| !old.contains_key(*p))) {
        let (before, after) = (old.get(path), new.get(path));
        let folder = |o: Option<&Object>| matches!(o, Some(Object::Folder(_)));
        if before == after || folder(after) && before.is_none() || folder(before) && after.is_none() {
            continue;
        }
        let after = if folder(after) { None } else { after };
        let bytes = |o: Option<&Object>| match o {
            Some(Object::File(bytes, _)) => Some(bytes.to_vec()),
            _ => None,
        };
        let moved = moves.iter().find(|(_, to)| to == path).map(|(from, _)| rel(from));
        let both = matches!((before, after), (Some(Object::File(..)), Some(Object::File(..))));
        entries.push(Resolved {
            path: rel(path),
            before: before.map_or(patchmany::disk::Node::Absent, Object::node),
            after: after.map_or(patchmany::disk::Node::Absent, Object::node),
            seen: None,
            old: bytes(before).map(Into::into),
            new: bytes(after).map(Into::into),
            metadata: moved.or_else(|| both.then(|| rel(path))).map_or(Metadata::New, Metadata::Of),
        });
    }
    Batch { old, new, entries }
}

fn tree(objects: &[(&str, Object)]) -> Tree {
    let mut tree: Tree = objects.iter().map(|(path, o)| ((*path).to_owned(), o.clone())).collect();
    for (path, _) in objects {
        let mut above = rel(path).parent().unwrap();
        while !above.is_root() {
            tree.entry(above.to_string()).or_insert(Object::Folder(0o755));
            above = above.parent().unwrap();
        }
    }
    tree
}

fn lines(word: &str, size: usize) -> Vec<u8> {
    format!("{word} {}\n", "x".repeat(50)).into_bytes().iter().copied().cycle().take(size).collect()
}

const BYSTANDERS: [(&str, u32); 2] = [("other/keep.txt", 0o640), ("left/same.txt", 0o600)];

fn bystanders() -> Vec<(&'static str, Object)> {
    let mut all: Vec<_> = BYSTANDERS.map(|(path, mode)| (path, file("stays\n", mode))).into();
    all.push(("vacant", Object::Folder(0o750)));
    all
}

fn between(old: Vec<(&str, Object)>, new: Vec<(&str, Object)>, moves: &[(&str, &str)]) -> Batch {
    let whole = |mut objects: Vec<_>| {
        objects.extend(bystanders());
        tree(&objects)
    };
    batch(whole(old), whole(new), moves)
}

/// The 14 entries of T1: CRLF, executable, new folders, delete, a cycle of two moves, file to folder, folder to file, a
/// link, a file that becomes empty, a read-only one, a large one.
pub(super) fn mixed() -> Batch {
    let old = vec![
        ("crlf.txt", file("one\r\ntwo\r\nthree\r\n", 0o644)),
        ("bin/run.sh", file(lines("#!/bin/sh old", 9_000), 0o755)),
        ("lone/gone.txt", file("goes\n", 0o644)),
        ("left/a", file("the left one\n", 0o644)),
        ("right/a", file("the right one\n", 0o755)),
        ("grows", file("a file that becomes a folder\n", 0o644)),
        ("shrinks", Object::Folder(0o700)),
        ("shrinks/inner.txt", file("goes with its folder\n", 0o644)),
        ("link", Object::Link("crlf.txt".to_owned())),
        ("src/emptied.txt", file("not empty\n", 0o664)),
        ("src/readonly.txt", file("do not touch\n", 0o444)),
        ("src/big.bin", file(lines("old", 100_000), 0o644)),
    ];
    let new = vec![
        ("crlf.txt", file("one\r\nTWO\r\nthree\r\n", 0o644)),
        ("bin/run.sh", file(lines("#!/bin/sh new", 9_100), 0o755)),
        ("fresh/deep/new.txt", file("new\n", 0o644)),
        ("left/a", file("the right one\n", 0o755)),
        ("right/a", file("the left one\n", 0o644)),
        ("grows/inner.txt", file("in the new folder\n", 0o644)),
        ("shrinks", file("a folder that became a file\n", 0o644)),
        ("link", Object::Link("bin/run.sh".to_owned())),
        ("src/emptied.txt", file("", 0o664)),
        ("src/readonly.txt", file("touched\n", 0o444)),
        ("src/big.bin", file(lines("new", 100_000), 0o644)),
    ];
    let batch = between(old, new, &[("right/a", "left/a"), ("left/a", "right/a")]);
    assert_eq!(batch.entries.len(), 14);
    batch
}

/// An edit, a delete and a create: small enough for every subset.
pub(super) fn small() -> Batch {
    between(
        vec![("a", file("old\n", 0o644)), ("sub/b", file("goes\n", 0o600))],
        vec![("a", file("new!\n", 0o644)), ("c", file("comes\n", 0o644))],
        &[],
    )
}

/// File to folder and folder to file alone: names that are freed and used again.
pub(super) fn reused() -> Batch {
    between(
        vec![("d/in/x", file("inside\n", 0o644)), ("f", file("file\n", 0o600))],
        vec![("d", file("now a file\n", 0o644)), ("f/y", file("now inside\n", 0o644))],
        &[],
    )
}

/// More files than are synced one by one.
pub(super) fn wide() -> Batch {
    let path = |n: usize| format!("wide/d{}/f{n}", n % 5);
    let paths: Vec<String> = (0..40).map(path).collect();
    let all = |word: &str| -> Vec<(&str, Object)> {
        paths.iter().map(|p| (p.as_str(), file(format!("{word} {p}\n"), 0o644))).collect()
    };
    between(all("old"), all("new!"), &[])
}

/// A file whose name changes in case alone, with its text and without.
pub(super) fn respelled() -> Batch {
    between(
        vec![("Foo.txt", file("old\n", 0o644)), ("d/READ.me", file("same\n", 0o600))],
        vec![("foo.txt", file("new!\n", 0o644)), ("d/Read.me", file("same\n", 0o600))],
        &[("Foo.txt", "foo.txt"), ("d/READ.me", "d/Read.me")],
    )
}
