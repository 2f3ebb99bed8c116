//! `glob` and `grep`: their flags, the call, and what people see of the result.

use crate::look::{bytes, show, write_cut};
use clap::{Args, ValueEnum};
use patchmany::look::{self, GrepOptions, Show};
use patchmany::report::{FileFound, FileMatched, LineMatched, LookReport, Mode};
use patchmany::search::{Case, Page, Query, Span};
use std::ffi::OsString;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

/// Files that `glob` lists by default.
const MOST_FILES: usize = 1_000;

/// Results that `grep` shows by default.
const MOST_RESULTS: usize = 50;

#[derive(Args, Debug)]
pub(crate) struct GlobArgs {
    /// `*` and `?` stay within a name, `**` stands for any folders, `{a,b}` for either
    pattern: String,
    /// The folder to look in
    #[arg(value_name = "DIR", default_value = "")]
    folder: OsString,
    /// Show so many files at most; 0 shows all
    #[arg(long, value_name = "N", default_value_t = MOST_FILES)]
    head: usize,
    /// Skip so many files
    #[arg(long, value_name = "N", default_value_t = 0)]
    offset: usize,
    /// Start relative paths here, and let none leave this folder
    #[arg(short = 'C', long, value_name = "DIR")]
    root: Option<PathBuf>,
    /// Print one JSON object and nothing else
    #[arg(long)]
    json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct GrepArgs {
    /// The regular expression, in Rust's syntax
    regex: String,
    /// The folder or file to look in
    #[arg(long, value_name = "PATH", default_value = "")]
    path: OsString,
    /// What to show of each file
    #[arg(long, value_name = "MODE", default_value = "files_with_matches")]
    mode: ShowArg,
    /// Only files that fit; with `!` all others; several may be given
    #[arg(long, value_name = "GLOB")]
    glob: Vec<String>,
    /// Only files of this type, such as `rust` or `py`; several may be given
    #[arg(long = "type", value_name = "TYPE")]
    kind: Vec<String>,
    /// Let upper and lower case be the same
    #[arg(short)]
    insensitive: bool,
    /// Show so many lines after each match
    #[arg(short = 'A', value_name = "N")]
    after: Option<usize>,
    /// Show so many lines before each match
    #[arg(short = 'B', value_name = "N")]
    before: Option<usize>,
    /// Show so many lines before and after each match
    #[arg(short = 'C', value_name = "N", default_value_t = 0)]
    context: usize,
    /// Let a match span lines, and `.` fit line ends
    #[arg(long)]
    multiline: bool,
    /// Show so many results at most, files or matching lines; 0 shows all
    #[arg(long, value_name = "N", default_value_t = MOST_RESULTS)]
    head: usize,
    /// Skip so many results
    #[arg(long, value_name = "N", default_value_t = 0)]
    offset: usize,
    /// Start relative paths here, and let none leave this folder
    #[arg(long, value_name = "DIR")]
    root: Option<PathBuf>,
    /// Print one JSON object and nothing else
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
#[value(rename_all = "snake_case")]
enum ShowArg {
    /// The paths of files with a match
    FilesWithMatches,
    /// The lines, with their numbers
    Content,
    /// How many lines match
    Count,
}

/// `patchmany glob`.
pub(crate) fn glob(args: &GlobArgs) -> ExitCode {
    let folder = bytes(args.folder.clone());
    let page = page(args.offset, args.head);
    let report = match crate::workspace(args.root.as_deref()) {
        Ok(workspace) => look::glob(&workspace, &args.pattern, folder.as_ref(), page),
        Err(error) => look::refused(Mode::Glob, error),
    };
    show(&report, args.json, |out, report| write_paths(out, report, args.offset))
}

/// `patchmany grep`.
pub(crate) fn grep(args: &GrepArgs) -> ExitCode {
    let report = match crate::workspace(args.root.as_deref()) {
        Ok(workspace) => look::grep(&workspace, &args.options()),
        Err(error) => look::refused(Mode::Grep, error),
    };
    show(&report, args.json, |out, report| write_matches(out, report, args))
}

/// On the command line 0 is no limit.
fn page(offset: usize, head: usize) -> Page {
    Page { offset, head: (head > 0).then_some(head) }
}

impl GrepArgs {
    fn before(&self) -> usize {
        self.before.unwrap_or(self.context)
    }

    fn after(&self) -> usize {
        self.after.unwrap_or(self.context)
    }

    fn options(&self) -> GrepOptions {
        GrepOptions {
            query: Query {
                regex: self.regex.clone(),
                case: if self.insensitive { Case::Insensitive } else { Case::Sensitive },
                span: if self.multiline { Span::Lines } else { Span::Line },
                before: self.before(),
                after: self.after(),
            },
            path: bytes(self.path.clone()),
            globs: self.glob.clone(),
            types: self.kind.clone(),
            show: match self.mode {
                ShowArg::FilesWithMatches => Show::Files,
                ShowArg::Content => Show::Content,
                ShowArg::Count => Show::Count,
            },
            page: page(self.offset, self.head),
        }
    }
}

fn write_paths(out: &mut dyn Write, report: &LookReport<FileFound>, offset: usize) -> io::Result<()> {
    report.files.iter().try_for_each(|file| writeln!(out, "{}", file.name))?;
    if report.truncated {
        writeln!(out, "… more: --offset {}", offset + report.files.len())?;
    }
    Ok(())
}

fn write_matches(out: &mut dyn Write, report: &LookReport<FileMatched>, args: &GrepArgs) -> io::Result<()> {
    let with_context = args.before() + args.after() > 0;
    let mut is_first = true;
    for file in &report.files {
        match (file.count, file.lines.is_empty()) {
            (Some(count), _) => writeln!(out, "{}:{count}", file.name)?,
            (None, true) => writeln!(out, "{}", file.name)?,
            (None, false) => {}
        }
        let mut last = None;
        for line in &file.lines {
            let number = line.shown.line;
            if with_context && !is_first && last.is_none_or(|last| last + 1 != number) {
                writeln!(out, "--")?;
            }
            write_line(out, file, line)?;
            (is_first, last) = (false, Some(number));
        }
    }
    if report.truncated {
        writeln!(out, "… more: --offset {}", args.offset + args.head)?;
    }
    Ok(())
}

fn write_line(out: &mut dyn Write, file: &FileMatched, line: &LineMatched) -> io::Result<()> {
    let sign = if line.matches { ':' } else { '-' };
    write!(out, "{}{sign}{}{sign}", file.name, line.shown.line)?;
    out.write_all(&line.shown.text)?;
    write_cut(out, line.shown.cut)
}
