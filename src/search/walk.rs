//! The files below a folder that ignore files do not leave out, in no order.
//!
//! Hidden files count, since agents ask for them; `.git` never does. Links are not followed. Ignore files of folders
//! above count only in a repository: above a plain folder they are about something else. Reads folders and ignore files
//! by itself, never the files it lists.

use crate::edit::{Code, RelPath};
use crate::plan::{Refusal, is_git_name};
use bstr::ByteSlice;
use ignore::overrides::{Override, OverrideBuilder};
use ignore::types::{Types, TypesBuilder};
use ignore::{DirEntry, WalkBuilder, WalkState};
use std::path::{Path, PathBuf};
use std::sync::mpsc;

/// Where a walk goes.
#[derive(Clone, Debug)]
pub struct Ground<'a> {
    /// The root as a real path.
    pub root: &'a Path,
    /// The folder, or the one file, that is walked.
    pub start: &'a RelPath,
    /// What the root is.
    pub surroundings: Surroundings,
}

/// What a root is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Surroundings {
    /// A work tree of git.
    Repository,
    /// A folder without git.
    Plain,
}

/// Which files are wanted, beside what ignore files say.
#[derive(Clone, Debug)]
pub struct Filter {
    globs: Override,
    types: Types,
}

impl Filter {
    /// Every file.
    pub fn all() -> Self {
        Self { globs: Override::empty(), types: Types::empty() }
    }

    /// Files that fit one of `globs` (those with `!` leave files out) and one of `types`; globs are relative to the
    /// start of the walk, and fit at any depth when they have no slash, as in a gitignore file.
    ///
    /// # Errors
    /// `usage` for a glob that does not parse and a type that nobody knows.
    pub fn new(ground: &Ground<'_>, globs: &[String], types: &[String]) -> Result<Self, Refusal> {
        let usage = |e: ignore::Error| Refusal::new(Code::Usage, e.to_string());
        let mut overrides = OverrideBuilder::new(ground.path());
        for glob in globs {
            overrides.add(glob).map_err(usage)?;
        }
        let mut known = TypesBuilder::new();
        known.add_defaults();
        for name in types {
            known.select(name);
        }
        Ok(Self { globs: overrides.build().map_err(usage)?, types: known.build().map_err(usage)? })
    }

    fn leaves_out(&self, entry: &DirEntry) -> bool {
        let is_dir = entry.file_type().is_some_and(|kind| kind.is_dir());
        let is_git = <[u8]>::from_os_str(entry.file_name()).is_none_or(|name| is_git_name(name.as_bstr()));
        // The globs narrow what ignore files leave; they bring nothing back.
        entry.depth() > 0 && (is_git || self.globs.matched(entry.path(), is_dir).is_ignore())
    }
}

impl Ground<'_> {
    fn path(&self) -> PathBuf {
        if self.start.is_root() { self.root.to_owned() } else { self.root.join(self.start.to_path()) }
    }
}

/// Everything that `take` makes of the regular files, and what could not be looked at.
pub fn walk<T: Send>(
    ground: &Ground<'_>,
    filter: &Filter,
    take: &(dyn Fn(RelPath, &DirEntry) -> Option<T> + Sync),
) -> (Vec<T>, Vec<String>) {
    let keep = filter.clone();
    let mut builder = WalkBuilder::new(ground.path());
    builder
        .hidden(false)
        .require_git(false)
        .parents(ground.surroundings == Surroundings::Repository)
        .threads(rayon::current_num_threads())
        .types(filter.types.clone())
        .filter_entry(move |entry| !keep.leaves_out(entry));
    let (send, receive) = mpsc::channel();
    builder.build_parallel().run(|| {
        let send = send.clone();
        Box::new(move |entry| {
            let found = match entry {
                Err(error) => Some(Err(error.to_string())),
                Ok(entry) if !entry.file_type().is_some_and(|kind| kind.is_file()) => None,
                Ok(entry) => below(ground.root, &entry).and_then(|path| take(path, &entry)).map(Ok),
            };
            match found.map(|found| send.send(found)) {
                Some(Err(_)) => WalkState::Quit,
                _ => WalkState::Continue,
            }
        })
    });
    drop(send);
    let (mut taken, mut faults) = (Vec::new(), Vec::new());
    for found in receive {
        match found {
            Ok(one) => taken.push(one),
            Err(fault) => faults.push(fault),
        }
    }
    faults.sort();
    (taken, faults)
}

fn below(root: &Path, entry: &DirEntry) -> Option<RelPath> {
    RelPath::new(<[u8]>::from_path(entry.path().strip_prefix(root).ok()?)?).ok()
}
