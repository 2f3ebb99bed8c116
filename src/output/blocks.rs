//! SEARCH/REPLACE blocks of whole lines, each with its path above it.

use super::{Printed, Said, each, hunks, marker_length, no_mode, no_place, no_tag, no_words, path};
use crate::edit::{Action, Existing, FileOperation, LineHunk, Text};

pub(super) fn print(operations: &[FileOperation]) -> Printed {
    Ok(each(operations, blocks)?.join("\n"))
}

fn blocks(operation: &FileOperation) -> Said<String> {
    no_mode(operation)?;
    no_tag(&operation.expects)?;
    let path = path(&operation.path)?;
    match &operation.action {
        Action::Create { content, existing: Existing::Fill } => {
            if !content.is_empty() && !content.ends_with('\n') {
                return no_words("a new file without a final newline");
            }
            block(path, "", content)
        }
        Action::Create { .. } => no_place("the creation of a file where one may stand"),
        Action::Modify { steps } => match &steps[..] {
            [step] => {
                let all = step.hunks.iter().map(|hunk| changed(path, hunks::lines(hunk)?));
                Ok(all.collect::<Said<Vec<_>>>()?.join("\n"))
            }
            _ => no_place("steps one after another"),
        },
        Action::Delete { .. } => no_words("the deletion of a file"),
        Action::Rename { .. } => no_words("the move of a file"),
        Action::Copy { .. } => no_place("the copy of a file"),
    }
}

fn changed(path: &str, hunk: &LineHunk) -> Said<String> {
    if !hunk.anchors.is_empty() || hunk.hint.is_some() || hunk.at_end {
        return no_place("where a hunk stands beside its text");
    }
    if hunk.old_unterminated || hunk.new_unterminated {
        return no_words("the lack of a final newline");
    }
    let lines =
        |rows: &mut dyn Iterator<Item = &Text>| -> String { rows.flat_map(|row| [&**row, "\n"]).collect() };
    block(path, &lines(&mut hunk.old_rows()), &lines(&mut hunk.new_rows()))
}

/// A block of these lines, each ended.
fn block(path: &str, old: &str, new: &str) -> Said<String> {
    let Some(length) = marker_length(&[old, new], &['<', '=', '>'], [7, 8, 9, 6, 5]) else {
        return no_words("lines that look like markers of every length");
    };
    let signs = |sign: &str| sign.repeat(length);
    Ok(format!("{path}\n{} SEARCH\n{old}{}\n{new}{} REPLACE\n", signs("<"), signs("="), signs(">")))
}
