//! The entries of the JSON forms, as they are written. The schema of batches comes from the same types.

use serde::Serialize;

/// Old and new text in ORIGINAL/UPDATED blocks.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub(super) struct PatchEntry {
    pub(super) path: String,
    pub(super) patch: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tag: Option<String>,
}

/// Whole files, and hunks of whole lines.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub(super) struct OpsEntry {
    pub(super) path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) operation: Option<Operation>,
    #[serde(rename = "moveTo", skip_serializing_if = "Option::is_none")]
    pub(super) move_to: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) diff: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tag: Option<String>,
}

/// What an [`OpsEntry`] does.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Operation {
    Create,
    Delete,
    Update,
}

/// An entry of the form `edits`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(untagged)]
pub(super) enum EditsEntry {
    Edit(EditEntry),
    Write(WriteEntry),
}

/// One text in the place of another.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub(super) struct EditEntry {
    pub(super) path: String,
    pub(super) old_string: String,
    pub(super) new_string: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) replace_all: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) expected: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tag: Option<String>,
}

/// A whole file.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub(super) struct WriteEntry {
    pub(super) path: String,
    pub(super) content: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) allow_empty: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tag: Option<String>,
}

/// A list of entries, one key a line.
pub(super) fn json<T: Serialize>(entries: &[T]) -> String {
    serde_json::to_string_pretty(entries).expect("strings, numbers and truth values can be written") + "\n"
}
