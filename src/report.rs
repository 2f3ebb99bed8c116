//! The result of a run as data: the JSON object of `--json`, and what the human output is made from.
//!
//! A documented contract: fields are added, never removed or renamed, without a new `v`.

mod look;

use crate::edit::{Code, Format, Warning, WarningCode};
use crate::input::{ParseError, ParseErrors};
use crate::plan::{Candidate, Compared, FileAction, LineRange, Nearest, Plan, PlannedFile, Refusal};
use crate::transaction::TreeState;
use base64::Engine;
use bstr::{BStr, BString, ByteSlice};
use serde::{Serialize, Serializer};

pub use look::{FileFound, FileMatched, FileShown, LineMatched, LineShown, LookReport};

/// The result of one command.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The version of this form: 1.
    pub v: u32,
    /// The command: `apply`, `check`, `undo`, `redo`, `recover`.
    pub mode: Mode,
    /// Whether the batch landed, in the work tree or as a stash entry.
    pub applied: bool,
    /// How the run ended.
    pub outcome: Outcome,
    /// The state of the work tree.
    #[serde(serialize_with = "tree_word")]
    pub tree: TreeState,
    /// The id of the operation, where one began.
    pub transaction: Option<String>,
    /// The form of the batch, where it was recognised.
    #[serde(serialize_with = "format_word")]
    pub format: Option<Format>,
    /// The paths of the batch, in the order of first mention.
    pub files: Vec<FileReport>,
    /// Everything that stood in the way.
    pub errors: Vec<ErrorReport>,
    /// What a person should know besides.
    pub warnings: Vec<WarningReport>,
    /// What was recorded in git.
    pub git: Option<GitReport>,
    /// Counts.
    pub stats: Stats,
}

/// Which command made the report.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// `patchmany apply`.
    Apply,
    /// `patchmany check`, or a dry run.
    Check,
    /// `patchmany undo`.
    Undo,
    /// `patchmany redo`.
    Redo,
    /// `patchmany plan`.
    Plan,
    /// `patchmany recover`.
    Recover,
    /// `patchmany convert`.
    Convert,
    /// `patchmany read`.
    Read,
    /// `patchmany glob`.
    Glob,
    /// `patchmany grep`.
    Grep,
}

/// How a run ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// The batch landed.
    Applied,
    /// The batch fits; nothing was written since nobody asked for it.
    WouldApply,
    /// There was nothing to do.
    NoOp,
    /// What was asked for is shown.
    Shown,
    /// Nothing fits what was asked for.
    NothingFound,
    /// Something does not fit; nothing was written.
    Refused,
    /// The command line or the batch makes no sense; nothing was written.
    Invalid,
    /// A failure on the way; everything is as before.
    RolledBack,
    /// A failure that could not be undone; the journal is kept.
    NeedsRecovery,
    /// Somebody holds a lock; nothing was written.
    Locked,
    /// A signal came; everything is as before.
    Interrupted,
}

/// One path.
#[derive(Clone, Debug, Serialize)]
pub struct FileReport {
    /// Relative to the root.
    pub path: PathReport,
    /// `modify`, `create`, `delete`, `rename`, `none`.
    pub action: &'static str,
    /// Where a renamed file comes from.
    pub from: Option<PathReport>,
    /// Whether the path was written.
    pub written: bool,
    /// BLAKE3 of the old bytes; null when there was no file.
    pub old_hash: Option<String>,
    /// BLAKE3 of the new bytes; null when there is no file.
    pub new_hash: Option<String>,
    /// The tag of the new version.
    pub tag: Option<String>,
    /// The new mode as git writes it; of the old file where there is no new one.
    pub mode: Option<&'static str>,
    /// Lines that came.
    pub added: usize,
    /// Lines that went.
    pub removed: usize,
    /// The hunks, in batch order.
    pub hunks: Vec<HunkReport>,
}

/// Where a hunk was placed.
#[derive(Clone, Debug, Serialize)]
pub struct HunkReport {
    /// The entry, from 1.
    pub entry: usize,
    /// The hunk of the entry, from 1.
    pub hunk: usize,
    /// The pass that found the place.
    pub pass: &'static str,
    /// First and last line before, from 1; `[n+1, n]` is the gap after line n.
    pub old_lines: [usize; 2],
    /// First and last line afterwards.
    pub new_lines: [usize; 2],
    /// Codes of what is worth knowing.
    pub notes: Vec<WarningCode>,
    /// First lines of other places that equal the chosen one, the first few.
    pub twins: Vec<usize>,
    /// How many there are.
    pub twins_total: usize,
}

/// One thing that stood in the way.
#[derive(Clone, Debug, Serialize)]
pub struct ErrorReport {
    /// The stable code.
    pub code: Code,
    /// In words.
    pub message: String,
    /// The entry, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entry: Option<usize>,
    /// The hunk of the entry, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hunk: Option<usize>,
    /// The path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<PathReport>,
    /// The line of the batch, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// The column of the batch, from 1, in characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<usize>,
    /// The last pass tried.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pass: Option<&'static str>,
    /// Places that fit equally well, the first few.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub candidates: Vec<CandidateReport>,
    /// How many there are.
    #[serde(skip_serializing_if = "is_zero")]
    pub candidates_total: usize,
    /// The place that fits best.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nearest: Option<NearestReport>,
    /// What to do next.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// The hunk rewritten, ready to be sent as an entry of an `edits` batch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry: Option<RetryReport>,
}

/// An edit that stands in the file as it is.
#[derive(Clone, Debug, Serialize)]
pub struct RetryReport {
    /// The path.
    pub path: Option<PathReport>,
    /// The file's lines.
    pub old_string: String,
    /// What shall stand there.
    pub new_string: String,
}

/// One of several equal places.
#[derive(Clone, Debug, Serialize)]
pub struct CandidateReport {
    /// First line, from 1.
    pub line: usize,
    /// Last line.
    pub end: usize,
    /// The text of the first line.
    pub text: String,
}

/// The place that fits best.
#[derive(Clone, Debug, Serialize)]
pub struct NearestReport {
    /// First line, from 1.
    pub line: usize,
    /// Last line.
    pub end: usize,
    /// What they differ in: `whitespace`, `tabs`, `unicode`, `case` or `stale` (other words).
    pub reason: &'static str,
    /// The first difference.
    pub differs: String,
    /// The lines of the batch beside those of the file.
    #[serde(serialize_with = "rows")]
    pub rows: Vec<Compared>,
}

/// Something worth knowing.
#[derive(Clone, Debug, Serialize)]
pub struct WarningReport {
    /// The stable code.
    pub code: WarningCode,
    /// The path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<PathReport>,
    /// In words.
    pub message: String,
}

/// What was recorded.
#[derive(Clone, Debug, Serialize)]
pub struct GitReport {
    /// `commit`, `stash` or `stage`.
    pub record: &'static str,
    /// The commit's id in hex; nothing where the batch is only staged.
    pub commit: Option<String>,
    /// The reference that names it.
    #[serde(rename = "ref")]
    pub reference: Option<String>,
}

/// An operation of the past, as `log --json` writes it on one line.
#[derive(Clone, Debug, Serialize)]
pub struct OperationReport {
    /// Its id.
    pub id: String,
    /// When it began, in UTC: `2026-11-30T15:04:05Z`.
    pub time: String,
    /// `apply`, `undo` or `redo`.
    pub command: &'static str,
    /// How many paths it changed; a moved file counts twice.
    pub files: usize,
    /// What it recorded in git.
    pub git: Option<GitReport>,
    /// The operation that it took back.
    pub undoes: Option<String>,
    /// Whether it is undone: `no`, `partly`, `yes`.
    pub undone: &'static str,
}

/// An operation with its paths, as `show --json` writes it.
#[derive(Clone, Debug, Serialize)]
pub struct ShownReport {
    /// The operation.
    #[serde(flatten)]
    pub operation: OperationReport,
    /// Its paths, sorted.
    pub paths: Vec<FileReport>,
    /// The diff, where it was asked for.
    pub diff: Option<PathReport>,
    /// Paths that the diff lacks, since their new version is not known any more.
    pub not_shown: Vec<PathReport>,
}

/// Counts of a run.
#[derive(Clone, Copy, Default, Debug, Serialize)]
pub struct Stats {
    /// Paths that change.
    pub files: usize,
    /// Hunks placed.
    pub hunks: usize,
    /// Lines that come.
    pub added: usize,
    /// Lines that go.
    pub removed: usize,
    /// How long the run took.
    pub elapsed_ms: u64,
}

/// A path: a string where it is UTF-8, else `{"base64": "…"}`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PathReport(pub BString);

impl Serialize for PathReport {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeMap;
        match self.0.to_str() {
            Ok(text) => serializer.serialize_str(text),
            Err(_) => {
                let mut map = serializer.serialize_map(Some(1))?;
                map.serialize_entry("base64", &base64::engine::general_purpose::STANDARD.encode(&self.0))?;
                map.end()
            }
        }
    }
}

impl From<&BStr> for PathReport {
    fn from(path: &BStr) -> Self {
        Self(path.to_owned())
    }
}

fn is_zero(n: &usize) -> bool {
    *n == 0
}

/// A row as an object: whose it is, its line in the file, its text.
fn rows<S: Serializer>(rows: &[Compared], serializer: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Row<'a> {
        of: &'static str,
        line: Option<usize>,
        text: &'a str,
    }
    serializer.collect_seq(rows.iter().map(|row| {
        let (of, line) = match row {
            Compared::Same(line, _) => ("both", Some(*line)),
            Compared::Batch(_) => ("batch", None),
            Compared::File(line, _) => ("file", Some(*line)),
            Compared::Gap => ("gap", None),
        };
        Row { of, line, text: row.text() }
    }))
}

fn tree_word<S: Serializer>(tree: &TreeState, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(tree.as_str())
}

fn format_word<S: Serializer>(format: &Option<Format>, serializer: S) -> Result<S::Ok, S::Error> {
    format.map(Format::as_str).serialize(serializer)
}

impl Report {
    /// A report of nothing yet: nothing to do, nothing touched.
    pub fn new(mode: Mode) -> Self {
        Self {
            v: 1,
            mode,
            applied: false,
            outcome: Outcome::NoOp,
            tree: TreeState::Untouched,
            transaction: None,
            format: None,
            files: Vec::new(),
            errors: Vec::new(),
            warnings: Vec::new(),
            git: None,
            stats: Stats::default(),
        }
    }

    /// The exit code of the program (cli.md). `signal` is the number of the signal that came, if one did.
    pub fn exit_code(&self, signal: usize) -> u8 {
        match self.outcome {
            Outcome::Applied | Outcome::WouldApply | Outcome::NoOp | Outcome::Shown => 0,
            Outcome::Refused | Outcome::NothingFound => 1,
            Outcome::Invalid => 2,
            Outcome::RolledBack if self.mode == Mode::Recover => 0,
            Outcome::RolledBack => 3,
            Outcome::NeedsRecovery => 4,
            Outcome::Locked => 5,
            Outcome::Interrupted => u8::try_from(128 + signal).unwrap_or(130),
        }
    }

    /// Lists the files of a plan; `written` tells whether they are in place.
    pub fn list(&mut self, plan: &Plan, written: Written) {
        self.files = plan.files.iter().map(|file| file_report(file, written)).collect();
        self.warnings.extend(plan.warnings.iter().map(WarningReport::from));
        let changed = plan.files.iter().filter(|f| f.action != FileAction::None);
        self.stats.files = changed.clone().count();
        self.stats.hunks = plan.files.iter().map(|f| f.hunks.len()).sum();
        self.stats.added = changed.clone().map(|f| f.added).sum();
        self.stats.removed = changed.map(|f| f.removed).sum();
    }

    /// Ends the report with errors that kept everything untouched.
    pub fn refuse(&mut self, errors: Vec<ErrorReport>) {
        let usage = errors.iter().all(|e| matches!(e.code, Code::Parse | Code::Usage));
        self.outcome = if usage { Outcome::Invalid } else { Outcome::Refused };
        self.tree = TreeState::Untouched;
        self.errors = errors;
    }
}

/// Whether the files of a plan are in place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Written {
    /// They are.
    Yes,
    /// Nothing was written.
    No,
}

fn file_report(file: &PlannedFile, written: Written) -> FileReport {
    let hash = |node: &crate::disk::Node| node.hash().map(|h| h.to_string());
    FileReport {
        path: file.path.as_bstr().into(),
        action: file.action.as_str(),
        from: file.from.as_ref().map(|from| from.as_bstr().into()),
        written: written == Written::Yes && file.action != FileAction::None,
        old_hash: hash(&file.before),
        new_hash: hash(&file.after),
        tag: file.after.hash().map(|h| h.tag().to_string()),
        mode: file.after.git_mode().or(file.before.git_mode()),
        added: file.added,
        removed: file.removed,
        hunks: file
            .hunks
            .iter()
            .map(|hunk| HunkReport {
                entry: hunk.origin.entry,
                hunk: hunk.origin.hunk,
                pass: hunk.pass,
                old_lines: lines(hunk.old_lines),
                new_lines: lines(hunk.new_lines),
                notes: hunk.notes.clone(),
                twins: hunk.twins.lines.clone(),
                twins_total: hunk.twins.total,
            })
            .collect(),
    }
}

fn lines(range: LineRange) -> [usize; 2] {
    [range.first, range.last]
}

impl ErrorReport {
    /// An error with nothing but a code and words.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            entry: None,
            hunk: None,
            path: None,
            line: None,
            column: None,
            pass: None,
            candidates: Vec::new(),
            candidates_total: 0,
            nearest: None,
            hint: None,
            retry: None,
        }
    }
}

impl From<&Refusal> for ErrorReport {
    fn from(refusal: &Refusal) -> Self {
        let origin = refusal.origin;
        let evidence = refusal.evidence.as_deref();
        Self {
            entry: origin.map(|o| o.entry),
            hunk: origin.map(|o| o.hunk).filter(|h| *h > 0),
            line: origin.map(|o| o.line),
            path: refusal.path.clone().map(PathReport),
            pass: evidence.map(|e| e.pass),
            candidates: evidence.map_or_else(Vec::new, |e| e.candidates.iter().map(Into::into).collect()),
            candidates_total: evidence.map_or(0, |e| e.candidates_total),
            nearest: evidence.and_then(|e| e.nearest.as_ref()).map(Into::into),
            hint: refusal.hint.clone(),
            retry: evidence.and_then(|e| e.retry.as_ref()).map(|retry| RetryReport {
                path: refusal.path.clone().map(PathReport),
                old_string: retry.old.clone(),
                new_string: retry.new.clone(),
            }),
            ..Self::new(refusal.code, refusal.message.clone())
        }
    }
}

impl From<&ParseError> for ErrorReport {
    fn from(error: &ParseError) -> Self {
        Self {
            entry: error.entry,
            hunk: error.hunk,
            line: error.line,
            column: error.column,
            path: error.path.as_deref().map(|p| PathReport(p.into())),
            hint: error.hint.clone(),
            ..Self::new(error.code, error.message.clone())
        }
    }
}

impl From<&ParseErrors> for Vec<ErrorReport> {
    fn from(errors: &ParseErrors) -> Self {
        errors.errors.iter().map(ErrorReport::from).collect()
    }
}

impl From<&Candidate> for CandidateReport {
    fn from(c: &Candidate) -> Self {
        Self { line: c.line, end: c.end, text: c.text.clone() }
    }
}

impl From<&Nearest> for NearestReport {
    fn from(n: &Nearest) -> Self {
        let (differs, rows) = (n.differs.clone(), n.rows.clone());
        Self { line: n.line, end: n.end, reason: n.reason.as_str(), differs, rows }
    }
}

impl From<&Warning> for WarningReport {
    fn from(w: &Warning) -> Self {
        Self { code: w.code, path: w.path.clone().map(PathReport), message: w.message.clone() }
    }
}
