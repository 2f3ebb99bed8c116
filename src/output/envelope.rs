//! `*** Begin Patch` … `*** End Patch`, a section for each entry, and for each step of one.

use super::hunks::{self, Headers};
use super::{Printed, Said, each, no_mode, no_place, no_tag, no_words, path};
use crate::edit::{Action, Existing, FileOperation, Step};

pub(super) fn print(operations: &[FileOperation]) -> Printed {
    Ok(format!("*** Begin Patch\n{}*** End Patch\n", each(operations, section)?.concat()))
}

fn section(operation: &FileOperation) -> Said<String> {
    no_mode(operation)?;
    no_tag(&operation.expects)?;
    let path = path(&operation.path)?;
    match &operation.action {
        Action::Create { content, existing: Existing::Refuse } => {
            Ok(format!("*** Add File: {path}\n{}", added(content)?))
        }
        Action::Create { .. } => no_place("the replacement of a whole file"),
        Action::Delete { steps } if steps.is_empty() => Ok(format!("*** Delete File: {path}\n")),
        Action::Delete { .. } => no_place("what a deleted file must hold"),
        Action::Modify { steps } => steps
            .iter()
            .map(|step| Ok(format!("*** Update File: {path}\n{}", hunks::body(step, Headers::Anchors)?)))
            .collect(),
        Action::Rename { to, steps } => {
            let to = super::path(to)?;
            Ok(format!("*** Update File: {path}\n*** Move to: {to}\n{}", moved(steps)?))
        }
        Action::Copy { .. } => no_place("the copy of a file"),
    }
}

fn added(content: &str) -> Said<String> {
    if !content.is_empty() && !content.ends_with('\n') {
        return no_words("a new file without a final newline");
    }
    Ok(content.split_inclusive('\n').flat_map(|line| ["+", line]).collect())
}

/// The hunks of a moved file, which has one step at most.
pub(super) fn moved(steps: &[Step]) -> Said<String> {
    match steps {
        [] => Ok(String::new()),
        [step] => hunks::body(step, Headers::Anchors),
        _ => no_place("the steps of a move one after another"),
    }
}
