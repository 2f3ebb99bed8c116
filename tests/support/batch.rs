//! Batches that land by themselves, as the transaction would land them: staged elsewhere, renamed into place.

use super::TestRepo;
use patchmany::disk::Node;
use patchmany::edit::{Hash, RelPath};
use patchmany::git::{GitError, Hooks, RecordKind, RecordOptions, Recorded, Recorder};
use patchmany::transaction::{Change, Landed, Participant};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// One path of a batch, relative to the work tree.
#[derive(Clone, Debug)]
pub(crate) enum Edit {
    Write(String, Vec<u8>, u32),
    Link(String, String),
    Delete(String),
}

impl Edit {
    pub(crate) fn write(path: &str, text: &str) -> Self {
        Self::Write(path.to_owned(), text.as_bytes().to_vec(), 0o644)
    }

    pub(crate) fn path(&self) -> &str {
        let (Self::Write(path, ..) | Self::Link(path, _) | Self::Delete(path)) = self;
        path
    }
}

/// A landed batch.
pub(crate) struct Map {
    root: PathBuf,
    changes: Vec<Change>,
}

impl Landed for Map {
    fn changes(&self) -> &[Change] {
        &self.changes
    }

    fn content(&self, change: &Change) -> io::Result<Vec<u8>> {
        let path = self.root.join(change.path.to_path());
        match &change.after {
            Node::Link { target } => Ok(target.to_vec()),
            _ => std::fs::read(path),
        }
    }
}

/// Puts the batch in place below `root`: removals first, then everything else by rename.
pub(crate) fn land(root: &Path, batch: &[Edit]) -> Map {
    let mut changes: Vec<_> = batch
        .iter()
        .map(|edit| {
            let path = RelPath::new(edit.path()).unwrap();
            Change { before: node(&root.join(edit.path())), after: Node::Absent, path }
        })
        .collect();
    for edit in batch.iter().filter(|edit| matches!(edit, Edit::Delete(_))) {
        std::fs::remove_file(root.join(edit.path())).unwrap();
        let mut folder = Path::new(edit.path()).parent();
        while let Some(empty) = folder.filter(|f| !f.as_os_str().is_empty()) {
            let _ = std::fs::remove_dir(root.join(empty));
            folder = empty.parent();
        }
    }
    let staged = root.join(".git-staged-file");
    for (edit, change) in batch.iter().zip(&mut changes) {
        match edit {
            Edit::Delete(_) => continue,
            Edit::Write(_, bytes, mode) => {
                std::fs::write(&staged, bytes).unwrap();
                std::fs::set_permissions(&staged, PermissionsExt::from_mode(*mode)).unwrap();
            }
            Edit::Link(_, target) => std::os::unix::fs::symlink(target, &staged).unwrap(),
        }
        let path = root.join(edit.path());
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::rename(&staged, &path).unwrap();
        change.after = node(&path);
    }
    changes.sort_by(|a, b| a.path.cmp(&b.path));
    Map { root: root.to_owned(), changes }
}

pub(crate) fn options(message: Option<&str>) -> RecordOptions {
    RecordOptions {
        kind: RecordKind::Commit,
        message: message.map(str::to_owned),
        hooks: Hooks::Run,
        lock_timeout: Duration::from_millis(50),
        operation_id: "op-1".to_owned(),
    }
}

/// Begins and checks that nothing of the batch is refused.
pub(crate) fn recorder(repo: &TestRepo, batch: &[Edit], message: Option<&str>) -> Result<Recorder, GitError> {
    let mut recorder = Recorder::begin(&repo.open(), &RelPath::root(), options(message))?;
    let paths: Vec<_> = batch
        .iter()
        .map(|edit| (RelPath::new(edit.path()).unwrap(), repo.path(edit.path()).symlink_metadata().is_ok()))
        .collect();
    assert_eq!(recorder.check(&paths)?, [], "{batch:?}");
    Ok(recorder)
}

/// The whole way: begin, check, land, prepare, finish.
pub(crate) fn commit(repo: &TestRepo, batch: &[Edit], message: Option<&str>) -> Result<Recorded, String> {
    let mut recorder = recorder(repo, batch, message).map_err(|error| error.to_string())?;
    let landed = land(repo.root(), batch);
    let record = recorder.prepare(&landed).map_err(|error| error.to_string())?;
    recorder.finish(&record).map_err(|error| error.to_string())?;
    Ok(recorder.recorded().unwrap())
}

fn node(path: &Path) -> Node {
    let Ok(metadata) = path.symlink_metadata() else {
        return Node::Absent;
    };
    if metadata.is_symlink() {
        return Node::Link { target: std::fs::read_link(path).unwrap().as_os_str().as_bytes().into() };
    }
    if metadata.is_dir() {
        return Node::Directory;
    }
    let bytes = std::fs::read(path).unwrap();
    Node::File {
        hash: Hash::of(&bytes),
        mode: metadata.permissions().mode() & 0o7777,
        size: bytes.len() as u64,
    }
}
