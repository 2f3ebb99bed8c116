//! What a journal does not say of an operation: a line of JSON in its folder.
//!
//! It is read leniently, since it may be absent or of another version: an operation can be undone without it.

use crate::disk::Node;
use crate::edit::RelPath;
use crate::plan::{FileAction, Plan};
use crate::transaction::OperationId;
use serde::{Deserialize, Serialize};

/// What was run.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Command {
    /// A batch.
    #[default]
    Apply,
    /// An operation was taken back.
    Undo,
    /// An undo was taken back.
    Redo,
}

impl Command {
    /// The word of the command line.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Apply => "apply",
            Self::Undo => "undo",
            Self::Redo => "redo",
        }
    }

    /// What taking back this operation amounts to.
    pub const fn reversed(self) -> Self {
        match self {
            Self::Apply | Self::Redo => Self::Undo,
            Self::Undo => Self::Redo,
        }
    }
}

/// What is known of an operation beside its journal.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct About {
    /// What was run.
    pub command: Command,
    /// The operation that it took back.
    pub undoes: Option<OperationId>,
    /// What its old files take, in bytes.
    pub bytes: Option<u64>,
    /// Files that it moved, from where and to where.
    pub moves: Vec<(RelPath, RelPath)>,
}

#[derive(Serialize, Deserialize, Default)]
#[serde(default)]
struct Written {
    command: Command,
    undoes: Option<String>,
    bytes: Option<u64>,
    /// Names are bytes: each is written as the character of its number.
    moves: Vec<(String, String)>,
}

impl About {
    /// What is to be kept of a batch.
    pub fn batch(plan: &Plan) -> Self {
        let moves = plan.files.iter().filter_map(|file| Some((file.from.clone()?, file.path.clone())));
        let old = plan.files.iter().filter(|file| file.action != FileAction::None).map(|file| &file.before);
        let bytes = old.map(|node| if let Node::File { size, .. } = node { *size } else { 0 }).sum();
        Self { moves: moves.collect(), bytes: Some(bytes), ..Self::default() }
    }

    /// The same, which takes so many bytes more.
    #[must_use]
    pub fn with_more(self, bytes: usize) -> Self {
        Self { bytes: self.bytes.map(|known| known + bytes as u64), ..self }
    }

    /// The bytes to keep.
    pub fn to_bytes(&self) -> Vec<u8> {
        let written = |path: &RelPath| path.as_bstr().iter().copied().map(char::from).collect::<String>();
        let written = Written {
            command: self.command,
            undoes: self.undoes.as_ref().map(ToString::to_string),
            bytes: self.bytes,
            moves: self.moves.iter().map(|(from, to)| (written(from), written(to))).collect(),
        };
        serde_json::to_vec(&written).expect("strings can be written as JSON")
    }

    /// What `bytes` say; what they do not say is as for a plain batch.
    pub fn from_bytes(bytes: &[u8]) -> Self {
        let read = |text: &String| {
            let bytes: Result<Vec<u8>, _> = text.chars().map(|c| u8::try_from(u32::from(c))).collect();
            RelPath::new(bytes.ok()?).ok()
        };
        let written: Written = serde_json::from_slice(bytes).unwrap_or_default();
        Self {
            command: written.command,
            undoes: written.undoes.as_deref().and_then(OperationId::parse),
            bytes: written.bytes,
            moves: written.moves.iter().filter_map(|(a, b)| Some((read(a)?, read(b)?))).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let path = |bytes: &[u8]| RelPath::new(bytes).expect("good");
        let about = About {
            command: Command::Undo,
            undoes: Some(OperationId::now()),
            bytes: Some(1 << 40),
            moves: vec![(path(b"a\xff"), path(b"b/c d"))],
        };
        assert_eq!(About::from_bytes(&about.to_bytes()), about);
        for other in [&b""[..], b"{}", b"[1]", br#"{"command":"later"}"#, br#"{"more":1}"#] {
            assert_eq!(About::from_bytes(other), About::default());
        }
    }
}
