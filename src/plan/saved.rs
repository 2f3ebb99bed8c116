//! A plan as a file: every path with the hash of what stands there and the bytes that change, and the diff to read.
//!
//! It is JSON with the key `patchmany_plan`. A checksum over all of it tells when somebody has edited it by hand: what
//! was read must be what is applied. Nothing here looks at files.

use super::{Refusal, Resolved};
use crate::disk::Node;
use crate::edit::{Code, Hash, Origin, RelPath, Replacement, TextEdit};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bstr::ByteSlice;
use serde::{Deserialize, Serialize};
use similar::{Algorithm, DiffOp};
use std::collections::{BTreeSet, HashMap, HashSet};

/// The version of the form.
const VERSION: u32 = 1;

/// A plan that was written to a file.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SavedPlan {
    patchmany_plan: u32,
    /// BLAKE3 of the rest.
    checksum: String,
    pub(super) changes: Vec<SavedChange>,
    /// What people read.
    diff: Written,
}

/// What becomes of one path.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SavedChange {
    /// Relative to the root.
    path: Written,
    /// The path whose bytes the edits are about and whose metadata the file keeps: itself for an edit, another for a move.
    from: Option<Written>,
    /// What must stand there; null for nothing.
    pub(super) before: Option<Side>,
    /// What shall stand there; null for nothing.
    pub(super) after: Option<Side>,
    /// From the bytes of `from`, or from nothing, to the new ones; in order.
    pub(super) edits: Vec<SavedEdit>,
    /// Whether all edits are there: what they make has the hash of `after`.
    #[serde(skip, default = "yes")]
    pub(super) is_whole: bool,
    /// Whether it is chosen. Those that are not keep their places, so that numbers stay.
    #[serde(skip, default = "yes")]
    pub(super) is_taken: bool,
}

fn yes() -> bool {
    true
}

/// What stands at a path, as far as it is the same in every clone.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Side {
    /// As git writes it; `040000` for a folder.
    pub(super) mode: String,
    /// BLAKE3 of the bytes, or of the target of a link.
    pub(super) hash: Option<String>,
}

/// Bytes that change.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SavedEdit {
    /// The first byte, from 0.
    at: usize,
    /// So many bytes go.
    old: usize,
    /// What comes.
    new: Written,
}

/// Bytes in JSON: a string where they are UTF-8.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(untagged)]
enum Written {
    Text(String),
    Raw { base64: String },
}

impl Written {
    fn of(bytes: &[u8]) -> Self {
        match bytes.to_str() {
            Ok(text) => Self::Text(text.to_owned()),
            Err(_) => Self::Raw { base64: STANDARD.encode(bytes) },
        }
    }

    fn bytes(&self) -> Option<Vec<u8>> {
        match self {
            Self::Text(text) => Some(text.clone().into_bytes()),
            Self::Raw { base64 } => STANDARD.decode(base64).ok(),
        }
    }
}

impl Side {
    /// Nothing for what is absent.
    pub(super) fn of(node: &Node) -> Option<Self> {
        let mode = match node {
            Node::Absent | Node::Special => return None,
            Node::Directory => "040000",
            node => node.git_mode()?,
        };
        let hash = match node {
            Node::Link { target } => Some(Hash::of(target)),
            node => node.hash(),
        };
        Some(Self { mode: mode.to_owned(), hash: hash.map(|hash| hash.to_string()) })
    }
}

impl SavedChange {
    fn of(file: &Resolved, bytes: &HashMap<&RelPath, &[u8]>) -> Self {
        let from = file.metadata.from();
        let old = from.and_then(|from| bytes.get(from)).copied().unwrap_or_default();
        let edits = file.new.as_ref().map_or_else(Vec::new, |new| edits(old, &new.whole()));
        Self {
            path: Written::of(file.path.as_bstr()),
            from: from.map(|from| Written::of(from.as_bstr())),
            before: Side::of(&file.before),
            after: Side::of(&file.after),
            edits,
            is_whole: true,
            is_taken: true,
        }
    }

    /// The path; nothing where it is none.
    pub(super) fn path(&self) -> Option<RelPath> {
        RelPath::new(self.path.bytes()?).ok()
    }

    /// The path that the file comes from.
    pub(super) fn from(&self) -> Option<RelPath> {
        RelPath::new(self.from.as_ref()?.bytes()?).ok()
    }

    /// The path for people.
    fn name(&self) -> String {
        self.path.bytes().unwrap_or_default().to_str_lossy().into_owned()
    }

    /// The edits of a text of `len` bytes; nothing where they do not fit it.
    pub(super) fn text_edit(&self, len: usize) -> Option<TextEdit> {
        let part = |edit: &SavedEdit| {
            let end = edit.at.checked_add(edit.old).filter(|end| *end <= len)?;
            Some(Replacement { range: edit.at..end, bytes: edit.new.bytes()? })
        };
        TextEdit::new(self.edits.iter().map(part).collect::<Option<_>>()?).ok()
    }
}

/// The lines that change, as edits in bytes.
fn edits(old: &[u8], new: &[u8]) -> Vec<SavedEdit> {
    let lines = |text| <[u8]>::split_inclusive(text, |b| *b == b'\n').collect::<Vec<_>>();
    let (old, new) = (lines(old), lines(new));
    let starts: Vec<usize> = old
        .iter()
        .scan(0, |at, line| Some(std::mem::replace(at, *at + line.len())))
        .chain([old.iter().map(|line| line.len()).sum()])
        .collect();
    let ops = similar::capture_diff_slices(Algorithm::Myers, &old, &new);
    let edit = |op: DiffOp| {
        let (at, end) = (starts[op.old_range().start], starts[op.old_range().end]);
        SavedEdit { at, old: end - at, new: Written::of(&new[op.new_range()].concat()) }
    };
    ops.into_iter().filter(|op| !matches!(op, DiffOp::Equal { .. })).map(edit).collect()
}

impl SavedPlan {
    /// The plan of these files, in their order; `diff` is what people read.
    pub fn new(files: &[Resolved], diff: &[u8]) -> Self {
        let bytes = files.iter().filter_map(|file| Some((&file.path, file.old.as_deref()?))).collect();
        let changes = files.iter().map(|file| SavedChange::of(file, &bytes)).collect();
        let plan =
            Self { patchmany_plan: VERSION, checksum: String::new(), changes, diff: Written::of(diff) };
        Self { checksum: plan.sum(), ..plan }
    }

    /// The plan as JSON that people can read, with a newline at the end.
    pub fn to_json(&self) -> Vec<u8> {
        let mut bytes = serde_json::to_vec_pretty(self).expect("strings and numbers can be written as JSON");
        bytes.push(b'\n');
        bytes
    }

    /// How many paths change.
    pub fn len(&self) -> usize {
        self.changes.len()
    }

    /// Whether nothing changes.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// The plan in `input`; nothing where that is no plan at all.
    ///
    /// # Errors
    /// `parse` for a plan of another version, and for one that was edited or is broken.
    pub fn read(input: &[u8]) -> Option<Result<Self, Refusal>> {
        #[derive(Deserialize)]
        struct Probe {
            patchmany_plan: serde_json::Value,
        }
        let input = crate::edit::split_bom(input).1;
        if !input.trim_ascii_start().starts_with(b"{") {
            return None;
        }
        let probe: Probe = serde_json::from_slice(input).ok()?;
        Some(Self::read_known(input, &probe.patchmany_plan))
    }

    fn read_known(input: &[u8], version: &serde_json::Value) -> Result<Self, Refusal> {
        if *version != VERSION {
            let message = format!("the plan is of version {version}; this program reads version {VERSION}");
            return Err(broken(message));
        }
        let plan: Self =
            serde_json::from_slice(input).map_err(|e| broken(format!("the plan cannot be read: {e}")))?;
        if plan.sum() != plan.checksum {
            return Err(broken("the plan was changed after it was made: its checksum does not fit"));
        }
        let is_good = |change: &SavedChange| {
            change.path().is_some_and(|path| !path.is_root())
                && change.from.is_some() == change.from().is_some()
        };
        if let Some(at) = plan.changes.iter().position(|change| !is_good(change)) {
            return Err(broken(format!("path {} of the plan is no path below a root", at + 1)));
        }
        let mut seen = HashSet::new();
        match plan.changes.iter().find(|change| !seen.insert(change.path())) {
            Some(twice) => Err(broken(format!("the plan names {} twice", twice.name()))),
            None => Ok(plan),
        }
    }

    pub(super) fn path(&self, index: usize) -> Option<RelPath> {
        self.changes.get(index)?.path()
    }

    /// How many edits the change has.
    pub(super) fn edits(&self, index: usize) -> usize {
        self.changes.get(index).map_or(0, |change| change.edits.len())
    }

    /// Whether nothing shall stand at the path.
    pub(super) fn is_removed(&self, index: usize) -> bool {
        self.changes.get(index).is_some_and(|change| change.after.is_none())
    }

    /// The changes that are moves, each with the one of the path where its file comes from.
    pub(super) fn moves(&self) -> Vec<(usize, usize)> {
        let at: HashMap<RelPath, usize> =
            self.changes.iter().enumerate().filter_map(|(at, change)| Some((change.path()?, at))).collect();
        let pair = |(to, change): (usize, &SavedChange)| {
            let from = *at.get(&change.from()?)?;
            (from != to).then_some((to, from))
        };
        self.changes.iter().enumerate().filter_map(pair).collect()
    }

    /// Keeps the changes that are `taken`, each with the edits that `hunks` numbers, or with all.
    pub(super) fn narrow<'h>(
        &mut self,
        taken: &[bool],
        hunks: impl Fn(usize) -> Option<&'h BTreeSet<usize>>,
    ) {
        for (at, (change, taken)) in self.changes.iter_mut().zip(taken).enumerate() {
            change.is_taken = *taken;
            let Some(hunks) = hunks(at) else { continue };
            let mut number = 0;
            change.edits.retain(|_| {
                number += 1;
                hunks.contains(&number)
            });
            change.is_whole = number == change.edits.len();
        }
    }

    /// The checksum of what is written.
    fn sum(&self) -> String {
        let bytes = serde_json::to_vec(&(self.patchmany_plan, &self.changes, &self.diff));
        Hash::of(&bytes.expect("strings and numbers can be written as JSON")).to_string()
    }

    /// Where the change `index` stands, as refusals and results count.
    pub(super) fn origin(index: usize, hunk: usize) -> Origin {
        Origin { entry: index + 1, hunk, line: 1 }
    }
}

fn broken(message: impl Into<String>) -> Refusal {
    Refusal::new(Code::Parse, message)
        .hint("make the plan again with patchmany plan; --only and --select narrow it")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn resolved(old: &[u8], new: &[u8]) -> Resolved {
        let node = |bytes: &[u8]| Node::File { hash: Hash::of(bytes), mode: 0o644, size: bytes.len() as u64 };
        let path = RelPath::new("a").expect("good");
        Resolved {
            path: path.clone(),
            before: node(old),
            after: node(new),
            seen: None,
            old: Some(old.to_vec().into()),
            new: Some(new.to_vec().into()),
            metadata: crate::plan::Metadata::Of(path),
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(old in "([ab]{0,2}\r?\n){0,8}[ab]{0,2}", new in prop::collection::vec(any::<u8>(), 0..60)) {
            let plan = SavedPlan::new(&[resolved(old.as_bytes(), &new)], b"diff \xff");
            let read = SavedPlan::read(&plan.to_json()).expect("a plan").expect("readable");
            prop_assert_eq!(&read, &plan);
            let edit = read.changes[0].text_edit(old.len()).expect("fits");
            prop_assert_eq!(edit.apply(old.as_bytes()), new);
        }
    }

    #[test]
    fn what_was_edited_is_refused() {
        let plan = SavedPlan::new(&[resolved(b"one\n", b"two\n")], b"-one\n+two\n");
        let text = String::from_utf8(plan.to_json()).expect("UTF-8");
        let read = |text: &str| SavedPlan::read(text.as_bytes());
        assert_eq!(read(&format!("\u{feff} {}", text.replace('\n', " "))), Some(Ok(plan)));
        for (from, to) in
            [("\"two", "\"six"), ("+two", "+six"), ("100644", "100755"), ("plan\": 1", "plan\": 2")]
        {
            let refusal = read(&text.replace(from, to)).expect("a plan").expect_err("edited");
            assert_eq!(refusal.code, Code::Parse, "{from}");
        }
        let twice = SavedPlan::new(&[resolved(b"a", b"b"), resolved(b"a", b"c")], b"");
        assert!(matches!(SavedPlan::read(&twice.to_json()), Some(Err(_))));
        assert_eq!(read("[]"), None);
        assert_eq!(read("{\"path\": \"a\"}"), None);
        assert_eq!(read(&text[..text.len() / 2]), None);
    }
}
