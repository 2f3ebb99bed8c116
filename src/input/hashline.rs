//! Sections of numbered line edits, `[path#tag]` with the tag of the version whose lines they count.
//!
//! One spelling each: a row that is no operation and no `+` row is a fault that shows the corrected line, and nothing
//! is repaired. Whether the tag and the numbers fit the file is the planner's to say.

use super::body::{Body, Fault, Line, lines, shown};
use super::draft::{Draft, Head};
use super::hashline_op::{self, Op};
use super::wrapper::{self, Markers};
use crate::edit::{Action, BatchPath, Hunk, Precondition, Step, Tag, Text, WeakTag};

/// Reads a text that detection calls hashline.
pub(super) fn read(body: &Body, draft: &mut Draft<'_>) {
    let inner = match wrapper::inside(body, Markers::Optional) {
        Ok(inner) => inner,
        Err(fault) => return draft.faults(body, [fault]),
    };
    let mut reader = Reader { body: &inner, draft, section: None, faults: Vec::new() };
    for (at, line) in lines(&inner.text).enumerate() {
        reader.line(at, &line);
    }
    reader.close();
    let faults = std::mem::take(&mut reader.faults);
    draft.faults(&inner, faults);
}

/// `[path#tag]` as a whole line; what stands between the brackets.
fn header(line: &str) -> Option<&str> {
    line.trim_end().strip_prefix('[')?.strip_suffix(']')
}

struct Reader<'a, 'o, 'd> {
    body: &'a Body,
    draft: &'d mut Draft<'o>,
    section: Option<Section>,
    /// Faults outside of sections.
    faults: Vec<Fault>,
}

/// A section that is being read.
struct Section {
    head: Head,
    line: usize,
    hunks: Vec<Hunk>,
    /// The operation whose body comes next.
    open: Option<Open>,
    to: Option<BatchPath>,
    removal: Option<usize>,
    faults: Vec<Fault>,
    /// Whether the last operation line could not be read: rows below it are no faults of their own.
    broken: bool,
}

/// An operation with its body so far.
struct Open {
    line: usize,
    op: Op,
    rows: Vec<Text>,
    /// An empty line after its header or one of its rows.
    blank: Option<usize>,
}

impl Reader<'_, '_, '_> {
    fn line(&mut self, at: usize, line: &Line<'_>) {
        if let Some(inner) = header(line.text) {
            self.close();
            return self.open(at, inner);
        }
        let text = self.body.text.slice(line.start..line.end());
        match &mut self.section {
            None if line.is_blank() => {}
            None => {
                let message = format!("{} stands above the first `[path#tag]` line", shown(line.text));
                self.faults.push(Fault::new(at, message));
            }
            Some(section) if line.is_blank() => section.blank(at),
            Some(section) if line.text.starts_with('+') => section.row(at, text.slice(1..text.len())),
            Some(section) => section.operation(at, line.text, self.body),
        }
    }

    fn open(&mut self, at: usize, inner: &str) {
        let entry = self.draft.next_entry();
        let (path, tag) = inner.rsplit_once('#').map_or((inner, None), |(path, tag)| (path, Some(tag)));
        let expects = tag.and_then(precondition);
        let known = expects.clone().unwrap_or(Precondition::Any);
        let head = Head { entry, path: path.into(), line: self.body.line(at), expects: known };
        let (hunks, faults) = (Vec::new(), Vec::new());
        let mut section =
            Section { head, line: at, hunks, open: None, to: None, removal: None, faults, broken: false };
        if path.trim().is_empty() {
            section.fault(
                at,
                "the section names no path",
                "write `[path#tag]` as `patchmany read` prints it",
            );
        } else if expects.is_none() {
            let message = match tag {
                None => "the section has no tag".to_owned(),
                Some(tag) => {
                    format!("{} is no tag: it has 8 to 64 hex digits, or the 4 of other tools", shown(tag))
                }
            };
            section.fault(at, message, "read the file, and copy the `[path#tag]` line");
        }
        self.section = Some(section);
    }

    /// Ends the open section.
    fn close(&mut self) {
        let Some(mut section) = self.section.take() else { return };
        section.close_operation(self.body);
        section.check();
        let Section { head, hunks, to, removal, faults, .. } = section;
        if !faults.is_empty() {
            return self.draft.entry_faults(self.body, &head, faults);
        }
        let steps = if hunks.is_empty() { Vec::new() } else { vec![Step { hunks }] };
        let action = match (removal, to) {
            (Some(_), _) => Action::Delete { steps },
            (None, Some(to)) => Action::Rename { to, steps },
            (None, None) => Action::Modify { steps },
        };
        self.draft.push(head.operation(action));
    }
}

fn precondition(tag: &str) -> Option<Precondition> {
    let strong = Tag::parse(tag).map(Precondition::Tagged);
    strong.or_else(|| WeakTag::parse(tag).map(Precondition::WeaklyTagged))
}

impl Section {
    fn fault(&mut self, line: usize, message: impl Into<String>, hint: impl Into<String>) {
        self.faults.push(Fault::new(line, message).hint(hint).hunk(self.hunks.len() + 1));
    }

    fn blank(&mut self, at: usize) {
        if let Some(open) = &mut self.open {
            open.blank.get_or_insert(at);
        }
    }

    fn row(&mut self, at: usize, text: Text) {
        match &mut self.open {
            _ if self.broken => {}
            Some(Open { op, .. }) if !op.takes_body() => {
                let what = op.to_string();
                self.fault(at, format!("a body row below `{what}`, which takes none"), "leave the row out");
            }
            Some(Open { blank: Some(blank), .. }) => {
                let blank = *blank;
                self.fault(blank, "an empty line inside a body", "write an empty row as a lone `+`");
                self.open = self.open.take().map(|open| Open { blank: None, ..open });
            }
            Some(open) => open.rows.push(text),
            None => {
                self.fault(at, "a body row without an operation above it", "write `INS.POST n:` or the like")
            }
        }
    }

    fn operation(&mut self, at: usize, text: &str, body: &Body) {
        match hashline_op::parse(text) {
            Ok(op) => {
                self.close_operation(body);
                self.begin(at, op);
            }
            Err(hint) => {
                let wants_body = self.open.as_ref().is_some_and(|open| open.op.takes_body());
                let bare = format!("write {}", shown(&format!("+{text}")));
                let hint = hint.unwrap_or(if wants_body { bare } else { hashline_op::OPERATIONS.to_owned() });
                self.fault(at, format!("{} is no operation and no `+` row", shown(text)), hint);
                self.broken = true;
            }
        }
    }

    fn begin(&mut self, at: usize, op: Op) {
        match &op {
            Op::Remove if self.removal.is_some() => self.fault(at, "a second `REM`", "leave one of them out"),
            Op::Remove => self.removal = Some(at),
            Op::Move(_) if self.to.is_some() => self.fault(at, "a second `MV`", "leave one of them out"),
            Op::Move(to) => self.to = Some(BatchPath::from(&**to)),
            Op::Edit(_) => {}
        }
        self.open = Some(Open { line: at, op, rows: Vec::new(), blank: None });
        self.broken = false;
    }

    /// Ends the operation whose body was read.
    fn close_operation(&mut self, body: &Body) {
        let Some(open) = self.open.take() else { return };
        if open.op.takes_body() && open.rows.is_empty() && !self.broken {
            let message = format!("`{}` has no body", open.op);
            return self.fault(open.line, message, "write the new lines below it, each behind a `+`");
        }
        if let Op::Edit(edit) = open.op {
            let number = self.hunks.len() + 1;
            self.hunks.push(self.head.hunk(number, body.line(open.line), edit.locator(open.rows)));
        }
    }

    /// What only the whole section shows.
    fn check(&mut self) {
        let edits = !self.hunks.is_empty();
        match (self.removal, &self.to) {
            _ if !self.faults.is_empty() => {}
            (Some(at), Some(_)) => self.fault(at, "`REM` beside `MV`", "leave one of them out"),
            (Some(at), None) if edits => {
                self.fault(at, "`REM` beside edits of the same file", "leave the edits out");
            }
            (None, None) if !edits => {
                self.fault(self.line, "the section has no operation", hashline_op::OPERATIONS);
            }
            _ => {}
        }
    }
}
