//! Where the planner puts each resolved file: the stager, a diff, a tree or stash writer.

use crate::disk::{Node, Owner, Stamp};
use crate::edit::{Pieces, RelPath};
use bytes::Bytes;

/// One path of the batch, resolved: what stands there and what shall stand there.
#[derive(Clone, Debug)]
pub struct Resolved {
    /// Canonical, relative to the root.
    pub path: RelPath,
    /// What stands there now.
    pub before: Node,
    /// What shall stand there. The mode of a file with [`Metadata::New`] is the one to ask for; the umask applies.
    pub after: Node,
    /// The state in which a file was read.
    pub seen: Option<Stamp>,
    /// The bytes that stand there now, for a file; the target, for a link.
    pub old: Option<Bytes>,
    /// The bytes of `after` when that is a file, the target when it is a link.
    pub new: Option<Pieces>,
    /// What else a file has.
    pub metadata: Metadata,
}

/// What a file has beside its bytes and its mode.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Metadata {
    /// What every new file gets in its folder.
    New,
    /// The owner, access lists and attributes of the file at this path: of the path itself for an edit, of the source
    /// for a move.
    Of(RelPath),
    /// The owner of the file at this path, which is known to have neither access lists nor attributes.
    Owner(RelPath, Owner),
}

impl Metadata {
    /// The path of the file that they are taken from.
    pub fn from(&self) -> Option<&RelPath> {
        match self {
            Self::New => None,
            Self::Of(path) | Self::Owner(path, _) => Some(path),
        }
    }
}

/// Takes resolved files as they come, from several threads, in no particular order.
///
/// `put` blocks until the file is dealt with: what a batch holds in memory is bounded by the number of threads.
pub trait Sink: Sync {
    /// Takes one file.
    ///
    /// # Errors
    /// Ends the plan; the sink keeps the cause and reports it itself.
    fn put(&self, file: &Resolved) -> Result<(), SinkFull>;
}

/// The sink cannot take more: it knows why.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SinkFull;

/// Two sinks in turn.
impl<A: Sink + ?Sized, B: Sink + ?Sized> Sink for (&A, &B) {
    fn put(&self, file: &Resolved) -> Result<(), SinkFull> {
        self.0.put(file)?;
        self.1.put(file)
    }
}

/// Takes everything and keeps nothing.
impl Sink for () {
    fn put(&self, _file: &Resolved) -> Result<(), SinkFull> {
        Ok(())
    }
}
