//! Finding and opening the repository of a folder, as git would, and nothing that git would not open.
//!
//! A [`Repo`] is a cheap handle for all threads; it holds no lock and no open file.

use super::GitError;
use crate::edit::RelPath;
use bstr::ByteSlice;
use gix::discover::upwards;
use gix::open::{Options, Permissions};
use gix::sec::trust::Mapping;
use std::path::{Path, PathBuf};

/// What stands at or above a folder.
#[derive(Debug)]
#[must_use = "tells whether there is a repository to work in"]
pub enum Discovery {
    /// A repository with a work tree.
    Found(Box<Repo>),
    /// A repository without a work tree.
    Bare(PathBuf),
    /// No repository.
    Nothing,
}

impl Discovery {
    /// The repository, when there is one with a work tree.
    pub fn into_repo(self) -> Option<Repo> {
        if let Self::Found(repo) = self { Some(*repo) } else { None }
    }
}

/// Whether variables (`GIT_DIR`, `GIT_AUTHOR_NAME`, …) and the user's and system's configuration count.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Environment {
    /// As git reads them.
    Honour,
    /// The repository's own configuration alone: for tests and for reproducible runs.
    Ignore,
}

/// A repository with a work tree.
#[derive(Clone)]
pub struct Repo {
    shared: gix::ThreadSafeRepository,
    work_tree: PathBuf,
    git_dir: PathBuf,
    index: PathBuf,
    environment: Environment,
    in_hook: bool,
}

impl std::fmt::Debug for Repo {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Repo").field("work_tree", &self.work_tree).field("git_dir", &self.git_dir).finish()
    }
}

impl Repo {
    /// The repository that git would use in `start`, honouring git's environment variables.
    ///
    /// # Errors
    /// A repository that must not or cannot be used: another user's, of an unknown format, misconfigured.
    pub fn discover(start: &Path) -> Result<Discovery, GitError> {
        Self::discover_with(start, Environment::Honour)
    }

    /// The repository of `start`.
    ///
    /// # Errors
    /// As [`discover`](Self::discover).
    pub fn discover_with(start: &Path, environment: Environment) -> Result<Discovery, GitError> {
        let start = fs_err::canonicalize(start)?;
        if environment == Environment::Honour && std::env::var_os("GIT_COMMON_DIR").is_some() {
            return Err(GitError::Unsupported("the variable GIT_COMMON_DIR".to_owned()));
        }
        let mut shared = match find(&start, environment) {
            Ok(shared) => shared,
            Err(error) => return not_opened(&start, error),
        };
        refuse_unknown_formats(&shared.to_thread_local())?;
        if environment == Environment::Honour {
            use_current_folder_as_git_does(&mut shared)?;
        }
        let git_dir = fs_err::canonicalize(shared.git_dir())?;
        let Some(work_tree) = &shared.work_tree else {
            return Ok(Discovery::Bare(git_dir));
        };
        let work_tree = fs_err::canonicalize(work_tree)?;
        shared.work_tree = Some(work_tree.clone());
        let other_index = std::env::var_os("GIT_INDEX_FILE").filter(|_| environment == Environment::Honour);
        let in_hook = other_index.is_some();
        // git reads a relative name at the top of the work tree, wherever it was started.
        let index = other_index.map_or_else(|| git_dir.join("index"), |name| work_tree.join(name));
        Ok(Discovery::Found(Box::new(Self { shared, work_tree, git_dir, index, environment, in_hook })))
    }

    /// The top folder of the work tree, as a real path.
    pub fn work_tree(&self) -> &Path {
        &self.work_tree
    }

    /// The git directory of this work tree, as a real path: a linked work tree has its own.
    pub fn git_dir(&self) -> &Path {
        &self.git_dir
    }

    /// The index: that of `GIT_INDEX_FILE`, else the work tree's own.
    pub fn index_path(&self) -> &Path {
        &self.index
    }

    /// Whether `GIT_INDEX_FILE` is set: somebody else's commit is being made.
    pub fn in_hook(&self) -> bool {
        self.in_hook
    }

    /// The path of `folder` (a real path) below the work tree; `None` when it lies elsewhere.
    pub fn relative(&self, folder: &Path) -> Option<RelPath> {
        let below = folder.strip_prefix(&self.work_tree).ok()?;
        RelPath::new(<[u8]>::from_path(below)?).ok()
    }

    /// A number that the configuration sets, for example `patchmany.undoCount`; `k`, `m` and `g` behind it count. Nothing
    /// where it is not set, is negative, or is no number.
    pub fn config_number(&self, key: &str) -> Option<u64> {
        let number = self.local().config_snapshot().try_integer(key).ok()??;
        u64::try_from(number).ok()
    }

    /// Whether variables and the user's configuration count.
    pub(crate) fn environment(&self) -> Environment {
        self.environment
    }

    /// A handle for this thread. It reads the clock and the identity afresh.
    pub(crate) fn local(&self) -> gix::Repository {
        let mut repo = self.shared.to_thread_local();
        repo.object_cache_size_if_unset(4 * 1024 * 1024);
        repo
    }

    /// Our own folder in the git directory, made when missing.
    pub(crate) fn own_folder(&self) -> Result<PathBuf, GitError> {
        let folder = self.git_dir.join("patchmany");
        let mut builder = std::fs::DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        match builder.create(&folder) {
            Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => {
                let text = format!("cannot create {}: {error}", folder.display());
                Err(std::io::Error::new(error.kind(), text).into())
            }
            _ => Ok(folder),
        }
    }
}

fn find(start: &Path, environment: Environment) -> gix::Result<gix::ThreadSafeRepository> {
    let options = || {
        let options = Options::default().bail_if_untrusted(true).strict_config(true);
        match environment {
            Environment::Honour => options,
            Environment::Ignore => options.permissions(Permissions::isolated()),
        }
    };
    let trust = Mapping { full: options(), reduced: options() };
    let upwards = upwards::Options { match_ceiling_dir_or_error: false, ..Default::default() };
    match environment {
        Environment::Honour => {
            gix::ThreadSafeRepository::discover_with_environment_overrides_opts(start, upwards, trust)
        }
        Environment::Ignore => gix::ThreadSafeRepository::discover_opts(start, upwards, trust),
    }
}

fn not_opened(start: &Path, error: gix::Error) -> Result<Discovery, GitError> {
    use upwards::Error as Search;
    match error.downcast_any_ref::<Search>() {
        Some(
            Search::NoGitRepository { .. }
            | Search::NoGitRepositoryWithinCeiling { .. }
            | Search::NoGitRepositoryWithinFs { .. },
        ) => Ok(Discovery::Nothing),
        Some(_) => Err(GitError::Untrusted(start.to_owned())),
        None if error.dominant_class() == Some(gix::error::Class::PermissionDenied) => {
            Err(GitError::Untrusted(start.to_owned()))
        }
        None => Err(GitError::Open { path: start.to_owned(), source: Box::new(error) }),
    }
}

/// gix opens what git refuses, and writes loose references that git never sees into a reftable repository.
fn refuse_unknown_formats(repo: &gix::Repository) -> Result<(), GitError> {
    const KNOWN: [&str; 8] = [
        "noop",
        "noop-v1",
        "objectformat",
        "preciousobjects",
        "partialclone",
        "worktreeconfig",
        "relativeworktrees",
        "refstorage",
    ];
    let config = repo.config_snapshot();
    if let Some(storage) = config.string("extensions.refStorage").filter(|s| s != "files") {
        return Err(GitError::Unsupported(format!("the reference storage {storage:?}")));
    }
    if config.integer("core.repositoryFormatVersion").unwrap_or(0) < 1 {
        return Ok(());
    }
    let sections = config.plumbing().sections_by_name("extensions").into_iter().flatten();
    let own = sections.filter(|s| matches!(s.meta().source, gix::config::Source::Local));
    for name in own.flat_map(|section| section.value_names().collect::<Vec<_>>()) {
        if !KNOWN.contains(&name.to_ascii_lowercase().as_str()) {
            return Err(GitError::Unsupported(format!("the extension {name}")));
        }
    }
    Ok(())
}

/// With `GIT_DIR` but neither `GIT_WORK_TREE` nor `core.worktree`, git works in the current folder; gix would take
/// the parent of the git directory.
fn use_current_folder_as_git_does(shared: &mut gix::ThreadSafeRepository) -> Result<(), GitError> {
    let set = |name| std::env::var_os(name).is_some();
    if !set("GIT_DIR") || set("GIT_WORK_TREE") {
        return Ok(());
    }
    let repo = shared.to_thread_local();
    let config = repo.config_snapshot();
    if config.string("core.worktree").is_none() && config.boolean("core.bare") != Some(true) {
        shared.work_tree = Some(std::env::current_dir()?);
    }
    Ok(())
}
