//! What the planner may ask about earlier versions of files, and how an edit of one of them gets to the present one.

use crate::edit::{Hash, RelPath, Tag, WeakTag};

/// Knows earlier versions and merges. Reads only; asked from several threads.
pub trait Versions: Sync {
    /// The version of `path` that `tag` names.
    fn find(&self, path: &RelPath, tag: &VersionTag) -> Known;

    /// The versions of `path` that were shown to somebody and have this short tag.
    fn shown(&self, path: &RelPath, tag: WeakTag) -> Vec<Vec<u8>>;

    /// Whether the author of a batch is known to have seen the `present` bytes of `path`: nothing that has changed since
    /// the base is news to them.
    fn was_seen(&self, path: &RelPath, present: &[u8]) -> bool;

    /// Merges line by line what two authors have made of one text.
    fn merge(&self, sides: Sides<'_>) -> Vec<Chunk>;
}

/// The name of a version.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum VersionTag {
    /// Of exact bytes.
    Strong(Tag),
    /// Of other tools: several texts may have it.
    Weak(WeakTag),
}

impl VersionTag {
    /// Whether a version with these bytes has the tag.
    pub fn fits(&self, bytes: &[u8]) -> bool {
        match self {
            Self::Strong(tag) => tag.fits(&Hash::of(bytes)),
            Self::Weak(tag) => WeakTag::of(bytes) == *tag,
        }
    }
}

/// What is known of the versions that have a tag.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Known {
    /// No version has it.
    Nothing,
    /// One version has it.
    Version(Vec<u8>),
    /// Several versions have it.
    Several,
}

impl Known {
    /// With one more version, which may be one that is known already.
    #[must_use]
    pub fn and(self, bytes: Vec<u8>) -> Self {
        match self {
            Self::Nothing => Self::Version(bytes),
            Self::Version(known) if known == bytes => Self::Version(known),
            _ => Self::Several,
        }
    }
}

/// The texts of a merge.
#[derive(Clone, Copy, Debug)]
pub struct Sides<'a> {
    /// The text that both started from.
    pub base: &'a [u8],
    /// What stands there now.
    pub ours: &'a [u8],
    /// What the edit makes of the base.
    pub theirs: &'a [u8],
}

/// A piece of a merged text, in order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Chunk {
    /// Both sides agree, or only one of them has changed it.
    Clean(Vec<u8>),
    /// Both have changed it, each in its own way.
    Conflict {
        /// What both started from.
        base: Vec<u8>,
        /// What stands there now.
        ours: Vec<u8>,
        /// What the edit wants.
        theirs: Vec<u8>,
    },
}

/// Knows nothing, and lets no two changes of one text stand beside each other.
#[derive(Clone, Copy, Default, Debug)]
pub struct NoVersions;

impl Versions for NoVersions {
    fn find(&self, _path: &RelPath, _tag: &VersionTag) -> Known {
        Known::Nothing
    }

    fn shown(&self, _path: &RelPath, _tag: WeakTag) -> Vec<Vec<u8>> {
        Vec::new()
    }

    fn was_seen(&self, _path: &RelPath, _present: &[u8]) -> bool {
        false
    }

    fn merge(&self, sides: Sides<'_>) -> Vec<Chunk> {
        let own = |bytes: &[u8]| bytes.to_vec();
        vec![Chunk::Conflict { base: own(sides.base), ours: own(sides.ours), theirs: own(sides.theirs) }]
    }
}
