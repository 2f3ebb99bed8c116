//! The work tree as a source: canonical paths, the path policy, and reads that follow no link.

use super::protect::is_git_name;
use super::versions::{NoVersions, Versions};
use super::{LastLink, Refusal, Source, Target};
use crate::disk::{Disk, Folders, Kind, Stamp, Stat};
use crate::edit::{BatchPath, Code, PathBase, RelPath};
use bstr::{BStr, BString, ByteSlice};
use std::collections::HashMap;
use std::io;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

/// Links followed on one path before it counts as a loop.
const MOST_LINKS: usize = 40;

/// What the surroundings say about paths, asked by the work tree.
pub trait PathRules: Sync {
    /// Whether the user's attributes declare the file binary.
    fn is_binary(&self, path: &RelPath) -> bool;
    /// Whether the missing file `path` is left out of the tree by sparse-checkout.
    fn is_left_out(&self, _path: &RelPath) -> bool {
        false
    }
    /// Whether the attributes give the content of `path` to Git LFS.
    fn is_in_lfs(&self, _path: &RelPath) -> bool {
        false
    }
    /// The text of `path` in the base, where it differs from the `present` bytes, which were read as `seen`.
    fn base(&self, _path: &RelPath, _present: &[u8], _seen: Option<&Stamp>) -> Option<Vec<u8>> {
        None
    }
    /// Whether the path must not be touched, for example git's hooks inside the tree; in words, why.
    fn protects(&self, path: &RelPath) -> Option<String>;
}

/// No attributes, nothing protected: a folder without git.
#[derive(Clone, Copy, Default, Debug)]
pub struct NoRules;

impl PathRules for NoRules {
    fn is_binary(&self, _path: &RelPath) -> bool {
        false
    }
    fn protects(&self, _path: &RelPath) -> Option<String> {
        None
    }
}

/// Where paths of a batch begin and how far they may go.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Start {
    /// The folder that relative paths start at.
    pub base: RelPath,
    /// The folder that no path may leave.
    pub within: RelPath,
}

/// Files below a root.
pub struct WorkTree<'a, D: Disk> {
    folders: &'a Folders<D>,
    /// The spellings of the root that absolute paths may start with.
    roots: Vec<PathBuf>,
    start: Start,
    rules: &'a dyn PathRules,
    versions: &'a dyn Versions,
    /// What a name in a folder is, asked once: nothing changes while a batch is planned, and if it does, the hash
    /// check before the swap finds out.
    seen: Mutex<HashMap<RelPath, (Seen, Option<Stat>)>>,
}

#[derive(Clone)]
enum Seen {
    Absent,
    Folder { repository: bool },
    Link(BString),
    Other,
}

impl<'a, D: Disk> WorkTree<'a, D> {
    /// The tree below the root of `folders`, which absolute paths name by one of `roots`.
    pub fn new(folders: &'a Folders<D>, roots: Vec<PathBuf>, start: Start, rules: &'a dyn PathRules) -> Self {
        Self { folders, roots, start, rules, versions: &NoVersions, seen: Mutex::default() }
    }

    /// The same, which knows earlier versions of files.
    #[must_use]
    pub fn with_versions(self, versions: &'a dyn Versions) -> Self {
        Self { versions, ..self }
    }

    fn look(&self, path: &RelPath) -> io::Result<Seen> {
        if let Some((seen, _)) = self.locked().get(path) {
            return Ok(seen.clone());
        }
        let stat = self.stat_now(path)?;
        let seen = match stat.map(|stat| stat.kind) {
            None => Seen::Absent,
            Some(Kind::Directory) => {
                let dir = self.folders.open(path)?;
                let repository = self.folders.disk().stat(&dir, ".git".into())?.is_some();
                Seen::Folder { repository }
            }
            Some(Kind::Link) => {
                let dir = self.folders.parent(path)?;
                Seen::Link(self.folders.disk().read_link(&dir, path.name())?)
            }
            Some(Kind::File | Kind::Special) => Seen::Other,
        };
        self.locked().insert(path.clone(), (seen.clone(), stat));
        Ok(seen)
    }

    fn stat_now(&self, path: &RelPath) -> io::Result<Option<Stat>> {
        match self.folders.parent(path) {
            Ok(dir) => self.folders.disk().stat(&dir, path.name()),
            Err(e) if matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Ok(None),
            Err(e) => Err(e),
        }
    }

    fn locked(&self) -> std::sync::MutexGuard<'_, HashMap<RelPath, (Seen, Option<Stat>)>> {
        // Entries are inserted whole: a panic elsewhere cannot spoil them.
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The names of an absolute path below one of the root's spellings.
    fn below_root<'p>(&self, written: &'p BStr) -> Option<&'p BStr> {
        self.roots.iter().find_map(|root| {
            let root = <[u8]>::from_path(root)?;
            let rest = written.strip_prefix(root)?;
            let inside = root.ends_with(b"/") || rest.is_empty() || rest.starts_with(b"/");
            inside.then_some(rest.as_bstr())
        })
    }
}

fn outside(why: &str) -> Refusal {
    Refusal::new(Code::OutsideRoot, why)
        .hint("name a path below the root, or choose another root with --root")
}

/// A walk along a written path: names still to go, the canonical path so far.
struct Walk {
    todo: Vec<BString>,
    at: RelPath,
    links: usize,
}

impl Walk {
    fn push(&mut self, path: &BStr) {
        let names: Vec<BString> = path.split_str("/").map(BString::from).collect();
        self.todo.extend(names.into_iter().rev());
    }
}

impl<D: Disk> WorkTree<'_, D> {
    fn start(&self, path: &BatchPath) -> Result<Walk, Refusal> {
        let written = path.written.as_bstr();
        let mut walk = Walk { todo: Vec::new(), at: RelPath::root(), links: 0 };
        let drive = written.len() > 1 && written[0].is_ascii_alphabetic() && written[1] == b':';
        if written.is_empty() {
            return Err(Refusal::new(Code::Usage, "the path is empty"));
        }
        if written.contains(&0) {
            return Err(Refusal::new(Code::Usage, "the path holds a NUL byte"));
        }
        if drive || written.starts_with(b"\\\\") || written == "~" || written.starts_with(b"~/") {
            return Err(outside("the path is absolute in the way of another system or shell"));
        }
        if written.starts_with(b"/") {
            let rest = self.below_root(written).ok_or_else(|| outside("the path lies outside the root"))?;
            walk.push(rest);
            return Ok(walk);
        }
        if path.base == PathBase::Current {
            walk.at = self.start.base.clone();
        }
        walk.push(written);
        Ok(walk)
    }

    /// Goes one name further; the path of a link that was followed at the very end.
    fn step(&self, walk: &mut Walk, name: BString, last: LastLink) -> Result<Option<RelPath>, Refusal> {
        if name.is_empty() || name == "." {
            return Ok(None);
        }
        if name == ".." {
            walk.at = walk.at.parent().ok_or_else(|| outside("the path lies outside the root"))?;
            return Ok(None);
        }
        let here = walk.at.join(name.as_bstr()).map_err(|e| Refusal::new(Code::Usage, e.to_string()))?;
        if is_git_name(name.as_ref()) {
            return Err(Refusal::new(Code::ProtectedPath, format!("{here} belongs to git")));
        }
        let at_end = walk.todo.iter().all(|n| n.is_empty() || n == ".");
        match self.look(&here).map_err(|e| cannot_look(&here, &e))? {
            Seen::Folder { repository: true } => {
                let message = format!("{here} is another repository");
                Err(Refusal::new(Code::ProtectedPath, message).hint(format!("run with --root {here}")))
            }
            Seen::Link(target) if !at_end || last == LastLink::Follow => {
                self.follow(walk, &here, target.as_bstr())?;
                Ok(at_end.then_some(here))
            }
            _ => {
                walk.at = here;
                Ok(None)
            }
        }
    }

    fn follow(&self, walk: &mut Walk, link: &RelPath, target: &BStr) -> Result<(), Refusal> {
        walk.links += 1;
        if walk.links > MOST_LINKS {
            return Err(Refusal::new(Code::NotRegular, format!("the symbolic link {link} leads in a loop")));
        }
        if target.starts_with(b"/") {
            let leads_out = || outside(&format!("the link {link} leads out of the root"));
            let rest = self.below_root(target).ok_or_else(leads_out)?;
            walk.at = RelPath::root();
            walk.push(rest);
        } else {
            // The walk stands in the folder that holds the link: `at` is advanced only past real names.
            walk.push(target);
        }
        Ok(())
    }
}

fn cannot_look(path: &RelPath, error: &io::Error) -> Refusal {
    Refusal::new(Code::Io, format!("cannot look at {path}: {error}"))
}

impl<D: Disk> WorkTree<'_, D> {
    /// As [`Source::resolve`], but for the root folder itself too: a search may start there.
    ///
    /// # Errors
    /// Those of [`Source::resolve`].
    pub fn resolve_any(&self, written: &BatchPath, last: LastLink) -> Result<Target, Refusal> {
        let mut walk = self.start(written)?;
        let mut via = None;
        while let Some(name) = walk.todo.pop() {
            match self.step(&mut walk, name, last) {
                Ok(followed) => via = via.or(followed),
                Err(refusal) if refusal.code == Code::OutsideRoot && walk.links > 0 => {
                    return Err(outside("a link on the way leads out of the root"));
                }
                Err(refusal) => return Err(refusal),
            }
        }
        let path = walk.at;
        if path != self.start.within && !path.is_below(&self.start.within) {
            return Err(outside("the path lies outside the root"));
        }
        if let Some(why) = self.rules.protects(&path) {
            return Err(Refusal::new(Code::ProtectedPath, why));
        }
        if let Some(link) = via.as_ref().filter(|_| !path.is_root())
            && self.stat(&path).map_err(|e| cannot_look(&path, &e))?.is_none()
        {
            return Err(Refusal::new(
                Code::NotRegular,
                format!("the link {link} leads to {path}, which is missing"),
            ));
        }
        Ok(Target { path, via })
    }
}

impl<D: Disk> Source for WorkTree<'_, D> {
    fn resolve(&self, written: &BatchPath, last: LastLink) -> Result<Target, Refusal> {
        let target = self.resolve_any(written, last)?;
        if target.path.is_root() {
            return Err(Refusal::new(Code::NotRegular, "the path is the root folder itself"));
        }
        Ok(target)
    }

    fn stat(&self, path: &RelPath) -> io::Result<Option<Stat>> {
        if let Some((_, stat)) = self.locked().get(path) {
            return Ok(*stat);
        }
        self.stat_now(path)
    }

    fn read(&self, path: &RelPath) -> io::Result<(Vec<u8>, Stat)> {
        self.folders.disk().read(&self.folders.parent(path)?, path.name())
    }

    fn read_link(&self, path: &RelPath) -> io::Result<BString> {
        self.folders.disk().read_link(&self.folders.parent(path)?, path.name())
    }

    fn list(&self, path: &RelPath) -> io::Result<Vec<BString>> {
        self.folders.disk().list(&self.folders.open(path)?)
    }

    fn is_binary(&self, path: &RelPath) -> bool {
        self.rules.is_binary(path)
    }

    fn is_left_out(&self, path: &RelPath) -> bool {
        self.rules.is_left_out(path)
    }

    fn is_in_lfs(&self, path: &RelPath) -> bool {
        self.rules.is_in_lfs(path)
    }

    fn base(&self, path: &RelPath, present: &[u8], seen: Option<&Stamp>) -> Option<Vec<u8>> {
        let base = self.rules.base(path, present, seen)?;
        (!self.versions.was_seen(path, present)).then_some(base)
    }

    fn versions(&self) -> &dyn Versions {
        self.versions
    }
}
