//! Unified diffs, plain and from git, and one diff body for `--path`.
//!
//! Each file is an entry whose hunks the planner places by their text; the numbers of a hunk header break ties and
//! place pure insertions. A change that the diff only mentions (a binary file without its bytes) is passed on, so
//! that the whole batch is refused for it.

use super::ParseError;
use super::body::{Body, Fault, Line, lines};
use super::diff_files::{self, FileLines, Kind};
use super::diff_header::{self, Change, Header};
use super::diff_order;
use super::draft::{Draft, Head};
use super::hunks;
use crate::edit::{
    Action, BatchPath, BinaryChange, Closeness, Code, Existing, LineHunk, Locator, PathBase, Precondition,
    Row, Step, Text,
};
use bstr::BString;

/// Reads a text that detection calls a diff.
pub(super) fn read(body: &Body, draft: &mut Draft<'_>) {
    if body.text.lines().find(|l| !l.trim().is_empty()).is_some_and(|l| l.starts_with("@@")) {
        return bare(body, draft);
    }
    let lines: Vec<Line<'_>> = lines(&body.text).collect();
    let (files, strays) = diff_files::split(&lines);
    let headers: Vec<Result<Header, String>> = files
        .iter()
        .map(|file| {
            let text: String = file.header.clone().flat_map(|at| [lines[at].text, "\n"]).collect();
            diff_header::read(file.kind, &text, draft.options.strip)
        })
        .collect();
    if files.is_empty() && strays.is_empty() {
        let fault = Fault::new(0, "the diff names no file");
        return draft.faults(body, [fault.hint("put `--- a/path` and `+++ b/path` above its hunks")]);
    }
    let top = git_base(&files, &headers, draft);
    let before = draft.operations();
    for (file, header) in files.iter().zip(headers) {
        Reader { body, lines: &lines, file, top }.read(header, draft);
    }
    if files.iter().all(|file| file.kind == Kind::Git) {
        diff_order::arrange(draft.take_back(before)).into_iter().for_each(|operation| draft.push(operation));
    }
    draft.faults(body, strays.into_iter().map(|stray| Fault::new(stray.line, stray.message)));
}

/// The folder that the names of `diff --git` start at: the top of the repository, as git writes them; the current
/// folder when nothing that must exist is at the top, and all of it is there.
fn git_base(files: &[FileLines], headers: &[Result<Header, String>], draft: &Draft<'_>) -> PathBase {
    let of_git = files.iter().zip(headers).filter(|(file, _)| file.kind == Kind::Git);
    let changes = of_git.filter_map(|(_, header)| header.as_ref().ok().map(|header| &header.change));
    let needed = changes.filter(|change| !matches!(change, Change::Create(_))).map(Change::path);
    let needed: Vec<&BString> = needed.collect();
    let there = |base| {
        let exists =
            |path: &&&BString| (draft.options.exists)(&BatchPath { written: (**path).clone(), base });
        needed.iter().filter(exists).count()
    };
    let here = !needed.is_empty() && there(PathBase::Top) == 0 && there(PathBase::Current) == needed.len();
    if here { PathBase::Current } else { PathBase::Top }
}

/// One diff body for `--path`.
fn bare(body: &Body, draft: &mut Draft<'_>) {
    let entry = draft.next_entry();
    let Some(path) = draft.options.default_path.clone() else {
        let hint = "give `--path`, or put `--- a/path` and `+++ b/path` above";
        let error = ParseError::new(Code::Usage, "the diff names no path").hint(hint);
        return draft.error(ParseError { entry: Some(entry), line: Some(body.line(0)), ..error });
    };
    let head = Head { entry, path, line: body.line(0), expects: Precondition::Any };
    if let Some(mut step) = hunks::step(body, &head, draft) {
        lines_of(&mut step).for_each(|(_, lines)| lines.closeness = Closeness::Exact);
        draft.push(head.operation(Action::Modify { steps: vec![step] }));
    }
}

/// Reads one file of a diff.
struct Reader<'a> {
    body: &'a Body,
    lines: &'a [Line<'a>],
    file: &'a FileLines,
    /// What names of git start at.
    top: PathBase,
}

impl Reader<'_> {
    fn read(&self, header: Result<Header, String>, draft: &mut Draft<'_>) {
        let entry = draft.next_entry();
        let line = self.body.line(self.file.header.start);
        let header = match header {
            Ok(header) => header,
            Err(message) => {
                let fault = Fault::new(self.file.header.start, format!("the header of the file: {message}"));
                return draft.faults(self.body, [fault]);
            }
        };
        let path = self.path(header.change.path().clone());
        let head = Head { entry, path, line, expects: Precondition::Any };
        match self.change(&head, &header, draft) {
            Ok(actions) => actions.into_iter().for_each(|action| {
                draft.push(crate::edit::FileOperation { mode: header.mode, ..head.operation(action) });
            }),
            Err(Some(fault)) => draft.entry_faults(self.body, &head, [fault]),
            Err(None) => {}
        }
    }

    fn path(&self, written: BString) -> BatchPath {
        let base = if self.file.kind == Kind::Git { self.top } else { PathBase::Current };
        BatchPath { written, base }
    }

    /// What is done, in order; without a fault when that is noted already.
    fn change(
        &self,
        head: &Head,
        header: &Header,
        draft: &mut Draft<'_>,
    ) -> Result<Vec<Action>, Option<Fault>> {
        let steps = self.steps(head, header, draft)?;
        Ok(match &header.change {
            Change::Create(_) => self.create(steps)?,
            // A file that is said to go without its text is said to be empty.
            Change::Delete(_) if steps.is_empty() => {
                vec![Action::Delete { steps: vec![Step { hunks: Vec::new() }] }]
            }
            Change::Delete(_) => vec![Action::Delete { steps }],
            Change::Modify(_) if steps.is_empty() && header.mode.is_none() => {
                let fault = Fault::new(self.file.header.start, "the diff changes nothing of the file");
                return Err(Some(fault.hint("put its hunks below the header, or leave the file out")));
            }
            Change::Modify(_) => vec![Action::Modify { steps }],
            Change::Rename { to, .. } => vec![Action::Rename { to: self.path(to.clone()), steps }],
            Change::Copy { to, .. } => vec![Action::Copy { to: self.path(to.clone()), steps }],
        })
    }

    fn steps(&self, head: &Head, header: &Header, draft: &mut Draft<'_>) -> Result<Vec<Step>, Option<Fault>> {
        if header.untold || !self.file.binary.is_empty() {
            let rows = self.file.binary.clone().map(|at| self.lines[at].text);
            let section = rows.collect::<Vec<_>>().join("\n");
            let change =
                if header.untold { BinaryChange::Untold } else { BinaryChange::Patch(Text::from(section)) };
            let line = self.body.line(self.file.binary.start.min(self.lines.len().saturating_sub(1)));
            return Ok(vec![Step { hunks: vec![head.hunk(1, line, Locator::Binary(change))] }]);
        }
        if self.file.hunks.is_empty() {
            return Ok(Vec::new());
        }
        let start_of = |at: usize| self.lines.get(at).map_or(self.body.text.len(), |line| line.start);
        let rows = self.file.hunks.clone();
        let text = self.body.text.slice(start_of(rows.start)..start_of(rows.end));
        let mut step = hunks::step(&self.body.part(text, rows.start), head, draft).ok_or(None)?;
        for (number, lines) in lines_of(&mut step) {
            lines.closeness = Closeness::Exact;
            numbered(lines).map_err(|fault| Some(Fault { line: rows.start, ..fault }.hunk(number)))?;
        }
        Ok(vec![step])
    }

    fn create(&self, steps: Vec<Step>) -> Result<Vec<Action>, Option<Fault>> {
        let mut content = String::new();
        let mut binary = Vec::new();
        for step in steps {
            match &step.hunks[..] {
                [hunk] if matches!(hunk.locator, Locator::Binary(_)) => binary.push(step),
                hunks => {
                    for hunk in hunks {
                        let Locator::Lines(lines) = &hunk.locator else { continue };
                        self.add(lines, &mut content)?;
                    }
                }
            }
        }
        let content = Text::from(content);
        let create = Action::Create { content, existing: Existing::Refuse };
        // The bytes of a binary file come as the change of an empty one.
        let fill = (!binary.is_empty()).then_some(Action::Modify { steps: binary });
        Ok(std::iter::once(create).chain(fill).collect())
    }

    fn add(&self, hunk: &LineHunk, content: &mut String) -> Result<(), Option<Fault>> {
        for row in &hunk.rows {
            let Row::Add(text) = row else {
                let fault = Fault::new(self.file.hunks.start, "a new file has a line that is not added");
                return Err(Some(fault.hint("every line of a new file starts with `+`")));
            };
            content.push_str(text);
            content.push('\n');
        }
        if hunk.new_unterminated {
            content.pop();
        }
        Ok(())
    }
}

/// The line hunks of a step with their numbers, from 1.
fn lines_of(step: &mut Step) -> impl Iterator<Item = (usize, &mut LineHunk)> {
    (1..).zip(&mut step.hunks).filter_map(|(number, hunk)| match &mut hunk.locator {
        Locator::Lines(lines) => Some((number, lines)),
        _ => None,
    })
}

/// Settles what the header of a numbered hunk is good for.
fn numbered(hunk: &mut LineHunk) -> Result<(), Fault> {
    let Some((_, count)) = hunk.hint else {
        return Ok(());
    };
    // What stands behind the numbers is some line above, cut short by git: it may be gone and still be right.
    hunk.anchors.clear();
    if count > 0 && hunk.old_rows().next().is_none() {
        let message = "the hunk adds lines, and neither its text nor its header says after which line";
        return Err(Fault::new(0, message)
            .hint("write lines of context, or `@@ -N,0 +M,K @@` to insert after line N"));
    }
    Ok(())
}
