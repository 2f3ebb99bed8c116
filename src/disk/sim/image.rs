//! The state of a simulated disk: inodes and the names that lead to them.

use crate::disk::{Kind, Owner, Stamp, Stat};
use bstr::{BStr, BString, ByteSlice};
use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// The number of an inode: its place in [`Image::inodes`].
pub(super) type Ino = usize;
/// The root folder.
pub(super) const ROOT: Ino = 0;
/// The permission bits that the simulated umask takes away.
pub(super) const UMASK: u32 = 0o022;

/// One file, link or folder. `version` names its content: equal versions of one inode hold equal bytes.
#[derive(Clone, Debug)]
pub(super) struct Inode {
    pub content: Content,
    pub mode: u32,
    pub mount: u64,
    pub links: u64,
    pub modified: i128,
    pub changed: i128,
    pub version: u64,
}

#[derive(Clone, Debug)]
pub(super) enum Content {
    File(Arc<Vec<u8>>),
    Link(BString),
    Dir(BTreeMap<BString, Ino>),
}

/// Inodes are shared between images until one of them changes.
#[derive(Clone, Debug)]
pub(super) struct Image {
    inodes: Vec<Arc<Inode>>,
    case: Case,
}

/// Whether names that differ in case alone are one name. What stands there keeps the spelling it was made with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Case {
    Counts,
    Folds,
}

impl Image {
    pub(super) fn empty() -> Self {
        let mut image = Self { inodes: Vec::new(), case: Case::Counts };
        let root = image.add(Content::Dir(BTreeMap::new()), 0o755, 1, 0);
        image.inode(root).links = 1;
        image
    }

    pub(super) fn add(&mut self, content: Content, mode: u32, mount: u64, time: i128) -> Ino {
        let inode = Inode { content, mode, mount, links: 0, modified: time, changed: time, version: 0 };
        self.inodes.push(Arc::new(inode));
        self.inodes.len() - 1
    }

    pub(super) fn count(&self) -> usize {
        self.inodes.len()
    }

    pub(super) fn get(&self, ino: Ino) -> &Inode {
        &self.inodes[ino]
    }

    pub(super) fn inode(&mut self, ino: Ino) -> &mut Inode {
        Arc::make_mut(&mut self.inodes[ino])
    }

    pub(super) fn names(&self, dir: Ino) -> Option<&BTreeMap<BString, Ino>> {
        if let Content::Dir(names) = &self.get(dir).content { Some(names) } else { None }
    }

    pub(super) fn bytes(&self, ino: Ino) -> Option<&Arc<Vec<u8>>> {
        if let Content::File(bytes) = &self.get(ino).content { Some(bytes) } else { None }
    }

    pub(super) fn is_dir(&self, ino: Ino) -> bool {
        matches!(self.get(ino).content, Content::Dir(_))
    }

    pub(super) fn find(&self, dir: Ino, name: &BStr) -> Option<Ino> {
        self.entry(dir, name).map(|(_, ino)| *ino)
    }

    fn entry(&self, dir: Ino, name: &BStr) -> Option<(&BString, &Ino)> {
        let names = self.names(dir)?;
        match self.case {
            Case::Counts => names.get_key_value(name),
            Case::Folds => names.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)),
        }
    }

    pub(super) fn fold_case(&mut self) {
        self.case = Case::Folds;
    }

    /// Lets `name` lead to `ino`, or nowhere, and counts the links anew.
    pub(super) fn assign(&mut self, dir: Ino, name: &BStr, ino: Option<Ino>) {
        let spelled = self.entry(dir, name).map_or_else(|| name.to_owned(), |(known, _)| known.clone());
        let Content::Dir(names) = &mut self.inode(dir).content else { return };
        let before = match ino {
            Some(ino) => names.insert(spelled, ino),
            None => names.remove(&spelled),
        };
        if let Some(before) = before {
            let inode = self.inode(before);
            inode.links = inode.links.saturating_sub(1);
        }
        if let Some(ino) = ino {
            self.inode(ino).links += 1;
        }
    }

    pub(super) fn set_mount(&mut self, dir: Ino, mount: u64) {
        self.inode(dir).mount = mount;
        let below: Vec<Ino> = self.names(dir).into_iter().flatten().map(|(_, ino)| *ino).collect();
        below.into_iter().for_each(|ino| self.set_mount(ino, mount));
    }

    pub(super) fn stat(&self, ino: Ino) -> Stat {
        let inode = self.get(ino);
        let (kind, size) = match &inode.content {
            Content::File(bytes) => (Kind::File, bytes.len() as u64),
            Content::Link(target) => (Kind::Link, target.len() as u64),
            Content::Dir(_) => (Kind::Directory, 4096),
        };
        let (modified, changed) = (inode.modified, inode.changed);
        Stat {
            kind,
            mode: inode.mode,
            size,
            links: inode.links,
            owner: Owner { user: 0, group: 0 },
            bare: false,
            stamp: Stamp { file: (1, ino as u64 + 1), size, modified, changed },
            mount: inode.mount,
        }
    }

    pub(super) fn all_files(&self) -> Vec<(BString, Arc<Vec<u8>>)> {
        let mut found = Vec::new();
        let mut open = vec![(BString::default(), ROOT)];
        while let Some((path, ino)) = open.pop() {
            match &self.get(ino).content {
                Content::File(bytes) => found.push((path, Arc::clone(bytes))),
                Content::Link(_) => {}
                Content::Dir(names) => {
                    for (name, below) in names {
                        open.push((bstr::concat([path.as_bytes(), b"/", name.as_bytes()]).into(), *below));
                    }
                }
            }
        }
        found
    }
}

/// What can be reached, told apart by names, modes and versions: enough among images made from one log.
impl Hash for Image {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let mut open = vec![ROOT];
        while let Some(ino) = open.pop() {
            let inode = self.get(ino);
            (ino, inode.mode, inode.version).hash(state);
            if let Content::Dir(names) = &inode.content {
                names.len().hash(state);
                for (name, below) in names {
                    (name, below).hash(state);
                    open.push(*below);
                }
            }
        }
    }
}
