//! The envelope: between `*** Begin Patch` and `*** End Patch` a section for each file to add, delete or update.
//!
//! The body of an update is a diff body, which `hunks` reads. Several sections of one path are entries of their own.

use super::body::{Body, Fault, Line, lines, shown};
use super::draft::{Draft, Head};
use super::hunks;
use super::wrapper::{self, Markers};
use crate::edit::{Action, BatchPath, Existing, Precondition, Text};
use std::ops::Range;

const SECTIONS: &str =
    "a section starts with `*** Add File: p`, `*** Delete File: p` or `*** Update File: p`";
const MOVE: &str = "*** Move to:";

/// What a section does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Verb {
    Add,
    Delete,
    Update,
}

/// A section: its header and the lines below it, from 0.
struct Section<'a> {
    verb: Verb,
    path: &'a str,
    line: usize,
    rows: Range<usize>,
}

/// Reads a text that detection calls an envelope.
pub(super) fn read(body: &Body, draft: &mut Draft<'_>) {
    let inner = match wrapper::inside(body, Markers::Needed) {
        Ok(inner) => inner,
        Err(fault) => return draft.faults(body, [fault]),
    };
    let lines: Vec<Line<'_>> = lines(&inner.text).collect();
    let sections = sections(&lines);
    let stray = lines.iter().take(sections.first().map_or(lines.len(), |s| s.line));
    if let Some((at, line)) = stray.enumerate().find(|(_, line)| !line.is_blank()) {
        let message = format!("{} is no section of the envelope", shown(line.text));
        draft.faults(&inner, [Fault::new(at, message).hint(SECTIONS)]);
    }
    for section in sections {
        Reader { body: &inner, lines: &lines, section }.read(draft);
    }
}

fn sections<'a>(lines: &[Line<'a>]) -> Vec<Section<'a>> {
    let mut sections: Vec<Section<'a>> = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        // In the body of an update a header behind a blank is a line of context.
        let in_update = sections.last().is_some_and(|s| s.verb == Verb::Update && !s.rows.is_empty());
        let padded = line.text.starts_with([' ', '\t']);
        let found = if in_update && padded { None } else { header(line.text.trim()) };
        match (found, sections.last_mut()) {
            (Some((verb, path)), _) => sections.push(Section { verb, path, line: at, rows: at + 1..at + 1 }),
            (None, Some(section)) => section.rows.end = at + 1,
            (None, None) => {}
        }
    }
    sections
}

fn header(line: &str) -> Option<(Verb, &str)> {
    let verbs = [
        (Verb::Add, "*** Add File:"),
        (Verb::Delete, "*** Delete File:"),
        (Verb::Update, "*** Update File:"),
    ];
    verbs.into_iter().find_map(|(verb, words)| Some((verb, line.strip_prefix(words)?.trim())))
}

struct Reader<'a> {
    body: &'a Body,
    lines: &'a [Line<'a>],
    section: Section<'a>,
}

impl Reader<'_> {
    fn read(&self, draft: &mut Draft<'_>) {
        let entry = draft.next_entry();
        let line = self.body.line(self.section.line);
        let head = Head { entry, path: self.section.path.into(), line, expects: Precondition::Any };
        if self.section.path.is_empty() {
            let fault = Fault::new(self.section.line, "the section names no path");
            return draft.entry_faults(self.body, &head, [fault.hint(SECTIONS)]);
        }
        let action = match self.section.verb {
            Verb::Add => self.added(),
            Verb::Delete => self.deleted(),
            Verb::Update => self.updated(&head, draft),
        };
        match action {
            Ok(Some(action)) => draft.push(head.operation(action)),
            Ok(None) => {}
            Err(fault) => draft.entry_faults(self.body, &head, [fault]),
        }
    }

    /// The lines of the section without blank ones at its end.
    fn rows(&self) -> Range<usize> {
        let last = self.section.rows.clone().rev().find(|&at| !self.lines[at].text.is_empty());
        self.section.rows.start..last.map_or(self.section.rows.start, |at| at + 1)
    }

    fn added(&self) -> Result<Option<Action>, Fault> {
        let mut content = String::new();
        for at in self.rows() {
            let line = self.lines[at];
            let Some(_) = line.text.strip_prefix('+') else {
                let fault = Fault::new(at, format!("{} lacks the `+` of an added line", shown(line.text)));
                return Err(fault.hint(format!("write {}", shown(&format!("+{}", line.text)))));
            };
            // A CR that only some lines of the envelope have is content.
            let end = self.lines.get(at + 1).map_or(self.body.text.len(), |next| next.start);
            content.push_str(self.body.text[line.start + 1..end].trim_end_matches('\n'));
            content.push('\n');
        }
        Ok(Some(Action::Create { content: Text::from(content), existing: Existing::Refuse }))
    }

    fn deleted(&self) -> Result<Option<Action>, Fault> {
        match self.section.rows.clone().find(|&at| !self.lines[at].is_blank()) {
            Some(at) => {
                let message = format!("{} below `*** Delete File:`", shown(self.lines[at].text));
                Err(Fault::new(at, message).hint(SECTIONS))
            }
            None => Ok(Some(Action::Delete { steps: Vec::new() })),
        }
    }

    fn updated(&self, head: &Head, draft: &mut Draft<'_>) -> Result<Option<Action>, Fault> {
        let mut rows = self.rows();
        let first = rows.clone().find(|&at| !self.lines[at].is_blank());
        let to = first.and_then(|at| Some((at, self.lines[at].text.trim().strip_prefix(MOVE)?.trim())));
        if let Some((at, path)) = to {
            rows.start = at + 1;
            if path.is_empty() {
                return Err(Fault::new(at, "`*** Move to:` names no path"));
            }
        }
        let to = to.map(|(_, path)| BatchPath::from(path));
        let steps = match (self.rows_text(rows.clone()), &to) {
            (Some(text), to) => {
                let body = self.body.part(text, rows.start);
                let read = if to.is_some() { hunks::step_of_move } else { hunks::step };
                match read(&body, head, draft) {
                    Some(step) => vec![step],
                    None => return Ok(None),
                }
            }
            (None, Some(_)) => Vec::new(),
            (None, None) => {
                let hint = "write hunks below it, or `*** Move to: p`";
                return Err(Fault::new(self.section.line, "the update has no hunks").hint(hint));
            }
        };
        Ok(Some(match to {
            Some(to) => Action::Rename { to, steps },
            None => Action::Modify { steps },
        }))
    }

    /// The text of these lines; `None` when they are blank.
    fn rows_text(&self, rows: Range<usize>) -> Option<Text> {
        let start_of = |at: usize| self.lines.get(at).map_or(self.body.text.len(), |line| line.start);
        let text = self.body.text.slice(start_of(rows.start)..start_of(rows.end));
        (!text.trim().is_empty()).then_some(text)
    }
}
