//! What of a work tree belongs into a copy of it, and a repository for the copy that cannot change the real one.

use super::{GitError, Repo, index};
use crate::edit::RelPath;
use bstr::BString;
use gix::index::entry::Mode;
use gix::worktree::stack::state::ignore;
use std::io;
use std::path::{Path, PathBuf};

/// Tells which paths of a work tree are copied: those that git tracks, and all others that no rule ignores.
pub struct Copied {
    local: gix::Repository,
    index: gix::index::File,
    ignored: gix::worktree::Stack,
}

impl std::fmt::Debug for Copied {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Copied").finish_non_exhaustive()
    }
}

impl Copied {
    /// Reads the index as it is now.
    ///
    /// # Errors
    /// An index or ignore rules that cannot be read.
    pub fn of(repo: &Repo) -> Result<Self, GitError> {
        let local = repo.local();
        let index = index::open(&local, repo.index_path())?;
        let rules = local.excludes(&index, None, ignore::Source::WorktreeThenIdMappingIfNotSkipped);
        let ignored = rules.map_err(GitError::gix("read the ignore rules"))?.detach();
        Ok(Self { local, index, ignored })
    }

    /// Whether the file or link `path` is copied.
    ///
    /// # Errors
    /// Ignore rules that cannot be read.
    pub fn takes_file(&mut self, path: &RelPath) -> Result<bool, GitError> {
        Ok(self.index.entry_range(path.as_bstr()).is_some() || !self.is_ignored(path, Mode::FILE)?)
    }

    /// Whether anything below the folder `path` may be copied.
    ///
    /// # Errors
    /// Ignore rules that cannot be read.
    pub fn enters(&mut self, path: &RelPath) -> Result<bool, GitError> {
        let mut below: BString = path.as_bstr().to_owned();
        below.push(b'/');
        let tracks = self.index.prefixed_entries(below.as_ref()).is_some_and(|found| !found.is_empty());
        Ok(tracks || !self.is_ignored(path, Mode::DIR)?)
    }

    fn is_ignored(&mut self, path: &RelPath, mode: Mode) -> Result<bool, GitError> {
        Ok(self.ignored.at_path(path.as_bstr(), Some(mode), &self.local.objects)?.is_excluded())
    }
}

impl Repo {
    /// A command that the user's own configuration names under `key`: the system's, the user's, or that of the command
    /// (`git -c`, `GIT_CONFIG_COUNT`). What the repository's own files say is never obeyed, since whoever made the
    /// repository may have written it.
    pub fn own_command(&self, key: &str) -> Configured {
        use gix::config::source::Kind;
        let (local, all) = (self.local(), |_: &gix::config::file::Metadata| true);
        let config = local.config_snapshot();
        let is_own = |found: &gix::config::file::Metadata| found.source.kind() != Kind::Repository;
        let text = |value: Option<BString>| value.map(|value| value.to_string());
        let (own, any) = (
            text(config.plumbing().string_filter(key, is_own)),
            text(config.plumbing().string_filter(key, all)),
        );
        match (own, any) {
            (Some(own), _) => Configured::Own(own),
            (None, Some(_)) => Configured::ByRepository,
            (None, None) => Configured::Nothing,
        }
    }

    /// Makes a repository in the copy `tree` of the work tree: it has the same HEAD, branches, tags and index, and reads
    /// the same objects, but whatever is written there stays there.
    ///
    /// # Errors
    /// A file that cannot be read or written.
    pub fn make_private(&self, tree: &Path) -> Result<(), GitError> {
        let (local, git) = (self.local(), tree.join(".git"));
        let (own, common) = (self.git_dir().to_owned(), fs_err::canonicalize(local.common_dir())?);
        for folder in ["objects/info", "refs/heads", "refs/tags", "info"] {
            fs_err::create_dir_all(git.join(folder))?;
        }
        let mut alternates = gix::path::into_bstr(common.join("objects"))
            .map_err(GitError::gix("name the objects of the repository"))?
            .into_owned();
        alternates.push(b'\n');
        fs_err::write(git.join("objects/info/alternates"), alternates)?;
        let sha256 = local.object_hash() != gix::hash::Kind::Sha1;
        let format = if sha256 { "1\n[extensions]\n\tobjectFormat = sha256" } else { "0" };
        fs_err::write(git.join("config"), format!("[core]\n\trepositoryFormatVersion = {format}\n"))?;
        for (from, name) in
            [(&own, "HEAD"), (&common, "packed-refs"), (&common, "shallow"), (&common, "info/exclude")]
        {
            copy_if_there(&from.join(name), &git.join(name))?;
        }
        for refs in ["refs/heads", "refs/tags"] {
            copy_folder(&common.join(refs), &git.join(refs))?;
        }
        let index = local.index_path();
        copy_if_there(&index, &git.join("index"))?;
        for shared in fs_err::read_dir(&own)?.flatten() {
            if shared.file_name().as_encoded_bytes().starts_with(b"sharedindex.") {
                copy_if_there(&shared.path(), &git.join(shared.file_name()))?;
            }
        }
        Ok(())
    }
}

/// A command in the configuration.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Configured {
    /// The user's.
    Own(String),
    /// The repository's: not obeyed.
    ByRepository,
    /// None.
    Nothing,
}

fn copy_if_there(from: &Path, to: &PathBuf) -> io::Result<()> {
    match fs_err::copy(from, to) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done.map(drop),
    }
}

fn copy_folder(from: &Path, to: &Path) -> io::Result<()> {
    for entry in fs_err::read_dir(from).into_iter().flatten().flatten() {
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            fs_err::create_dir_all(&target)?;
            copy_folder(&entry.path(), &target)?;
        } else if entry.path().extension().is_none_or(|extension| extension != "lock") {
            copy_if_there(&entry.path(), &target)?;
        }
    }
    Ok(())
}
