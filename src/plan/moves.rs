//! Files that give way: a file whose name another one takes, while a later entry of the batch moves it elsewhere.
//!
//! So a chain of moves needs no order, and a swap no third name. Only a move makes a file give way: a deletion that
//! comes later may as well mean what has come by then.

use super::compose::Entry;
use super::tree::Content;
use crate::edit::{Action, RelPath};
use std::collections::HashMap;

/// What stands aside, and what later entries do.
#[derive(Default)]
pub(super) struct GivingWay {
    /// The entry that is run now, as an index into its group.
    pub at: usize,
    aside: HashMap<RelPath, Content>,
    /// The entries about each path, and whether they move its file.
    entries: HashMap<RelPath, Vec<(usize, bool)>>,
}

impl GivingWay {
    /// Nothing aside yet.
    pub(super) fn new(entries: &[&Entry<'_>]) -> Self {
        let mut found = Self::default();
        for (i, entry) in entries.iter().enumerate() {
            let to = entry.to.as_ref().map(|to| &to.path);
            let moves =
                matches!(entry.operation.action, Action::Rename { .. }) && to != Some(&entry.target.path);
            found.entries.entry(entry.target.path.clone()).or_default().push((i, moves));
        }
        found
    }

    /// Whether the next entry about `path` moves its file.
    pub(super) fn is_moved(&self, path: &RelPath) -> bool {
        let all = self.entries.get(path).map_or(&[][..], Vec::as_slice);
        all.get(all.partition_point(|(i, _)| *i <= self.at)).is_some_and(|(_, moves)| *moves)
    }

    /// Puts the file that stands at `path` aside.
    pub(super) fn put_aside(&mut self, path: &RelPath, content: Content) {
        self.aside.insert(path.clone(), content);
    }

    /// The file of `path` that stands aside.
    pub(super) fn aside(&self, path: &RelPath) -> Option<&Content> {
        self.aside.get(path)
    }

    /// The same, which is aside no more.
    pub(super) fn take(&mut self, path: &RelPath) -> Option<Content> {
        self.aside.remove(path)
    }
}
