//! The commands as functions: `apply`, `check` and `recover`, each returning a [`Report`], none printing anything.

mod entry;
mod trial;
mod work;

use crate::diff::Contents;
use crate::disk::{Folders, OsDisk};
use crate::edit::{Action, BatchPath, ChangeSet, Code, Format, RelPath, WarningCode};
use crate::error::{Error, kept};
use crate::git::{
    self, Hooks, PathRefusal, RecordKind, RecordOptions, Recorded, Recorder, StashOptions, StashRecorder,
};
use crate::history::{About, Deltas, Retention};
use crate::input;
use crate::plan::{
    self, Chosen, FileAction, LastLink, Plan, PlannedFile, Resolved, SavedPlan, Sink, SinkFull, Source,
    WorkTree,
};
use crate::report::{ErrorReport, GitReport, Mode, Outcome, Report, WarningReport, Written};
use crate::transaction::{
    Decide, Durability, Finished, Ground, OperationId, ParticipantError, Pending, Prepared, Recovered,
    RecoveryOutcome, Room, Staging, Stop, TreeState, Unrecorded, pending,
};
use crate::workspace::{Author, Past, Workspace};
use bytes::Bytes;
pub(crate) use entry::enter;
use std::time::{Duration, Instant};
use trial::try_out;
pub use trial::{Test, TestCommand};
use work::{Kept, Work};

/// How a batch is applied.
#[derive(Clone, Debug)]
pub struct Options {
    /// The form to expect; `None` finds it out.
    pub format: Option<Format>,
    /// The path of bodies that name none.
    pub default_path: Option<BatchPath>,
    /// Whether `# ...` lines stand for any text in between.
    pub placeholders: bool,
    /// How many leading folders of the names in a diff are no part of them; `None` finds it out.
    pub strip: Option<usize>,
    /// The revision that the author of the batch has seen; HEAD by default.
    pub base: Option<String>,
    /// What the plan may do.
    pub plan: plan::Options,
    /// Which part of the batch is meant.
    pub choice: plan::Choice,
    /// Whether files may have changes that are not committed.
    pub uncommitted: Uncommitted,
    /// What has to succeed first, where the batch is applied.
    pub test: Test,
    /// What is recorded in git.
    pub record: Record,
    /// Whether hooks run when a commit is recorded.
    pub hooks: Hooks,
    /// What power loss may do; `None` takes what fits the file systems.
    pub durability: Option<Durability>,
    /// How long to wait for locks.
    pub lock_timeout: Duration,
    /// Whether the diff is made, which keeps the contents of all changed files until the end.
    pub diff: Diff,
}

/// Whether a run makes the diff of its plan.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Diff {
    /// Nobody looks at it.
    #[default]
    Skip,
    /// It is to be shown.
    Make,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            format: None,
            default_path: None,
            placeholders: false,
            strip: None,
            base: None,
            plan: plan::Options::default(),
            choice: plan::Choice::default(),
            uncommitted: Uncommitted::Edit,
            test: Test::default(),
            record: Record::Nothing,
            hooks: Hooks::Run,
            durability: None,
            lock_timeout: Duration::from_secs(10),
            diff: Diff::Skip,
        }
    }
}

/// What becomes of a batch with files that have uncommitted changes.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Uncommitted {
    /// They are edited as they stand on disk.
    #[default]
    Edit,
    /// It is refused, and they are named.
    Refuse,
}

/// What a run records in git.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub enum Record {
    /// Nothing: as if the files had been edited by hand.
    #[default]
    Nothing,
    /// One commit of exactly the batch, with this message or one that counts the files. Other changes in its files stay
    /// staged or unstaged as they are.
    Commit(Option<String>),
    /// One commit of the files of the batch as they then stand, other changes in them included.
    WholeFiles(Option<String>),
    /// The batch is staged, in the index too.
    Stage,
    /// A stash entry of the batch; the work tree stays as it is.
    Stash(Option<String>),
}

/// Is told how far a run has come.
pub trait Progress: Sync {
    /// So many entries are to be resolved.
    fn total(&self, entries: usize);
    /// One more file is resolved and staged.
    fn step(&self);
}

/// Tells nobody.
impl Progress for () {
    fn total(&self, _entries: usize) {}
    fn step(&self) {}
}

/// Applies the batch `input`: all of it, or nothing. The second value is the diff, where the options ask for it.
pub fn apply(
    workspace: &Workspace,
    input: &[u8],
    options: &Options,
    stop: &Stop,
    progress: &dyn Progress,
) -> (Report, Vec<u8>) {
    let mut diff = Vec::new();
    let report = reported(Mode::Apply, |report| {
        let run = Run::new(workspace, options)?;
        let plan = run.apply(input, stop, progress, report)?;
        diff = run.diff(&plan);
        Ok(())
    });
    (report, diff)
}

/// Resolves the batch and writes nothing. The second value is the diff, where the options ask for it.
pub fn check(workspace: &Workspace, input: &[u8], options: &Options) -> (Report, Vec<u8>) {
    let mut diff = Vec::new();
    let report = reported(Mode::Check, |report| {
        let run = Run::new(workspace, options)?;
        let plan = run.resolve_only(input, &(), report)?;
        diff = run.diff(&plan);
        Ok(())
    });
    (report, diff)
}

/// Resolves the batch and makes the plan that [`apply`] takes later, if nothing has changed by then. Writes nothing; the
/// plan is there unless something was refused.
pub fn plan(workspace: &Workspace, input: &[u8], options: &Options) -> (Report, Option<SavedPlan>, Vec<u8>) {
    let (mut saved, mut diff) = (None, Vec::new());
    let report = reported(Mode::Plan, |report| {
        let options = Options { diff: Diff::Make, ..options.clone() };
        let run = Run::new(workspace, &options)?;
        let kept = Kept::default();
        let plan = run.resolve_only(input, &kept, report)?;
        diff = run.diff(&plan);
        saved = Some(SavedPlan::new(&kept.in_order(&plan), &diff));
        Ok(())
    });
    (report, saved, diff)
}

/// Ends what an interrupted run has left.
pub fn recover(workspace: &Workspace, decide: Decide, lock_timeout: Duration) -> Report {
    reported(Mode::Recover, |report| {
        let folders = workspace.folders()?;
        let store = workspace.existing_store()?;
        let (_locks, recovered) = entry::enter(workspace, &folders, store.as_ref(), decide, lock_timeout)?;
        tell_recovered(report, &recovered);
        if let Some(last) = recovered.last() {
            report.transaction = Some(last.id.to_string());
            (report.outcome, report.tree) = match last.outcome {
                RecoveryOutcome::Finished => (Outcome::Applied, TreeState::Applied),
                RecoveryOutcome::RolledBack | RecoveryOutcome::Discarded => {
                    // A batch that somebody meant to land did not: a program must see that as one.
                    let message =
                        format!("operation {} was interrupted: every file is as before it", last.id);
                    let hint = Some("run the batch again: nothing of it is in the tree".to_owned());
                    report.errors.push(ErrorReport { hint, ..ErrorReport::new(Code::Io, message) });
                    (Outcome::RolledBack, TreeState::RolledBack)
                }
            };
        }
        Ok(())
    })
}

/// The interrupted operations, with what recovery would do; changes nothing.
///
/// # Errors
/// A state directory that cannot be read.
pub fn interrupted(workspace: &Workspace) -> Result<Vec<Pending>, Error> {
    let mut found = entry::pending_elsewhere(workspace)?;
    if let Some(store) = workspace.existing_store()? {
        let (folders, head) = (workspace.folders()?, workspace.head());
        found.extend(pending(Ground { folders: &folders, store: &store, head: &head })?);
    }
    Ok(found)
}

pub(crate) fn reported(mode: Mode, run: impl FnOnce(&mut Report) -> Result<(), Error>) -> Report {
    let begun = Instant::now();
    let mut report = Report::new(mode);
    if let Err(error) = run(&mut report) {
        error.tell(&mut report);
    }
    report.stats.elapsed_ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
    report
}

pub(crate) fn tell_recovered(report: &mut Report, recovered: &[Recovered]) {
    for one in recovered {
        let what = match one.outcome {
            RecoveryOutcome::Discarded => {
                "was interrupted before it touched the tree; its staged files are removed"
            }
            RecoveryOutcome::RolledBack => "was interrupted; it is rolled back",
            RecoveryOutcome::Finished => "was interrupted after its commit point; it is finished",
        };
        let message = format!("an earlier operation, {}, {what}", one.id);
        report.warnings.push(WarningReport { code: WarningCode::Recovered, path: None, message });
        report.warnings.extend(one.kept.iter().map(kept));
        if let Some(cause) = &one.unrecorded {
            let message = format!("the commit of {} is not on the branch: {cause}", one.id);
            report.warnings.push(WarningReport { code: WarningCode::Recovered, path: None, message });
        }
    }
}

/// One run of `apply`, `check` or `convert`.
pub(crate) struct Run<'a> {
    workspace: &'a Workspace,
    options: &'a Options,
    folders: Folders<OsDisk>,
    rules: Box<dyn plan::PathRules>,
    past: Past<'a>,
    contents: Option<Contents>,
}

impl<'a> Run<'a> {
    pub(crate) fn new(workspace: &'a Workspace, options: &'a Options) -> Result<Self, Error> {
        let rules = workspace.rules(options.base.as_deref())?;
        let contents = (options.diff == Diff::Make).then(|| Contents::new(workspace.naming()));
        let past = workspace.past(options.base.as_ref().map_or(Author::SawLast, |_| Author::NamedBase));
        Ok(Self { workspace, options, folders: workspace.folders()?, rules, past, contents })
    }

    pub(crate) fn diff(&self, plan: &Plan) -> Vec<u8> {
        self.contents.as_ref().map_or_else(Vec::new, |contents| contents.diff(plan))
    }

    /// The bytes of a file of the plan before and after it, where the run makes the diff.
    pub(crate) fn sides(&self, file: &PlannedFile) -> (Bytes, Bytes) {
        self.contents.as_ref().map_or_else(Default::default, |contents| contents.sides(file))
    }

    fn source(&self) -> WorkTree<'_, OsDisk> {
        let workspace = self.workspace;
        let start = plan::Start { base: workspace.base().clone(), within: workspace.within().clone() };
        WorkTree::new(&self.folders, workspace.spellings(), start, &*self.rules).with_versions(&self.past)
    }

    pub(crate) fn parse(&self, input: &[u8], report: &mut Report) -> Result<ChangeSet, Error> {
        let source = self.source();
        let exists = |path: &BatchPath| {
            let found = source.resolve(path, LastLink::Keep);
            found.is_ok_and(|target| source.stat(&target.path).is_ok_and(|stat| stat.is_some()))
        };
        let options = input::Options {
            format: self.options.format,
            default_path: self.options.default_path.clone(),
            placeholders: self.options.placeholders,
            strip: self.options.strip,
            exists: &exists,
        };
        let batch = input::parse(input, &options)?;
        report.format = Some(batch.format);
        Ok(batch)
    }

    fn resolve_only(&self, input: &[u8], sink: &dyn Sink, report: &mut Report) -> Result<Plan, Error> {
        let work = self.read(input, report)?;
        let plan = self.resolve(&work, sink)?.unwrap_or_default();
        report.list(&plan, Written::No);
        report.outcome = if plan.is_no_op() { Outcome::NoOp } else { Outcome::WouldApply };
        Ok(plan)
    }

    /// The plan; nothing when the sink gave up.
    pub(crate) fn plan(&self, batch: &ChangeSet, sink: &dyn Sink) -> Result<Option<Plan>, Error> {
        self.resolve(&Work::Batch(Chosen::all(batch.clone())), sink)
    }

    fn apply(
        &self,
        input: &[u8],
        stop: &Stop,
        progress: &dyn Progress,
        report: &mut Report,
    ) -> Result<Plan, Error> {
        let work = self.read(input, report)?;
        if self.options.record != Record::Nothing && self.workspace.repo().is_none() {
            return Err(Error::Usage("there is no git repository here to record in".to_owned()));
        }
        let store = self.workspace.store()?;
        let timeout = self.options.lock_timeout;
        let (_locks, recovered) =
            entry::enter(self.workspace, &self.folders, Some(&store), Decide::Carefully, timeout)?;
        tell_recovered(report, &recovered);
        // Recovery may have recorded a commit: HEAD is asked for now.
        let head = self.workspace.head();
        let ground = Ground { folders: &self.folders, store: &store, head: &head };
        progress.total(work.len());
        match &self.options.record {
            Record::Stash(message) => self.stash(&work, message.clone(), stop, progress, report),
            _ => self.swap(&work, ground, stop, progress, report),
        }
    }

    /// Where the file system refuses to move files from the state directory, once more from inside the tree.
    fn swap(
        &self,
        work: &Work,
        ground: Ground<'_, OsDisk>,
        stop: &Stop,
        progress: &dyn Progress,
        report: &mut Report,
    ) -> Result<Plan, Error> {
        match self.swap_from(Room::State, (work, ground), stop, progress, report) {
            Err(Error::Failed(failure)) if failure.wants_room_in_tree() => {
                self.swap_from(Room::Tree, (work, ground), stop, progress, report)
            }
            done => done,
        }
    }

    fn swap_from(
        &self,
        room: Room,
        (work, ground): (&Work, Ground<'_, OsDisk>),
        stop: &Stop,
        progress: &dyn Progress,
        report: &mut Report,
    ) -> Result<Plan, Error> {
        let durability = self.options.durability.map_or_else(|| Durability::fitting(ground), Ok)?;
        let mut staging = Staging::begin(ground, durability)?.waiting_in(room);
        let id = staging.id().clone();
        let (trial, deltas) = (self.trial(report)?, Deltas::default());
        let counted = Counted { sink: &staging, progress };
        let Some(plan) = self.resolve_on_trial(work, &(&counted, &deltas), trial.as_ref())? else {
            return Err(staging.into_failure().into());
        };
        if plan.is_no_op() {
            report.list(&plan, Written::No);
            return Ok(plan);
        }
        try_out(self, trial, &plan, stop)?;
        report.transaction = Some(id.to_string());
        let deltas = deltas.to_bytes();
        staging.note_deltas(&deltas)?;
        staging.describe(&About::batch(&plan).with_more(deltas.len()).to_bytes())?;
        let mut recorder = self.recorder((work, &plan), &id)?;
        // Keeps git from changing the tree meanwhile, where nobody else holds it.
        let _guard = self
            .workspace
            .repo()
            .filter(|_| recorder.is_none())
            .and_then(|repo| git::guard_index(repo, id.as_str()));
        let prepared = weighed(staging.seal()?, recorder.as_mut(), &moves(&plan))?;
        let committed = prepared.swap(stop)?.commit(recorder.as_mut())?;
        report.list(&plan, Written::Yes);
        (report.applied, report.outcome, report.tree) = (true, Outcome::Applied, TreeState::Applied);
        let finished = committed.finish(recorder.as_mut());
        report.git = recorder.and_then(|r| r.recorded()).map(recorded);
        tell_finished(report, finished);
        prune(self.workspace, ground, report);
        Ok(plan)
    }

    /// Who joins the commit point; every path of the plan can be recorded.
    fn recorder(&self, (work, plan): (&Work, &Plan), id: &OperationId) -> Result<Option<Recorder>, Error> {
        let Some(repo) = self.workspace.repo() else { return Ok(None) };
        let (kind, message) = match &self.options.record {
            Record::Nothing | Record::Stash(_) => return Ok(None),
            Record::Commit(message) => (RecordKind::Commit, message.clone()),
            Record::WholeFiles(message) => (RecordKind::WholeFiles, message.clone()),
            Record::Stage => (RecordKind::Stage, None),
        };
        let options = RecordOptions {
            kind,
            message,
            hooks: self.options.hooks,
            lock_timeout: self.options.lock_timeout,
            operation_id: id.to_string(),
        };
        let mut recorder = Recorder::begin(repo, &RelPath::root(), options)?;
        refused(recorder.check(&touched(plan))?)?;
        refused(recorder.check_copied(&self.copied(work))?)?;
        Ok(Some(recorder))
    }

    /// The files that the batch copies; a plan tells of the copies only, and a saved one holds their text.
    fn copied(&self, work: &Work) -> Vec<RelPath> {
        let Work::Batch(chosen) = work else { return Vec::new() };
        let source = self.source();
        let copies = chosen.batch.operations.iter().filter(|one| matches!(one.action, Action::Copy { .. }));
        copies.filter_map(|one| Some(source.resolve(&one.path, LastLink::Keep).ok()?.path)).collect()
    }

    fn stash(
        &self,
        work: &Work,
        message: Option<String>,
        stop: &Stop,
        progress: &dyn Progress,
        report: &mut Report,
    ) -> Result<Plan, Error> {
        let Some(repo) = self.workspace.repo() else { return Ok(Plan::default()) };
        let id = OperationId::now();
        let options = StashOptions { message, operation_id: id.to_string() };
        let stash = StashRecorder::begin(repo, &RelPath::root(), options)?;
        let trial = self.trial(report)?;
        let Some(plan) = self.resolve_on_trial(work, &Counted { sink: &stash, progress }, trial.as_ref())?
        else {
            let unknown = || Error::Usage("the stash took no more files".to_owned());
            return Err(stash.take_error().map_or_else(unknown, Error::Unrecorded));
        };
        report.list(&plan, Written::No);
        if plan.is_no_op() {
            return Ok(plan);
        }
        refused(stash.check(&touched(&plan))?)?;
        refused(stash.check_copied(&self.copied(work))?)?;
        try_out(self, trial, &plan, stop)?;
        report.transaction = Some(id.to_string());
        report.git = Some(recorded(stash.finish().map_err(Error::Unrecorded)?));
        (report.applied, report.outcome) = (true, Outcome::Applied);
        Ok(plan)
    }
}

pub(crate) fn refused(refusals: Vec<PathRefusal>) -> Result<(), Error> {
    if refusals.is_empty() { Ok(()) } else { Err(Error::NotRecordable(refusals)) }
}

/// Every path that a plan changes, with whether it exists now.
pub(crate) fn touched(plan: &Plan) -> Vec<(RelPath, bool)> {
    let mut paths = Vec::new();
    for file in plan.files.iter().filter(|f| f.action != FileAction::None) {
        match &file.from {
            Some(from) => paths.extend([(from.clone(), true), (file.path.clone(), false)]),
            None => paths.push((file.path.clone(), !file.before.is_absent())),
        }
    }
    paths
}

/// The old and new paths of moved files.
fn moves(plan: &Plan) -> Vec<(RelPath, RelPath)> {
    plan.files.iter().filter_map(|file| Some((file.from.clone()?, file.path.clone()))).collect()
}

/// The batch, once it is parted from other changes in its files; where it cannot be, it is thrown away.
pub(crate) fn weighed<'a>(
    prepared: Prepared<'a, OsDisk>,
    recorder: Option<&mut Recorder>,
    moves: &[(RelPath, RelPath)],
) -> Result<Prepared<'a, OsDisk>, Error> {
    let Some(recorder) = recorder else { return Ok(prepared) };
    match recorder.weigh(&prepared, moves).map_err(Error::from).and_then(refused) {
        Ok(()) => Ok(prepared),
        Err(error) => {
            prepared.discard()?;
            Err(error)
        }
    }
}

pub(crate) fn recorded(recorded: Recorded) -> GitReport {
    GitReport {
        record: recorded.as_str(),
        commit: recorded.commit().map(str::to_owned),
        reference: recorded.reference().map(str::to_owned),
    }
}

/// After the commit point nothing is taken back; what did not get done is told.
pub(crate) fn tell_finished(report: &mut Report, finished: Finished) {
    report.warnings.extend(finished.late.iter().map(kept));
    let mut tell = |message: String| {
        report.warnings.push(WarningReport { code: WarningCode::Recovered, path: None, message });
    };
    if let Err(error) = finished.clean_up {
        tell(format!("the files are in place; the next run goes on cleaning up: {error}"));
    }
    if let Err(error) = finished.participant {
        report.outcome = Outcome::NeedsRecovery;
        report.errors.push(unrecorded(error));
    }
}

/// The files are in place, and the commit that was asked for is not on the branch: no success, and nothing to take back.
fn unrecorded(error: Unrecorded) -> ErrorReport {
    let told = |cause: ParticipantError, but: &str, hint: String| {
        let message = format!("the files are in place, but {but}: {}", cause.message);
        ErrorReport { hint: Some(hint), ..ErrorReport::new(cause.code, message) }
    };
    match error {
        Unrecorded::Waits(cause) => {
            let first = cause.hint.as_ref().map_or_else(String::new, |hint| format!("{hint}; then "));
            let hint = format!("{first}run: patchmany recover (the next command that writes does it too)");
            told(cause, "they are not recorded yet", hint)
        }
        Unrecorded::Never(cause) => {
            let hint = cause.hint.clone().unwrap_or_else(|| "git status shows what to commit".to_owned());
            told(cause, "their commit is not on the branch", hint)
        }
    }
}

/// Operations that are not to be kept any longer go. That this fails is no reason to call the batch failed.
pub(crate) fn prune(workspace: &Workspace, ground: Ground<'_, OsDisk>, report: &mut Report) {
    if let Err(error) = Retention::configured(workspace.repo()).prune(ground.store) {
        let message = format!("the files are in place; the next run goes on cleaning up: {error}");
        report.warnings.push(WarningReport { code: WarningCode::Recovered, path: None, message });
    }
}

/// Tells of each file that a sink has taken.
struct Counted<'a, S> {
    sink: &'a S,
    progress: &'a dyn Progress,
}

impl<S: Sink> Sink for Counted<'_, S> {
    fn put(&self, file: &Resolved) -> Result<(), SinkFull> {
        self.sink.put(file)?;
        self.progress.step();
        Ok(())
    }
}
