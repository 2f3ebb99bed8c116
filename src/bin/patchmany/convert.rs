//! `convert`: its flags, the call, and the batch on standard output.

use crate::args::{FormatArg, LoosestArg};
use crate::{batch, human, refused, workspace};
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use patchmany::apply::Options;
use patchmany::convert::{ConvertReport, convert as convert_batch};
use patchmany::edit::{BatchPath, Format};
use patchmany::error::Error;
use patchmany::output::WRITTEN;
use patchmany::plan;
use patchmany::report::Mode;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Args, Debug)]
pub(crate) struct ConvertArgs {
    /// The batch; `-`, or nothing with a pipe, reads standard input
    file: Option<PathBuf>,
    /// The form to write
    #[arg(long, value_name = "FORMAT", value_parser = written())]
    to: Format,
    /// The form of the batch
    #[arg(long, value_name = "FORMAT", default_value = "auto")]
    format: FormatArg,
    /// Start relative paths here, and let none leave this folder
    #[arg(short = 'C', long, value_name = "DIR")]
    root: Option<PathBuf>,
    /// The path of edits that name none
    #[arg(long, value_name = "PATH")]
    path: Option<String>,
    /// Take so many leading folders off the names in a diff
    #[arg(long, value_name = "N")]
    strip: Option<usize>,
    /// The loosest way to find old text; by default `exact` for diffs, else `indent`: all ways
    #[arg(long = "match", value_name = "PASS")]
    loosest: Option<LoosestArg>,
    /// Let lines like `# ...` stand for any text in between
    #[arg(long)]
    placeholders: bool,
    /// Print one JSON object and nothing else; it holds the batch
    #[arg(long)]
    json: bool,
}

/// The name of a form that is written.
fn written() -> impl TypedValueParser<Value = Format> {
    let form = |name: String| WRITTEN.into_iter().find(|form| form.as_str() == name);
    PossibleValuesParser::new(WRITTEN.map(Format::as_str))
        .map(move |name| form(name).expect("a possible value is the name of a form"))
}

impl ConvertArgs {
    fn options(&self) -> Options {
        Options {
            format: self.format.known(),
            default_path: self.path.as_deref().map(BatchPath::from),
            placeholders: self.placeholders,
            strip: self.strip,
            plan: plan::Options { loosest: self.loosest.map(LoosestArg::known), ..plan::Options::default() },
            ..Options::default()
        }
    }
}

/// `patchmany convert`.
pub(crate) fn convert(args: &ConvertArgs) -> ExitCode {
    let refused = |error| ConvertReport { report: refused(Mode::Convert, error), batch: None };
    let converted = match (workspace(args.root.as_deref()), batch(args.file.as_deref())) {
        (_, Err(message)) => refused(Error::Usage(message)),
        (Err(error), _) => refused(error),
        (Ok(workspace), Ok(bytes)) => convert_batch(&workspace, &bytes, args.to, &args.options()),
    };
    if args.json {
        human::json(&converted);
    } else {
        // A closed pipe ends the output quietly.
        let _ = io::stdout().lock().write_all(converted.batch.as_deref().unwrap_or_default().as_bytes());
        human::report(&converted.report, &[], &human::Style::plain());
    }
    ExitCode::from(converted.report.exit_code(0))
}
