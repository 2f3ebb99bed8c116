//! What git says of paths to the planner: declared binary, or part of git's own machinery.

use super::head::Head;
use super::unchanged::Unchanged;
use super::{GitError, Repo, StatusReader, Tracking};
use crate::disk::Stamp;
use crate::edit::RelPath;
use crate::plan::PathRules;
use bstr::ByteSlice;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

/// Attributes and protected folders of a work tree.
pub struct GitRules {
    repo: Repo,
    /// The tool's root relative to the work tree.
    root: RelPath,
    /// Where hooks lie inside the work tree, when they do.
    hooks: Option<RelPath>,
    /// Attribute files that count for every path.
    shared_attributes: bool,
    /// Whether the attributes file of a folder mentions `binary`.
    mentions: Mutex<HashMap<RelPath, bool>>,
    readers: Mutex<Vec<StatusReader>>,
    /// The tree of the base; none where there is no commit yet.
    base: Option<gix::ObjectId>,
    /// Read once as many bytes have been hashed as it has.
    unchanged: OnceLock<Option<Unchanged>>,
    index_size: OnceLock<u64>,
    /// Bytes hashed to compare files with the base.
    hashed: AtomicU64,
    /// Handles that are not in use.
    idle: Mutex<Vec<gix::Repository>>,
}

impl std::fmt::Debug for GitRules {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GitRules").field("repo", &self.repo).field("hooks", &self.hooks).finish()
    }
}

impl GitRules {
    /// The rules below `root`, relative to the work tree. `base` is the revision that authors have seen: HEAD by default.
    ///
    /// # Errors
    /// A revision that names no commit or tree.
    pub fn new(repo: &Repo, root: &RelPath, base: Option<&str>) -> Result<Self, GitError> {
        let local = repo.local();
        let hooks = local.config_snapshot().trusted_path("core.hooksPath").ok().flatten().and_then(|path| {
            let path = repo.work_tree().join(path);
            // A folder that does not exist yet is protected as it is spelled.
            let real = path.canonicalize().unwrap_or(path);
            repo.relative(&real)
        });
        let mut shared: Vec<PathBuf> = vec![local.common_dir().join("info/attributes")];
        shared.extend(local.config_snapshot().trusted_path("core.attributesFile").ok().flatten());
        shared.extend(default_attributes());
        let shared_attributes = shared.iter().any(|path| mentions_binary(path));
        let base = match base {
            Some(revision) => Some(tree_of(&local, revision)?),
            None => Head::read(&local).and_then(|head| head.tree(&local)).ok().flatten(),
        };
        Ok(Self {
            base,
            unchanged: OnceLock::new(),
            index_size: OnceLock::new(),
            hashed: AtomicU64::new(0),
            idle: Mutex::default(),
            repo: repo.clone(),
            root: root.clone(),
            hooks,
            shared_attributes,
            mentions: Mutex::default(),
            readers: Mutex::default(),
        })
    }

    /// The blob of `path` in the base, unless `present` is stored as it. Looked up in the tree, never in the index.
    fn base_blob(&self, local: &gix::Repository, path: &RelPath, present: &[u8]) -> Option<Vec<u8>> {
        let tree = local.find_tree(self.base?).ok()?;
        let entry = tree.lookup_entry(path.names().map(|name| name.to_owned())).ok()??;
        let id = gix::objs::compute_hash(local.object_hash(), gix::objs::Kind::Blob, present).ok()?;
        if !entry.mode().is_blob() || entry.object_id() == id {
            return None;
        }
        let blob = local.find_blob(entry.object_id()).ok()?.take_data();
        // Git may keep other line endings than the work tree has.
        (blob.replace("\r\n", "\n") != present.replace("\r\n", "\n")).then_some(blob)
    }

    /// Whether the index says that the file is as in the base. Asked only where that costs less than hashing.
    fn is_unchanged(&self, local: &gix::Repository, path: &RelPath, seen: &Stamp) -> bool {
        let hashed = self.hashed.fetch_add(seen.size, Ordering::Relaxed) + seen.size;
        if hashed < *self.index_size.get_or_init(|| Unchanged::cost(local)) {
            return false;
        }
        let read = || self.base.and_then(|base| Unchanged::read(local, base));
        self.unchanged.get_or_init(read).as_ref().is_some_and(|index| index.is_as_base(path, seen))
    }

    /// Whether any attributes file on the way to `path` can make it binary: a cheap question that spares most runs the
    /// reading of the index.
    fn may_be_binary(&self, path: &RelPath) -> bool {
        if self.shared_attributes {
            return true;
        }
        let mut folder = path.parent();
        while let Some(here) = folder {
            let mut mentions = self.mentions.lock().unwrap_or_else(PoisonError::into_inner);
            let file = || self.repo.work_tree().join(here.to_path()).join(".gitattributes");
            if *mentions.entry(here.clone()).or_insert_with(|| mentions_binary(&file())) {
                return true;
            }
            folder = here.parent();
        }
        false
    }

    /// What a reader says, one that is idle or a new one; `None` when git cannot be read.
    fn ask<T>(&self, question: impl FnOnce(&mut StatusReader) -> Result<T, GitError>) -> Option<T> {
        let idle = self.readers.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut reader = match idle {
            Some(reader) => reader,
            None => StatusReader::open(&self.repo).ok()?,
        };
        let answer = question(&mut reader).ok();
        self.readers.lock().unwrap_or_else(PoisonError::into_inner).push(reader);
        answer
    }

    fn in_work_tree(&self, path: &RelPath) -> RelPath {
        super::refusal::below(&self.root, path)
    }
}

impl PathRules for GitRules {
    fn is_binary(&self, path: &RelPath) -> bool {
        let path = self.in_work_tree(path);
        self.may_be_binary(&path) && self.ask(|reader| reader.is_binary(&path)).unwrap_or(false)
    }

    fn is_left_out(&self, path: &RelPath) -> bool {
        let tracking = self.ask(|reader| Ok(reader.status(&self.in_work_tree(path))?.tracking));
        matches!(tracking, Some(Tracking::SkipWorktree | Tracking::SparseFolder))
    }

    fn is_in_lfs(&self, path: &RelPath) -> bool {
        let filter = self.ask(|reader| Ok(reader.attributes(&self.in_work_tree(path))?.filter));
        filter.flatten().is_some_and(|name| name == "lfs")
    }

    fn base(&self, path: &RelPath, present: &[u8], seen: Option<&Stamp>) -> Option<Vec<u8>> {
        self.base?;
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let local = idle.unwrap_or_else(|| self.repo.local());
        let path = self.in_work_tree(path);
        let unchanged = seen.is_some_and(|seen| self.is_unchanged(&local, &path, seen));
        let blob = if unchanged { None } else { self.base_blob(&local, &path, present) };
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(local);
        blob
    }

    fn protects(&self, path: &RelPath) -> Option<String> {
        let path = self.in_work_tree(path);
        let hooks = self.hooks.as_ref()?;
        (path == *hooks || path.is_below(hooks))
            .then(|| format!("{hooks} holds git's hooks (core.hooksPath)"))
    }
}

fn tree_of(local: &gix::Repository, revision: &str) -> Result<gix::ObjectId, GitError> {
    let read = || GitError::gix("find the revision of --base");
    let object = local.rev_parse_single(revision).map_err(read())?.object().map_err(read())?;
    Ok(object.peel_to_tree().map_err(read())?.id)
}

fn mentions_binary(file: &Path) -> bool {
    fs_err::read(file).is_ok_and(|text| text.contains_str("binary"))
}

/// Where git looks for the user's attributes when no configuration names a file.
fn default_attributes() -> Option<PathBuf> {
    let config = std::env::var_os("XDG_CONFIG_HOME").filter(|v| !v.is_empty()).map(PathBuf::from);
    let config = config.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".config")))?;
    Some(config.join("git/attributes"))
}
