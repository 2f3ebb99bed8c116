//! `read`: its flags, the call, and what people see of the result; and what all commands that only look share.

use crate::human;
use bstr::{BString, ByteVec};
use clap::Args;
use patchmany::look;
use patchmany::report::{FileShown, LookReport, Mode};
use serde::Serialize;
use std::ffi::OsString;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Args, Debug)]
pub(crate) struct ReadArgs {
    /// A file, or lines of it: `FILE:A-B`, `FILE:A-`, `FILE:A`, several with commas
    #[arg(required = true, value_name = "FILE[:A-B]")]
    files: Vec<OsString>,
    /// Start relative paths here, and let none leave this folder
    #[arg(short = 'C', long, value_name = "DIR")]
    root: Option<PathBuf>,
    /// Print one JSON object and nothing else
    #[arg(long)]
    json: bool,
}

/// `patchmany read`.
pub(crate) fn read(args: &ReadArgs) -> ExitCode {
    let files: Vec<BString> = args.files.iter().map(|file| bytes(file.clone())).collect();
    let report = match crate::workspace(args.root.as_deref()) {
        Ok(workspace) => look::read(&workspace, &files),
        Err(error) => look::refused(Mode::Read, error),
    };
    show(&report, args.json, write_excerpts)
}

pub(crate) fn bytes(argument: OsString) -> BString {
    Vec::from_os_string(argument).unwrap_or_else(|odd| odd.to_string_lossy().into_owned().into()).into()
}

pub(crate) fn show<F: Serialize>(
    report: &LookReport<F>,
    as_json: bool,
    write: impl Fn(&mut dyn Write, &LookReport<F>) -> io::Result<()>,
) -> ExitCode {
    if as_json {
        human::json(report);
    } else {
        let mut out = BufWriter::new(io::stdout().lock());
        // A closed pipe ends the output quietly.
        let _ = write(&mut out, report).and_then(|()| out.flush());
        human::problems(&report.errors, &report.warnings);
    }
    ExitCode::from(report.exit_code())
}

fn write_excerpts(out: &mut dyn Write, report: &LookReport<FileShown>) -> io::Result<()> {
    for file in &report.files {
        writeln!(out, "[{}#{}]", file.name, file.tag)?;
        for row in &file.lines {
            write!(out, "{}:", row.line)?;
            out.write_all(&row.text)?;
            write_cut(out, row.cut)?;
        }
        if let Some([first, last]) = file.left {
            writeln!(out, "… more: patchmany read {}:{first}-{last}", file.name)?;
        }
    }
    Ok(())
}

/// Ends a row, telling what is missing of it.
pub(crate) fn write_cut(out: &mut dyn Write, cut: usize) -> io::Result<()> {
    if cut > 0 { writeln!(out, "… ({cut} bytes more)") } else { writeln!(out) }
}
