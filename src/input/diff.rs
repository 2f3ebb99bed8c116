//! One diff body for `--path`. Diffs that name their files are recognised, but not read yet.

use super::ParseError;
use super::body::Body;
use super::draft::{Draft, Head};
use super::hunks;
use crate::edit::{Action, Code, Format, Precondition};

/// Reads a text that detection calls a diff.
pub(super) fn read(body: &Body, draft: &mut Draft<'_>) {
    let is_bare = body.text.lines().find(|l| !l.trim().is_empty()).is_some_and(|l| l.starts_with("@@"));
    if !is_bare {
        let message =
            format!("the {} format is recognised, but this version cannot read it yet", Format::Diff);
        return draft.error(ParseError::at(body.at(0, 1), message));
    }
    let entry = draft.next_entry();
    let Some(path) = draft.options.default_path.clone() else {
        let hint = "give `--path`, or put `--- a/path` and `+++ b/path` above";
        let error = ParseError::new(Code::Usage, "the diff names no path").hint(hint);
        return draft.error(ParseError { entry: Some(entry), line: Some(body.line(0)), ..error });
    };
    let head = Head { entry, path, line: body.line(0), expects: Precondition::Any };
    if let Some(step) = hunks::step(body, &head, draft) {
        draft.push(head.operation(Action::Modify { steps: vec![step] }));
    }
}
