//! The versions of a path that git holds: in HEAD and in the index.

use super::Repo;
use super::head::Head;
use crate::edit::RelPath;
use bstr::ByteSlice;

impl Repo {
    /// The texts that HEAD and the index have for the file `path`, as they are stored and with CRLF, which the work tree
    /// may have instead of LF. What cannot be read is left out: nothing depends on it.
    pub fn stored(&self, path: &RelPath) -> Vec<Vec<u8>> {
        let local = self.local();
        let ids = in_head(&local, path).into_iter().chain(in_index(&local, path));
        let blobs = ids.filter_map(|id| Some(local.find_blob(id).ok()?.take_data()));
        let with_crlf = |blob: Vec<u8>| {
            let crlf = (!blob.contains(&b'\r')).then(|| blob.replace("\n", "\r\n"));
            std::iter::once(blob).chain(crlf)
        };
        blobs.flat_map(with_crlf).collect()
    }
}

fn in_head(local: &gix::Repository, path: &RelPath) -> Option<gix::ObjectId> {
    let tree = Head::read(local).ok()?.tree(local).ok()??;
    let entry = local.find_tree(tree).ok()?.lookup_entry(path.names().map(|name| name.to_owned())).ok()??;
    entry.mode().is_blob().then(|| entry.object_id())
}

/// All stages: a merge in progress has several.
fn in_index(local: &gix::Repository, path: &RelPath) -> Vec<gix::ObjectId> {
    let Ok(index) = local.index_or_empty() else { return Vec::new() };
    let found = index.entry_range(path.as_bstr()).map(|range| &index.entries()[range]);
    found.unwrap_or_default().iter().map(|entry| entry.id).collect()
}
