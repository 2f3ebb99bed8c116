//! The change set: what every parser returns and the planner takes (formats.md, last section).

use super::{BinaryChange, Tag, Text, WarningCode, WeakTag};
use bstr::BString;
use std::fmt;

/// The edits of one batch, in batch order.
#[derive(Clone, PartialEq, Eq, Debug)]
#[must_use = "a change set does nothing until it is planned"]
pub struct ChangeSet {
    /// The form the batch was written in.
    pub format: Format,
    /// One operation an entry, in batch order; entries of one path are composed in that order.
    pub operations: Vec<FileOperation>,
    /// What the parser noticed and could live with.
    pub warnings: Vec<InputWarning>,
}

/// The forms a batch can have; the names are the values of `--format`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Format {
    /// JSON of `{"path","patch"}` with ORIGINAL/UPDATED blocks.
    PatchMany,
    /// Markdown with fences, or bare `=== PATH: p ===` sections.
    Fenced,
    /// JSON of `{"path","operation","moveTo","diff"}`.
    Ops,
    /// `*** Begin Patch` … `*** End Patch`.
    Envelope,
    /// `[path#tag]` sections.
    Hashline,
    /// JSON of `old_string`/`new_string`, or `content`, or ollie calls.
    Edits,
    /// Unified diff.
    Diff,
    /// SEARCH/REPLACE blocks.
    Blocks,
    /// LSP `WorkspaceEdit`.
    Lsp,
    /// JSON lines with byte-offset replacements.
    Suggestions,
    /// A plan that was saved.
    Plan,
    /// More than one of them in one JSON array.
    Mixed,
}

impl Format {
    /// The name as users write it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::PatchMany => "patch-many",
            Self::Fenced => "fenced",
            Self::Ops => "ops",
            Self::Envelope => "envelope",
            Self::Hashline => "hashline",
            Self::Edits => "edits",
            Self::Diff => "diff",
            Self::Blocks => "blocks",
            Self::Lsp => "lsp",
            Self::Suggestions => "suggestions",
            Self::Plan => "plan",
            Self::Mixed => "mixed",
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One entry of the batch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FileOperation {
    /// The path as written.
    pub path: BatchPath,
    /// What is done there.
    pub action: Action,
    /// What the entry expects to find.
    pub expects: Precondition,
    /// What kind of file the path is, or shall be, where the entry says so.
    pub mode: Option<Mode>,
    /// Where the entry stands.
    pub origin: Origin,
}

/// A path as the batch spells it, before it is resolved against the disk.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct BatchPath {
    /// The bytes of the batch.
    pub written: BString,
    /// Where it starts when it is relative.
    pub base: PathBase,
}

/// The folder that a relative path starts at.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum PathBase {
    /// The folder that the user stands in or names.
    Current,
    /// The root, which is the top of the repository's work tree, as in what git writes.
    Top,
}

impl From<&str> for BatchPath {
    fn from(s: &str) -> Self {
        Self { written: s.into(), base: PathBase::Current }
    }
}

impl fmt::Display for BatchPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.written, f)
    }
}

/// What an entry does to its path.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Action {
    /// Runs the steps, each on the result of the one before.
    Modify {
        /// In batch order.
        steps: Vec<Step>,
    },
    /// Makes a file of exactly these bytes.
    Create {
        /// The whole content, terminators included.
        content: Text,
        /// What to do with a file that is there already.
        existing: Existing,
    },
    /// Removes the file.
    Delete {
        /// Where there are any, they must leave nothing of it: the entry says what it removes.
        steps: Vec<Step>,
    },
    /// Runs the steps, then moves the file.
    Rename {
        /// The destination as written.
        to: BatchPath,
        /// May be empty: a pure move.
        steps: Vec<Step>,
    },
    /// Runs the steps on a copy of the file as it was before the batch.
    Copy {
        /// The path of the copy as written.
        to: BatchPath,
        /// May be empty: a pure copy.
        steps: Vec<Step>,
    },
}

impl Action {
    /// Its steps; none for the creation of a file.
    pub fn steps(&self) -> &[Step] {
        match self {
            Self::Modify { steps }
            | Self::Delete { steps }
            | Self::Rename { steps, .. }
            | Self::Copy { steps, .. } => steps,
            Self::Create { .. } => &[],
        }
    }

    /// Its steps, to be changed; none for the creation of a file.
    pub fn steps_mut(&mut self) -> Option<&mut Vec<Step>> {
        match self {
            Self::Modify { steps }
            | Self::Delete { steps }
            | Self::Rename { steps, .. }
            | Self::Copy { steps, .. } => Some(steps),
            Self::Create { .. } => None,
        }
    }
}

/// The kinds of files that git tells apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// `100644`
    Regular,
    /// `100755`
    Executable,
    /// `120000`: the content is the target of the link.
    Link,
    /// `160000`: a commit of another repository.
    Submodule,
}

impl Mode {
    /// The mode as git writes it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Regular => "100644",
            Self::Executable => "100755",
            Self::Link => "120000",
            Self::Submodule => "160000",
        }
    }
}

/// What creating does where a file stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Existing {
    /// Refuse, unless the run allows overwriting.
    Refuse,
    /// Replace it: the entry itself says so.
    Replace,
    /// Replace it, but not by nothing: to empty a file must be asked for.
    ReplaceByText,
    /// Fill it when it is empty, and refuse otherwise.
    Fill,
}

/// Hunks that see the same text and must not overlap.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Step {
    /// In batch order.
    pub hunks: Vec<Hunk>,
}

/// One change of one text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Hunk {
    /// How its place is found, and what is written there.
    pub locator: Locator,
    /// How many places it must and may have.
    pub occurrence: Occurrence,
    /// Where the hunk stands.
    pub origin: Origin,
}

/// How a hunk's place is found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Locator {
    /// By a text that may start and end inside a line.
    Text {
        /// The text that stands there.
        old: Text,
        /// The text that shall stand there.
        new: Text,
    },
    /// By several texts in this order, anything between them (gptme's placeholders).
    Pieces(Vec<(Text, Text)>),
    /// By whole lines.
    Lines(LineHunk),
    /// Fills a file that is there and empty.
    Fill(Text),
    /// By the numbers of the lines that `rows` replace, from 1, in the version that the entry names.
    LineRange {
        /// First line.
        first: usize,
        /// Last line, inclusive.
        last: usize,
        /// Texts without terminator; none to delete the lines.
        rows: Vec<Text>,
    },
    /// By the number of a line beside which `rows` come.
    Gap {
        /// Where.
        gap: Gap,
        /// Texts without terminator.
        rows: Vec<Text>,
    },
    /// The whole file, byte by byte; alone in its step.
    Binary(BinaryChange),
}

/// A place between two lines, which count from 1.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Gap {
    /// Before the first line.
    Start,
    /// Before this line.
    Before(usize),
    /// After this line.
    After(usize),
    /// After the last line.
    End,
}

/// A hunk of whole lines: context, removals, additions.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct LineHunk {
    /// The body in order. Texts have no terminator.
    pub rows: Vec<Row>,
    /// Lines that stand before the place, outermost first.
    pub anchors: Vec<Text>,
    /// The old first line that the header names, from 1, and the old line count.
    pub hint: Option<(usize, usize)>,
    /// The body ends where the file ends.
    pub at_end: bool,
    /// The last old row has no terminator (`\ No newline at end of file`).
    pub old_unterminated: bool,
    /// The last new row has no terminator.
    pub new_unterminated: bool,
    /// How closely the old rows must stand in the file, unless the run says so.
    pub closeness: Closeness,
}

/// How closely the old rows of a hunk must stand in the file.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Closeness {
    /// Under any of the equalities of matching.md: whoever wrote them may have retyped them.
    #[default]
    Equivalent,
    /// Byte for byte, terminators aside: a program made the hunk from the file.
    Exact,
}

/// One row of a line hunk.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Row {
    /// Stands there and stays.
    Keep(Text),
    /// Stands there and goes.
    Remove(Text),
    /// Comes.
    Add(Text),
}

impl Row {
    /// Its text.
    pub fn text(&self) -> &Text {
        let (Self::Keep(text) | Self::Remove(text) | Self::Add(text)) = self;
        text
    }

    /// Its text, to be changed.
    pub fn text_mut(&mut self) -> &mut Text {
        let (Self::Keep(text) | Self::Remove(text) | Self::Add(text)) = self;
        text
    }
}

impl LineHunk {
    /// The rows that must stand in the file.
    pub fn old_rows(&self) -> impl Iterator<Item = &Text> {
        self.rows.iter().filter_map(|row| match row {
            Row::Keep(t) | Row::Remove(t) => Some(t),
            Row::Add(_) => None,
        })
    }

    /// The rows that stand there afterwards.
    pub fn new_rows(&self) -> impl Iterator<Item = &Text> {
        self.rows.iter().filter_map(|row| match row {
            Row::Keep(t) | Row::Add(t) => Some(t),
            Row::Remove(_) => None,
        })
    }
}

/// How many places a hunk must have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Occurrence {
    /// Exactly one.
    Once,
    /// At least one; all are changed.
    All,
    /// Exactly this many; all are changed.
    Exactly(usize),
}

/// What an entry says of the file it was written for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Precondition {
    /// Nothing.
    Any,
    /// The bytes have a hash that starts with this tag.
    Tagged(Tag),
    /// The text has this tag of other tools.
    WeaklyTagged(WeakTag),
    /// The folder that holds the path is there.
    FolderExists,
}

/// Where something stands in the batch; all count from 1.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Origin {
    /// The entry.
    pub entry: usize,
    /// The hunk within the entry; 0 for the entry itself.
    pub hunk: usize,
    /// The line of the batch.
    pub line: usize,
}

/// Something the parser noticed and could live with.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InputWarning {
    /// Its kind.
    pub code: WarningCode,
    /// The entry, from 1.
    pub entry: usize,
    /// In words.
    pub message: String,
}
