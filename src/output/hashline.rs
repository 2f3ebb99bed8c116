//! Sections of numbered line edits under `[path#tag]`, one for each entry.

use super::{Printed, Said, each, no_mode, no_place, no_words, once, path};
use crate::edit::{Action, FileOperation, Gap, Hunk, Locator, Precondition, Step, Text};

pub(super) fn print(operations: &[FileOperation]) -> Printed {
    Ok(each(operations, section)?.concat())
}

fn section(operation: &FileOperation) -> Said<String> {
    no_mode(operation)?;
    let tag = match &operation.expects {
        Precondition::Tagged(tag) => tag.to_string(),
        Precondition::WeaklyTagged(tag) => tag.to_string(),
        _ if matches!(operation.action, Action::Create { .. }) => String::new(),
        Precondition::Any | Precondition::FolderExists => return no_place("an edit of no certain version"),
    };
    let head = format!("[{}#{tag}]\n", path(&operation.path)?);
    match &operation.action {
        Action::Modify { steps } => Ok(head + &edits(steps)?),
        Action::Rename { to, steps } => Ok(format!("{head}{}MV {}\n", edits(steps)?, super::path(to)?)),
        Action::Delete { steps } if steps.is_empty() => Ok(head + "REM\n"),
        Action::Delete { .. } => no_place("what a deleted file must hold"),
        Action::Create { .. } => no_words("the creation of a file"),
        Action::Copy { .. } => no_words("the copy of a file"),
    }
}

fn edits(steps: &[Step]) -> Said<String> {
    match steps {
        [] => Ok(String::new()),
        [step] => step.hunks.iter().map(edit).collect(),
        _ => no_place("steps one after another"),
    }
}

fn edit(hunk: &Hunk) -> Said<String> {
    once(hunk.occurrence)?;
    let (head, rows): (String, &[Text]) = match &hunk.locator {
        Locator::LineRange { first, last, rows } if rows.is_empty() && first == last => {
            (format!("DEL {first}"), rows)
        }
        Locator::LineRange { first, last, rows } if rows.is_empty() => (format!("DEL {first}.={last}"), rows),
        Locator::LineRange { first, last, rows } => (format!("SWAP {first}.={last}:"), rows),
        Locator::Gap { gap, rows } => (gap_words(*gap), rows),
        Locator::Binary(_) => return no_words("the change of a binary file"),
        Locator::Text { .. } | Locator::Pieces(_) | Locator::Lines(_) | Locator::Fill(_) => {
            return no_place("an edit that is placed by its text");
        }
    };
    let rows: String = rows.iter().flat_map(|row| ["+", row, "\n"]).collect();
    Ok(format!("{head}\n{rows}"))
}

fn gap_words(gap: Gap) -> String {
    match gap {
        Gap::Start => "INS.HEAD:".to_owned(),
        Gap::End => "INS.TAIL:".to_owned(),
        Gap::Before(line) => format!("INS.PRE {line}:"),
        Gap::After(line) => format!("INS.POST {line}:"),
    }
}
