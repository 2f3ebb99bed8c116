//! The results of the commands that only look, in the form of all others: nothing is ever applied, the tree untouched.

use super::{ErrorReport, Mode, Outcome, PathReport, WarningReport, tree_word};
use crate::edit::Code;
use crate::search::{Encoding, Excerpt, LineEnding, Row};
use crate::transaction::TreeState;
use bstr::BString;
use serde::{Serialize, Serializer};

/// The result of `patchmany read`, `glob` or `grep`.
#[derive(Clone, Debug, Serialize)]
pub struct LookReport<F> {
    /// The version of this form: 1.
    pub v: u32,
    /// The command.
    pub mode: Mode,
    /// Always false.
    pub applied: bool,
    /// How the run ended.
    pub outcome: Outcome,
    /// Always untouched.
    #[serde(serialize_with = "tree_word")]
    pub tree: TreeState,
    /// What was found, in the order that people see.
    pub files: Vec<F>,
    /// Whether a limit kept something out.
    pub truncated: bool,
    /// Everything that stood in the way; what did not is shown all the same.
    pub errors: Vec<ErrorReport>,
    /// What a person should know besides.
    pub warnings: Vec<WarningReport>,
}

/// Lines of one file.
#[derive(Clone, Debug, Serialize)]
pub struct FileShown {
    /// Relative to the root.
    pub path: PathReport,
    /// The path as a batch that starts here writes it.
    #[serde(skip)]
    pub name: BString,
    /// The tag of the version, for hash-anchored edits.
    pub tag: String,
    /// BLAKE3 of its bytes.
    pub hash: String,
    /// `utf-8`, `utf-8-bom` or `unknown`.
    pub encoding: &'static str,
    /// `lf`, `crlf`, `mixed` or `none`.
    pub line_ending: &'static str,
    /// Whether the last line is ended.
    pub final_newline: bool,
    /// The lines of the whole file.
    pub total_lines: usize,
    /// Whether the limits kept lines out.
    pub truncated: bool,
    /// The first and last of those lines; null when there are none.
    pub left: Option<[usize; 2]>,
    /// The lines.
    pub lines: Vec<LineShown>,
}

/// One line of a file.
#[derive(Clone, Debug, Serialize)]
pub struct LineShown {
    /// Its number, from 1.
    pub line: usize,
    /// Its text without terminator, cut when long; `{"base64": "…"}` where it is not UTF-8.
    #[serde(serialize_with = "bytes")]
    pub text: BString,
    /// Bytes that were cut off, if any.
    #[serde(skip_serializing_if = "super::is_zero")]
    pub cut: usize,
}

/// A file whose path fits.
#[derive(Clone, Debug, Serialize)]
pub struct FileFound {
    /// Relative to the root.
    pub path: PathReport,
    /// The path as a batch that starts here writes it.
    #[serde(skip)]
    pub name: BString,
}

/// A file with lines that match.
#[derive(Clone, Debug, Serialize)]
pub struct FileMatched {
    /// Relative to the root.
    pub path: PathReport,
    /// The path as a batch that starts here writes it.
    #[serde(skip)]
    pub name: BString,
    /// How many lines match, where that was asked.
    pub count: Option<usize>,
    /// The lines, where they were asked for.
    pub lines: Vec<LineMatched>,
}

/// One line of a file that was searched.
#[derive(Clone, Debug, Serialize)]
pub struct LineMatched {
    /// The line.
    #[serde(flatten)]
    pub shown: LineShown,
    /// Whether it matches; else it stands near one that does.
    pub matches: bool,
}

fn bytes<S: Serializer>(text: &BString, serializer: S) -> Result<S::Ok, S::Error> {
    PathReport(text.clone()).serialize(serializer)
}

impl<F> LookReport<F> {
    /// A report of nothing yet.
    pub fn new(mode: Mode) -> Self {
        Self {
            v: 1,
            mode,
            applied: false,
            outcome: Outcome::Shown,
            tree: TreeState::Untouched,
            files: Vec::new(),
            truncated: false,
            errors: Vec::new(),
            warnings: Vec::new(),
        }
    }

    /// Adds something that stood in the way.
    pub fn refuse(&mut self, error: ErrorReport) {
        let senseless = matches!(error.code, Code::Usage | Code::Parse);
        let invalid = senseless && (self.errors.is_empty() || self.outcome == Outcome::Invalid);
        self.outcome = if invalid { Outcome::Invalid } else { Outcome::Refused };
        self.errors.push(error);
    }

    /// The exit code of the program (cli.md).
    pub fn exit_code(&self) -> u8 {
        match self.outcome {
            Outcome::Shown => 0,
            Outcome::NothingFound if self.mode == Mode::Glob => 0,
            Outcome::Invalid => 2,
            _ => 1,
        }
    }
}

impl From<Row> for LineShown {
    fn from(row: Row) -> Self {
        Self { line: row.line, text: row.text, cut: row.cut }
    }
}

#[cfg(feature = "search")]
impl From<crate::search::HitRow> for LineMatched {
    fn from(hit: crate::search::HitRow) -> Self {
        Self { shown: hit.row.into(), matches: hit.matches }
    }
}

impl FileShown {
    /// The lines of the file `path`, which a batch that starts here calls `name`.
    pub fn new(path: PathReport, name: BString, excerpt: Excerpt) -> Self {
        let lines = excerpt.rows.into_iter();
        Self {
            path,
            name,
            tag: excerpt.hash.tag().to_string(),
            hash: excerpt.hash.to_string(),
            encoding: match excerpt.encoding {
                Encoding::Utf8 => "utf-8",
                Encoding::Utf8Bom => "utf-8-bom",
                Encoding::Unknown => "unknown",
            },
            line_ending: match excerpt.line_ending {
                LineEnding::None => "none",
                LineEnding::Lf => "lf",
                LineEnding::CrLf => "crlf",
                LineEnding::Mixed => "mixed",
            },
            final_newline: excerpt.final_newline,
            total_lines: excerpt.total_lines,
            truncated: excerpt.left.is_some(),
            left: excerpt.left.map(|(first, last)| [first, last]),
            lines: lines.map(LineShown::from).collect(),
        }
    }
}
