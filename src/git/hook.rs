//! Running the hooks of a commit, as `git commit --only` runs them: on a private index that holds HEAD and the batch.
//!
//! The only place that starts `git`, and only when there may be such a hook.

use super::part::Part;
use super::record::Side;
use super::repo::Environment;
use super::status::id_on_disk;
use super::{GitError, Repo, clean::Cleaner, index};
use crate::edit::RelPath;
use bstr::{BString, ByteSlice};
use gix::ObjectId;
use gix::index::entry::Stage;
use std::collections::{BTreeMap, HashSet};
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Runs the hooks of one commit; its private files go when it is dropped.
pub(crate) struct Hooks<'r> {
    repo: &'r Repo,
    local: &'r gix::Repository,
    index: PathBuf,
    message: PathBuf,
}

/// What the hooks left to commit.
pub(crate) struct Vetted {
    pub(crate) message: BString,
    /// Whether versions of the batch were replaced, so that the tree has to be written again.
    pub(crate) replaced: bool,
}

impl<'r> Hooks<'r> {
    pub(crate) fn new(repo: &'r Repo, local: &'r gix::Repository, operation: &str) -> Result<Self, GitError> {
        let folder = repo.own_folder()?;
        let index = folder.join(format!("hook-index-{operation}"));
        Ok(Self { repo, local, index, message: folder.join(format!("message-{operation}")) })
    }

    /// Runs `pre-commit` and `commit-msg` over `tree`. A version of a batch path that `pre-commit` staged takes the
    /// place of ours.
    ///
    /// # Errors
    /// A hook fails, or stages a path outside of the batch, or one that holds other changes beside the batch.
    pub(crate) fn vet(
        &self,
        tree: ObjectId,
        parts: &mut [Part],
        mut message: BString,
    ) -> Result<Vetted, GitError> {
        let (on_commit, on_message) = (self.may_exist("pre-commit"), self.may_exist("commit-msg"));
        let mut replaced = false;
        if on_commit || on_message {
            let before = self.write_index(tree, parts)?;
            if on_commit {
                self.run("pre-commit", Some(&self.index), &[])?;
                replaced = self.take_over(&staged(&before), &staged(&self.read_back()?), parts)?;
            }
        }
        if on_message {
            fs_err::write(&self.message, &message)?;
            self.run("commit-msg", Some(&self.index), &[self.message.as_os_str()])?;
            message = fs_err::read(&self.message)?.into();
        }
        Ok(Vetted { message, replaced })
    }

    /// Runs `post-commit`; what becomes of it changes nothing.
    pub(crate) fn post_commit(&self) {
        if self.may_exist("post-commit") {
            let _ = self.run("post-commit", None, &[]);
        }
    }

    fn may_exist(&self, name: &str) -> bool {
        let config = self.local.config_snapshot();
        let configured = config.plumbing().sections_by_name("hook").is_some_and(|mut s| s.next().is_some());
        let folder = match config.trusted_path("core.hooksPath") {
            Ok(Some(path)) => self.repo.work_tree().join(path),
            _ => self.local.common_dir().join("hooks"),
        };
        configured
            || folder.join(name).exists()
            || cfg!(windows) && folder.join(format!("{name}.exe")).exists()
    }

    fn run(&self, name: &'static str, index: Option<&Path>, arguments: &[&OsStr]) -> Result<(), GitError> {
        let mut command = self.git();
        command.args(["hook", "run", "--ignore-missing", name, "--"]).args(arguments);
        if let Some(index) = index {
            command.env("GIT_INDEX_FILE", index);
        }
        let ended = command.output().map_err(|error| {
            io::Error::new(error.kind(), format!("cannot run git for the {name} hook: {error}"))
        })?;
        if ended.status.success() {
            return Ok(());
        }
        let mut output = ended.stdout;
        output.extend_from_slice(&ended.stderr);
        let output = output.to_str_lossy().into_owned();
        Err(GitError::Hook { name, status: ended.status, output })
    }

    /// git at the top of the work tree, in our own view of the environment, with nothing to read and no editor.
    fn git(&self) -> Command {
        let mut command = Command::new(gix::path::env::exe_invocation());
        command.current_dir(self.repo.work_tree()).stdin(Stdio::null()).env("GIT_EDITOR", ":");
        match self.repo.environment() {
            Environment::Ignore => {
                command.env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CONFIG_GLOBAL", "/dev/null");
            }
            Environment::Honour if std::env::var_os("GIT_DIR").is_some() => {
                command.env("GIT_DIR", self.repo.git_dir()).env("GIT_WORK_TREE", self.repo.work_tree());
            }
            Environment::Honour => {}
        }
        command
    }

    /// Writes the private index: `tree`, with what is known of the files, so that a hook's `git diff-files` is quiet.
    fn write_index(&self, tree: ObjectId, parts: &[Part]) -> Result<gix::index::File, GitError> {
        let mut given = self.local.index_from_tree(&tree).map_err(GitError::gix("read the new tree"))?;
        let known = index::open(self.local, self.repo.index_path())?;
        let options = self.local.stat_options().map_err(GitError::gix("read the configuration"))?;
        for (entry, path) in given.entries_mut_with_paths() {
            let Some(known_entry) = known.entry_by_path(path) else {
                continue;
            };
            let same = known_entry.id == entry.id && known_entry.mode == entry.mode;
            if same && !known_entry.stat.is_racy(known.timestamp(), options) {
                entry.stat = known_entry.stat;
            }
        }
        for part in parts.iter().filter(|part| part.committed == part.on_disk) {
            let path = part.path.as_bstr();
            if let Some(found) = given.entry_mut_by_path_and_stage(path, Stage::Unconflicted) {
                let on_disk = self.repo.work_tree().join(part.path.to_path());
                found.stat = index::stat(&on_disk).unwrap_or_default();
            }
        }
        index::write(self.local, &given, &self.index)?;
        Ok(given)
    }

    fn read_back(&self) -> Result<gix::index::File, GitError> {
        let hash = self.local.object_hash();
        gix::index::File::at(&self.index, hash, true, gix::index::decode::Options::default())
            .map_err(GitError::gix("read the index that the hook left"))
    }

    fn take_over(
        &self,
        before: &BTreeMap<&[u8], Side>,
        after: &BTreeMap<&[u8], Side>,
        parts: &mut [Part],
    ) -> Result<bool, GitError> {
        let batch: HashSet<&[u8]> = parts.iter().map(|part| part.path.as_bstr().as_bytes()).collect();
        let paths = before.keys().chain(after.keys());
        if let Some(path) = paths.copied().find(|p| !batch.contains(p) && before.get(p) != after.get(p)) {
            return Err(GitError::HookStaged(path.into()));
        }
        let changed: Vec<_> = parts
            .iter_mut()
            .filter(|part| after.get(part.path.as_bstr().as_bytes()).copied() != part.committed)
            .collect();
        if changed.is_empty() {
            return Ok(false);
        }
        // Whether it holds the user's changes too, nobody can tell.
        if let Some(part) = changed.iter().find(|part| !part.is_whole()) {
            return Err(GitError::HookMixed(part.path.clone()));
        }
        let index = std::sync::Arc::new(index::open(self.local, self.repo.index_path())?);
        let mut cleaner = Cleaner::new(self.repo.local(), index)?;
        for part in changed {
            let staged = after.get(part.path.as_bstr().as_bytes()).copied();
            part.landed = landing(&mut cleaner, &part.path, staged, self.repo.work_tree())?;
            part.on_disk = part.landed.and(staged);
            (part.committed, part.indexed) = (staged, staged);
        }
        Ok(true)
    }
}

impl Drop for Hooks<'_> {
    fn drop(&mut self) {
        for file in [&self.index, &self.message] {
            let _ = std::fs::remove_file(file);
        }
    }
}

/// The facts of the file when it holds what `side` says, as after a formatter that wrote and staged it.
fn landing(
    cleaner: &mut Cleaner,
    path: &RelPath,
    side: Option<Side>,
    work_tree: &Path,
) -> Result<Option<super::record::Landing>, GitError> {
    let on_disk = work_tree.join(path.to_path());
    let (Some(side), Some(stat)) = (side, index::stat(&on_disk)) else {
        return Ok(None);
    };
    let same = id_on_disk(cleaner, path, &on_disk, side.mode)? == side.id;
    Ok(same.then(|| (&stat).into()))
}

fn staged(index: &gix::index::File) -> BTreeMap<&[u8], Side> {
    let entries = index.entries().iter();
    entries.map(|e| (e.path(index).as_bytes(), Side { mode: e.mode, id: e.id })).collect()
}
