//! JSON of `{"path", "operation", "moveTo", "diff"}`, an entry for each step.

use super::entry::{Operation, OpsEntry, json};
use super::hunks::{self, Headers};
use super::{Printed, Said, each, no_mode, no_place, path, tag};
use crate::edit::{Action, Existing, FileOperation};

pub(super) fn print(operations: &[FileOperation]) -> Printed {
    Ok(json(&each(operations, entries)?.concat()))
}

fn entries(operation: &FileOperation) -> Said<Vec<OpsEntry>> {
    no_mode(operation)?;
    let (path, tag) = (path(&operation.path)?.to_owned(), tag(&operation.expects)?.map(str::to_owned));
    let bare = OpsEntry { path, operation: Some(Operation::Update), move_to: None, diff: None, tag };
    let one = match &operation.action {
        Action::Create { content, existing: Existing::Refuse } => {
            OpsEntry { operation: Some(Operation::Create), diff: Some(content.to_string()), ..bare }
        }
        Action::Create { .. } => return no_place("the replacement of a whole file"),
        Action::Delete { steps } if steps.is_empty() => {
            OpsEntry { operation: Some(Operation::Delete), ..bare }
        }
        Action::Delete { .. } => return no_place("what a deleted file must hold"),
        Action::Modify { steps } => {
            let diffs = steps.iter().map(|step| hunks::body(step, Headers::Any));
            let entry = |(at, diff): (usize, Said<String>)| {
                // Later entries see the result of the first one, not the tagged text.
                let tag = bare.tag.clone().filter(|_| at == 0);
                Ok(OpsEntry { diff: Some(diff?), tag, ..bare.clone() })
            };
            return diffs.enumerate().map(entry).collect();
        }
        Action::Rename { to, steps } => {
            let diff = match &steps[..] {
                [] => None,
                [step] => Some(hunks::body(step, Headers::Any)?),
                _ => return no_place("the steps of a move one after another"),
            };
            OpsEntry { move_to: Some(super::path(to)?.to_owned()), diff, ..bare }
        }
        Action::Copy { .. } => return no_place("the copy of a file"),
    };
    Ok(vec![one])
}
