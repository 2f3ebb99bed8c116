//! Unified diffs: plain ones for paths from the current folder, git's for those from the top of a repository.

use super::hunks::{self, Headers};
use super::{Printed, Said, each, no_place, no_tag, no_words, quoted};
use crate::edit::{Action, BatchPath, Existing, FileOperation, Mode, PathBase, Step};
use bstr::ByteSlice;

pub(super) fn print(operations: &[FileOperation]) -> Printed {
    Ok(each(operations, file)?.concat())
}

/// What the header of a file says between `diff --git` and its names.
struct Header {
    from: Option<String>,
    to: Option<String>,
    extended: String,
}

fn file(operation: &FileOperation) -> Said<String> {
    no_tag(&operation.expects)?;
    let (steps, to) = match &operation.action {
        Action::Rename { to, steps } | Action::Copy { to, steps } => (&steps[..], to),
        other => (other.steps(), &operation.path),
    };
    let body = match (&operation.action, steps) {
        (Action::Create { content, .. }, _) => added(content),
        (_, []) => String::new(),
        (_, [step]) => body(step)?,
        _ => return no_place("steps one after another"),
    };
    let header = header(operation, to)?;
    let names = match (&header.from, &header.to) {
        _ if body.is_empty() => String::new(),
        (from, to) => {
            let or_null = |name: &Option<String>| name.clone().unwrap_or_else(|| "/dev/null".to_owned());
            format!("--- {}\n+++ {}\n", or_null(from), or_null(to))
        }
    };
    if operation.path.base == PathBase::Current {
        return match header.extended.is_empty() && !body.is_empty() && to.base == PathBase::Current {
            true => Ok(format!("{names}{body}")),
            false => no_place("this without the top of the repository"),
        };
    }
    let git = format!("diff --git {} {}\n", name("a/", &operation.path)?, name("b/", to)?);
    Ok(format!("{git}{}{names}{body}", header.extended))
}

fn body(step: &Step) -> Said<String> {
    hunks::body(step, Headers::Numbers)
}

fn added(content: &str) -> String {
    let rows: String = content.split_inclusive('\n').flat_map(|line| ["+", line]).collect();
    let ended = content.is_empty() || content.ends_with('\n');
    let end = if ended { "" } else { "\n\\ No newline at end of file\n" };
    match content.split_inclusive('\n').count() {
        0 => String::new(),
        count => format!("@@ -0,0 +1,{count} @@\n{rows}{end}"),
    }
}

fn header(operation: &FileOperation, to: &BatchPath) -> Said<Header> {
    let (from_name, to_name) = (ended(name("a/", &operation.path)?), ended(name("b/", to)?));
    let both = Header { from: Some(from_name), to: Some(to_name), extended: String::new() };
    let mode = operation.mode.map(Mode::as_str);
    let git = operation.path.base == PathBase::Top;
    match &operation.action {
        Action::Create { existing: Existing::Refuse, .. } => {
            let extended = match (mode, git) {
                (None, false) => String::new(),
                (mode, _) => format!("new file mode {}\n", mode.unwrap_or("100644")),
            };
            Ok(Header { from: None, extended, ..both })
        }
        Action::Create { .. } => no_place("the replacement of a whole file"),
        Action::Delete { steps } if steps.is_empty() => no_place("a deletion without the text of the file"),
        Action::Delete { .. } => {
            let extended = match (mode, git) {
                (None, false) => String::new(),
                (mode, _) => format!("deleted file mode {}\n", mode.unwrap_or("100644")),
            };
            Ok(Header { to: None, extended, ..both })
        }
        Action::Modify { .. } => Ok(Header { extended: changed_mode(operation.mode), ..both }),
        Action::Rename { .. } => Ok(Header { extended: moved("rename", operation, to)?, ..both }),
        Action::Copy { .. } => Ok(Header { extended: moved("copy", operation, to)?, ..both }),
    }
}

fn moved(verb: &str, operation: &FileOperation, to: &BatchPath) -> Said<String> {
    let (from, to) = (name("", &operation.path)?, name("", to)?);
    Ok(format!("{}{verb} from {from}\n{verb} to {to}\n", changed_mode(operation.mode)))
}

/// The lines that give a file another mode; git tells links and submodules by the index line.
fn changed_mode(mode: Option<Mode>) -> String {
    match mode {
        None => String::new(),
        Some(Mode::Executable) => "old mode 100644\nnew mode 100755\n".to_owned(),
        Some(Mode::Regular) => "old mode 100755\nnew mode 100644\n".to_owned(),
        Some(mode @ (Mode::Link | Mode::Submodule)) => {
            format!("index 0000000..1111111 {}\n", mode.as_str())
        }
    }
}

fn name(prefix: &str, path: &BatchPath) -> Said<String> {
    let name = quoted(prefix, path.written.as_bstr());
    String::from_utf8(name).or_else(|_| no_words("a path that is not UTF-8"))
}

/// A name with a blank ends with a tab on the lines of names, as git writes it.
fn ended(name: String) -> String {
    if name.contains(' ') { name + "\t" } else { name }
}
