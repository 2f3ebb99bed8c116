//! A change set that makes the same of each file as a plan does, in the kind of edits that a form has.
//!
//! Pure: old and new bytes come in, operations go out. Every edit is written so that it has one place in the old file.

use super::spans::{self, Span, Spans};
use crate::disk::Node;
use crate::edit::{
    Action, BatchPath, ChangeSet, Existing, FileOperation, Format, Gap, Hunk, LineHunk, Locator, Occurrence,
    Origin, Precondition, Row, Step, Text, split_bom,
};
use crate::output::{Lack, Unsayable};
use crate::plan::FileAction;
use bstr::{BString, ByteSlice};
use bytes::Bytes;

/// What a plan makes of one file.
pub(super) struct FileChange<'a> {
    /// The entry of the batch, where it is known.
    pub(super) entry: Option<usize>,
    /// The path as a batch writes it.
    pub(super) path: BString,
    /// Where a moved file comes from.
    pub(super) from: Option<BString>,
    pub(super) action: FileAction,
    pub(super) before: &'a Node,
    pub(super) after: &'a Node,
    pub(super) old: Bytes,
    pub(super) new: Bytes,
}

/// What a form has no words for.
type Said<T> = Result<T, &'static str>;

/// The operations that make `changes`.
///
/// # Errors
/// Everything that the form has no words for.
pub(super) fn change_set(changes: &[FileChange<'_>], to: Format) -> Result<ChangeSet, Vec<Unsayable>> {
    let (mut operations, mut unsaid) = (Vec::new(), Vec::new());
    for change in changes {
        match change.operation(to) {
            Ok(operation) => operations.push(operation),
            Err(what) => {
                let (entry, path) = (change.entry, change.from.as_ref().unwrap_or(&change.path).clone());
                unsaid.push(Unsayable { format: to, entry, path, what: what.into(), lack: Lack::Words });
            }
        }
    }
    if unsaid.is_empty() {
        Ok(ChangeSet { format: to, operations, warnings: Vec::new() })
    } else {
        Err(unsaid)
    }
}

impl FileChange<'_> {
    fn operation(&self, to: Format) -> Said<FileOperation> {
        if [self.before, self.after].iter().any(|node| !matches!(node, Node::File { .. } | Node::Absent)) {
            return Err("a symbolic link");
        }
        let (old_mode, new_mode) = (self.before.git_mode(), self.after.git_mode());
        if new_mode.is_some() && new_mode != old_mode.or(Some("100644")) {
            return Err("the mode of a file");
        }
        let written = self.from.as_ref().unwrap_or(&self.path);
        let expects = match (to, self.before.hash()) {
            (Format::Hashline, Some(hash)) => Precondition::Tagged(hash.tag()),
            _ => Precondition::Any,
        };
        let path = BatchPath { written: written.clone(), ..BatchPath::from("") };
        Ok(FileOperation { path, action: self.action(to)?, expects, mode: None, origin: self.origin() })
    }

    fn origin(&self) -> Origin {
        Origin { entry: self.entry.unwrap_or(0), hunk: 0, line: 0 }
    }

    fn action(&self, to: Format) -> Said<Action> {
        match self.action {
            FileAction::Create => self.create(to),
            FileAction::Delete => match to {
                Format::Ops | Format::Envelope | Format::Hashline => Ok(Action::Delete { steps: Vec::new() }),
                _ => Err("the deletion of a file"),
            },
            FileAction::Rename => match to {
                Format::Ops | Format::Envelope | Format::Hashline => {
                    let to_path = BatchPath { written: self.path.clone(), ..BatchPath::from("") };
                    let steps = if self.old == self.new { Vec::new() } else { self.steps(to)? };
                    Ok(Action::Rename { to: to_path, steps })
                }
                _ => Err("the move of a file"),
            },
            FileAction::Modify if self.old.is_empty() => self.fill(to),
            FileAction::Modify => Ok(Action::Modify { steps: self.steps(to)? }),
            FileAction::Mode | FileAction::None => Err("the mode of a file"),
        }
    }

    fn text(&self) -> Said<Text> {
        self.new.to_str().map(Text::from).map_err(|_| "bytes that are not UTF-8")
    }

    fn create(&self, to: Format) -> Said<Action> {
        let content = self.text()?;
        let existing = match to {
            Format::Ops | Format::Envelope => Existing::Refuse,
            Format::Edits if content.is_empty() => Existing::Replace,
            Format::Edits => Existing::ReplaceByText,
            Format::Blocks => Existing::Fill,
            _ => return Err("the creation of a file"),
        };
        Ok(Action::Create { content, existing })
    }

    /// Puts text into an empty file.
    fn fill(&self, to: Format) -> Said<Action> {
        let content = self.text()?;
        match to {
            Format::Edits => Ok(Action::Create { content, existing: Existing::ReplaceByText }),
            Format::Blocks => Ok(Action::Create { content, existing: Existing::Fill }),
            Format::PatchMany | Format::Fenced => {
                // The newline before a marker belongs to the marker.
                let hunk = hunk(Locator::Fill(content));
                Ok(Action::Modify { steps: vec![Step { hunks: vec![hunk] }] })
            }
            _ => Ok(Action::Modify { steps: self.steps(to)? }),
        }
    }

    fn steps(&self, to: Format) -> Said<Vec<Step>> {
        let ((old_mark, old), (new_mark, new)) = (split_bom(&self.old), split_bom(&self.new));
        if old_mark != new_mark {
            return Err("the coming or going of a byte order mark");
        }
        let files = Spans::of(old, new);
        let one_step = |hunks: Said<Vec<Hunk>>| Ok(vec![Step { hunks: hunks? }]);
        match to {
            Format::Hashline => one_step(files.changed.iter().map(|span| numbered(&files, span)).collect()),
            Format::Ops | Format::Envelope => {
                one_step(files.placed_as_lines().iter().map(|span| lines(&files, span)).collect())
            }
            Format::Blocks => {
                one_step(files.placed_as_lines().iter().map(|span| block(&files, span)).collect())
            }
            _ => {
                let texts = files.placed_as_text();
                let step = |span| Ok(Step { hunks: vec![self::text(&files, span)?] });
                texts.iter().map(step).collect()
            }
        }
    }
}

fn hunk(locator: Locator) -> Hunk {
    Hunk { locator, occurrence: Occurrence::Once, origin: Origin { entry: 0, hunk: 0, line: 0 } }
}

/// Lines without their terminators.
fn rows(lines: &[&[u8]]) -> Said<Vec<Text>> {
    lines
        .iter()
        .map(|line| spans::bare(line).to_str().map(Text::from).map_err(|_| "bytes that are not UTF-8"))
        .collect()
}

fn numbered(files: &Spans<'_>, span: &Span) -> Said<Hunk> {
    let rows = rows(&files.new[span.new.clone()])?;
    Ok(hunk(match (span.old.len(), span.old.start) {
        (0, 0) => Locator::Gap { gap: Gap::Start, rows },
        (0, after) => Locator::Gap { gap: Gap::After(after), rows },
        (_, start) => Locator::LineRange { first: start + 1, last: span.old.end, rows },
    }))
}

/// The rows of a hunk: context, and in each changed part what goes and what comes.
fn lines(files: &Spans<'_>, span: &Span) -> Said<Hunk> {
    let mut body = Vec::new();
    let mut at = span.old.start;
    for part in files.changed.iter().filter(|part| span.holds(part)) {
        body.extend(rows(&files.old[at..part.old.start])?.into_iter().map(Row::Keep));
        body.extend(rows(&files.old[part.old.clone()])?.into_iter().map(Row::Remove));
        body.extend(rows(&files.new[part.new.clone()])?.into_iter().map(Row::Add));
        at = part.old.end;
    }
    body.extend(rows(&files.old[at..span.old.end])?.into_iter().map(Row::Keep));
    // Only a hunk that changes it says how the file ends.
    let (ends_old, ends_new) = (spans::is_ended(&files.old), spans::is_ended(&files.new));
    let told = span.old.end == files.old.len() && ends_old != ends_new;
    Ok(hunk(Locator::Lines(LineHunk {
        rows: body,
        at_end: files.old.is_empty(),
        old_unterminated: told && !ends_old,
        new_unterminated: told && !ends_new,
        ..LineHunk::default()
    })))
}

fn block(files: &Spans<'_>, span: &Span) -> Said<Hunk> {
    let (old, new) = (rows(&files.old[span.old.clone()])?, rows(&files.new[span.new.clone()])?);
    let rows = crate::input::rows(&old, &new);
    Ok(hunk(Locator::Lines(LineHunk { rows, ..LineHunk::default() })))
}

/// The lines as one text, with LF: the file's own terminators are kept where it is placed.
fn text(files: &Spans<'_>, span: &Span) -> Said<Hunk> {
    let joined = |lines: &[&[u8]]| -> Said<String> {
        let text = lines.concat();
        text.to_str().map(|text| text.replace("\r\n", "\n")).map_err(|_| "bytes that are not UTF-8")
    };
    let (old, new) = (joined(&files.old[span.old.clone()])?, joined(&files.new[span.new.clone()])?);
    let (old, new) = match (old.strip_suffix('\n'), new.strip_suffix('\n')) {
        (Some(old), Some(new)) if !old.is_empty() && !new.is_empty() => (old.to_owned(), new.to_owned()),
        _ => (old, new),
    };
    Ok(hunk(Locator::Text { old: old.into(), new: new.into() }))
}
