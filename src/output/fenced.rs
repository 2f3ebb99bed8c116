//! Markdown with a `patch` fence for each entry, longer than any fence in its text.

use super::{Printed, Said, each, gptme, no_mode, no_tag, path};
use crate::edit::FileOperation;

pub(super) fn print(operations: &[FileOperation]) -> Printed {
    Ok(each(operations, fence)?.join("\n"))
}

fn fence(operation: &FileOperation) -> Said<String> {
    no_mode(operation)?;
    no_tag(&operation.expects)?;
    let (path, blocks) = (header(path(&operation.path)?), gptme::blocks(operation)?);
    // A fence closes with one as long or longer, so every run in the text has to be shorter.
    let longest =
        blocks.lines().map(|line| line.trim_start().bytes().take_while(|b| *b == b'`').count()).max();
    let signs = "`".repeat(longest.unwrap_or(0).max(2) + 1);
    Ok(format!("{signs}patch {path}\n{blocks}{signs}\n"))
}

/// The path as the header of a fence writes it.
fn header(path: &str) -> String {
    if path.contains(|c: char| c.is_whitespace() || ['"', '\'', '\\'].contains(&c)) {
        format!("\"{}\"", path.replace('\\', "\\\\").replace('"', "\\\""))
    } else {
        path.to_owned()
    }
}
