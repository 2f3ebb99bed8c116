//! What a run is given: a batch in any form, or a saved plan; of either the chosen part.

use super::{Run, Uncommitted, refused as not_recordable, touched};
use crate::edit::{Format, RelPath};
use crate::error::Error;
use crate::git;
use crate::plan::{self, Chosen, NoPlan, Plan, Refusal, Resolved, SavedPlan, Sink, SinkFull};
use crate::report::Report;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// What is to be resolved.
pub(super) enum Work {
    Batch(Chosen),
    Plan(SavedPlan),
}

impl Work {
    /// How many entries it has.
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Batch(chosen) => chosen.batch.operations.len(),
            Self::Plan(plan) => plan.len(),
        }
    }
}

impl Run<'_> {
    /// Reads `input` and takes the chosen part.
    pub(super) fn read(&self, input: &[u8], report: &mut Report) -> Result<Work, Error> {
        let (choice, name) = (&self.options.choice, |path: &RelPath| self.workspace.name(path));
        let saved = self.options.format.is_none().then(|| SavedPlan::read(input)).flatten();
        let Some(saved) = saved else {
            let batch = self.parse(input, report)?;
            return Ok(Work::Batch(choice.of_batch(batch, &self.source(), &name).map_err(refused)?));
        };
        report.format = Some(Format::Plan);
        let saved = saved.map_err(|refusal| refused(vec![refusal]))?;
        Ok(Work::Plan(choice.of_plan(saved, &name).map_err(refused)?))
    }

    /// The plan; nothing when the sink gave up.
    pub(super) fn resolve(&self, work: &Work, sink: &dyn Sink) -> Result<Option<Plan>, Error> {
        let both;
        let sink = match &self.contents {
            Some(contents) => {
                both = (sink, contents);
                &both as &dyn Sink
            }
            None => sink,
        };
        let planned = match work {
            Work::Batch(chosen) => plan::plan(&chosen.batch, &self.source(), &self.options.plan, sink),
            Work::Plan(saved) => plan::replay(saved, &self.source(), &self.options.plan, sink),
        };
        match (planned, work) {
            (Ok(plan), _) => self.require_clean(&plan).map(|()| Some(plan)),
            (Err(NoPlan::SinkFull), _) => Ok(None),
            (Err(NoPlan::Refused { mut refusals, warnings }), Work::Batch(chosen)) => {
                chosen.explain(&mut refusals);
                Err(Error::Refused { refusals, warnings })
            }
            (Err(NoPlan::Refused { refusals, warnings }), Work::Plan(_)) => {
                Err(Error::Refused { refusals, warnings })
            }
        }
    }
}

impl Run<'_> {
    /// After the files were read: whoever changes one later is noticed by the transaction.
    fn require_clean(&self, plan: &Plan) -> Result<(), Error> {
        if self.options.uncommitted == Uncommitted::Edit {
            return Ok(());
        }
        let Some(repo) = self.workspace.repo() else {
            return Err(Error::Usage("--require-clean needs a git repository".to_owned()));
        };
        let paths: Vec<RelPath> = touched(plan).into_iter().map(|(path, _)| path).collect();
        not_recordable(git::dirty(repo, &RelPath::root(), &paths)?)
    }
}

fn refused(refusals: Vec<Refusal>) -> Error {
    Error::Refused { refusals, warnings: Vec::new() }
}

/// Keeps all files of a plan, to save it.
#[derive(Default)]
pub(super) struct Kept(Mutex<Vec<Resolved>>);

impl Sink for Kept {
    fn put(&self, file: &Resolved) -> Result<(), SinkFull> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(file.clone());
        Ok(())
    }
}

impl Kept {
    /// The files in the order of the plan; what a move leaves follows it.
    pub(super) fn in_order(self, plan: &Plan) -> Vec<Resolved> {
        let files = self.0.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut files: BTreeMap<RelPath, Resolved> =
            files.into_iter().map(|file| (file.path.clone(), file)).collect();
        let mut ordered = Vec::with_capacity(files.len());
        for planned in &plan.files {
            ordered.extend(files.remove(&planned.path));
            let left =
                planned.from.as_ref().filter(|from| files.get(*from).is_some_and(|f| f.after.is_absent()));
            ordered.extend(left.and_then(|from| files.remove(from)));
        }
        ordered.extend(files.into_values());
        ordered
    }
}
