//! The virtual tree of one group of paths: later entries of the batch see what earlier ones did.

use super::outcome::PlacedHunk;
use super::{Metadata, Refusal, Source};
use crate::disk::{Kind, Node, Owner, Stamp};
use crate::edit::{Code, Hash, Pieces, RelPath};
use bstr::ByteSlice;
use bytes::Bytes;
use std::collections::HashMap;

/// What the batch has made of the paths of one group so far.
pub(super) struct Tree<'a> {
    source: &'a dyn Source,
    /// In the order of first mention.
    pub(super) slots: Vec<Slot>,
    by_path: HashMap<RelPath, usize>,
    /// The slots of files with one name, by device and inode number.
    by_file: HashMap<(u64, u64), usize>,
}

/// One path.
pub(super) struct Slot {
    pub path: RelPath,
    /// What stands there on disk.
    pub before: Node,
    /// Its bytes, for a file.
    pub old: Option<Bytes>,
    /// The state in which they were read.
    pub seen: Option<Stamp>,
    /// Names of the file on disk.
    pub links: u64,
    /// The first entry that mentions the path, from 1.
    pub entry: usize,
    /// What stands there after the entries so far.
    pub now: Now,
}

/// What stands at a path after some entries.
#[derive(Clone)]
pub(super) enum Now {
    Absent,
    File(Content),
    Folder,
    /// Its bytes are the target.
    Link(Content),
    Special,
}

/// A file in the making.
#[derive(Clone)]
pub(super) struct Content {
    pub bytes: Pieces,
    /// Where on disk the file comes from; none for one that the batch creates.
    pub origin: Option<RelPath>,
    /// Its permission bits; what to ask for, where there is no origin.
    pub mode: u32,
    /// The owner of the origin, where that has neither access lists nor attributes.
    pub owner: Option<Owner>,
    pub added: usize,
    pub removed: usize,
    pub hunks: Vec<PlacedHunk>,
}

impl Content {
    /// The file that stands at `path`.
    fn on_disk(path: &RelPath, bytes: Bytes, mode: u32) -> Self {
        Self { origin: Some(path.clone()), ..Self::new(bytes.into(), mode) }
    }

    /// What the file takes over from its origin.
    pub(super) fn metadata(&self) -> Metadata {
        match (&self.origin, self.owner) {
            (None, _) => Metadata::New,
            (Some(origin), Some(owner)) => Metadata::Owner(origin.clone(), owner),
            (Some(origin), None) => Metadata::Of(origin.clone()),
        }
    }

    /// A file that the batch makes.
    pub(super) fn new(bytes: Pieces, mode: u32) -> Self {
        Self { bytes, origin: None, mode, owner: None, added: 0, removed: 0, hunks: Vec::new() }
    }
}

impl<'a> Tree<'a> {
    pub(super) fn new(source: &'a dyn Source) -> Self {
        Self { source, slots: Vec::new(), by_path: HashMap::new(), by_file: HashMap::new() }
    }

    /// The slot of `path`, read from the source at its first mention.
    pub(super) fn touch(&mut self, path: &RelPath, entry: usize) -> Result<&mut Slot, Refusal> {
        let at = match self.by_path.get(path) {
            Some(&at) => at,
            None => {
                let mut slot = load(self.source, path, entry).map_err(|r| r.on(path.as_bstr()))?;
                let file =
                    slot.seen.map(|stamp| stamp.file).filter(|file| *file != (0, 0) && slot.links == 1);
                let known = file.and_then(|file| self.by_file.get(&file)).map(|&at| &self.slots[at].path);
                match (known, file) {
                    (Some(known), _) if is_respelled(known, path) => {
                        slot = empty(path, entry, Node::Absent, Now::Absent);
                    }
                    (None, Some(file)) => _ = self.by_file.insert(file, self.slots.len()),
                    _ => {}
                }
                self.slots.push(slot);
                self.by_path.insert(path.clone(), self.slots.len() - 1);
                self.slots.len() - 1
            }
        };
        Ok(&mut self.slots[at])
    }

    /// Whether a symbolic link stands at `path` on disk.
    pub(super) fn was_link(&self, path: &RelPath) -> bool {
        self.by_path.get(path).is_some_and(|&at| matches!(self.slots[at].before, Node::Link { .. }))
    }

    fn now(&self, path: &RelPath) -> Option<&Now> {
        self.by_path.get(path).map(|&at| &self.slots[at].now)
    }

    /// Whether the folder that holds `path` is there, on disk or through the batch.
    pub(super) fn folder_of(&self, path: &RelPath) -> Result<(), Refusal> {
        let Some(folder) = path.parent().filter(|f| !f.is_root()) else {
            return Ok(());
        };
        let made = |s: &Slot| s.path.is_below(&folder) && matches!(s.now, Now::File(_));
        let on_disk = || self.source.stat(&folder).map_err(|e| io_refusal("look at", &folder, &e));
        // What stands there and is no folder is refused where the file is made.
        if self.slots.iter().any(made) || on_disk()?.is_some() {
            return Ok(());
        }
        Err(Refusal::new(Code::Missing, format!("the folder {folder} does not exist"))
            .hint("the `content` form makes folders; this call does not"))
    }

    /// Whether a file can be made at `path`: its parents are folders or can be made, and if a folder stands there, the
    /// batch has emptied it.
    pub(super) fn room_for(&self, path: &RelPath) -> Result<(), Refusal> {
        let mut above = path.parent();
        let mut known = false;
        while let Some(folder) = above.filter(|f| !f.is_root()) {
            match self.now(&folder) {
                Some(Now::File(_) | Now::Link(_) | Now::Special) => return Err(no_folder(&folder)),
                Some(Now::Absent | Now::Folder) => {}
                None if known => {}
                None => match self.source.stat(&folder).map_err(|e| io_refusal("look at", &folder, &e))? {
                    Some(stat) if stat.kind == Kind::Directory => known = true,
                    Some(_) => return Err(no_folder(&folder)),
                    None => {}
                },
            }
            above = folder.parent();
        }
        let below =
            self.slots.iter().find(|s| s.path.is_below(path) && matches!(s.now, Now::File(_) | Now::Link(_)));
        if let Some(file) = below {
            return Err(Refusal::new(
                Code::NotRegular,
                format!("{path} is a folder: it holds {}", file.path),
            ));
        }
        match self.now(path) {
            Some(Now::Folder) => self.emptied(path),
            _ => Ok(()),
        }
    }

    /// Whether the batch deletes everything in the folder `path`.
    fn emptied(&self, path: &RelPath) -> Result<(), Refusal> {
        for name in self.source.list(path).map_err(|e| io_refusal("list", path, &e))? {
            let inner = path.join(name.as_bstr()).map_err(|e| Refusal::new(Code::Io, e.to_string()))?;
            match self.now(&inner) {
                Some(Now::Absent) => {}
                Some(Now::Folder) | None
                    if self
                        .source
                        .stat(&inner)
                        .is_ok_and(|s| s.is_some_and(|s| s.kind == Kind::Directory)) =>
                {
                    self.emptied(&inner)?;
                }
                _ => {
                    let message =
                        format!("{path} is a folder and holds {inner}, which the batch leaves there");
                    return Err(Refusal::new(Code::NotRegular, message));
                }
            }
        }
        Ok(())
    }
}

fn no_folder(path: &RelPath) -> Refusal {
    Refusal::new(Code::NotRegular, format!("{path} is not a folder, so nothing can stand below it"))
}

pub(super) fn io_refusal(what: &str, path: &RelPath, error: &std::io::Error) -> Refusal {
    Refusal::new(Code::Io, format!("cannot {what} {path}: {error}"))
}

/// Whether two paths of one file are spellings of one name: some file systems ignore case. The file has one name only.
fn is_respelled(known: &RelPath, path: &RelPath) -> bool {
    known.to_string().to_lowercase() == path.to_string().to_lowercase()
}

fn empty(path: &RelPath, entry: usize, before: Node, now: Now) -> Slot {
    Slot { path: path.clone(), before, old: None, seen: None, links: 0, entry, now }
}

fn load(source: &dyn Source, path: &RelPath, entry: usize) -> Result<Slot, Refusal> {
    let stat = source.stat(path).map_err(|e| io_refusal("look at", path, &e))?;
    let empty = |before: Node, now: Now| empty(path, entry, before, now);
    Ok(match stat.map(|s| s.kind) {
        None => empty(Node::Absent, Now::Absent),
        Some(Kind::Directory) => empty(Node::Directory, Now::Folder),
        Some(Kind::Link) => {
            let target = source.read_link(path).map_err(|e| io_refusal("read the link", path, &e))?;
            let bytes = Bytes::copy_from_slice(&target);
            let content = Content::on_disk(path, bytes.clone(), 0o777);
            Slot { old: Some(bytes), ..empty(Node::Link { target }, Now::Link(content)) }
        }
        Some(Kind::Special) => empty(Node::Absent, Now::Special),
        Some(Kind::File) => {
            let (bytes, stat) = source.read(path).map_err(|e| io_refusal("read", path, &e))?;
            let bytes = Bytes::from(bytes);
            let before = Node::File { hash: Hash::of(&bytes), mode: stat.mode, size: bytes.len() as u64 };
            let owner = stat.bare.then_some(stat.owner);
            let content = Content { owner, ..Content::on_disk(path, bytes.clone(), stat.mode) };
            Slot {
                old: Some(bytes),
                seen: Some(stat.stamp),
                links: stat.links,
                ..empty(before, Now::File(content))
            }
        }
    })
}
