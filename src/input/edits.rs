//! The JSON forms that replace one text by another, or write a whole file, and ollie's calls of the same two tools.
//!
//! Old and new text are data: nothing in them is expanded. A call takes strings only, in the order of its tool.

use super::body::Body;
use super::draft::{Draft, Head};
use super::entry::Entry;
use super::keys::Key;
use crate::edit::{Action, Existing, Hunk, Locator, Occurrence, Precondition, Step, Text};

/// Reads one entry.
pub(super) fn read(entry: &Entry<'_>, draft: &mut Draft<'_>) {
    if entry.has(Key::Tool) {
        return call(entry, draft);
    }
    match (entry.has(Key::Content), entry.has(Key::Old) || entry.has(Key::New)) {
        (true, true) => entry.error(
            "the entry has both `content` and `old_string` or `new_string`",
            Some("write the whole file, or replace a part of it"),
            draft,
        ),
        (true, false) => write(entry, draft),
        (false, _) => replace(entry, draft),
    }
}

fn replace(entry: &Entry<'_>, draft: &mut Draft<'_>) {
    let meant = [Key::Path, Key::Old, Key::New, Key::All, Key::Expected, Key::Tag];
    entry.check_keys(&meant, draft);
    let (head, old) = (entry.head(draft), entry.text(Key::Old, draft));
    let (new, occurrence) = (entry.text(Key::New, draft), occurrence(entry, draft));
    if let (Some(head), Some(old), Some(new), Some(occurrence)) = (head, old, new, occurrence) {
        push_edit(&head, old.text, new.text, occurrence, draft);
    }
}

fn push_edit(head: &Head, old: Text, new: Text, occurrence: Occurrence, draft: &mut Draft<'_>) {
    let hunk = Hunk { occurrence, ..head.hunk(1, head.line, Locator::Text { old, new }) };
    draft.push_steps(head, vec![Step { hunks: vec![hunk] }]);
}

/// `None` when an error was noted.
fn occurrence(entry: &Entry<'_>, draft: &mut Draft<'_>) -> Option<Occurrence> {
    let all = if entry.has(Key::All) { entry.flag(Key::All, draft)? } else { false };
    if entry.has(Key::Expected) {
        return entry.count(Key::Expected, draft).map(Occurrence::Exactly);
    }
    Some(if all { Occurrence::All } else { Occurrence::Once })
}

fn write(entry: &Entry<'_>, draft: &mut Draft<'_>) {
    entry.check_keys(&[Key::Path, Key::Content, Key::AllowEmpty, Key::Tag], draft);
    let (head, content) = (entry.head(draft), entry.text(Key::Content, draft));
    let may_empty = if entry.has(Key::AllowEmpty) { entry.flag(Key::AllowEmpty, draft) } else { Some(false) };
    if let (Some(head), Some(content), Some(may_empty)) = (head, content, may_empty) {
        draft.push(head.operation(written(content.text, may_empty.into())));
    }
}

/// Whether a write may leave nothing of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Emptying {
    Allowed,
    Refused,
}

impl From<bool> for Emptying {
    fn from(allowed: bool) -> Self {
        if allowed { Self::Allowed } else { Self::Refused }
    }
}

fn written(content: Text, emptying: Emptying) -> Action {
    let existing = match emptying {
        Emptying::Allowed => Existing::Replace,
        Emptying::Refused => Existing::ReplaceByText,
    };
    Action::Create { content, existing }
}

/// `{"tool": …, "args": […]}`.
fn call(entry: &Entry<'_>, draft: &mut Draft<'_>) {
    entry.check_keys(&[Key::Tool, Key::Args, Key::Tag], draft);
    let (Some(tool), Some(args)) = (entry.text(Key::Tool, draft), entry.strings(Key::Args, draft)) else {
        return;
    };
    match &*tool.text {
        "file_edit" => call_edit(entry, &args, draft),
        "file_write" => call_write(entry, &args, draft),
        "file_read" | "file_glob" | "file_grep" => {
            let hint = "leave it out of the batch; `patchmany read`, `glob` and `grep` do the same";
            entry.error(format!("`{}` changes nothing", &*tool.text), Some(hint), draft);
        }
        other => {
            let hint = Some("the tools are `file_edit` and `file_write`");
            entry.error(format!("unknown tool `{other}`"), hint, draft);
        }
    }
}

fn call_edit(entry: &Entry<'_>, args: &[Body], draft: &mut Draft<'_>) {
    let [path, old, new, options @ ..] = args else {
        let hint = "the arguments are path, old text, new text, and `replace_all=true` if wanted";
        return entry.error("`file_edit` needs three arguments", Some(hint), draft);
    };
    let mut occurrence = Occurrence::Once;
    for option in options {
        match &*option.text {
            "replace_all=true" => occurrence = Occurrence::All,
            "replace_all=false" => occurrence = Occurrence::Once,
            other => return odd_option(entry, other, "replace_all=true", draft),
        }
    }
    if let Some(head) = entry.head_of(path.text.to_string(), draft) {
        push_edit(&head, old.text.clone(), new.text.clone(), occurrence, draft);
    }
}

fn call_write(entry: &Entry<'_>, args: &[Body], draft: &mut Draft<'_>) {
    let [path, content, options @ ..] = args else {
        let hint = "the arguments are path and content";
        return entry.error("`file_write` needs two arguments", Some(hint), draft);
    };
    let mut emptying = Emptying::Refused;
    for option in options {
        match &*option.text {
            "allow_empty=true" => emptying = Emptying::Allowed,
            "allow_empty=false" => emptying = Emptying::Refused,
            other => return odd_option(entry, other, "allow_empty=true", draft),
        }
    }
    let Some(mut head) = entry.head_of(path.text.to_string(), draft) else { return };
    if head.expects == Precondition::Any {
        head.expects = Precondition::FolderExists;
    }
    draft.push(head.operation(written(content.text.clone(), emptying)));
}

fn odd_option(entry: &Entry<'_>, option: &str, known: &str, draft: &mut Draft<'_>) {
    let shown = super::body::shown(option);
    entry.error(format!("unknown option {shown}"), Some(&format!("the only one is `{known}`")), draft);
}

impl Entry<'_> {
    /// The truth value of a key, also as a string. `None` when it is neither (then an error is noted).
    fn flag(&self, key: Key, draft: &mut Draft<'_>) -> Option<bool> {
        self.scalar(key, "true or false", draft)
    }

    /// The positive number of a key, also as a string. `None` when it is neither (then an error is noted).
    fn count(&self, key: Key, draft: &mut Draft<'_>) -> Option<usize> {
        let count = self.scalar(key, "a whole number from 1 on", draft)?;
        if count == 0 {
            self.error(format!("`{}` must be 1 or more", key.as_str()), Some("leave the edit out"), draft);
        }
        Some(count).filter(|&count| count > 0)
    }

    fn scalar<T: std::str::FromStr>(&self, key: Key, what: &str, draft: &mut Draft<'_>) -> Option<T> {
        let parsed = self.literal(key, draft)?.parse().ok();
        if parsed.is_none() {
            self.error(format!("`{}` must be {what}", key.as_str()), None, draft);
        }
        parsed
    }
}
