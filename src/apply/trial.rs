//! The trial of a batch: a command of the user runs in a copy of the tree with the batch, before any file is touched.

use super::Run;
use super::work::Work;
use crate::edit::{BatchPath, RelPath, WarningCode};
use crate::error::Error;
use crate::git::Configured;
use crate::plan::{LastLink, Plan, Sink, Source};
use crate::report::{Report, WarningReport};
use crate::transaction::{Stop, TransactionError};
use crate::workspace::{Ended, Scratch, Site, run_command};
use std::sync::atomic::Ordering;

/// Where the user's configuration names a command.
const KEY: &str = "patchmany.test";

/// Which command has to succeed before a batch lands.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Test {
    /// The command.
    pub command: TestCommand,
    /// Paths that it shares with the work tree, such as folders of build tools.
    pub shared: Vec<BatchPath>,
}

/// The command of a [`Test`].
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub enum TestCommand {
    /// The one that `patchmany.test` names in the user's own git configuration; none where it does not.
    #[default]
    Configured,
    /// This line, for the system's shell.
    Line(String),
    /// None.
    None,
}

/// A trial to come.
pub(super) struct Trial<'a> {
    line: String,
    pub(super) scratch: Scratch<'a>,
    shared: Vec<RelPath>,
}

impl Run<'_> {
    /// The trial, where there is a command. The lock is held.
    pub(super) fn trial(&self, report: &mut Report) -> Result<Option<Trial<'_>>, Error> {
        let line = match &self.options.test.command {
            TestCommand::None => None,
            TestCommand::Line(line) => Some(line.clone()),
            TestCommand::Configured => self.configured(report),
        };
        let Some(line) = line.filter(|line| !line.trim().is_empty()) else { return Ok(None) };
        let shared = self.shared()?;
        Ok(Some(Trial { line, scratch: Scratch::new(self.workspace, shared.clone())?, shared }))
    }

    /// As [`resolve`](Self::resolve), into the tree of the trial too.
    pub(super) fn resolve_on_trial(
        &self,
        work: &Work,
        sink: &dyn Sink,
        trial: Option<&Trial<'_>>,
    ) -> Result<Option<Plan>, Error> {
        let Some(trial) = trial else { return self.resolve(work, sink) };
        let plan = self.resolve(work, &(sink, &trial.scratch))?;
        trial.scratch.take_error().map_or(Ok(plan), Err)
    }

    fn configured(&self, report: &mut Report) -> Option<String> {
        match self.workspace.repo()?.own_command(KEY) {
            Configured::Own(line) => Some(line),
            Configured::Nothing => None,
            Configured::ByRepository => {
                let message = format!(
                    "{KEY} in the configuration of the repository is not obeyed: git config --global sets it"
                );
                report.warnings.push(WarningReport { code: WarningCode::ConfigIgnored, path: None, message });
                None
            }
        }
    }

    fn shared(&self) -> Result<Vec<RelPath>, Error> {
        let source = self.source();
        let (mut found, mut refusals) = (Vec::new(), Vec::new());
        for path in &self.options.test.shared {
            match source.resolve(path, LastLink::Keep) {
                Ok(target) => found.push(target.path),
                Err(refusal) => refusals.push(refusal.on(path.written.clone())),
            }
        }
        if refusals.is_empty() { Ok(found) } else { Err(Error::Refused { refusals, warnings: Vec::new() }) }
    }
}

impl Trial<'_> {
    /// Fills the copy and runs the command there. `plan` is what the scratch tree was given.
    pub(super) fn run(&self, run: &Run<'_>, plan: &Plan, stop: &Stop) -> Result<(), Error> {
        let meets =
            |path: &RelPath| self.shared.iter().find(|shared| path == *shared || path.is_below(shared));
        let paths = plan.files.iter().flat_map(|file| [Some(&file.path), file.from.as_ref()]).flatten();
        if let Some((path, shared)) = paths.filter_map(|path| Some((path, meets(path)?))).next() {
            let message =
                format!("the batch changes {path}, and {shared} is shared with the test by --test-cache");
            return Err(Error::Usage(message));
        }
        self.scratch.fill()?;
        let workspace = run.workspace;
        let inside = self.scratch.tree().join(workspace.base().to_path());
        let folder = if inside.is_dir() { &inside } else { self.scratch.tree() };
        let site = Site { folder, ceiling: self.scratch.place(), root: workspace.root() };
        let ended = run_command(&self.line, site, stop);
        match ended.map_err(Error::io(format!("run the test command {:?}", self.line)))? {
            Ended::Stopped => Err(TransactionError::Interrupted(stop.load(Ordering::Relaxed)).into()),
            Ended::Itself(status, _) if status.success() => Ok(()),
            Ended::Itself(status, output) => {
                Err(Error::Test { line: self.line.clone(), status: status.to_string(), output })
            }
        }
    }
}

/// Runs the trial, if there is one, and removes its tree.
pub(super) fn try_out(
    run: &Run<'_>,
    trial: Option<Trial<'_>>,
    plan: &Plan,
    stop: &Stop,
) -> Result<(), Error> {
    trial.map_or(Ok(()), |trial| trial.run(run, plan, stop))
}
