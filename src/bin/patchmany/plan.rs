//! `plan`: the call, and the plan in its file, which is there whole or not at all.

use crate::args::PlanArgs;
use crate::{human, inputs_unwritten, refused, show, use_threads};
use patchmany::apply;
use patchmany::error::Error;
use patchmany::report::Mode;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

pub(crate) fn plan(args: &PlanArgs) -> ExitCode {
    use_threads(&args.how);
    let prints = args.output == Path::new("-");
    if prints && args.how.json {
        let message = "--json and --output - would both take standard output";
        let report = refused(Mode::Plan, Error::Usage(message.to_owned()));
        return show(&args.how, &report, &[], 0);
    }
    let (mut report, saved, mut diff) = match inputs_unwritten(&args.how, args.how.diff) {
        Err(error) => (refused(Mode::Plan, error), None, Vec::new()),
        Ok((workspace, bytes, options)) => apply::plan(&workspace, &bytes, &options),
    };
    if !args.how.diff {
        diff.clear();
    }
    match saved.map(|saved| saved.to_json()) {
        Some(json) if prints => {
            human::problems(&[], &report.warnings);
            // A closed pipe ends the output quietly.
            let _ = io::stdout().lock().write_all(&json);
            return ExitCode::SUCCESS;
        }
        Some(json) => {
            if let Err(source) = write(&args.output, &json) {
                let doing = format!("write {}", args.output.display());
                report = refused(Mode::Plan, Error::Io { doing, source });
                diff.clear();
            }
        }
        None => {}
    }
    show(&args.how, &report, &diff, 0)
}

/// Beside the file first, then in its place; what is no file is written to.
fn write(file: &Path, json: &[u8]) -> io::Result<()> {
    if file.symlink_metadata().is_ok_and(|found| !found.is_file()) {
        return fs_err::write(file, json);
    }
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let mut draft = builder.prefix(".patchmany-plan-").tempfile_in(folder)?;
    draft.write_all(json)?;
    draft.persist(file).map(drop).map_err(|failed| failed.error)
}
