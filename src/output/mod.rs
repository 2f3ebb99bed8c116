//! Writes a change set in a form of formats.md: the other direction of `input`, one file per form.
//!
//! Pure, and exact: what is written is read again, and given out only when it says the same. What a form cannot say is
//! named with its entry, and nothing is given out. Where an edit stands in its file is not looked up here.

mod blocks;
mod diff;
mod edits;
mod entry;
mod envelope;
mod fenced;
mod gptme;
mod hashline;
mod hunks;
mod name;
mod ops;
mod patch_many;
#[cfg(feature = "schema")]
pub mod schema;
#[cfg(test)]
mod tests;

use crate::edit::{
    Action, BatchPath, ChangeSet, Closeness, FileOperation, Format, Locator, Occurrence, Origin, PathBase,
    Precondition, Step,
};
use crate::input;
use bstr::{BString, ByteSlice};
use std::borrow::Cow;

pub(crate) use name::quoted;

/// An entry that a form cannot say.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the format {format} cannot say {what}")]
pub struct Unsayable {
    /// The form.
    pub format: Format,
    /// The entry of the batch, from 1, where it is known.
    pub entry: Option<usize>,
    /// Its path as written.
    pub path: BString,
    /// What cannot be said, as the object of "cannot say".
    pub what: Cow<'static, str>,
    /// What would help.
    pub lack: Lack,
}

/// What is missing to say something.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Lack {
    /// The file: the form has words for the change once its place is known.
    File,
    /// Words: the form has none.
    Words,
}

/// What a printer cannot say.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Unsaid {
    what: Cow<'static, str>,
    lack: Lack,
}

type Said<T> = Result<T, Unsaid>;

/// A batch, or what cannot be said of it, each with the index of its operation.
type Printed = Result<String, Vec<(usize, Unsaid)>>;

fn no_words<T>(what: impl Into<Cow<'static, str>>) -> Said<T> {
    Err(Unsaid { what: what.into(), lack: Lack::Words })
}

fn no_place<T>(what: impl Into<Cow<'static, str>>) -> Said<T> {
    Err(Unsaid { what: what.into(), lack: Lack::File })
}

/// The forms that are written; the others are only read.
pub const WRITTEN: [Format; 8] = [
    Format::PatchMany,
    Format::Fenced,
    Format::Ops,
    Format::Envelope,
    Format::Hashline,
    Format::Edits,
    Format::Diff,
    Format::Blocks,
];

/// Writes `changes` in the form `to`, so that reading gives the same changes again.
///
/// # Errors
/// Every entry that the form cannot say.
pub fn print(changes: &ChangeSet, to: Format) -> Result<String, Vec<Unsayable>> {
    let say: fn(&[FileOperation]) -> Printed = match to {
        Format::PatchMany => patch_many::print,
        Format::Fenced => fenced::print,
        Format::Ops => ops::print,
        Format::Envelope => envelope::print,
        Format::Hashline => hashline::print,
        Format::Edits => edits::print,
        Format::Diff => diff::print,
        Format::Blocks => blocks::print,
        Format::Lsp | Format::Suggestions | Format::Plan | Format::Mixed => {
            |all| each(all, |_| no_words("anything: it is only read")).map(|_: Vec<()>| String::new())
        }
    };
    let unsayable = |(at, unsaid): (usize, Unsaid)| unsayable(&changes.operations[at], to, unsaid);
    let text = say(&changes.operations).map_err(|all| all.into_iter().map(unsayable).collect::<Vec<_>>())?;
    match difference(&text, changes) {
        None => Ok(text),
        Some(at) => {
            let what = "this entry so that it is read as it was meant".into();
            Err(vec![unsayable((at, Unsaid { what, lack: Lack::File }))])
        }
    }
}

fn unsayable(operation: &FileOperation, format: Format, unsaid: Unsaid) -> Unsayable {
    Unsayable {
        format,
        entry: Some(operation.origin.entry).filter(|entry| *entry > 0),
        path: operation.path.written.clone(),
        what: unsaid.what,
        lack: unsaid.lack,
    }
}

/// What `say` makes of every operation, or all that it cannot say, by index.
fn each<T>(
    operations: &[FileOperation],
    say: impl Fn(&FileOperation) -> Said<T>,
) -> Result<Vec<T>, Vec<(usize, Unsaid)>> {
    let (mut said, mut unsaid) = (Vec::new(), Vec::new());
    for (at, operation) in operations.iter().enumerate() {
        match say(operation) {
            Ok(one) => said.push(one),
            Err(one) => unsaid.push((at, one)),
        }
    }
    if unsaid.is_empty() { Ok(said) } else { Err(unsaid) }
}

/// The first operation that is another one when `text` is read.
fn difference(text: &str, changes: &ChangeSet) -> Option<usize> {
    // The paths of files that are edited exist, or the batch fits nowhere.
    let edited = |path: &BatchPath| {
        let mut all = changes.operations.iter();
        all.any(|op| op.path.written == path.written && !matches!(op.action, Action::Create { .. }))
    };
    let options = input::Options {
        format: None,
        default_path: None,
        placeholders: false,
        strip: None,
        exists: &|path| path.base == PathBase::Top || edited(path),
    };
    let again = match input::parse(text.as_bytes(), &options) {
        Ok(again) => steps(&again),
        Err(_) => Vec::new(),
    };
    let meant = steps(changes);
    let at = meant.iter().zip(&again).position(|(meant, again)| meant.1 != again.1);
    let short = (meant.len() != again.len()).then_some(meant.len().min(again.len()));
    let at = at.or(short)?;
    Some(meant.get(at).or(meant.last()).map_or(0, |(index, _)| *index))
}

/// The operations, with their index, in the finest equal parts: entries of one path run one after another, so that one
/// entry of several steps is the same as several entries of one. Places in the batch are left out.
fn steps(changes: &ChangeSet) -> Vec<(usize, FileOperation)> {
    let mut all = Vec::new();
    for (index, operation) in changes.operations.iter().enumerate() {
        let bare = without_origins(operation);
        match &bare.action {
            Action::Modify { steps } if steps.len() > 1 => {
                for (number, step) in steps.iter().enumerate() {
                    let expects = if number == 0 { bare.expects.clone() } else { Precondition::Any };
                    let action = Action::Modify { steps: vec![step.clone()] };
                    all.push((index, FileOperation { action, expects, ..bare.clone() }));
                }
            }
            _ => all.push((index, bare)),
        }
    }
    all
}

fn without_origins(operation: &FileOperation) -> FileOperation {
    const NOWHERE: Origin = Origin { entry: 0, hunk: 0, line: 0 };
    let mut bare = FileOperation { origin: NOWHERE, ..operation.clone() };
    let steps: &mut [Step] = match &mut bare.action {
        Action::Modify { steps }
        | Action::Delete { steps }
        | Action::Rename { steps, .. }
        | Action::Copy { steps, .. } => steps,
        Action::Create { .. } => &mut [],
    };
    for hunk in steps.iter_mut().flat_map(|step| &mut step.hunks) {
        hunk.origin = NOWHERE;
        // How closely its rows must stand in the file belongs to the form, not to the change.
        if let Locator::Lines(lines) = &mut hunk.locator {
            lines.closeness = Closeness::default();
        }
    }
    bare
}

/// A path in a form whose paths start at the current folder.
fn path(path: &BatchPath) -> Said<&str> {
    match (path.base, path.written.to_str()) {
        (PathBase::Top, _) => no_place("a path from the top of the repository"),
        (_, Err(_)) => no_words("a path that is not UTF-8"),
        (PathBase::Current, Ok(path)) => Ok(path),
    }
}

/// The tag of a precondition in a form of JSON.
fn tag(expects: &Precondition) -> Said<Option<&str>> {
    match expects {
        Precondition::Any => Ok(None),
        Precondition::Tagged(tag) => Ok(Some(tag.as_str())),
        Precondition::WeaklyTagged(_) => no_place("a short tag of other tools"),
        Precondition::FolderExists => no_place("that the folder must exist"),
    }
}

/// That the form says nothing of the version that an entry is for.
fn no_tag(expects: &Precondition) -> Said<()> {
    match expects {
        Precondition::Any => Ok(()),
        Precondition::FolderExists => no_place("that the folder must exist"),
        Precondition::Tagged(_) | Precondition::WeaklyTagged(_) => {
            no_place("the version that the edit is for")
        }
    }
}

fn no_mode(operation: &FileOperation) -> Said<()> {
    operation.mode.map_or(Ok(()), |_| no_words("the mode of a file"))
}

fn once(occurrence: Occurrence) -> Said<()> {
    if occurrence == Occurrence::Once { Ok(()) } else { no_place("a change of several places at once") }
}

/// The smallest of `lengths` that no line of `text` has a run of `signs` of.
fn marker_length(text: &[&str], signs: &[char], lengths: impl IntoIterator<Item = usize>) -> Option<usize> {
    let run = |line: &str| {
        let bare = line.trim_start();
        let sign = bare.chars().next().filter(|sign| signs.contains(sign))?;
        Some(bare.len() - bare.trim_start_matches(sign).len())
    };
    let taken: Vec<usize> = text.iter().flat_map(|text| text.lines()).filter_map(run).collect();
    lengths.into_iter().find(|length| !taken.contains(length))
}
