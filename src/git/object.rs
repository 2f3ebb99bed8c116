//! Writing trees and commits. Objects alone change nothing that anybody sees.

use super::GitError;
use super::clean::Cleaner;
use super::record::Side;
use crate::disk::Node;
use crate::edit::RelPath;
use bstr::BString;
use gix::ObjectId;
use gix::index::entry::Mode;
use gix::objs::tree::EntryKind;

/// The tree `base` (empty when `None`) with each path at its new version, or without it.
pub(crate) fn tree<'a>(
    repo: &gix::Repository,
    base: Option<ObjectId>,
    paths: impl Iterator<Item = (&'a RelPath, Option<Side>)> + Clone,
) -> Result<ObjectId, GitError> {
    let failed = || GitError::gix("write the tree");
    let base = base.unwrap_or_else(|| ObjectId::empty_tree(repo.object_hash()));
    let mut editor = repo.edit_tree(base).map_err(failed())?;
    for (path, _) in paths.clone().filter(|(_, side)| side.is_none()) {
        editor.remove_leaf(path.as_bstr()).map_err(failed())?;
    }
    for (path, side) in paths {
        let Some(side) = side else { continue };
        let kind = side.mode.to_tree_entry_mode().map_or(EntryKind::Blob, |mode| mode.kind());
        editor.upsert(path.as_bstr(), kind, side.id).map_err(failed())?;
    }
    Ok(editor.write().map_err(failed())?.detach())
}

/// What a tree (none where there is no commit yet) holds at a path that is no folder.
pub(crate) fn side(
    repo: &gix::Repository,
    tree: Option<ObjectId>,
    path: &RelPath,
) -> Result<Option<Side>, GitError> {
    let Some(id) = tree else { return Ok(None) };
    let found = repo
        .find_tree(id)
        .and_then(|tree| tree.lookup_entry(path.names().map(|name| name.to_owned())))
        .map_err(GitError::gix("read the tree of HEAD"))?;
    let found = found.filter(|entry| !entry.mode().is_tree());
    Ok(found.map(|entry| Side { mode: Mode::from(entry.mode()), id: entry.object_id() }))
}

/// The bytes of a blob.
pub(crate) fn blob(repo: &gix::Repository, id: ObjectId) -> Result<Vec<u8>, GitError> {
    Ok(repo.find_blob(id).map_err(GitError::gix("read a blob"))?.take_data())
}

/// Whether a new commit is signed as `commit.gpgSign` says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Signature {
    AsConfigured,
    Never,
}

/// A commit by the configured author and committer. The message is taken as it is.
pub(crate) fn commit(
    repo: &gix::Repository,
    tree: ObjectId,
    parents: &[ObjectId],
    message: BString,
    signature: Signature,
) -> Result<ObjectId, GitError> {
    let read = "read the name and e-mail address";
    let author = repo.author().ok_or(GitError::NoIdentity("author"))?.map_err(GitError::gix(read))?;
    let committer =
        repo.committer().ok_or(GitError::NoIdentity("committer"))?.map_err(GitError::gix(read))?;
    let mut commit = gix::objs::Commit {
        tree,
        parents: parents.iter().copied().collect(),
        author: author.to_owned().map_err(GitError::gix(read))?,
        committer: committer.to_owned().map_err(GitError::gix(read))?,
        encoding: None,
        message,
        extra_headers: Vec::new(),
    };
    if signature == Signature::AsConfigured {
        let failed = |source| GitError::Signing(Box::new(source));
        if let Some(options) = repo.commit_signing_options_if_enabled().map_err(failed)? {
            commit = commit.sign(options).map_err(failed)?;
        }
    }
    Ok(repo.write_object(commit).map_err(GitError::gix("write the commit"))?.detach())
}

/// Turns nodes of the work tree into what git keeps, as the repository's configuration has it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Recording {
    /// `core.fileMode`: the executable bit of the work tree counts.
    executable_bit: bool,
    /// `core.symlinks`: links are links in the work tree.
    symlinks: bool,
}

impl Recording {
    pub(crate) fn of(repo: &gix::Repository) -> Result<Self, GitError> {
        let found = repo.filesystem_options().map_err(GitError::gix("read the configuration"))?;
        Ok(Self { executable_bit: found.executable_bit, symlinks: found.symlink })
    }

    /// The mode that git would keep for `node`, if it keeps it; `known` is the one that it has for the path so far.
    pub(crate) fn mode(self, node: &Node, known: Option<Mode>) -> Option<Mode> {
        Some(match node {
            Node::Absent | Node::Directory | Node::Special => return None,
            Node::Link { .. } => Mode::SYMLINK,
            Node::File { .. } if !self.symlinks && known == Some(Mode::SYMLINK) => Mode::SYMLINK,
            Node::File { mode, .. } if self.executable_bit => file_mode(mode & 0o100 != 0),
            Node::File { .. } => file_mode(known == Some(Mode::FILE_EXECUTABLE)),
        })
    }

    /// Stores the blob of `node` with these bytes; `known` is the mode that git has for the path so far.
    pub(crate) fn store(
        self,
        cleaner: &mut Cleaner,
        path: &RelPath,
        (node, bytes): (&Node, &[u8]),
        known: Option<Mode>,
    ) -> Result<Option<Side>, GitError> {
        self.side(node, known, |mode| match mode {
            Mode::SYMLINK => cleaner.store_verbatim(bytes),
            _ => cleaner.store(path, bytes),
        })
    }

    /// What [`store`](Self::store) would return; nothing is written.
    pub(crate) fn name(
        self,
        cleaner: &mut Cleaner,
        path: &RelPath,
        (node, bytes): (&Node, &[u8]),
        known: Option<Mode>,
    ) -> Result<Option<Side>, GitError> {
        self.side(node, known, |mode| match mode {
            Mode::SYMLINK => cleaner.id_verbatim(bytes),
            _ => cleaner.id(path, bytes),
        })
    }

    fn side(
        self,
        node: &Node,
        known: Option<Mode>,
        id: impl FnOnce(Mode) -> Result<gix::ObjectId, GitError>,
    ) -> Result<Option<Side>, GitError> {
        self.mode(node, known).map(|mode| Ok(Side { mode, id: id(mode)? })).transpose()
    }
}

fn file_mode(executable: bool) -> Mode {
    if executable { Mode::FILE_EXECUTABLE } else { Mode::FILE }
}
