//! What people read: a diff or a summary on standard output, errors and warnings on standard error; and the JSON object.

use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Effects, Style as Paint};
use bstr::ByteSlice;
use patchmany::plan::Compared;
use patchmany::report::{
    ErrorReport, FileReport, GitReport, Mode, OperationReport, Outcome, PathReport, Report, ShownReport,
    WarningReport,
};
use patchmany::transaction::{Doubt, Pending, RecoveryOutcome, TreeState};
use std::io::{self, Write};

const RED: Paint = AnsiColor::Red.on_default();
const GREEN: Paint = AnsiColor::Green.on_default();
const CYAN: Paint = AnsiColor::Cyan.on_default();
const BOLD: Paint = Paint::new().effects(Effects::BOLD);

/// How to print.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Style {
    pub(crate) color: ColorChoice,
    pub(crate) quiet: bool,
}

impl Style {
    pub(crate) fn plain() -> Self {
        Self { color: ColorChoice::Auto, quiet: false }
    }
}

/// The JSON object, on one line.
pub(crate) fn json(report: &impl serde::Serialize) {
    let mut out = io::stdout().lock();
    // A closed pipe ends the output quietly; there is nobody to tell.
    let _ =
        serde_json::to_writer(&mut out, report).map_err(io::Error::from).and_then(|()| out.write_all(b"\n"));
}

/// A JSON value for people too.
#[cfg(feature = "schema")]
pub(crate) fn json_pretty(value: &impl serde::Serialize) {
    let mut out = io::stdout().lock();
    // A closed pipe ends the output quietly; there is nobody to tell.
    let _ = serde_json::to_writer_pretty(&mut out, value)
        .map_err(io::Error::from)
        .and_then(|()| out.write_all(b"\n"));
}

/// Interrupted operations: a line each, with what would be done and the paths that need a decision; or JSON lines.
pub(crate) fn pending(found: &[Pending], as_json: bool) {
    let mut out = io::stdout().lock();
    for one in found {
        let word = match one.outcome {
            RecoveryOutcome::Discarded => "discard",
            RecoveryOutcome::RolledBack => "roll-back",
            RecoveryOutcome::Finished => "finish",
        };
        let doubts: Vec<String> = one.doubts.iter().map(ToString::to_string).collect();
        let paths: Vec<String> = one.doubts.iter().filter_map(Doubt::path).map(ToString::to_string).collect();
        let line = if as_json {
            serde_json::json!({
                "id": one.id.as_str(), "since": one.since, "action": word, "undecided": paths,
                "head_moved": one.doubts.contains(&Doubt::HeadMoved),
            })
            .to_string()
        } else if doubts.is_empty() {
            format!("{} {} {word}", one.id, one.since)
        } else {
            format!("{} {} {word}; needs a decision: {}", one.id, one.since, doubts.join("; "))
        };
        // A closed pipe ends the listing quietly.
        if writeln!(out, "{line}").is_err() {
            return;
        }
    }
}

/// An operation has not ended, and this command does not end it.
pub(crate) fn interrupted() {
    // With standard error closed there is nobody to tell.
    let _ = writeln!(
        io::stderr(),
        "warning: an operation is running, or was interrupted; patchmany recover --list shows it"
    );
}

/// Operations: a line each.
pub(crate) fn operations(log: &[OperationReport]) {
    let mut out = io::stdout().lock();
    // A closed pipe ends the listing quietly.
    let _ = log.iter().try_for_each(|one| writeln!(out, "{}", operation_line(one)));
}

/// An operation with its files, and the diff where there is one.
pub(crate) fn operation(shown: &ShownReport, style: &Style) {
    let mut out = AutoStream::new(io::stdout(), style.color).lock();
    // A closed pipe ends the output quietly.
    let _ = write_operation(&mut out, shown);
}

fn write_operation(out: &mut impl Write, operation: &ShownReport) -> io::Result<()> {
    writeln!(out, "{BOLD}{}{BOLD:#}", operation_line(&operation.operation))?;
    for file in &operation.paths {
        match operation.not_shown.contains(&file.path) {
            true => writeln!(out, " {} ({})", shown(&file.path), file.action)?,
            false => writeln!(out, " {}", summary_line(file))?,
        }
    }
    let Some(diff) = &operation.diff else { return Ok(()) };
    write_diff(out, &diff.0)?;
    for path in &operation.not_shown {
        writeln!(out, "{}: its version after the operation is gone; no diff", shown(path))?;
    }
    Ok(())
}

fn operation_line(one: &OperationReport) -> String {
    let files = if one.files == 1 { "file" } else { "files" };
    let mut line = format!("{} {} {:5} {} {files}", one.id, one.time, one.command, one.files);
    if let Some(undone) = &one.undoes {
        line.push_str(&format!(" of {undone}"));
    }
    if let Some(git) = &one.git {
        line.push_str(&format!("; {}", recorded(git)));
    }
    match one.undone {
        "yes" => line.push_str("; undone"),
        "partly" => line.push_str("; partly undone"),
        _ => {}
    }
    line
}

/// The report for people, with the diff of a check.
pub(crate) fn report(report: &Report, diff: &[u8], style: &Style) {
    let mut err = AutoStream::new(io::stderr(), style.color).lock();
    let mut out = AutoStream::new(io::stdout(), style.color).lock();
    // Closed pipes end the output quietly.
    let _ = write_errors(&mut err, report);
    if !style.quiet {
        let _ = write_warnings(&mut err, &report.warnings);
        let _ = write_result(&mut out, report, diff);
    }
    let _ = write_next(&mut err, &report.errors);
}

/// What stood in the way of looking, and what is worth knowing.
pub(crate) fn problems(errors: &[ErrorReport], warnings: &[WarningReport]) {
    let mut err = AutoStream::new(io::stderr(), ColorChoice::Auto).lock();
    // Closed pipes end the output quietly.
    let _ = write_each(&mut err, errors);
    let _ = write_warnings(&mut err, warnings);
    let _ = write_next(&mut err, errors);
}

/// The state of the tree first, then every error.
fn write_errors(err: &mut impl Write, report: &Report) -> io::Result<()> {
    if report.errors.is_empty() {
        return Ok(());
    }
    let errors = counted(report.errors.len(), "error");
    let state = match (report.tree, report.outcome) {
        (TreeState::Untouched, Outcome::Interrupted) => "interrupted: nothing was written".to_owned(),
        (TreeState::Untouched, _) => format!("nothing was written: {errors}"),
        (TreeState::RolledBack, Outcome::Interrupted) => "interrupted: every file is as before".to_owned(),
        (TreeState::RolledBack, _) => "rolled back: every file is as before".to_owned(),
        (TreeState::NeedsRecovery, _) => "recovery needed: some files may be old and some new".to_owned(),
        (TreeState::Applied, _) => "the batch is in place".to_owned(),
    };
    writeln!(err, "{BOLD}{state}{BOLD:#}")?;
    write_each(err, &report.errors)
}

/// Every error with its hint; that of the last one is the last line of all.
fn write_each(err: &mut impl Write, errors: &[ErrorReport]) -> io::Result<()> {
    for (at, error) in errors.iter().enumerate() {
        write_error(err, error)?;
        if let Some(hint) = error.hint.as_ref().filter(|_| at + 1 < errors.len()) {
            writeln!(err, "    {CYAN}hint{CYAN:#}: {}", plain(hint))?;
        }
    }
    Ok(())
}

/// What to do next.
fn write_next(err: &mut impl Write, errors: &[ErrorReport]) -> io::Result<()> {
    let Some(hint) = errors.last().and_then(|error| error.hint.as_ref()) else { return Ok(()) };
    match hint.strip_prefix("run: ") {
        Some(command) => writeln!(err, "{CYAN}run{CYAN:#}: {}", plain(command)),
        None => writeln!(err, "{CYAN}next{CYAN:#}: {}", plain(hint)),
    }
}

fn write_error(err: &mut impl Write, error: &ErrorReport) -> io::Result<()> {
    let mut place = String::new();
    if let Some(entry) = error.entry {
        place.push_str(&format!("entry {entry}"));
        if let Some(hunk) = error.hunk {
            place.push_str(&format!(", hunk {hunk}"));
        }
    }
    if let Some(line) = error.line {
        let column = error.column.map_or_else(String::new, |column| format!(":{column}"));
        let comma = if place.is_empty() { "" } else { ", " };
        place.push_str(&format!("{comma}batch line {line}{column}"));
    }
    let path = error.path.as_ref().map_or_else(String::new, |path| format!("{}: ", shown(path)));
    let place = if place.is_empty() { String::new() } else { format!(" ({place})") };
    writeln!(err, "{path}{RED}{}{RED:#}: {}{place}", error.code, error.message)?;
    if let Some(near) = &error.nearest {
        writeln!(err, "    {}", plain(&near.differs))?;
        near.rows.iter().try_for_each(|row| write_compared(err, row))?;
    }
    for candidate in &error.candidates {
        writeln!(err, "    {:>6} | {}", candidate.line, candidate.text)?;
    }
    if error.candidates_total > error.candidates.len() {
        writeln!(err, "    … {} places in all", error.candidates_total)?;
    }
    if let Some(retry) = &error.retry {
        writeln!(err, "    old text to send:")?;
        retry.old_string.lines().try_for_each(|line| writeln!(err, "      | {}", plain(line)))?;
        writeln!(err, "    new text to send:")?;
        retry.new_string.lines().try_for_each(|line| writeln!(err, "      | {}", plain(line)))?;
    }
    Ok(())
}

/// A line of the batch (`-`) or of the file (`+`) or of both, with its number in the file.
fn write_compared(err: &mut impl Write, row: &Compared) -> io::Result<()> {
    match row {
        Compared::Same(line, text) => writeln!(err, "    {line:>6}   {}", plain(text)),
        Compared::Batch(text) => writeln!(err, "    {:>6} {RED}- {}{RED:#}", "", plain(text)),
        Compared::File(line, text) => writeln!(err, "    {line:>6} {GREEN}+ {}{GREEN:#}", plain(text)),
        Compared::Gap => writeln!(err, "    {:>6}", "…"),
    }
}

fn write_warnings(err: &mut impl Write, warnings: &[WarningReport]) -> io::Result<()> {
    for warning in warnings {
        let path = warning.path.as_ref().map_or_else(String::new, |path| format!("{}: ", shown(path)));
        writeln!(err, "warning: {path}{}: {}", warning.code, warning.message)?;
    }
    Ok(())
}

fn shown(path: &PathReport) -> String {
    plain(&path.0.to_str_lossy())
}

/// Text of the batch or of a file without what a terminal would obey; tabs stay.
fn plain(text: &str) -> String {
    text.chars().map(|c| if c.is_control() && c != '\t' { '\u{fffd}' } else { c }).collect()
}

fn write_result(out: &mut impl Write, report: &Report, diff: &[u8]) -> io::Result<()> {
    write_diff(out, diff)?;
    match (report.mode, report.outcome) {
        (_, Outcome::NoOp) if report.mode == Mode::Recover => writeln!(out, "nothing to recover"),
        (_, Outcome::NoOp) => writeln!(out, "nothing to do: the files are so already"),
        (_, Outcome::WouldApply) if !diff.is_empty() => Ok(()),
        (_, Outcome::WouldApply) => write_summary(out, report),
        (Mode::Recover, Outcome::RolledBack | Outcome::Applied) => writeln!(out, "recovered"),
        (_, Outcome::Applied) => write_summary(out, report),
        _ if report.applied => write_summary(out, report),
        _ => Ok(()),
    }
}

fn write_diff(out: &mut impl Write, diff: &[u8]) -> io::Result<()> {
    for line in diff.lines_with_terminator() {
        let paint = match line.first() {
            Some(b'+') if !line.starts_with(b"+++ ") => GREEN,
            Some(b'-') if !line.starts_with(b"--- ") => RED,
            Some(b'@') => CYAN,
            Some(b'd' | b'n' | b'o' | b'r' | b'+' | b'-') => BOLD,
            _ => Paint::new(),
        };
        let text = line.strip_suffix(b"\n").unwrap_or(line);
        write!(out, "{paint}")?;
        out.write_all(text)?;
        writeln!(out, "{paint:#}")?;
    }
    Ok(())
}

fn write_summary(out: &mut impl Write, report: &Report) -> io::Result<()> {
    for file in report.files.iter().filter(|f| f.action != "none") {
        writeln!(out, " {}", summary_line(file))?;
    }
    let stats = report.stats;
    let (files, added, removed) =
        (counted(stats.files, "file"), counted(stats.added, "insertion"), counted(stats.removed, "deletion"));
    write!(out, "{files} changed, {added}(+), {removed}(-)")?;
    match &report.git {
        Some(git) => writeln!(out, "; {}", recorded(git)),
        None => writeln!(out),
    }
}

/// `commit 0123456789ab`, `staged`.
fn recorded(git: &GitReport) -> String {
    match &git.commit {
        Some(commit) => format!("{} {}", git.record, commit.get(..12).unwrap_or(commit)),
        None => "staged".to_owned(),
    }
}

/// `1 file`, `2 files`.
fn counted(count: usize, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{plural}")
}

fn summary_line(file: &FileReport) -> String {
    let path = shown(&file.path);
    let counts = format!("+{} -{}", file.added, file.removed);
    match (file.action, &file.from) {
        ("rename", Some(from)) => format!("{} => {path} | {counts}", shown(from)),
        ("create", _) => format!("{path} | {counts} (new)"),
        ("delete", _) => format!("{path} | {counts} (gone)"),
        _ => format!("{path} | {counts}"),
    }
}
