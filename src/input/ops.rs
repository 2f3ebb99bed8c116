//! The JSON form `{"path", "operation", "moveTo", "diff"}`: create, delete, update, move.

use super::body::Fault;
use super::draft::{Draft, Head};
use super::entry::Entry;
use super::hunks;
use super::keys::Key;
use crate::edit::{Action, BatchPath, Existing, Step};

/// What an entry asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Operation {
    Create,
    Delete,
    Update,
}

/// Reads one entry.
pub(super) fn read(entry: &Entry<'_>, draft: &mut Draft<'_>) {
    entry.check_keys(&[Key::Path, Key::Operation, Key::Rename, Key::Diff, Key::Tag], draft);
    let (head, operation) = (entry.head(draft), operation(entry, draft));
    let (Some(head), Some(operation)) = (head, operation) else {
        return;
    };
    let action = match operation {
        Operation::Create => create(entry, draft),
        Operation::Delete => delete(entry, draft),
        Operation::Update => update(entry, &head, draft),
    };
    if let Some(action) = action {
        draft.push(head.operation(action));
    }
}

/// A missing operation means update.
fn operation(entry: &Entry<'_>, draft: &mut Draft<'_>) -> Option<Operation> {
    if !entry.has(Key::Operation) {
        return Some(Operation::Update);
    }
    let name = entry.text(Key::Operation, draft)?;
    match &*name.text {
        "create" => Some(Operation::Create),
        "delete" => Some(Operation::Delete),
        "update" => Some(Operation::Update),
        other => {
            let hint = Some("the operations are `create`, `delete` and `update`");
            entry.error(format!("unknown operation `{other}`"), hint, draft);
            None
        }
    }
}

fn create(entry: &Entry<'_>, draft: &mut Draft<'_>) -> Option<Action> {
    if entry.has(Key::Rename) {
        entry.error("`create` cannot move a file", Some("leave `moveTo` out"), draft);
        return None;
    }
    if !entry.has(Key::Diff) {
        entry.error("`create` needs `diff`", Some("`diff` is the whole text of the new file"), draft);
    }
    let content = entry.text(Key::Diff, draft)?.text;
    Some(Action::Create { content, existing: Existing::Refuse })
}

fn delete(entry: &Entry<'_>, draft: &mut Draft<'_>) -> Option<Action> {
    for key in [Key::Diff, Key::Rename] {
        if entry.has(key) {
            let message = format!("`delete` takes no `{}`", key.as_str());
            entry.error(message, Some("leave it out, or use `update`"), draft);
            return None;
        }
    }
    Some(Action::Delete { steps: Vec::new() })
}

fn update(entry: &Entry<'_>, head: &Head, draft: &mut Draft<'_>) -> Option<Action> {
    let to = destination(entry, draft)?;
    if !entry.has(Key::Diff) && matches!(to, Destination::Same) {
        entry.error("`update` needs `diff` or `moveTo`", None, draft);
        return None;
    }
    let steps = steps(entry, head, &to, draft)?;
    Some(match to {
        Destination::Same => Action::Modify { steps },
        Destination::Path(to) => Action::Rename { to, steps },
    })
}

/// Where the file stands afterwards.
enum Destination {
    Same,
    Path(BatchPath),
}

fn destination(entry: &Entry<'_>, draft: &mut Draft<'_>) -> Option<Destination> {
    if !entry.has(Key::Rename) {
        return Some(Destination::Same);
    }
    let to = entry.text(Key::Rename, draft)?.text;
    if to.is_empty() {
        entry.error("`moveTo` is empty", Some("leave it out to edit the file in place"), draft);
        return None;
    }
    Some(Destination::Path(BatchPath::from(&*to)))
}

/// The one step of the diff; none for a pure move. `None` when an error was noted.
fn steps(entry: &Entry<'_>, head: &Head, to: &Destination, draft: &mut Draft<'_>) -> Option<Vec<Step>> {
    if !entry.has(Key::Diff) {
        return Some(Vec::new());
    }
    let body = entry.text(Key::Diff, draft)?;
    if body.text.trim().is_empty() {
        if matches!(to, Destination::Path(_)) {
            return Some(Vec::new());
        }
        let fault = Fault::new(0, "the diff is empty").hint("write hunks, or `\"operation\": \"delete\"`");
        draft.entry_faults(&body, head, [fault]);
        return None;
    }
    let step = match to {
        Destination::Same => hunks::step(&body, head, draft),
        Destination::Path(_) => hunks::step_of_move(&body, head, draft),
    };
    step.map(|step| vec![step])
}
