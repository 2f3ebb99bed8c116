//! Takes back the part of an operation in a file that somebody has edited since: a three-way merge, line by line, from
//! the version that the operation left to the one before it.
//!
//! Only what merges cleanly is taken back; everything else is named with the reason.

use super::{Deltas, HistoryError, Log, Past, Unmerged};
use crate::disk::{Disk, Node, Stamp};
use crate::edit::{Hash, RelPath};
use crate::git;
use crate::plan::{Chunk, Metadata, Resolved, Sides, is_binary};
use crate::transaction::{Change, TransactionError};

/// What stands at a path now, with its bytes and the state in which they were read.
pub(super) type Standing = (Node, Option<Vec<u8>>, Option<Stamp>);

/// Finds the versions of one operation's files.
pub(super) struct Merger<'a, D: Disk> {
    log: &'a Log<D>,
    past: &'a Past<D>,
    deltas: Deltas,
}

impl<'a, D: Disk + Clone> Merger<'a, D> {
    pub(super) fn new(log: &'a Log<D>, past: &'a Past<D>) -> Result<Self, HistoryError> {
        let read = past.operation.deltas().map_err(HistoryError::io("read what the operation changed"))?;
        Ok(Self { log, past, deltas: Deltas::from_bytes(&read.unwrap_or_default()) })
    }

    /// What takes `change` back in the file that stands there now. A moved file goes back to where it came from: then
    /// there are two paths.
    pub(super) fn merge(
        &self,
        change: &Change,
        now: Standing,
    ) -> Result<Result<Vec<Resolved>, Unmerged>, HistoryError> {
        let (node, Some(present), seen) = now else { return Ok(Err(Unmerged::NoFile)) };
        let Node::File { mode, .. } = node else { return Ok(Err(Unmerged::NoFile)) };
        let Some(origin) = self.origin(change) else { return Ok(Err(Unmerged::NoFile)) };
        let (Node::File { mode: old_mode, .. }, Node::File { hash, mode: new_mode, .. }) =
            (&origin.before, &change.after)
        else {
            return Ok(Err(Unmerged::NoFile));
        };
        let Some(old) = known(self.past.operation.old_bytes(&origin.path))? else {
            return Ok(Err(Unmerged::Unknown));
        };
        let Some(new) = self.new_version(change, &old, hash)? else { return Ok(Err(Unmerged::Unknown)) };
        let merged = match merged(&new, &present, &old) {
            Ok(merged) => merged,
            Err(why) => return Ok(Err(why)),
        };
        // Whoever of both has changed the mode decides.
        let mode = match (mode == *new_mode, old_mode == new_mode) {
            (true, _) => *old_mode,
            (false, true) => mode,
            (false, false) if mode == *old_mode => mode,
            _ => return Ok(Err(Unmerged::Modes)),
        };
        let after = Node::File { hash: Hash::of(&merged), mode, size: merged.len() as u64 };
        let standing = Resolved {
            path: change.path.clone(),
            before: node,
            after,
            seen,
            old: Some(present.into()),
            new: Some(merged.into()),
            metadata: Metadata::Of(change.path.clone()),
        };
        Ok(Ok(moved_back(standing, &origin.path)))
    }

    /// The change of the path whose file the operation edited, or moved here.
    fn origin<'c>(&'c self, change: &'c Change) -> Option<&'c Change> {
        if !change.before.is_absent() {
            return Some(change);
        }
        let (from, _) = self.past.about.moves.iter().find(|(_, to)| *to == change.path)?;
        self.past.operation.changes().iter().find(|other| other.path == *from && other.after.is_absent())
    }

    /// The version that the operation left.
    fn new_version(&self, change: &Change, old: &[u8], hash: &Hash) -> Result<Option<Vec<u8>>, HistoryError> {
        let fits = |bytes: &Vec<u8>| Hash::of(bytes) == *hash;
        if Hash::of(old) == *hash {
            return Ok(Some(old.to_vec()));
        }
        let base = if change.before.is_absent() { &[][..] } else { old };
        match self.deltas.new_version(&change.path, base).filter(fits) {
            Some(found) => Ok(Some(found)),
            None => Ok(self.log.kept_later(self.past, change)?.filter(fits)),
        }
    }
}

/// The file at the path where it came from, and nothing where it stands.
fn moved_back(standing: Resolved, origin: &RelPath) -> Vec<Resolved> {
    if standing.path == *origin {
        return vec![standing];
    }
    let back =
        Resolved { path: origin.clone(), before: Node::Absent, seen: None, old: None, ..standing.clone() };
    vec![Resolved { after: Node::Absent, new: None, metadata: Metadata::New, ..standing }, back]
}

fn merged(base: &[u8], ours: &[u8], theirs: &[u8]) -> Result<Vec<u8>, Unmerged> {
    if [base, ours, theirs].into_iter().any(is_binary) && ours != base && ours != theirs {
        return Err(Unmerged::Binary);
    }
    let mut merged = Vec::new();
    for chunk in git::merge(Sides { base, ours, theirs }) {
        match chunk {
            Chunk::Clean(text) => merged.extend(text),
            Chunk::Conflict { .. } => return Err(Unmerged::Conflict),
        }
    }
    Ok(merged)
}

fn known<T>(found: Result<Option<T>, TransactionError>) -> Result<Option<T>, HistoryError> {
    match found {
        Err(TransactionError::NoOldVersion { .. }) => Ok(None),
        found => Ok(found?),
    }
}
