//! What the author of a batch has seen already: bytes that `read` showed last, and bytes that our own last operation on
//! the path wrote. The base check is left out for them. Reads only; what cannot be read is not known.

use crate::disk::OsDisk;
use crate::edit::{Hash, RelPath};
use crate::history::Log;
use crate::plan::PathRules;
use crate::search::Snapshots;
use crate::workspace::Workspace;
use std::collections::HashMap;
use std::sync::OnceLock;

/// The rules of a workspace, but for the base of files whose author has seen the present bytes.
pub(super) struct Seen<'a> {
    workspace: &'a Workspace,
    rules: Box<dyn PathRules>,
    shown: OnceLock<Option<Snapshots<OsDisk>>>,
    written: OnceLock<HashMap<RelPath, Option<Hash>>>,
}

impl<'a> Seen<'a> {
    pub(super) fn new(workspace: &'a Workspace, rules: Box<dyn PathRules>) -> Self {
        Self { workspace, rules, shown: OnceLock::new(), written: OnceLock::new() }
    }

    fn has_seen(&self, path: &RelPath, hash: &Hash) -> bool {
        let shown = self.shown.get_or_init(|| self.workspace.existing_snapshots());
        let written = self.written.get_or_init(|| last_written(self.workspace).unwrap_or_default());
        shown.as_ref().is_some_and(|shown| shown.showed_last(path, hash))
            || written.get(path).is_some_and(|last| last.as_ref() == Some(hash))
    }
}

/// What the last operation on each path made of it.
fn last_written(workspace: &Workspace) -> Option<HashMap<RelPath, Option<Hash>>> {
    let log = Log::read(&workspace.existing_store().ok()??).ok()?;
    let mut written = HashMap::new();
    for change in log.newest_first().flat_map(|past| past.operation.changes()) {
        written.entry(change.path.clone()).or_insert_with(|| change.after.hash());
    }
    Some(written)
}

impl PathRules for Seen<'_> {
    fn is_binary(&self, path: &RelPath) -> bool {
        self.rules.is_binary(path)
    }

    fn is_left_out(&self, path: &RelPath) -> bool {
        self.rules.is_left_out(path)
    }

    fn is_in_lfs(&self, path: &RelPath) -> bool {
        self.rules.is_in_lfs(path)
    }

    fn base(&self, path: &RelPath, present: &[u8]) -> Option<Vec<u8>> {
        let base = self.rules.base(path, present)?;
        (!self.has_seen(path, &Hash::of(present))).then_some(base)
    }

    fn protects(&self, path: &RelPath) -> Option<String> {
        self.rules.protects(path)
    }
}
