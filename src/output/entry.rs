//! The entries of the JSON forms, as they are written. The schema of batches comes from the same types.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::Serialize;

/// Old and new text in ORIGINAL/UPDATED blocks.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub(super) struct PatchEntry {
    /// The file, from the current folder.
    pub(super) path: String,
    /// `<<<<<<< ORIGINAL`, old text, `=======`, new text, `>>>>>>> UPDATED`; any number of them.
    pub(super) patch: String,
    /// The version that the entry is for: the start of its BLAKE3 hash, as `patchmany read` prints it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(regex(pattern = "^[0-9a-fA-F]{8,64}$")))]
    pub(super) tag: Option<String>,
}

/// Whole files, and hunks of whole lines.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub(super) struct OpsEntry {
    /// The file, from the current folder.
    pub(super) path: String,
    /// Update by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) operation: Option<Operation>,
    /// The path that the file moves to.
    #[serde(rename = "moveTo", skip_serializing_if = "Option::is_none")]
    pub(super) move_to: Option<String>,
    /// The whole text of a file to create; else hunks: `@@`, then lines behind a blank, `-` or `+`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) diff: Option<String>,
    /// The version that the entry is for: the start of its BLAKE3 hash, as `patchmany read` prints it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(regex(pattern = "^[0-9a-fA-F]{8,64}$")))]
    pub(super) tag: Option<String>,
}

/// What an [`OpsEntry`] does.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub(super) enum Operation {
    Create,
    Delete,
    Update,
}

/// An entry of the form `edits`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(untagged)]
pub(super) enum EditsEntry {
    Edit(EditEntry),
    Write(WriteEntry),
}

/// One text in the place of another.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub(super) struct EditEntry {
    /// The file, from the current folder.
    pub(super) path: String,
    /// The text that stands in the file, exactly once.
    pub(super) old_string: String,
    /// The text in its place.
    pub(super) new_string: String,
    /// The old text may stand in more places; all are changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) replace_all: Option<bool>,
    /// The old text stands in so many places; all are changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub(super) expected: Option<usize>,
    /// The version that the entry is for: the start of its BLAKE3 hash, as `patchmany read` prints it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(regex(pattern = "^[0-9a-fA-F]{8,64}$")))]
    pub(super) tag: Option<String>,
}

/// A whole file.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub(super) struct WriteEntry {
    /// The file, from the current folder.
    pub(super) path: String,
    /// The whole text of the file.
    pub(super) content: String,
    /// Whether an empty text may replace one that is not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) allow_empty: Option<bool>,
    /// The version that the entry is for: the start of its BLAKE3 hash, as `patchmany read` prints it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(regex(pattern = "^[0-9a-fA-F]{8,64}$")))]
    pub(super) tag: Option<String>,
}

/// A call of one of ollie's tools; it is only read.
#[cfg(feature = "schema")]
#[derive(JsonSchema)]
#[expect(dead_code, reason = "the schema alone comes from it")]
pub(super) struct CallEntry {
    pub(super) tool: Tool,
    /// Path, old and new text, `replace_all=true`; or path, content, `allow_empty=true`.
    #[schemars(length(min = 2))]
    pub(super) args: Vec<String>,
    /// The version that the call is for.
    #[schemars(regex(pattern = "^[0-9a-fA-F]{8,64}$"))]
    pub(super) tag: Option<String>,
}

/// The tools that change files.
#[cfg(feature = "schema")]
#[derive(JsonSchema)]
#[schemars(rename_all = "snake_case")]
#[expect(dead_code, reason = "the schema alone comes from it")]
pub(super) enum Tool {
    FileEdit,
    FileWrite,
}

/// A list of entries, one key a line.
pub(super) fn json<T: Serialize>(entries: &[T]) -> String {
    serde_json::to_string_pretty(entries).expect("strings, numbers and truth values can be written") + "\n"
}
