//! Where a run works: the root, the folder that relative paths start at, the repository, the state directory.

mod command;
mod past;
mod roots;
mod scratch;

use crate::disk::{Folders, OsDisk};
use crate::edit::{Hash, RelPath};
use crate::error::Error;
use crate::git::{Discovery, GitRules, Naming, Repo, head_mark};
use crate::plan::{NoRules, PathRules, is_git_name};
use crate::search::{MOST_KEPT, Snapshots};
use crate::transaction::Store;
use bstr::{BString, ByteSlice, ByteVec};
pub(crate) use command::{Ended, Site, run as run_command};
pub(crate) use past::{Author, Past};
pub(crate) use scratch::Scratch;
use std::io;
use std::path::{Path, PathBuf};

/// The folder of the snapshot store in the state directory.
const SNAPSHOTS: &str = "snapshots";

/// A root with its surroundings.
#[derive(Debug)]
pub struct Workspace {
    root: PathBuf,
    /// Spellings of the root that absolute paths may use.
    spellings: Vec<PathBuf>,
    base: RelPath,
    within: RelPath,
    repo: Option<Repo>,
}

impl Workspace {
    /// The workspace of `current`, an existing folder. The root is the work tree that holds `start` (by default
    /// `current`), else `current` where that holds `start`, else `start` itself. With `start` relative paths begin
    /// there, and none may leave it.
    ///
    /// # Errors
    /// A folder that is none, or that lies in a git directory; a repository that must not be used.
    pub fn discover(current: &Path, start: Option<&Path>) -> Result<Self, Error> {
        let asked = start.map_or_else(|| current.to_owned(), |start| current.join(start));
        let real = fs_err::canonicalize(&asked).map_err(no_root)?;
        if !real.is_dir() {
            return Err(Error::Usage(format!("{} is not a folder", asked.display())));
        }
        let repo = match Repo::discover(&real)? {
            Discovery::Found(repo) => Some(*repo),
            Discovery::Bare(git) if real.starts_with(&git) => {
                return Err(Error::Usage(format!("{} is a git directory", real.display())));
            }
            Discovery::Bare(_) | Discovery::Nothing => None,
        };
        // `GIT_WORK_TREE` may name a tree elsewhere: then the repository says nothing about this folder.
        let repo = repo.filter(|repo| repo.relative(&real).is_some());
        let root = match &repo {
            Some(repo) => repo.work_tree().to_owned(),
            None => fs_err::canonicalize(current)
                .ok()
                .filter(|c| real.starts_with(c))
                .unwrap_or_else(|| real.clone()),
        };
        let base = below(&root, &real)
            .ok_or_else(|| Error::Usage(format!("{} cannot be a root", real.display())))?;
        if base.names().any(is_git_name) {
            return Err(Error::Usage(format!("{} lies in a git directory", real.display())));
        }
        let within = if start.is_some() { base.clone() } else { RelPath::root() };
        Ok(Self { spellings: spelled(&root, &asked, &base), root, base, within, repo })
    }

    /// The root as a real path.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The repository whose work tree the root is.
    pub fn repo(&self) -> Option<&Repo> {
        self.repo.as_ref()
    }

    /// Where HEAD points, for the journal; nothing without git.
    pub(crate) fn head(&self) -> Vec<u8> {
        self.repo.as_ref().map_or_else(Vec::new, head_mark)
    }

    /// The folder that relative paths start at, relative to the root.
    pub fn base(&self) -> &RelPath {
        &self.base
    }

    /// The folder that no path may leave, relative to the root.
    pub fn within(&self) -> &RelPath {
        &self.within
    }

    /// How git names contents here.
    pub(crate) fn naming(&self) -> Naming {
        self.repo.as_ref().map_or_else(Naming::default, Naming::of)
    }

    /// The path from where relative paths start, as a batch writes it.
    pub fn name(&self, path: &RelPath) -> BString {
        let (base, names): (Vec<_>, Vec<_>) = (self.base.names().collect(), path.names().collect());
        let common = base.iter().zip(&names).take_while(|(a, b)| a == b).count();
        let up = base[common..].iter().map(|_| "..".as_bytes());
        let down = names[common..].iter().map(|name| name.as_bytes());
        bstr::join("/", up.chain(down)).into()
    }

    pub(crate) fn spellings(&self) -> Vec<PathBuf> {
        self.spellings.clone()
    }

    pub(crate) fn folders(&self) -> Result<Folders<OsDisk>, Error> {
        use crate::disk::Disk;
        let root =
            OsDisk.open_root(&self.root).map_err(Error::io(format!("open {}", self.root.display())))?;
        Ok(Folders::new(OsDisk, root))
    }

    /// What git says of paths; `base` is the revision that the author of the batch has seen.
    pub(crate) fn rules(&self, base: Option<&str>) -> Result<Box<dyn PathRules>, Error> {
        match (&self.repo, base) {
            (Some(repo), base) => {
                let rules = GitRules::new(repo, &RelPath::root(), base);
                Ok(Box::new(rules.map_err(|error| Error::Usage(error.to_string()))?))
            }
            (None, None) => Ok(Box::new(NoRules)),
            (None, Some(_)) => Err(Error::Usage("--base needs a git repository".to_owned())),
        }
    }

    /// The state directory, made when missing: in the git directory, else in the user's state directory.
    pub(crate) fn store(&self) -> Result<Store<OsDisk>, Error> {
        let own = self.repo.as_ref().map(|repo| repo.git_dir().join("patchmany"));
        if let Some(own) = own {
            match Store::open(OsDisk, &own) {
                Err(e) if is_forbidden(&e) => {}
                opened => return opened.map_err(Error::io(format!("open {}", own.display()))),
            }
        }
        let elsewhere = self.user_state()?.join(name_of(&self.root));
        let opened = Store::open(OsDisk, &elsewhere);
        let store = opened.map_err(Error::io(format!("open {}", elsewhere.display())))?;
        if self.repo.is_none() {
            roots::register(&self.user_state()?, &self.root)
                .map_err(Error::io("add to the list of roots"))?;
        }
        Ok(store)
    }

    /// Other roots without git that contain this one, or lie in it, and have a state directory; sorted by their paths.
    pub(crate) fn neighbours(&self) -> Result<Vec<Neighbour>, Error> {
        let (None, Ok(state)) = (&self.repo, self.user_state()) else { return Ok(Vec::new()) };
        let roots = match roots::overlapping(&state, &self.root) {
            Err(e) if is_forbidden(&e) => return Ok(Vec::new()),
            found => found.map_err(Error::io("read the list of roots"))?,
        };
        let mut found = Vec::new();
        for root in roots {
            let place = state.join(name_of(&root));
            let store =
                Store::find(OsDisk, &place).map_err(Error::io(format!("open {}", place.display())))?;
            found.extend(store.map(|store| Neighbour { root, store }));
        }
        Ok(found)
    }

    /// The state directory if there is one; nothing is made.
    pub(crate) fn existing_store(&self) -> Result<Option<Store<OsDisk>>, Error> {
        let own = self.repo.as_ref().map(|repo| repo.git_dir().join("patchmany"));
        let elsewhere = self.user_state().ok().map(|state| state.join(name_of(&self.root)));
        for place in own.into_iter().chain(elsewhere) {
            match Store::find(OsDisk, &place) {
                Ok(None) => {}
                Err(e) if is_forbidden(&e) => {}
                found => return found.map_err(Error::io(format!("open {}", place.display()))),
            }
        }
        Ok(None)
    }

    /// The snapshot store, made when missing, bounded as git's configuration says.
    pub(crate) fn snapshots(&self) -> Result<Snapshots<OsDisk>, Error> {
        let dir = self.store()?.folder(SNAPSHOTS.into()).map_err(Error::io("open the snapshot store"))?;
        Ok(Snapshots::new(OsDisk, dir, self.most_kept()))
    }

    /// The snapshot store if there is one; nothing is made.
    fn existing_snapshots(&self) -> Option<Snapshots<OsDisk>> {
        let dir = self.existing_store().ok()??.existing_folder(SNAPSHOTS.into()).ok()??;
        Some(Snapshots::new(OsDisk, dir, self.most_kept()))
    }

    fn most_kept(&self) -> u64 {
        let asked = self.repo.as_ref().and_then(|repo| repo.config_number("patchmany.snapshotSize"));
        asked.unwrap_or(MOST_KEPT)
    }

    /// What is known of earlier versions.
    pub(crate) fn past(&self, author: Author) -> Past<'_> {
        Past::new(self, author)
    }

    /// The folder of all state that lies in no git directory.
    fn user_state(&self) -> Result<PathBuf, Error> {
        let variable = |name| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
        let home = variable("XDG_STATE_HOME").filter(|p| p.is_absolute());
        let home = home.or_else(|| Some(variable("HOME")?.join(".local/state")));
        let home = home.or_else(|| variable("LOCALAPPDATA"));
        let none = "no place for the state of patchmany: set XDG_STATE_HOME or HOME";
        let home = home.ok_or_else(|| Error::Usage(none.to_owned()))?;
        Ok(home.join("patchmany"))
    }
}

/// Another root, with its state.
#[derive(Debug)]
pub(crate) struct Neighbour {
    /// Its real path.
    pub(crate) root: PathBuf,
    /// Its state directory.
    pub(crate) store: Store<OsDisk>,
}

impl Neighbour {
    pub(crate) fn folders(&self) -> io::Result<Folders<OsDisk>> {
        use crate::disk::Disk;
        Ok(Folders::new(OsDisk, OsDisk.open_root(&self.root)?))
    }
}

/// The name of the state directory of a root.
fn name_of(root: &Path) -> String {
    Hash::of(&Vec::from_path_lossy(root)).to_string()
}

/// A root that is not there was asked for by mistake; anything else is a failure.
fn no_root(error: io::Error) -> Error {
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => {
            Error::Usage(format!("cannot open the root: {error}"))
        }
        _ => Error::io("open the root")(error),
    }
}

fn is_forbidden(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem)
}

fn below(root: &Path, folder: &Path) -> Option<RelPath> {
    RelPath::new(<[u8]>::from_path(folder.strip_prefix(root).ok()?)?).ok()
}

/// The real root, and the root as the user's own path to it spells it.
fn spelled(root: &Path, asked: &Path, inside: &RelPath) -> Vec<PathBuf> {
    let up = inside.names().count();
    let as_asked = asked.ancestors().nth(up).map(Path::to_owned);
    let same = as_asked.filter(|p| p != root && p.canonicalize().is_ok_and(|real| real == root));
    std::iter::once(root.to_owned()).chain(same).collect()
}
