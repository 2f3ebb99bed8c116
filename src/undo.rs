//! The commands about the past as functions: `undo` and `redo`, each returning a [`Report`]; `log`, `show` and `prune`.

use crate::apply::{
    enter, prune, recorded, refused, reported, tell_finished, tell_recovered, touched, weighed,
};
use crate::diff::{Contents, counts};
use crate::disk::{Folders, Node, OsDisk};
use crate::edit::{BatchPath, Pieces, RelPath, Warning, WarningCode};
use crate::error::Error;
use crate::git::{self, Hooks, RecordKind, RecordOptions, Recorder};
use crate::history::{About, Deltas, HistoryError, Log, Past, Retention, Reversal, Wanted};
use crate::plan::{
    FileAction, LastLink, Metadata, Plan, PlannedFile, Resolved, Sink, Source, Start, WorkTree,
};
use crate::report::{
    Mode, OperationReport, Outcome, PathReport, Report, ShownReport, WarningReport, Written,
};
use crate::transaction::{Decide, Durability, Ground, OperationId, Room, Staging, Stop, TreeState};
use crate::workspace::Workspace;
use bstr::ByteSlice;
use std::time::Duration;

/// How an operation is taken back.
#[derive(Clone, Debug)]
pub struct Options {
    /// These paths only, as a person spells them; empty for all.
    pub paths: Vec<BatchPath>,
    /// What becomes of files that were edited since.
    pub edited: Edited,
    /// Whether a commit records it.
    pub commit: Commit,
    /// Whether hooks run then.
    pub hooks: Hooks,
    /// What power loss may do; `None` takes what fits the file systems.
    pub durability: Option<Durability>,
    /// How long to wait for locks.
    pub lock_timeout: Duration,
}

/// What an undo does about files that somebody has edited since.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Edited {
    /// It is refused.
    #[default]
    Refuse,
    /// They are merged, and it is refused where that gives a conflict.
    Merge,
}

/// Whether an undo is committed.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub enum Commit {
    /// The files change, and nothing else.
    #[default]
    No,
    /// One commit of the changed files, with this message or one that names the operation.
    Yes(Option<String>),
}

impl Default for Options {
    fn default() -> Self {
        Self {
            paths: Vec::new(),
            edited: Edited::Refuse,
            commit: Commit::No,
            hooks: Hooks::Run,
            durability: None,
            lock_timeout: Duration::from_secs(10),
        }
    }
}

/// Which operation to take back.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Which {
    /// The newest that is not undone.
    Newest,
    /// The newest undo that only undos and redos have followed.
    NewestUndo,
    /// The one with this id, or the only one whose id begins so.
    Id(String),
}

/// Takes an operation back, or an undo: all of it, or the wanted paths. Whatever is not as the operation left it stops it.
pub fn undo(workspace: &Workspace, which: &Which, options: &Options, stop: &Stop) -> Report {
    let mode = if *which == Which::NewestUndo { Mode::Redo } else { Mode::Undo };
    reported(mode, |report| {
        let folders = workspace.folders()?;
        let wanted = wanted(workspace, &folders, &options.paths)?;
        if options.commit != Commit::No && workspace.repo().is_none() {
            return Err(Error::Usage("there is no git repository here to record in".to_owned()));
        }
        let Some(store) = workspace.existing_store()? else { return Err(nothing(which).into()) };
        let timeout = options.lock_timeout;
        let (_locks, recovered) = enter(workspace, &folders, Some(&store), Decide::Carefully, timeout)?;
        tell_recovered(report, &recovered);
        // Recovery may have recorded a commit: HEAD is asked for now.
        let head = workspace.head();
        let ground = Ground { folders: &folders, store: &store, head: &head };
        let log = Log::read(&store)?;
        let past = match which {
            Which::Newest => log.to_undo()?,
            Which::NewestUndo => log.to_redo()?,
            Which::Id(text) => log.find(text)?,
        };
        Undoing { workspace, options, ground, log: &log, past }.run(&wanted, stop, report)
    })
}

fn nothing(which: &Which) -> HistoryError {
    match which {
        Which::Newest => HistoryError::NothingToUndo,
        Which::NewestUndo => HistoryError::NothingToRedo,
        Which::Id(text) => HistoryError::NoOperation(text.clone()),
    }
}

/// The wanted paths, canonical. Nothing need stand there.
fn wanted(workspace: &Workspace, folders: &Folders<OsDisk>, paths: &[BatchPath]) -> Result<Wanted, Error> {
    if paths.is_empty() {
        return Ok(Wanted::All);
    }
    let rules = workspace.rules(None)?;
    let start = Start { base: workspace.base().clone(), within: workspace.within().clone() };
    let source = WorkTree::new(folders, workspace.spellings(), start, &*rules);
    let mut found = Vec::new();
    let mut refusals = Vec::new();
    for path in paths {
        match source.resolve(path, LastLink::Keep) {
            Ok(target) => found.push(target.path),
            Err(refusal) => refusals.push(refusal.on(path.written.as_bstr())),
        }
    }
    if refusals.is_empty() {
        Ok(Wanted::Only(found))
    } else {
        Err(Error::Refused { refusals, warnings: Vec::new() })
    }
}

/// One undo or redo.
struct Undoing<'a> {
    workspace: &'a Workspace,
    options: &'a Options,
    ground: Ground<'a, OsDisk>,
    log: &'a Log<OsDisk>,
    past: &'a Past<OsDisk>,
}

impl Undoing<'_> {
    /// Where the file system refuses to move files from the state directory, once more from inside the tree.
    fn run(&self, wanted: &Wanted, stop: &Stop, report: &mut Report) -> Result<(), Error> {
        match self.run_from(Room::State, wanted, stop, report) {
            Err(Error::Failed(failure)) if failure.wants_room_in_tree() => {
                self.run_from(Room::Tree, wanted, stop, report)
            }
            done => done,
        }
    }

    fn run_from(&self, room: Room, wanted: &Wanted, stop: &Stop, report: &mut Report) -> Result<(), Error> {
        let folders = self.ground.folders;
        let reversal = match self.options.edited {
            Edited::Refuse => Reversal::new(folders, self.past, wanted)?,
            Edited::Merge => Reversal::merging(folders, self.log, self.past, wanted)?,
        };
        let durability = self.options.durability.map_or_else(|| Durability::fitting(self.ground), Ok)?;
        let mut staging = Staging::reversing(self.ground, durability, reversal.operation())?.waiting_in(room);
        let id = staging.id().clone();
        let (mut plan, deltas) = (Plan::default(), Deltas::default());
        for file in reversal.files() {
            let file = file?;
            if !reversal.is_merged(&file.path) {
                staging.put_back(&file)?;
            } else if staging.put(&file).is_err() {
                return Err(staging.into_failure().into());
            } else if !file.after.is_absent() {
                plan.warnings.push(merged(&file.path));
            }
            // Nothing is ever refused by a map.
            let _ = deltas.put(&file);
            plan.files.push(planned(&file));
        }
        let deltas = deltas.to_bytes();
        staging.note_deltas(&deltas)?;
        staging.describe(&self.about(&plan).with_more(deltas.len()).to_bytes())?;
        report.transaction = Some(id.to_string());
        let mut recorder = self.recorder(&plan, &id)?;
        // Keeps git from changing the tree meanwhile, where nobody else holds it.
        let repo = self.workspace.repo().filter(|_| recorder.is_none());
        let _guard = repo.and_then(|repo| git::guard_index(repo, id.as_str()));
        let moves = self.about(&plan).moves;
        let prepared = weighed(staging.seal()?, recorder.as_mut(), &moves)?;
        let committed = prepared.swap(stop)?.commit(recorder.as_mut())?;
        report.list(&plan, Written::Yes);
        (report.applied, report.outcome, report.tree) = (true, Outcome::Applied, TreeState::Applied);
        let finished = committed.finish(recorder.as_mut());
        self.tell_record(recorder.is_some(), report);
        report.git = recorder.and_then(|r| r.recorded()).map(recorded);
        tell_finished(report, finished);
        prune(self.workspace, self.ground, report);
        Ok(())
    }

    /// Moves are kept the other way round, where both ends went back.
    fn about(&self, plan: &Plan) -> About {
        let has = |path: &RelPath| plan.files.iter().any(|file| file.path == *path);
        let moves = self.past.about.moves.iter().filter(|(from, to)| has(from) && has(to));
        About {
            command: self.past.about.command.reversed(),
            bytes: About::batch(plan).bytes,
            undoes: Some(self.past.id().clone()),
            moves: moves.map(|(from, to)| (to.clone(), from.clone())).collect(),
        }
    }

    fn recorder(&self, plan: &Plan, id: &OperationId) -> Result<Option<Recorder>, Error> {
        let (Commit::Yes(message), Some(repo)) = (&self.options.commit, self.workspace.repo()) else {
            return Ok(None);
        };
        let word = self.past.about.command.reversed().as_str();
        let named = || format!("patchmany: {word} {}", self.past.id());
        let options = RecordOptions {
            kind: RecordKind::Commit,
            message: Some(message.clone().unwrap_or_else(named)),
            hooks: self.options.hooks,
            lock_timeout: self.options.lock_timeout,
            operation_id: id.to_string(),
        };
        let mut recorder = Recorder::begin(repo, &RelPath::root(), options)?;
        refused(recorder.check(&touched(plan))?)?;
        Ok(Some(recorder))
    }

    /// A commit is not taken back with its files, unless a new one is asked for.
    fn tell_record(&self, recording: bool, report: &mut Report) {
        if let (Some(made), false) = (&self.past.recorded, recording) {
            let message = match made.commit() {
                Some(commit) => format!(
                    "the files are back as before, the commit {} stays; undo --commit makes a new one",
                    commit.get(..12).unwrap_or(commit)
                ),
                None => "the files are back as before; what was staged stays in the index".to_owned(),
            };
            report.warnings.push(WarningReport { code: WarningCode::RecordStays, path: None, message });
        }
    }
}

fn merged(path: &RelPath) -> Warning {
    let message = format!("{path} was edited since: taking the operation back was merged with that");
    Warning { code: WarningCode::Merged, path: Some(path.as_bstr().to_owned()), message }
}

/// What an undo does to a path, in the words of a plan.
fn planned(file: &Resolved) -> PlannedFile {
    let stands = |node: &Node| matches!(node, Node::File { .. } | Node::Link { .. });
    let action = match (stands(&file.before), stands(&file.after)) {
        _ if file.before == file.after => FileAction::None,
        (_, false) => FileAction::Delete,
        (false, true) => FileAction::Create,
        _ if file.before.hash().is_some() && file.before.hash() == file.after.hash() => FileAction::Mode,
        _ => FileAction::Modify,
    };
    let new = file.new.as_ref().map(Pieces::whole).unwrap_or_default();
    let (added, removed) = counts(file.old.as_deref().unwrap_or_default(), &new);
    PlannedFile {
        path: file.path.clone(),
        from: None,
        action,
        before: file.before.clone(),
        after: file.after.clone(),
        added,
        removed,
        hunks: Vec::new(),
    }
}

/// The operations of this work tree, newest first.
///
/// # Errors
/// A state directory that cannot be read.
pub fn log(workspace: &Workspace) -> Result<Vec<OperationReport>, Error> {
    let Some(store) = workspace.existing_store()? else { return Ok(Vec::new()) };
    let log = Log::read(&store)?;
    Ok(log.newest_first().map(operation).collect())
}

/// Removes operations that are not to be kept any longer. Returns how many went.
///
/// # Errors
/// A lock that is held, or a state directory that cannot be written.
pub fn prune_log(workspace: &Workspace, lock_timeout: Duration) -> Result<usize, Error> {
    let Some(store) = workspace.existing_store()? else { return Ok(0) };
    let _lock = store.lock(lock_timeout)?;
    Ok(Retention::configured(workspace.repo()).prune(&store)?)
}

/// Whether an operation is shown with its diff.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Show {
    /// Its paths.
    Paths,
    /// Its paths and the diff.
    Diff,
}

/// The operation with the id `id`, or the only one whose id begins so.
///
/// # Errors
/// An operation that is not there, or a tree that cannot be read.
pub fn show(workspace: &Workspace, id: &str, what: Show) -> Result<ShownReport, Error> {
    let Some(store) = workspace.existing_store()? else {
        return Err(HistoryError::NoOperation(id.to_owned()).into());
    };
    let folders = workspace.folders()?;
    let log = Log::read(&store)?;
    let past = log.find(id)?;
    let (mut plan, mut hidden) = (Plan::default(), Vec::new());
    let contents = Contents::new(workspace.naming());
    for change in past.operation.changes() {
        let mut file = Resolved {
            path: change.path.clone(),
            before: change.before.clone(),
            after: change.after.clone(),
            seen: None,
            old: None,
            new: None,
            metadata: Metadata::New,
        };
        match log.versions(&folders, past, change)? {
            Some(known) => {
                (file.old, file.new) = (known.old.map(Into::into), known.new.map(Into::into));
            }
            None => hidden.push(PathReport::from(change.path.as_bstr())),
        }
        plan.files.push(planned(&file));
        // Nothing is ever refused by a map.
        let _ = contents.put(&file);
    }
    let mut report = Report::new(Mode::Check);
    report.list(&plan, Written::Yes);
    plan.files.retain(|file| !hidden.iter().any(|path| path.0 == *file.path.as_bstr()));
    let diff = (what == Show::Diff).then(|| PathReport(contents.diff(&plan).into()));
    Ok(ShownReport { operation: operation(past), paths: report.files, diff, not_shown: hidden })
}

fn operation(past: &Past<OsDisk>) -> OperationReport {
    OperationReport {
        id: past.id().to_string(),
        time: past.id().time(),
        command: past.about.command.as_str(),
        files: past.operation.changes().len(),
        git: past.recorded.clone().map(recorded),
        undoes: past.about.undoes.as_ref().map(ToString::to_string),
        undone: past.undone().as_str(),
    }
}
