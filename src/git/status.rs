//! What git knows about single paths: tracked or not, and whether HEAD, index and work tree agree.
//!
//! Costs a look at the path, not at the tree. Nothing is written, not even the index's cached facts.

use super::clean::{Attributes, Cleaner};
use super::{GitError, Repo, index, object};
use crate::edit::RelPath;
use bstr::{BStr, BString, ByteSlice};
use gix::index::entry::{Flags, Mode, Stage};
use gix::worktree::stack::state::ignore;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

/// What git keeps of a path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tracking {
    /// It is in the index.
    Tracked,
    /// It is not in the index.
    Untracked,
    /// It is not in the index and a rule ignores it.
    Ignored,
    /// `git add --intent-to-add` announced it.
    IntentToAdd,
    /// A merge left it in conflict.
    Unmerged,
    /// It is in the index and shall not be in the work tree.
    SkipWorktree,
    /// It lies in a folder that the sparse index holds as one entry.
    SparseFolder,
    /// It is a submodule, or lies in one.
    Gitlink,
    /// It lies in another repository.
    NestedRepository,
}

/// How a path stands between HEAD, index and work tree.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PathStatus {
    /// What git keeps of it.
    pub tracking: Tracking,
    /// The index differs from HEAD.
    pub staged: bool,
    /// The work tree differs from the index; for an untracked path: it exists and is no folder.
    pub unstaged: bool,
}

impl PathStatus {
    /// Whether HEAD, index and work tree agree: all the same file, or nothing in any of them.
    pub fn is_clean(&self) -> bool {
        let plain = matches!(self.tracking, Tracking::Tracked | Tracking::Untracked | Tracking::Ignored);
        plain && !self.staged && !self.unstaged
    }
}

/// Looks at paths, all relative to the work tree. Serves one thread; [`another`](Self::another) is cheap.
pub struct StatusReader {
    repo: gix::Repository,
    work_tree: PathBuf,
    index: Arc<gix::index::File>,
    head_tree: Option<gix::ObjectId>,
    cleaner: Cleaner,
    ignored: gix::worktree::Stack,
    nested: HashMap<RelPath, bool>,
    capabilities: gix::fs::Capabilities,
    stat: gix::index::entry::stat::Options,
}

impl StatusReader {
    /// Reads the index as it is now.
    ///
    /// # Errors
    /// An index, HEAD or configuration that cannot be read.
    pub fn open(repo: &Repo) -> Result<Self, GitError> {
        let index = Arc::new(index::open(&repo.local(), repo.index_path())?);
        Self::over(repo, index)
    }

    /// A second reader for another thread, over the same index.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn another(&self, repo: &Repo) -> Result<Self, GitError> {
        Self::over(repo, Arc::clone(&self.index))
    }

    /// How `path` stands.
    ///
    /// # Errors
    /// What cannot be read: the file, a tree, a filter.
    pub fn status(&mut self, path: &RelPath) -> Result<PathStatus, GitError> {
        if let Some(tracking) = self.enclosing(path)? {
            return Ok(PathStatus { tracking, staged: false, unstaged: false });
        }
        let index = Arc::clone(&self.index);
        let found = index.entry_range(path.as_bstr()).map(|range| &index.entries()[range]);
        let in_head = self.in_head(path)?;
        let Some(entries) = found else {
            return self.untracked(path, in_head.is_some());
        };
        let entry = &entries[0];
        let tracking = match entry.flags {
            _ if entry.stage() != Stage::Unconflicted => Tracking::Unmerged,
            _ if entry.mode.is_submodule() => Tracking::Gitlink,
            flags if flags.contains(Flags::SKIP_WORKTREE) => Tracking::SkipWorktree,
            flags if flags.contains(Flags::INTENT_TO_ADD) => Tracking::IntentToAdd,
            _ => Tracking::Tracked,
        };
        let staged = in_head != Some((entry.mode, entry.id));
        let unstaged = tracking == Tracking::Tracked && self.is_changed(path, entry)?;
        Ok(PathStatus { tracking, staged, unstaged })
    }

    /// Whether there is no commit yet.
    pub(crate) fn is_unborn(&self) -> bool {
        self.head_tree.is_none()
    }

    /// What `.gitattributes` say about `path`.
    ///
    /// # Errors
    /// An attributes file that cannot be read.
    pub fn attributes(&mut self, path: &RelPath) -> Result<Attributes, GitError> {
        self.cleaner.attributes(path)
    }

    /// Whether `.gitattributes` call `path` binary.
    ///
    /// # Errors
    /// As [`attributes`](Self::attributes).
    pub fn is_binary(&mut self, path: &RelPath) -> Result<bool, GitError> {
        Ok(self.attributes(path)?.binary)
    }

    /// Paths in the index that cannot exist together with `path`: a file where it needs a folder, or files below it.
    pub(crate) fn rivals(&self, path: &RelPath) -> Vec<RelPath> {
        let mut rivals: Vec<_> =
            ancestors(path).filter(|a| self.index.entry_by_path(a.as_bstr()).is_some()).collect();
        let mut below: BString = path.as_bstr().to_owned();
        below.push(b'/');
        for entry in self.index.prefixed_entries(below.as_bstr()).unwrap_or_default() {
            rivals.extend(RelPath::new(entry.path(&self.index).to_owned()));
        }
        rivals
    }

    /// The path in the form of the operating system.
    pub(crate) fn on_disk(&self, path: &RelPath) -> PathBuf {
        self.work_tree.join(path.to_path())
    }

    /// Whether gix would rank `info/attributes` below a `.gitattributes` that matters to `path`; git ranks it first.
    pub(crate) fn has_misranked_attributes(&self, path: &RelPath) -> bool {
        let info = self.repo.common_dir().join("info/attributes");
        std::fs::metadata(info).is_ok_and(|file| file.len() > 0)
            && ancestors(path).any(|folder| {
                self.on_disk(&folder).join(".gitattributes").exists()
                    || folder
                        .join(b".gitattributes".as_bstr())
                        .is_ok_and(|file| self.index.entry_by_path(file.as_bstr()).is_some())
            })
    }

    fn over(repo: &Repo, index: Arc<gix::index::File>) -> Result<Self, GitError> {
        let local = repo.local();
        let configuration = GitError::gix("read the configuration");
        let ignored = local
            .excludes(&index, None, ignore::Source::WorktreeThenIdMappingIfNotSkipped)
            .map_err(GitError::gix("read the ignore rules"))?
            .detach();
        Ok(Self {
            head_tree: super::head::Head::read(&local)?.tree(&local)?,
            cleaner: Cleaner::new(repo.local(), Arc::clone(&index))?,
            ignored,
            nested: HashMap::new(),
            capabilities: local.filesystem_options().map_err(configuration)?,
            stat: local.stat_options().map_err(GitError::gix("read the configuration"))?,
            work_tree: repo.work_tree().to_owned(),
            repo: local,
            index,
        })
    }

    /// Whether a folder above `path` takes it out of our hands.
    fn enclosing(&mut self, path: &RelPath) -> Result<Option<Tracking>, GitError> {
        for folder in ancestors(path) {
            if self.index.entry_by_path(folder.as_bstr()).is_some_and(|e| e.mode.is_submodule()) {
                return Ok(Some(Tracking::Gitlink));
            }
            let mut collapsed: BString = folder.as_bstr().to_owned();
            collapsed.push(b'/');
            if self.index.is_sparse() && self.index.entry_by_path(collapsed.as_bstr()).is_some() {
                return Ok(Some(Tracking::SparseFolder));
            }
            let nested = match self.nested.get(&folder) {
                Some(known) => *known,
                None => {
                    let nested = self.on_disk(&folder).join(".git").symlink_metadata().is_ok();
                    self.nested.insert(folder, nested);
                    nested
                }
            };
            if nested {
                return Ok(Some(Tracking::NestedRepository));
            }
        }
        Ok(None)
    }

    fn in_head(&self, path: &RelPath) -> Result<Option<(Mode, gix::ObjectId)>, GitError> {
        let found = object::side(&self.repo, self.head_tree, path)?;
        Ok(found.map(|side| (side.mode, side.id)))
    }

    fn untracked(&mut self, path: &RelPath, staged: bool) -> Result<PathStatus, GitError> {
        let ignored = self.ignored.at_path(path.as_bstr(), None, &self.repo.objects)?.is_excluded();
        Ok(PathStatus {
            tracking: if ignored { Tracking::Ignored } else { Tracking::Untracked },
            staged,
            unstaged: self.on_disk(path).symlink_metadata().is_ok_and(|found| !found.is_dir()),
        })
    }

    fn is_changed(&mut self, path: &RelPath, entry: &gix::index::Entry) -> Result<bool, GitError> {
        let on_disk = self.on_disk(path);
        let Ok(metadata) = gix::index::fs::Metadata::from_path_no_follow(&on_disk) else {
            return Ok(true);
        };
        let capabilities = &self.capabilities;
        let mode =
            entry.mode.change_to_match_fs(&metadata, capabilities.symlink, capabilities.executable_bit);
        if mode.is_some() || metadata.is_dir() {
            return Ok(true);
        }
        let now = gix::index::entry::Stat::from_fs(&metadata).unwrap_or_default();
        let smudged = entry.stat.size == 0 && entry.id != self.repo.object_hash().empty_blob();
        let racy = entry.stat.is_racy(self.index.timestamp(), self.stat);
        if entry.stat.matches(&now, self.stat) && !smudged && !racy {
            return Ok(false);
        }
        Ok(id_on_disk(&mut self.cleaner, path, &on_disk, entry.mode)? != entry.id)
    }
}

/// What git would store for the file at `on_disk`; nothing is written.
pub(crate) fn id_on_disk(
    cleaner: &mut Cleaner,
    path: &RelPath,
    on_disk: &std::path::Path,
    mode: Mode,
) -> Result<gix::ObjectId, GitError> {
    if !on_disk.is_symlink() {
        let bytes = fs_err::read(on_disk)?;
        return if mode == Mode::SYMLINK { cleaner.id_verbatim(&bytes) } else { cleaner.id(path, &bytes) };
    }
    let target = fs_err::read_link(on_disk)?;
    let target = gix::path::into_bstr(target).map_err(GitError::gix("read a link"))?;
    cleaner.id_verbatim(BStr::new(target.as_ref()))
}

/// The folders above `path` below the work tree, outermost last.
fn ancestors(path: &RelPath) -> impl Iterator<Item = RelPath> {
    std::iter::successors(path.parent(), RelPath::parent).take_while(|folder| !folder.is_root())
}
