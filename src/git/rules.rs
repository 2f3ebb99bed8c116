//! What git says of paths to the planner: declared binary, or part of git's own machinery.

use super::{Repo, StatusReader};
use crate::edit::RelPath;
use crate::plan::PathRules;
use bstr::ByteSlice;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

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
}

impl std::fmt::Debug for GitRules {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GitRules").field("repo", &self.repo).field("hooks", &self.hooks).finish()
    }
}

impl GitRules {
    /// The rules below `root`, relative to the work tree.
    pub fn new(repo: &Repo, root: &RelPath) -> Self {
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
        Self {
            repo: repo.clone(),
            root: root.clone(),
            hooks,
            shared_attributes,
            mentions: Mutex::default(),
            readers: Mutex::default(),
        }
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

    fn ask(&self, path: &RelPath) -> Option<bool> {
        let idle = self.readers.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut reader = match idle {
            Some(reader) => reader,
            None => StatusReader::open(&self.repo).ok()?,
        };
        let answer = reader.is_binary(path).ok();
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
        self.may_be_binary(&path) && self.ask(&path).unwrap_or(false)
    }

    fn protects(&self, path: &RelPath) -> Option<String> {
        let path = self.in_work_tree(path);
        let hooks = self.hooks.as_ref()?;
        (path == *hooks || path.is_below(hooks))
            .then(|| format!("{hooks} holds git's hooks (core.hooksPath)"))
    }
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
