//! From bytes of the work tree to what git stores: clean filters, attributes and blobs.
//!
//! One [`Cleaner`] serves one thread. It reads `.gitattributes` of the work tree when it first needs them and keeps
//! them: make a new one after files were swapped.

use super::GitError;
use crate::edit::RelPath;
use bstr::{BStr, BString, ByteSlice};
use gix::ObjectId;
use gix::filter::plumbing::{Pipeline, pipeline::convert::ToGitOutcome};
use gix::worktree::stack::state::attributes::Source;
use std::io::Read;
use std::sync::Arc;

/// What `.gitattributes` say about a path, as far as it matters here.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Attributes {
    /// The attribute (or macro) `binary` is set.
    pub binary: bool,
    /// The value of `working-tree-encoding`.
    pub encoding: Option<BString>,
    /// The value of `filter`.
    pub filter: Option<BString>,
}

/// Converts bytes as `git add` would.
pub(crate) struct Cleaner {
    repo: gix::Repository,
    pipeline: Pipeline,
    attributes: gix::worktree::Stack,
    index: Arc<gix::index::File>,
}

impl Cleaner {
    /// `index` supplies the `.gitattributes` that are not checked out and the blobs that `autocrlf` looks at.
    pub(crate) fn new(repo: gix::Repository, index: Arc<gix::index::File>) -> Result<Self, GitError> {
        let read = GitError::gix("read the attributes");
        let stack = repo.attributes_only(&index, Source::WorktreeThenIdMapping).map_err(read)?.detach();
        let filter = gix::filter::Pipeline::new(&repo, stack).map_err(GitError::gix("set up the filters"))?;
        let (pipeline, attributes) = filter.into_parts();
        Ok(Self { repo, pipeline, attributes, index })
    }

    /// The attributes of a path relative to the work tree.
    pub(crate) fn attributes(&mut self, path: &RelPath) -> Result<Attributes, GitError> {
        let mut found =
            self.attributes.selected_attribute_matches(["binary", "working-tree-encoding", "filter"]);
        let platform = self.attributes.at_path(path.as_bstr(), None, &self.repo.objects)?;
        platform.matching_attributes(&mut found);
        let mut result = Attributes::default();
        for found in found.iter_selected() {
            let state = found.assignment.state;
            match found.assignment.name.as_str() {
                "binary" => result.binary = state == gix::attrs::StateRef::Set,
                "working-tree-encoding" => result.encoding = state.as_bstr().map(ToOwned::to_owned),
                _ => result.filter = state.as_bstr().map(ToOwned::to_owned),
            }
        }
        Ok(result)
    }

    /// Stores what git would store for a regular file with these bytes.
    pub(crate) fn store(&mut self, path: &RelPath, bytes: &[u8]) -> Result<ObjectId, GitError> {
        let cleaned = self.clean(path, bytes)?;
        self.store_verbatim(cleaned.as_deref().unwrap_or(bytes))
    }

    /// Stores bytes as they are: the target of a link.
    pub(crate) fn store_verbatim(&self, bytes: &[u8]) -> Result<ObjectId, GitError> {
        Ok(self.repo.write_blob(bytes).map_err(GitError::gix("write a blob"))?.detach())
    }

    /// The id that [`store`](Self::store) would return; nothing is written.
    pub(crate) fn id(&mut self, path: &RelPath, bytes: &[u8]) -> Result<ObjectId, GitError> {
        let cleaned = self.clean(path, bytes)?;
        self.id_verbatim(cleaned.as_deref().unwrap_or(bytes))
    }

    /// The id that [`store_verbatim`](Self::store_verbatim) would return; nothing is written.
    pub(crate) fn id_verbatim(&self, bytes: &[u8]) -> Result<ObjectId, GitError> {
        let kind = self.repo.object_hash();
        gix::objs::compute_hash(kind, gix::objs::Kind::Blob, bytes).map_err(GitError::gix("hash a blob"))
    }

    /// What git would store for a regular file with these bytes; `None` when no filter changes them.
    pub(crate) fn clean(&mut self, path: &RelPath, bytes: &[u8]) -> Result<Option<Vec<u8>>, GitError> {
        let Self { repo, pipeline, attributes, index } = self;
        let failed = |source| GitError::Filter { path: path.clone(), source: Box::new(source) };
        let platform = attributes.at_path(path.as_bstr(), None, &repo.objects)?;
        let outcome = pipeline.convert_to_git(
            bytes,
            &path.to_path(),
            &mut |_, found| {
                platform.matching_attributes(found);
            },
            &mut |buffer| blob_in_index(repo, index, path.as_bstr(), buffer),
        );
        match outcome.map_err(failed)? {
            ToGitOutcome::Unchanged(_) => Ok(None),
            ToGitOutcome::Buffer(cleaned) => Ok(Some(cleaned.to_owned())),
            ToGitOutcome::Process(mut output) => {
                let mut cleaned = Vec::new();
                output.read_to_end(&mut cleaned).map_err(|e| failed(gix::Error::from_error(e)))?;
                Ok(Some(cleaned))
            }
        }
    }
}

/// `autocrlf` leaves a file alone whose blob in the index has CRLF already.
fn blob_in_index(
    repo: &gix::Repository,
    index: &gix::index::State,
    path: &BStr,
    buffer: &mut Vec<u8>,
) -> gix::Result<Option<()>> {
    use gix::prelude::FindExt;
    let Some(entry) = index.entry_by_path(path) else {
        return Ok(None);
    };
    if entry.mode.is_submodule() || entry.mode.is_sparse() {
        return Ok(None);
    }
    Ok(repo.objects.find_blob(&entry.id, buffer).is_ok().then_some(()))
}

/// Whether gix would convert this `working-tree-encoding` wrongly in one direction or the other.
pub(crate) fn is_unsafe_encoding(encoding: &BStr) -> bool {
    let name = encoding.to_ascii_uppercase();
    name.starts_with_str("UTF-16")
        || name.starts_with_str("UTF16")
        || name.starts_with_str("UTF-32")
        || name.starts_with_str("UTF32")
        || name.ends_with_str("-BOM")
}
