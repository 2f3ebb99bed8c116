//! JSON of `{"path", "old_string", "new_string"}` and `{"path", "content"}`, an entry for each step.

use super::entry::{EditEntry, EditsEntry, WriteEntry, json};
use super::{Printed, Said, each, no_mode, no_place, no_words, path, tag};
use crate::edit::{Action, Existing, FileOperation, Hunk, Locator, Occurrence, Step};

pub(super) fn print(operations: &[FileOperation]) -> Printed {
    let entries: Vec<EditsEntry> = each(operations, entries)?.into_iter().flatten().collect();
    Ok(json(&entries))
}

fn entries(operation: &FileOperation) -> Said<Vec<EditsEntry>> {
    no_mode(operation)?;
    let (path, tag) = (path(&operation.path)?.to_owned(), tag(&operation.expects)?.map(str::to_owned));
    match &operation.action {
        Action::Modify { steps } => {
            let edit = |(at, step): (usize, &Step)| {
                let tag = tag.clone().filter(|_| at == 0);
                edit(step, path.clone(), tag).map(EditsEntry::Edit)
            };
            steps.iter().enumerate().map(edit).collect()
        }
        Action::Create { content, existing: Existing::ReplaceByText | Existing::Replace } => {
            let may_empty = matches!(operation.action, Action::Create { existing: Existing::Replace, .. });
            let content = content.to_string();
            let allow_empty = may_empty.then_some(true);
            Ok(vec![EditsEntry::Write(WriteEntry { path, content, allow_empty, tag })])
        }
        Action::Create { .. } => no_place("that a new file must not replace one"),
        Action::Delete { .. } => no_words("the deletion of a file"),
        Action::Rename { .. } => no_words("the move of a file"),
        Action::Copy { .. } => no_place("the copy of a file"),
    }
}

fn edit(step: &Step, path: String, tag: Option<String>) -> Said<EditEntry> {
    let [Hunk { locator, occurrence, .. }] = &step.hunks[..] else {
        return no_place("hunks that all see the same text");
    };
    let (old, new) = match locator {
        Locator::Text { old, new } => (old.to_string(), new.to_string()),
        Locator::Fill(_) => return no_place("that the file must be empty"),
        Locator::Pieces(_) => return no_place("placeholders"),
        Locator::Lines(_) => return no_place("a hunk of whole lines"),
        Locator::LineRange { .. } | Locator::Gap { .. } => return no_place("an edit of numbered lines"),
        Locator::Binary(_) => return no_words("the change of a binary file"),
    };
    let (replace_all, expected) = match occurrence {
        Occurrence::Once => (None, None),
        Occurrence::All => (Some(true), None),
        Occurrence::Exactly(count) => (None, Some(*count)),
    };
    Ok(EditEntry { path, old_string: old, new_string: new, replace_all, expected, tag })
}
