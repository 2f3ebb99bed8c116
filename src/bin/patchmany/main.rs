//! The command line: parses, calls the library, renders the report, maps it to an exit code.

mod args;
mod convert;
#[cfg(feature = "search")]
mod find;
mod history;
mod human;
mod look;
mod plan;
mod progress;
mod signals;

use args::{ApplyArgs, Cli, Command, RecoverArgs};
use clap::Parser;
use patchmany::apply;
use patchmany::error::Error;
use patchmany::report::{Mode, Outcome, Report};
use patchmany::transaction::Decide;
use patchmany::workspace::Workspace;
use std::io::{IsTerminal, Read};
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use std::time::Duration;

fn main() -> ExitCode {
    match Cli::try_parse() {
        Ok(cli) => run(cli),
        Err(error) => refuse_arguments(&error),
    }
}

fn run(cli: Cli) -> ExitCode {
    signals::prepare();
    match cli.command {
        Command::Apply(args) if args.dry_run => check(&args),
        Command::Apply(args) => apply_batch(&args),
        Command::Check(args) => check(&args),
        Command::Plan(args) => plan::plan(&args),
        Command::Recover(args) => recover(&args),
        Command::Undo(args) => history::undo(&args),
        Command::Redo(args) => history::redo(&args),
        Command::Log(args) => history::log(&args),
        Command::Show(args) => history::show(&args),
        Command::Convert(args) => convert::convert(&args),
        #[cfg(feature = "schema")]
        Command::Schema { kind } => schema(kind),
        Command::Read(args) => look::read(&args),
        #[cfg(feature = "search")]
        Command::Glob(args) => find::glob(&args),
        #[cfg(feature = "search")]
        Command::Grep(args) => find::grep(&args),
    }
}

/// Help goes out as it is; with `--json` even a wrong command line gives the result object.
fn refuse_arguments(error: &clap::Error) -> ExitCode {
    let json = std::env::args_os().any(|arg| arg == "--json");
    if !error.use_stderr() || !json {
        let _ = error.print();
        return if error.use_stderr() { ExitCode::from(2) } else { ExitCode::SUCCESS };
    }
    let rendered = error.render().to_string();
    let message = rendered.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned();
    human::json(&refused(mode_of_arguments(), Error::Usage(message)));
    ExitCode::from(2)
}

fn mode_of_arguments() -> Mode {
    match std::env::args_os().nth(1) {
        Some(command) if command == "check" => Mode::Check,
        Some(command) if command == "plan" => Mode::Plan,
        Some(command) if command == "recover" => Mode::Recover,
        Some(command) if command == "undo" => Mode::Undo,
        Some(command) if command == "redo" => Mode::Redo,
        Some(command) if command == "convert" => Mode::Convert,
        Some(command) if command == "read" => Mode::Read,
        Some(command) if command == "glob" => Mode::Glob,
        Some(command) if command == "grep" => Mode::Grep,
        _ if std::env::args_os().any(|a| a == "--dry-run" || a == "-n") => Mode::Check,
        _ => Mode::Apply,
    }
}

#[cfg(feature = "schema")]
fn schema(kind: args::SchemaArg) -> ExitCode {
    let schema = match kind {
        args::SchemaArg::Batch => patchmany::output::schema::batch(),
    };
    human::json_pretty(&schema);
    ExitCode::SUCCESS
}

fn workspace(root: Option<&Path>) -> Result<Workspace, Error> {
    let current = std::env::current_dir()
        .map_err(|source| Error::Io { doing: "find the current folder".to_owned(), source })?;
    Workspace::discover(&current, root)
}

/// The batch, from the file or standard input.
fn batch(file: Option<&Path>) -> Result<Vec<u8>, String> {
    match file {
        Some(file) if file != Path::new("-") => fs_err::read(file).map_err(|e| e.to_string()),
        None if std::io::stdin().is_terminal() => {
            Err("no batch: name a file, or pipe one to standard input".to_owned())
        }
        _ => {
            let mut bytes = Vec::new();
            std::io::stdin()
                .read_to_end(&mut bytes)
                .map_err(|e| format!("cannot read standard input: {e}"))?;
            Ok(bytes)
        }
    }
}

fn use_threads(args: &ApplyArgs) {
    if let Some(threads) = args.jobs {
        // Fails only when the pool is there already: nothing of this process has used it yet.
        let _ = rayon::ThreadPoolBuilder::new().num_threads(threads).build_global();
    }
}

fn refused(mode: Mode, error: Error) -> Report {
    let mut report = Report::new(mode);
    error.tell(&mut report);
    report
}

/// What a run needs: where it works, the batch, and how.
fn inputs(args: &ApplyArgs, show_diff: bool) -> Result<(Workspace, Vec<u8>, apply::Options), Error> {
    let bytes = batch(args.file.as_deref()).map_err(Error::Usage)?;
    Ok((workspace(args.root.as_deref())?, bytes, args.options(show_diff)?))
}

/// The same for a command that writes nothing, and so runs no test.
fn inputs_unwritten(
    args: &ApplyArgs,
    show_diff: bool,
) -> Result<(Workspace, Vec<u8>, apply::Options), Error> {
    if args.asks_for_test() {
        return Err(Error::Usage("--test and --test-cache are for apply, which writes".to_owned()));
    }
    inputs(args, show_diff)
}

fn check(args: &ApplyArgs) -> ExitCode {
    use_threads(args);
    let (report, diff) = match inputs_unwritten(args, !args.stat) {
        Err(error) => (refused(Mode::Check, error), Vec::new()),
        Ok((workspace, bytes, options)) => apply::check(&workspace, &bytes, &options),
    };
    show(args, &report, &diff, 0)
}

fn apply_batch(args: &ApplyArgs) -> ExitCode {
    use_threads(args);
    let stop = signals::listen();
    let progress = progress::Bar::new(args.wants_progress());
    let (report, diff) = match inputs(args, args.diff) {
        Err(error) => (refused(Mode::Apply, error), Vec::new()),
        Ok((workspace, bytes, options)) => apply::apply(&workspace, &bytes, &options, &stop, &progress),
    };
    progress.end();
    show(args, &report, &diff, stop.load(Ordering::Relaxed))
}

fn show(args: &ApplyArgs, report: &Report, diff: &[u8], signal: usize) -> ExitCode {
    if args.json {
        human::json(report);
    } else {
        human::report(report, diff, &args.style());
    }
    let changed = matches!(report.outcome, Outcome::Applied | Outcome::WouldApply);
    if args.exit_code && changed { ExitCode::from(1) } else { ExitCode::from(report.exit_code(signal)) }
}

fn recover(args: &RecoverArgs) -> ExitCode {
    let workspace = workspace(args.root.as_deref());
    if args.list {
        return list_interrupted(args, workspace);
    }
    let decide = match (args.back, args.forward) {
        (true, _) => Decide::Back,
        (_, true) => Decide::Forward,
        _ => Decide::Carefully,
    };
    let report = match workspace {
        Ok(workspace) => apply::recover(&workspace, decide, Duration::from_secs(args.lock_timeout)),
        Err(error) => refused(Mode::Recover, error),
    };
    if args.json {
        human::json(&report);
    } else {
        human::report(&report, &[], &human::Style::plain());
    }
    ExitCode::from(report.exit_code(0))
}

fn list_interrupted(args: &RecoverArgs, workspace: Result<Workspace, Error>) -> ExitCode {
    let found = workspace.and_then(|workspace| apply::interrupted(&workspace));
    let found = match found {
        Ok(found) => found,
        Err(error) => {
            let report = refused(Mode::Recover, error);
            human::report(&report, &[], &human::Style::plain());
            return ExitCode::from(report.exit_code(0));
        }
    };
    human::pending(&found, args.json);
    ExitCode::SUCCESS
}
