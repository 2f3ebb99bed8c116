//! The commands about the past: undo, redo, log, show.

use crate::args::{LogArgs, RedoArgs, ReverseArgs, ShowArgs, UndoArgs};
use crate::{human, refused, signals, workspace};
use patchmany::apply;
use patchmany::error::Error;
use patchmany::report::Mode;
use patchmany::undo::{self, Show, Which};
use patchmany::workspace::Workspace;
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use std::time::Duration;

pub(crate) fn undo(args: &UndoArgs) -> ExitCode {
    let which = args.id.clone().map_or(Which::Newest, Which::Id);
    reverse(&which, &args.how, Mode::Undo)
}

pub(crate) fn redo(args: &RedoArgs) -> ExitCode {
    reverse(&Which::NewestUndo, &args.how, Mode::Redo)
}

fn reverse(which: &Which, args: &ReverseArgs, mode: Mode) -> ExitCode {
    let stop = signals::listen();
    let report = match workspace(args.root.as_deref()) {
        Ok(workspace) => undo::undo(&workspace, which, &args.options(), &stop),
        Err(error) => refused(mode, error),
    };
    if args.json {
        human::json(&report);
    } else {
        human::report(&report, &[], &args.style());
    }
    ExitCode::from(report.exit_code(stop.load(Ordering::Relaxed)))
}

pub(crate) fn log(args: &LogArgs) -> ExitCode {
    let timeout = Duration::from_secs(args.lock_timeout);
    let done = workspace(args.root.as_deref()).and_then(|workspace| {
        warn(&workspace)?;
        if args.prune {
            undo::prune_log(&workspace, timeout).map(|_| Vec::new())
        } else {
            undo::log(&workspace)
        }
    });
    match done {
        Ok(log) if args.json => log.iter().for_each(human::json),
        Ok(log) => human::operations(&log),
        Err(error) => return failed(error, args.json),
    }
    ExitCode::SUCCESS
}

pub(crate) fn show(args: &ShowArgs) -> ExitCode {
    let what = if args.diff { Show::Diff } else { Show::Paths };
    let found = workspace(args.root.as_deref()).and_then(|workspace| {
        warn(&workspace)?;
        undo::show(&workspace, &args.id, what)
    });
    match found {
        Ok(shown) if args.json => human::json(&shown),
        Ok(shown) => human::operation(&shown, &args.style()),
        Err(error) => return failed(error, args.json),
    }
    ExitCode::SUCCESS
}

/// Commands that only read leave what was interrupted alone, and say so.
fn warn(workspace: &Workspace) -> Result<(), Error> {
    if !apply::interrupted(workspace)?.is_empty() {
        human::interrupted();
    }
    Ok(())
}

/// What cannot be listed is told as any refusal.
fn failed(error: Error, as_json: bool) -> ExitCode {
    let report = refused(Mode::Check, error);
    if as_json {
        human::json(&report);
    } else {
        human::report(&report, &[], &human::Style::plain());
    }
    ExitCode::from(report.exit_code(0))
}
