//! Whole trees as data: built on a disk, read back from it, compared byte by byte.

use bstr::{BStr, ByteSlice};
use patchmany::disk::{Access, Disk, Kind, Node};
use patchmany::edit::{Hash, RelPath};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;

/// What stands at one path.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Object {
    File(Arc<Vec<u8>>, u32),
    Link(String),
    Folder(u32),
}

/// Everything below a root, by path.
pub(super) type Tree = BTreeMap<String, Object>;

pub(super) fn file(bytes: impl Into<Vec<u8>>, mode: u32) -> Object {
    Object::File(Arc::new(bytes.into()), mode)
}

impl Object {
    pub(super) fn node(&self) -> Node {
        match self {
            Self::File(bytes, mode) => {
                Node::File { hash: Hash::of(bytes), mode: *mode, size: bytes.len() as u64 }
            }
            Self::Link(target) => Node::Link { target: target.as_str().into() },
            Self::Folder(_) => Node::Directory,
        }
    }

    fn show(&self) -> String {
        match self {
            Self::File(bytes, mode) => {
                let start = bytes[..bytes.len().min(12)].as_bstr();
                format!("{start:?} of {} bytes, {mode:o}", bytes.len())
            }
            Self::Link(target) => format!("-> {target}"),
            Self::Folder(mode) => format!("folder {mode:o}"),
        }
    }
}

pub(super) fn rel(path: &str) -> RelPath {
    RelPath::new(path).unwrap()
}

/// Puts a tree into the empty folder `root`.
pub(super) fn build<D: Disk>(disk: &D, root: &D::Dir, tree: &Tree) {
    for (path, object) in tree {
        let path = rel(path);
        let dir = disk.open_dir(root, &path.parent().unwrap()).unwrap();
        match object {
            Object::File(bytes, mode) => {
                disk.create(&dir, path.name(), bytes, 0o666).unwrap();
                disk.set_mode(&dir, path.name(), *mode).unwrap();
            }
            Object::Link(target) => {
                disk.create_link(&dir, path.name(), BStr::new(target)).unwrap();
            }
            Object::Folder(mode) => {
                disk.create_dir(&dir, path.name(), Access::Shared).unwrap();
                disk.set_mode(&dir, path.name(), *mode).unwrap();
            }
        }
    }
}

/// Reads a whole tree.
pub(super) fn read<D: Disk>(disk: &D, root: &D::Dir) -> Tree {
    let mut tree = Tree::new();
    read_into(disk, root, "", &mut tree);
    tree
}

fn read_into<D: Disk>(disk: &D, dir: &D::Dir, above: &str, tree: &mut Tree) {
    for name in disk.list(dir).unwrap() {
        let path = format!("{above}{name}");
        let stat = disk.stat(dir, name.as_ref()).unwrap().unwrap();
        let object = match stat.kind {
            Kind::Directory => {
                let inner = disk.open_dir(dir, &rel(&name.to_string())).unwrap();
                read_into(disk, &inner, &format!("{path}/"), tree);
                Object::Folder(stat.mode)
            }
            Kind::Link => Object::Link(disk.read_link(dir, name.as_ref()).unwrap().to_string()),
            Kind::File => file(disk.read(dir, name.as_ref()).unwrap().0, stat.mode),
            Kind::Special => panic!("{path} is special"),
        };
        tree.insert(path, object);
    }
}

/// Where two trees differ, in words; empty when they are the same.
pub(super) fn difference(wanted: &Tree, found: &Tree) -> String {
    let mut said = String::new();
    for path in wanted.keys().chain(found.keys().filter(|p| !wanted.contains_key(*p))) {
        let (a, b) = (wanted.get(path), found.get(path));
        if a != b {
            let show = |o: Option<&Object>| o.map_or("nothing".to_owned(), Object::show);
            let _ = write!(said, "{path}: {} instead of {}; ", show(b), show(a));
        }
    }
    said
}
