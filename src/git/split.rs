//! What of a batch goes into a commit and what into the index, where its files have changes of the user's own.
//!
//! Two three-way merges: what the batch makes of the file on disk is made of the version in HEAD and of the one in the
//! index too. So the user's changes stay where they were, staged or not, and where they cannot be told from the batch
//! nothing is merged. Versions are compared and merged as git stores them, behind the clean filters. Nothing is written.

use super::clean::Cleaner;
use super::object::{self, Recording};
use super::part::concerns_git;
use super::record::Side;
use super::refusal::{PathRefusal, below};
use super::{GitError, RecordKind, Repo, index, merge};
use crate::disk::Node;
use crate::edit::{Code, RelPath};
use crate::plan::{Chunk, Sides};
use crate::transaction::{Change, Staged};
use bstr::{BString, ByteSlice};
use gix::ObjectId;
use gix::index::entry::Mode;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// How much of a file git looks at to call it binary.
const LOOKED_AT: usize = 8000;
/// How much of a line a refusal shows.
const SHOWN: usize = 60;

/// What becomes of the versions of one path.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Split {
    /// Of the one in HEAD.
    pub(crate) committed: Version,
    /// Of the one in the index.
    pub(crate) indexed: Version,
}

/// What a version becomes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Version {
    /// What stands on disk after the swap.
    Landed,
    /// What it is.
    Stays(Option<Side>),
    /// This text, as git stores it.
    Merged {
        /// The mode.
        mode: Mode,
        /// The text.
        text: Vec<u8>,
    },
}

/// One version of a file of the work tree, as git would store it.
#[derive(Clone, Debug)]
struct Stored {
    side: Side,
    text: Vec<u8>,
}

/// Why the user's changes cannot be told from the batch.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Clash {
    /// Both change these lines, or lines beside them; the first is told.
    Lines(BString),
    /// It is binary.
    Binary,
    /// The batch deletes it.
    Deleted,
    /// The batch creates it.
    Created,
    /// There is no other version.
    Missing,
    /// One of them is a link, or both change the mode.
    Mode,
}

/// The splits of a batch, and the paths that cannot be split.
type Splits = (BTreeMap<RelPath, Split>, Vec<PathRefusal>);

/// Splits the paths of a batch that is not in place yet.
pub(crate) struct Splitter<'a> {
    local: &'a gix::Repository,
    /// The tool's root relative to the work tree.
    root: &'a RelPath,
    kind: RecordKind,
    /// The tree of HEAD.
    tree: Option<ObjectId>,
    index: Arc<gix::index::File>,
    recording: Recording,
    cleaner: Cleaner,
}

impl<'a> Splitter<'a> {
    pub(crate) fn new(
        repo: &Repo,
        local: &'a gix::Repository,
        root: &'a RelPath,
        (kind, tree): (RecordKind, Option<ObjectId>),
    ) -> Result<Self, GitError> {
        let index = Arc::new(index::open(local, repo.index_path())?);
        let cleaner = Cleaner::new(repo.local(), Arc::clone(&index))?;
        Ok(Self { local, root, kind, tree, index, recording: Recording::of(local)?, cleaner })
    }

    /// Splits every path that is in `dirty`, or moved from one that is. All paths are relative to the root.
    pub(crate) fn split(
        &mut self,
        staged: &dyn Staged,
        moves: &[(RelPath, RelPath)],
        dirty: &BTreeSet<RelPath>,
    ) -> Result<Splits, GitError> {
        let changes: Vec<_> = staged.changes().into_iter().filter(concerns_git).collect();
        let attributes: Vec<_> = changes.iter().filter(|c| c.path.name() == ".gitattributes").collect();
        let sources: BTreeMap<_, _> = moves.iter().map(|(from, to)| (to, from)).collect();
        let moved: BTreeSet<_> = moves.iter().map(|(from, _)| from).collect();
        let (mut splits, mut refusals) = Splits::default();
        for to in &changes {
            let path = &to.path;
            let moves_on = moved.contains(path);
            let from = match sources.get(path) {
                // Its changes go with it, and what comes in its place has none.
                None if moves_on => continue,
                None => to,
                Some(_) if !moves_on && dirty.contains(path) => {
                    let why = "has changes of its own, and the batch moves another file to it";
                    refusals.push(self.refusal(path, why.to_owned()));
                    continue;
                }
                Some(source) => change_of(&changes, source).unwrap_or(to),
            };
            if !dirty.contains(&from.path) {
                continue;
            }
            if attributes.iter().any(|file| governs(&file.path, path)) {
                let why = "has changes of its own, and the batch changes a .gitattributes above it";
                refusals.push(self.refusal(path, why.to_owned()));
                continue;
            }
            match self.split_one(staged, from, to)? {
                Ok(split) => drop(splits.insert(path.clone(), split)),
                Err(why) => refusals.push(self.refusal(path, why)),
            }
        }
        Ok((splits, refusals))
    }

    /// Splits one path; `from` is the change that takes its old content away, `to` the one that brings the new.
    fn split_one(
        &mut self,
        staged: &dyn Staged,
        from: &Change,
        to: &Change,
    ) -> Result<Result<Split, String>, GitError> {
        let (source, path) = (below(self.root, &from.path), below(self.root, &to.path));
        let in_index = index::known_side(&self.index, &source);
        let known = |path| index::side(&self.index, path).map(|side| side.mode);
        let (known_before, known_after) = (known(&source), known(&path));
        let old = bytes(&from.before, &source, || staged.old_content(from))?;
        let new = bytes(&to.after, &path, || staged.new_content(to))?;
        let base = self.stored(&source, (&from.before, old), known_before)?;
        let theirs = self.stored(&path, (&to.after, new), known_after)?;
        let binary = self.cleaner.attributes(&path)?.binary;
        let carry = |ours| self.carry(base.as_ref(), ours, theirs.as_ref(), binary);
        let indexed = carry(in_index)?;
        if self.kind == RecordKind::Stage {
            let split = indexed.map(|indexed| Split { committed: Version::Stays(None), indexed });
            return Ok(split.map_err(|clash| clash.told("unstaged")));
        }
        let in_head = object::side(self.local, self.tree, &source)?;
        let committed = carry(in_head)?;
        Ok(match (committed, indexed) {
            (Ok(committed), Ok(indexed)) => Ok(Split { committed, indexed }),
            (Err(Clash::Missing), _) => Err("is not committed yet".to_owned()),
            (_, Err(clash)) => Err(clash.told("unstaged")),
            (Err(clash), Ok(_)) => Err(clash.told("staged")),
        })
    }

    fn stored(
        &mut self,
        path: &RelPath,
        (node, bytes): (&Node, Vec<u8>),
        known: Option<Mode>,
    ) -> Result<Option<Stored>, GitError> {
        let Some(mode) = self.recording.mode(node, known) else { return Ok(None) };
        let text = match mode {
            Mode::SYMLINK => bytes,
            _ => self.cleaner.clean(path, &bytes)?.unwrap_or(bytes),
        };
        let id = self.cleaner.id_verbatim(&text)?;
        Ok(Some(Stored { side: Side { mode, id }, text }))
    }

    /// What the change from `base` to `theirs` makes of the version `ours`.
    fn carry(
        &self,
        base: Option<&Stored>,
        ours: Option<Side>,
        theirs: Option<&Stored>,
        binary: bool,
    ) -> Result<Result<Version, Clash>, GitError> {
        let side = |stored: Option<&Stored>| stored.map(|stored| stored.side);
        if ours == side(base) || ours == side(theirs) {
            return Ok(Ok(Version::Landed));
        }
        if side(base) == side(theirs) {
            return Ok(Ok(Version::Stays(ours)));
        }
        let (base, ours, theirs) = match (base, ours, theirs) {
            (Some(base), Some(ours), Some(theirs)) => (base, ours, theirs),
            (_, _, None) => return Ok(Err(Clash::Deleted)),
            (None, ..) => return Ok(Err(Clash::Created)),
            (_, None, _) => return Ok(Err(Clash::Missing)),
        };
        let Some(mode) = merged_mode(base.side.mode, ours.mode, theirs.side.mode) else {
            return Ok(Err(Clash::Mode));
        };
        if base.side.id == theirs.side.id {
            return Ok(Ok(Version::Stays(Some(Side { mode, id: ours.id }))));
        }
        if ours.id == base.side.id || ours.id == theirs.side.id {
            return Ok(Ok(Version::Merged { mode, text: theirs.text.clone() }));
        }
        let text = object::blob(self.local, ours.id)?;
        if binary || [&base.text, &text, &theirs.text].into_iter().any(|text| is_binary(text)) {
            return Ok(Err(Clash::Binary));
        }
        let sides = Sides { base: &base.text, ours: &text, theirs: &theirs.text };
        Ok(merged(sides).map(|text| Version::Merged { mode, text }))
    }

    fn refusal(&self, path: &RelPath, message: String) -> PathRefusal {
        let hint = match self.kind {
            RecordKind::Stage => "stage or undo those changes first",
            _ => "commit or undo those changes first, or run with --whole-files",
        };
        PathRefusal { path: path.clone(), code: Code::Git, message, hint: Some(hint.to_owned()) }
    }
}

impl Clash {
    /// In words; `which` says where the changes are.
    fn told(&self, which: &str) -> String {
        let own = format!("has {which} changes of its own");
        match self {
            Self::Lines(line) => format!("{own} where the batch changes it too, or right beside: {line}"),
            Self::Binary => format!("is binary and {own}"),
            Self::Deleted => format!("{own}, and the batch deletes it"),
            Self::Created => format!("{own}, and the batch creates it"),
            Self::Missing => "is not in the index".to_owned(),
            Self::Mode => format!("{own}, and the batch changes its mode or kind"),
        }
    }
}

/// The bytes of a node, where it has any.
fn bytes(
    node: &Node,
    path: &RelPath,
    read: impl FnOnce() -> std::io::Result<Vec<u8>>,
) -> Result<Vec<u8>, GitError> {
    match node {
        Node::File { .. } | Node::Link { .. } => {
            read().map_err(|source| GitError::Weighed { path: path.clone(), source })
        }
        _ => Ok(Vec::new()),
    }
}

/// The change of a path among sorted ones.
fn change_of<'a>(changes: &'a [Change], path: &RelPath) -> Option<&'a Change> {
    changes.binary_search_by(|change| change.path.cmp(path)).ok().map(|at| &changes[at])
}

/// Whether the attributes file `file` says something of `path`.
fn governs(file: &RelPath, path: &RelPath) -> bool {
    file.parent().is_some_and(|folder| folder.is_root() || path.is_below(&folder))
}

/// The mode that both changes make, where all are plain files.
fn merged_mode(base: Mode, ours: Mode, theirs: Mode) -> Option<Mode> {
    let plain = |mode| matches!(mode, Mode::FILE | Mode::FILE_EXECUTABLE);
    if ![base, ours, theirs].into_iter().all(plain) {
        return None;
    }
    Some(if base == theirs { ours } else { theirs })
}

fn merged(sides: Sides<'_>) -> Result<Vec<u8>, Clash> {
    let mut merged = Vec::new();
    for chunk in merge::merge(sides) {
        match chunk {
            Chunk::Clean(text) => merged.extend_from_slice(&text),
            Chunk::Conflict { base, ours, theirs } => {
                return Err(Clash::Lines(first_line(&[base, theirs, ours])));
            }
        }
    }
    Ok(merged)
}

/// As git decides it.
fn is_binary(text: &[u8]) -> bool {
    text[..text.len().min(LOOKED_AT)].contains(&0)
}

/// The first line of the first text that has any, cut short.
fn first_line(texts: &[Vec<u8>]) -> BString {
    let line = texts.iter().filter_map(|text| text.lines().next()).find(|line| !line.trim().is_empty());
    let line = line.unwrap_or_default().trim().to_str_lossy();
    line.chars().take(SHOWN).collect::<String>().into()
}
