//! The union of what can stop a run, and how each condition shows in the result.
//!
//! Only this file knows the errors of all stages. Hints that depend on the whole (which command to run next) are added
//! here.

use crate::edit::{Code, RelPath, Warning};
use crate::git::{GitError, PathRefusal};
use crate::history::HistoryError;
use crate::input::ParseErrors;
use crate::output::Unsayable;
use crate::plan::Refusal;
use crate::report::{ErrorReport, Mode, Outcome, PathReport, Report, WarningReport};
use crate::transaction::{Failure, Kept, TransactionError, TreeState, Version};
use bstr::ByteSlice;
use std::io;
use std::path::{Path, PathBuf};

/// Why a run did not apply its batch.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The request makes no sense.
    #[error("{0}")]
    Usage(String),
    /// The batch cannot be read.
    #[error(transparent)]
    Parse(#[from] ParseErrors),
    /// Entries or hunks do not fit.
    #[error("{} refusals", refusals.len())]
    Refused {
        /// Never empty.
        refusals: Vec<Refusal>,
        /// What else was noticed.
        warnings: Vec<Warning>,
    },
    /// The form that a batch is to be converted to cannot say entries.
    #[error("{} entries cannot be said", .0.len())]
    Unsayable(Vec<Unsayable>),
    /// Paths that cannot be recorded, or are not as the run requires.
    #[error("{} paths are not for this run", .0.len())]
    NotRecordable(Vec<PathRefusal>),
    /// An operation cannot be shown or taken back.
    #[error(transparent)]
    History(#[from] HistoryError),
    /// Git cannot do its part; nothing was written.
    #[error(transparent)]
    Git(#[from] GitError),
    /// Git failed while it recorded, and nothing of it is seen; the files were not to be touched.
    #[error(transparent)]
    Unrecorded(GitError),
    /// The transaction could not begin, or recovery could not end.
    #[error(transparent)]
    Transaction(#[from] TransactionError),
    /// The same in another root that contains this one, or lies in it.
    #[error("in {}: {source}", root.display())]
    Elsewhere {
        /// The other root.
        root: PathBuf,
        /// What went wrong there.
        source: TransactionError,
    },
    /// The transaction ended before its commit point.
    #[error("{}", .0.cause)]
    Failed(Box<Failure>),
    /// The command that had to succeed first failed; no file was touched.
    #[error("the test command failed ({status}): {line}")]
    Test {
        /// The command.
        line: String,
        /// How it ended, in words.
        status: String,
        /// The end of what it wrote.
        output: String,
    },
    /// The root or the state directory cannot be used.
    #[error("cannot {doing}: {source}")]
    Io {
        /// What was tried.
        doing: String,
        /// What the system said.
        source: io::Error,
    },
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        Self::Failed(Box::new(failure))
    }
}

impl Error {
    /// For `map_err`: names what was tried.
    pub(crate) fn io(doing: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let doing = doing.into();
        move |source| Self::Io { doing, source }
    }

    /// Writes the condition into the result; the hint of the last error says what to run next.
    pub fn tell(self, report: &mut Report) {
        self.tell_condition(report);
        say_next(report.mode, report.outcome, &mut report.errors);
    }

    fn tell_condition(self, report: &mut Report) {
        match self {
            Self::Usage(message) => report.refuse(vec![ErrorReport::new(Code::Usage, message)]),
            Self::Parse(errors) => {
                report.format = errors.format;
                report.refuse((&errors).into());
            }
            Self::Refused { refusals, warnings } => {
                report.warnings.extend(warnings.iter().map(WarningReport::from));
                report.refuse(refusals.iter().map(ErrorReport::from).collect());
            }
            Self::Unsayable(unsaid) => report.refuse(unsaid.iter().map(unsayable).collect()),
            Self::NotRecordable(refusals) => report.refuse(refusals.iter().map(path_refusal).collect()),
            Self::History(error) => tell_history(error, report),
            Self::Git(error) => tell_git(&error, report),
            Self::Unrecorded(error) => {
                tell_git(&error, report);
                if report.outcome != Outcome::Locked {
                    report.outcome = Outcome::RolledBack;
                }
            }
            Self::Transaction(error) => tell_transaction(&error, report),
            Self::Elsewhere { root, source } => tell_elsewhere(&root, &source, report),
            Self::Failed(failure) => tell_failure(&failure, report),
            Self::Test { line, status, output } => {
                let output = output.trim_end();
                let colon = if output.is_empty() { "" } else { ":\n" };
                let message = format!("the test command failed ({status}): {line}{colon}{output}");
                report.errors = vec![ErrorReport::new(Code::Test, message)];
                (report.outcome, report.tree) = (Outcome::RolledBack, TreeState::RolledBack);
            }
            Self::Io { doing, source } => {
                report.refuse(vec![ErrorReport::new(Code::Io, format!("cannot {doing}: {source}"))]);
            }
        }
    }
}

/// Completes the hint of the last error: what to do, and what to run then.
pub(crate) fn say_next(mode: Mode, outcome: Outcome, errors: &mut [ErrorReport]) {
    let Some(last) = errors.last_mut() else { return };
    let about_batch = last.entry.is_some() || last.code == Code::Parse;
    let (correct, then) = match (outcome, last.code) {
        (Outcome::NeedsRecovery, _) => (None, "run: patchmany recover"),
        (Outcome::Locked, _) => (Some("wait for the other one to end"), "run the command again"),
        (Outcome::Interrupted, _) => (None, "run: the same command again"),
        (_, Code::Usage) if !about_batch => (Some("correct the command"), "patchmany --help lists them all"),
        (_, Code::Io | Code::Git) | (Outcome::RolledBack, _) => {
            (Some("remove the cause"), "run the command again")
        }
        _ if matches!(mode, Mode::Apply | Mode::Check | Mode::Plan | Mode::Convert) => {
            (Some("correct the batch"), "run patchmany check")
        }
        _ => (Some("correct the command"), "run it again"),
    };
    let whole = |hint: &str| {
        outcome == Outcome::NeedsRecovery || ["run ", "run: ", "patchmany "].iter().any(|w| hint.contains(w))
    };
    last.hint = Some(match (last.hint.take(), correct) {
        (Some(hint), _) if whole(&hint) => hint,
        (Some(hint), _) => {
            format!("{}; then {}", hint.trim_end_matches('?'), then.trim_start_matches("run: "))
        }
        (None, Some(correct)) => format!("{correct}, then {then}"),
        (None, None) => then.to_owned(),
    });
}

fn unsayable(unsaid: &Unsayable) -> ErrorReport {
    let hint =
        "run patchmany convert with another --to: ops, envelope and diff can create, delete and move files";
    ErrorReport {
        entry: unsaid.entry,
        path: Some(PathReport(unsaid.path.clone())).filter(|path| !path.0.is_empty()),
        hint: Some(hint.to_owned()),
        ..ErrorReport::new(Code::Unsupported, unsaid.to_string())
    }
}

fn path_refusal(refusal: &PathRefusal) -> ErrorReport {
    ErrorReport {
        path: Some(refusal.path.as_bstr().into()),
        hint: refusal.hint.clone(),
        ..ErrorReport::new(refusal.code, refusal.message.clone())
    }
}

fn tell_history(error: HistoryError, report: &mut Report) {
    let message = error.to_string();
    let (code, hint) = match &error {
        HistoryError::Undone(_) => (Code::AlreadyApplied, "patchmany redo takes an undo back"),
        HistoryError::NoSuchPaths { .. } => (Code::Missing, "patchmany show ID lists its paths"),
        HistoryError::Changed { .. } => (
            Code::ChangedDuring,
            "this path stays; --merge keeps what was changed since, --path chooses others",
        ),
        HistoryError::Unmerged { .. } => (Code::ChangedDuring, "this path stays; --path chooses others"),
        HistoryError::Io { .. } => {
            return report.refuse(vec![ErrorReport::new(Code::Io, message)]);
        }
        _ => (Code::Missing, "patchmany log lists the operations"),
    };
    let told = |message| ErrorReport { hint: Some(hint.to_owned()), ..ErrorReport::new(code, message) };
    let on = |path: &RelPath, what: String| ErrorReport {
        path: Some(path.as_bstr().into()),
        ..told(format!("{path} {what}"))
    };
    report.refuse(match error {
        HistoryError::Transaction(error) => return tell_transaction(&error, report),
        HistoryError::NoSuchPaths { id, paths } => {
            paths.iter().map(|path| on(path, format!("was not changed by {id}"))).collect()
        }
        HistoryError::Unmerged { id, paths } => {
            paths.iter().map(|(path, why)| on(path, format!("is not as {id} left it: {why}"))).collect()
        }
        HistoryError::Changed { id, paths } => {
            paths.iter().map(|path| on(path, format!("is not as {id} left it"))).collect()
        }
        _ => vec![told(message)],
    });
}

fn tell_git(error: &GitError, report: &mut Report) {
    let told = ErrorReport {
        hint: error.hint().map(str::to_owned),
        ..ErrorReport::new(error.code(), error.to_string())
    };
    report.refuse(vec![told]);
    if error.code() == Code::Locked {
        report.outcome = Outcome::Locked;
    }
}

fn cause(error: &TransactionError) -> ErrorReport {
    let hint = match error {
        TransactionError::Participant(cause) | TransactionError::Unrecorded { cause, .. } => {
            cause.hint.clone()
        }
        TransactionError::ChangedDuring(_) => {
            Some("read the file again and run the command again".to_owned())
        }
        TransactionError::Locked(_) => Some("wait for it to end, or raise --lock-timeout".to_owned()),
        TransactionError::Undecided { .. } => Some(
            "patchmany recover --back brings the old versions back, keeping others' changes aside; recover --forward \
             completes the batch"
                .to_owned(),
        ),
        TransactionError::BadJournal { .. } => {
            Some("look at the files there, then run the command again".to_owned())
        }
        _ => None,
    };
    let path = error.path().map(|p| PathReport(p.into()));
    ErrorReport { path, hint, ..ErrorReport::new(error.code(), error.to_string()) }
}

/// A transaction that could not begin has touched nothing; one that recovery could not end needs it still.
fn tell_transaction(error: &TransactionError, report: &mut Report) {
    report.errors = vec![cause(error)];
    (report.outcome, report.tree) = match error {
        TransactionError::Locked(_) => (Outcome::Locked, TreeState::Untouched),
        // This run has touched nothing, and the earlier one is complete but for its record.
        TransactionError::Unrecorded { cause, .. } if cause.code == Code::Locked => {
            (Outcome::Locked, TreeState::Untouched)
        }
        TransactionError::Unrecorded { .. } => (Outcome::NeedsRecovery, TreeState::Untouched),
        TransactionError::Interrupted(_) => (Outcome::Interrupted, TreeState::Untouched),
        TransactionError::Undecided { .. }
        | TransactionError::AddedTo(_)
        | TransactionError::BadJournal { .. }
        | TransactionError::LostPreImage(_) => (Outcome::NeedsRecovery, TreeState::NeedsRecovery),
        _ => (Outcome::Refused, TreeState::Untouched),
    };
}

/// Paths of another root mean nothing here: the message names them, and the root.
fn tell_elsewhere(root: &Path, error: &TransactionError, report: &mut Report) {
    tell_transaction(error, report);
    for told in &mut report.errors {
        told.message = format!("in {}, which overlaps: {}", root.display(), told.message);
        told.path = None;
    }
}

fn tell_failure(failure: &Failure, report: &mut Report) {
    let mut error = cause(&failure.cause);
    report.tree = failure.tree;
    report.outcome = match (failure.tree, &failure.cause) {
        (TreeState::NeedsRecovery, _) => Outcome::NeedsRecovery,
        (_, TransactionError::Interrupted(_)) => Outcome::Interrupted,
        (TreeState::Untouched, _) => Outcome::Refused,
        _ => Outcome::RolledBack,
    };
    if failure.tree == TreeState::NeedsRecovery {
        error.hint = Some("run: patchmany recover".to_owned());
    }
    let rollback =
        failure.rollback.as_deref().map(cause).map(|told| ErrorReport { hint: error.hint.clone(), ..told });
    report.errors = std::iter::once(error).chain(rollback).collect();
    report.warnings.extend(failure.kept.iter().map(kept));
}

/// Where a version lies that could not stay in its place.
pub(crate) fn kept(kept: &Kept) -> WarningReport {
    let at = kept.at.display();
    let message = match kept.whose {
        Version::Late => {
            format!(
                "a program still wrote to the old {} while it was replaced: what it wrote is in {at}",
                kept.path
            )
        }
        Version::Before => {
            format!("{} was changed by somebody else and stays so; the old version is {at}", kept.path)
        }
        Version::Foreign => format!("the old {} is back; the version that stood there is {at}", kept.path),
    };
    WarningReport {
        code: crate::edit::WarningCode::Recovered,
        path: Some(kept.path.as_bstr().as_bstr().into()),
        message,
    }
}
