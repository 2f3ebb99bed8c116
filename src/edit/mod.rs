//! The model of an edit: paths, texts, hashes, hunks and change sets, and the line model they rest on.
//!
//! Pure data and pure functions: nothing here opens a file, reads a clock or prints.

mod binary;
mod change;
mod code;
mod common;
mod hash;
mod lines;
mod path;
mod pieces;
mod text;
mod text_edit;

pub use binary::{BinaryChange, BinaryError};
pub use change::{
    Action, BatchPath, ChangeSet, Closeness, Existing, FileOperation, Format, Gap, Hunk, InputWarning,
    LineHunk, Locator, Mode, Occurrence, Origin, PathBase, Precondition, Row, Step,
};
pub use code::{Code, Warning, WarningCode};
pub(crate) use common::{common_prefix, common_suffix};
pub use hash::{Hash, Hasher, Tag, WeakTag};
pub use lines::{Breaks, Lines, Terminator, split_bom};
pub use path::{PathError, RelPath};
pub use pieces::Pieces;
pub use text::Text;
pub use text_edit::{Overlap, Replacement, TextEdit};
