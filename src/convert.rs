//! A batch in another form, as a function: read, written, and nothing applied.
//!
//! What the form can say as it stands is only rewritten; no file is looked at. Otherwise the whole batch is resolved
//! against the tree, and what it makes of each file is said anew. Then the written batch is read and resolved too: it is
//! given out only when it makes the same of every file.

mod restate;
mod spans;

use crate::apply::{Diff, Options, Run, reported};
use crate::disk::Node;
use crate::edit::{ChangeSet, Format, RelPath};
use crate::error::Error;
use crate::output::{self, Lack, Unsayable};
use crate::plan::{FileAction, Plan, Refusal};
use crate::report::{Mode, Outcome, Report};
use crate::workspace::Workspace;
use bstr::BStr;
use restate::FileChange;
use serde::Serialize;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// The result of `patchmany convert`.
#[derive(Clone, Debug, Serialize)]
pub struct ConvertReport {
    /// As for other commands; it lists no files.
    #[serde(flatten)]
    pub report: Report,
    /// The batch in the other form; null where there are errors.
    pub batch: Option<String>,
}

/// The batch `input` in the form `to`.
pub fn convert(workspace: &Workspace, input: &[u8], to: Format, options: &Options) -> ConvertReport {
    let mut batch = None;
    let report = reported(Mode::Convert, |report| {
        // Nothing is written: what needs a permission to be applied needs none here.
        let plan = crate::plan::Options { force_read_only: true, allow_symlinks: true, ..options.plan };
        let options = Options { plan, diff: Diff::Make, ..options.clone() };
        batch = Some(Conversion { workspace, to, options: &options }.run(input, report)?);
        report.outcome = Outcome::Shown;
        Ok(())
    });
    ConvertReport { report, batch }
}

struct Conversion<'a> {
    workspace: &'a Workspace,
    to: Format,
    options: &'a Options,
}

impl Conversion<'_> {
    fn run(&self, input: &[u8], report: &mut Report) -> Result<String, Error> {
        let run = Run::new(self.workspace, self.options)?;
        let batch = run.parse(input, report)?;
        match output::print(&batch, self.to) {
            Ok(text) => Ok(text),
            Err(unsaid) => self.through_the_plan(&run, &batch, unsaid),
        }
    }

    /// Says anew what the batch makes of each file. Where it fits no file, what the form has no words for is told first.
    fn through_the_plan(
        &self,
        run: &Run<'_>,
        batch: &ChangeSet,
        mut unsaid: Vec<Unsayable>,
    ) -> Result<String, Error> {
        let plan = match run.plan(batch, &()) {
            Ok(plan) => plan.unwrap_or_default(),
            Err(refused) => {
                unsaid.retain(|one| one.lack == Lack::Words);
                return Err(if unsaid.is_empty() { refused } else { Error::Unsayable(unsaid) });
            }
        };
        if plan.is_no_op() {
            return Err(Error::Usage("the batch changes nothing: no form can say that".to_owned()));
        }
        let text = self.restated(run, batch, &plan).map_err(Error::Unsayable)?;
        self.check_same(batch, &plan, &text)?;
        Ok(text)
    }

    fn restated(&self, run: &Run<'_>, batch: &ChangeSet, plan: &Plan) -> Result<String, Vec<Unsayable>> {
        if self.to == Format::Diff {
            let unsayable = || self.unsayable(batch, BStr::new(""), "bytes that are not UTF-8");
            return String::from_utf8(run.diff(plan)).map_err(|_| vec![unsayable()]);
        }
        let changed = plan.files.iter().filter(|file| file.action != FileAction::None);
        let changes: Vec<FileChange> = changed
            .map(|file| {
                let (old, new) = run.sides(file);
                let name = |path: &RelPath| self.workspace.name(path);
                let (path, from) = (name(&file.path), file.from.as_ref().map(name));
                let entry = entry_of(batch, from.as_ref().unwrap_or(&path).as_ref());
                FileChange {
                    entry,
                    path,
                    from,
                    action: file.action,
                    before: &file.before,
                    after: &file.after,
                    old,
                    new,
                }
            })
            .collect();
        output::print(&restate::change_set(&changes, self.to)?, self.to)
    }

    /// That the written batch makes the same of every file.
    fn check_same(&self, batch: &ChangeSet, plan: &Plan, text: &str) -> Result<(), Error> {
        let again = self.plan_again(batch, text)?;
        let (meant, made) = (results(plan), results(&again));
        let all = meant.keys().chain(made.keys()).copied();
        let wrong: BTreeSet<&RelPath> = all.filter(|path| meant.get(path) != made.get(path)).collect();
        if wrong.is_empty() {
            return Ok(());
        }
        let what = "the ends of its lines, or its mode, as the batch makes them";
        let names = wrong.into_iter().map(|path| self.workspace.name(path));
        let unsayable = names.map(|name| self.unsayable(batch, name.as_ref(), what));
        Err(Error::Unsayable(unsayable.collect()))
    }

    /// The plan of the written batch; that it has none is the fault of its form.
    fn plan_again(&self, batch: &ChangeSet, text: &str) -> Result<Plan, Error> {
        let (format, default_path, strip) = (None, None, None);
        let options = Options { format, default_path, strip, placeholders: false, ..self.options.clone() };
        let run = Run::new(self.workspace, &options)?;
        let read = run.parse(text.as_bytes(), &mut Report::new(Mode::Convert));
        let unsayable = match read.and_then(|again| run.plan(&again, &())) {
            Ok(plan) => return Ok(plan.unwrap_or_default()),
            Err(Error::Parse(errors)) => {
                vec![self.unsayable(
                    batch,
                    BStr::new(""),
                    format!("what it does so that it is read: {errors}"),
                )]
            }
            Err(Error::Refused { refusals, .. }) => {
                let one = |refusal: &Refusal| {
                    let path = refusal.path.clone().unwrap_or_default();
                    let what = format!("the change in the present file: {}", refusal.message);
                    self.unsayable(batch, path.as_ref(), what)
                };
                refusals.iter().map(one).collect()
            }
            Err(other) => return Err(other),
        };
        Err(Error::Unsayable(unsayable))
    }

    fn unsayable(&self, batch: &ChangeSet, path: &BStr, what: impl Into<Cow<'static, str>>) -> Unsayable {
        let (format, entry, path) = (self.to, entry_of(batch, path), path.to_owned());
        Unsayable { format, entry, path, what: what.into(), lack: Lack::Words }
    }
}

/// The first entry that is about this path.
fn entry_of(batch: &ChangeSet, path: &BStr) -> Option<usize> {
    let mut all = batch.operations.iter();
    all.find(|op| op.path.written == path).map(|op| op.origin.entry)
}

/// What stands at each path that changes, in the end.
fn results(plan: &Plan) -> BTreeMap<&RelPath, &Node> {
    let changed = || plan.files.iter().filter(|file| file.action != FileAction::None);
    let left =
        changed().filter(|file| file.action == FileAction::Rename).filter_map(|file| file.from.as_ref());
    // A path that one file leaves and another takes is where that one stands.
    left.map(|from| (from, &Node::Absent)).chain(changed().map(|file| (&file.path, &file.after))).collect()
}
