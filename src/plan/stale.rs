//! Stale edits: an entry names the version that it was written for, and the file is another one now.
//!
//! Such an entry is refused. Where the run allows it and that version is known, the edit is made on it and merged with
//! the present text, line by line; the file keeps its byte order mark and its terminators. What both have changed is a
//! refusal that shows it.

use super::compose::Entry;
use super::document::Haystack;
use super::excerpt::excerpt;
use super::sections::check_version;
use super::text_script::diff;
use super::versions::{Chunk, Known, Sides, VersionTag, Versions};
use super::{PlacedHunk, Refusal};
use crate::edit::{Action, Breaks, Code, Hash, Lines, Precondition, RelPath, Terminator, split_bom};
use bytes::Bytes;
use similar::DiffOp;
use std::ops::Range;

/// Lines shown of each side of a conflict.
const SHOWN: usize = 8;

/// What becomes of entries that were written for another version than the present one.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Stale {
    /// They are refused.
    #[default]
    Refuse,
    /// They are merged, where their version is known and nothing conflicts.
    Merge,
}

/// The version that an entry was written for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Version {
    /// The present one.
    Present,
    /// This one.
    Earlier(Bytes),
}

/// A text that stands at a path.
pub(super) struct Standing<'a> {
    pub bytes: &'a [u8],
    pub hash: Hash,
    /// What stands there on disk, when the batch has changed it since.
    pub on_disk: Option<&'a Bytes>,
}

/// The version that `entry` was written for.
///
/// # Errors
/// `stale` when it is not the present one and cannot be merged.
pub(super) fn version(
    versions: &dyn Versions,
    how: Stale,
    entry: &Entry<'_>,
    standing: &Standing<'_>,
) -> Result<Version, Refusal> {
    let Err(refusal) = check_version(versions, entry, standing) else { return Ok(Version::Present) };
    if !matches!(entry.operation.action, Action::Modify { .. } | Action::Rename { .. }) {
        return Err(refusal);
    }
    let again = "read the file again and send the edit with its present tag";
    match (how, known(versions, entry, standing)) {
        (Stale::Merge, Known::Version(bytes)) => Ok(Version::Earlier(bytes.into())),
        (Stale::Merge, Known::Nothing) => {
            Err(refusal
                .hint(format!("that version is not known here, so that nothing can be merged: {again}")))
        }
        (Stale::Merge, Known::Several) => {
            Err(refusal.hint(format!("several known versions have that tag: {again}")))
        }
        (Stale::Refuse, Known::Version(_)) => {
            Err(refusal.hint(format!("{again}, or run with --recover-stale to merge it")))
        }
        (Stale::Refuse, _) => Err(refusal),
    }
}

fn known(versions: &dyn Versions, entry: &Entry<'_>, standing: &Standing<'_>) -> Known {
    let tag = match &entry.operation.expects {
        Precondition::Tagged(tag) => VersionTag::Strong(tag.clone()),
        Precondition::WeaklyTagged(tag) => VersionTag::Weak(*tag),
        Precondition::Any | Precondition::FolderExists => return Known::Nothing,
    };
    match standing.on_disk.filter(|bytes| tag.fits(bytes)) {
        Some(on_disk) => Known::Version(on_disk.to_vec()),
        None => versions.find(&entry.target.path, &tag),
    }
}

/// The text that both changes make, and where lines stand in it.
pub(super) struct Merged {
    pub bytes: Vec<u8>,
    /// From lines of the version to present ones.
    before: LineMap,
    /// From lines of the edited version to merged ones.
    after: LineMap,
}

/// Merges what an edit makes of the version `tagged` with what has become of it since.
///
/// # Errors
/// `stale` with what both have changed.
pub(super) fn merge(
    versions: &dyn Versions,
    entry: &Entry<'_>,
    (tagged, edited): (&[u8], &[u8]),
    present: &[u8],
) -> Result<Merged, Refusal> {
    let (mark, body) = split_bom(present);
    let [tagged, edited, present] =
        [tagged, edited, present].map(|bytes| Haystack::new(split_bom(bytes).1, Breaks::Lf).text);
    let chunks = versions.merge(Sides { base: &tagged, ours: &present, theirs: &edited });
    if chunks.iter().any(|chunk| matches!(chunk, Chunk::Conflict { .. })) {
        return Err(conflict(entry, &present, &chunks));
    }
    let merged = resolved(&chunks);
    let mut bytes = mark.to_vec();
    bytes.append(&mut with_terminators(body, &merged));
    Ok(Merged { bytes, before: LineMap::new(&tagged, &present), after: LineMap::new(&edited, &merged) })
}

impl Merged {
    /// A hunk that was placed in the version, as it stands in the present text and in the merged one.
    pub(super) fn place(&self, hunk: &mut PlacedHunk) {
        for (lines, map) in [(&mut hunk.old_lines, &self.before), (&mut hunk.new_lines, &self.after)] {
            let first = map.line(lines.first.saturating_sub(1)) + 1;
            *lines = super::LineRange::new(first, lines.len());
        }
    }
}

/// The refusal of an entry that the present text holds already.
pub(super) fn applied(path: &RelPath) -> Refusal {
    let message =
        format!("what the entry changes in an earlier version of {path} is changed so in the present one");
    Refusal::new(Code::AlreadyApplied, message).hint("leave the entry out, or run with --skip-applied")
}

/// The text with our side of every conflict.
fn resolved(chunks: &[Chunk]) -> Vec<u8> {
    let ours = chunks.iter().map(|chunk| match chunk {
        Chunk::Clean(text) | Chunk::Conflict { ours: text, .. } => text.as_slice(),
    });
    ours.collect::<Vec<_>>().concat()
}

/// `merged`, which has LF terminators only, with the terminators that `body` has; new lines end as the line that they
/// replace, else as the line before.
fn with_terminators(body: &[u8], merged: &[u8]) -> Vec<u8> {
    let lines = Lines::new(body, Breaks::Lf);
    let mut ends: Vec<Terminator> = (0..lines.len()).filter_map(|line| lines.terminator(line)).collect();
    ends.dedup();
    match ends[..] {
        [] | [Terminator::Lf] => return merged.to_vec(),
        [Terminator::CrLf] => return bstr::ByteSlice::replace(merged, "\n", "\r\n"),
        _ => {}
    }
    let plain = Haystack::new(body, Breaks::Lf).text;
    let (old, new) = (rows(&plain), rows(merged));
    let mut bytes = Vec::with_capacity(body.len());
    for op in similar::capture_diff_slices(similar::Algorithm::Myers, &old, &new) {
        let (from, to) = (op.old_range(), op.new_range());
        if matches!(op, DiffOp::Equal { .. }) {
            bytes.extend_from_slice(&body[lines.span(from)]);
            continue;
        }
        let mut end = lines.terminator_for(from.start.saturating_sub(usize::from(from.is_empty())));
        for (i, row) in new[to].iter().enumerate() {
            let own = (i < from.len()).then(|| lines.terminator(from.start + i)).flatten();
            end = own.unwrap_or(end);
            let text = row.strip_suffix(b"\n");
            bytes.extend_from_slice(text.unwrap_or(row));
            bytes.extend_from_slice(text.map_or(&[][..], |_| end.as_bytes()));
        }
    }
    bytes
}

fn rows(text: &[u8]) -> Vec<&[u8]> {
    text.split_inclusive(|b| *b == b'\n').collect()
}

/// Where the lines of one text stand in another one.
struct LineMap(Vec<DiffOp>);

impl LineMap {
    fn new(from: &[u8], to: &[u8]) -> Self {
        Self(diff(&rows(from), &rows(to)))
    }

    /// The line, from 0, that `line` is there, or that stands in its place.
    fn line(&self, line: usize) -> usize {
        let Some(op) = self.0.iter().find(|op| op.old_range().contains(&line)) else {
            return self.0.last().map_or(0, |op| op.new_range().end);
        };
        let (from, to) = (op.old_range(), op.new_range());
        (to.start + (line - from.start)).min(to.end)
    }
}

/// The refusal that shows what both sides have changed.
fn conflict(entry: &Entry<'_>, present: &[u8], chunks: &[Chunk]) -> Refusal {
    let map = LineMap::new(&resolved(chunks), present);
    let (mut at, mut shown) = (0, String::new());
    for chunk in chunks {
        match chunk {
            Chunk::Clean(text) => at += rows(text).len(),
            Chunk::Conflict { base, ours, theirs } => {
                let count = rows(ours).len();
                let first = map.line(at);
                shown += &clash(first..first + count, [base, ours, theirs]);
                at += count;
            }
        }
    }
    let path = &entry.operation.path;
    let message =
        format!("{path} has changed since, where the entry changes it too, so that it is not merged{shown}");
    Refusal::new(Code::Stale, message).hint("read the file again and send the edit with its present tag")
}

fn clash(lines: Range<usize>, [base, ours, theirs]: [&[u8]; 3]) -> String {
    let place = match lines.len() {
        0 => format!("after line {} stands nothing now", lines.start),
        1 => format!("line {} is now", lines.start + 1),
        _ => format!("lines {} to {} are now", lines.start + 1, lines.end),
    };
    let now = listed(ours, |i| format!("{}:", lines.start + 1 + i));
    let was = listed(base, |_| "-".to_owned());
    let wanted = listed(theirs, |_| "+".to_owned());
    let was = if was.is_empty() { "\nwhere nothing stood".to_owned() } else { format!("\nbut was{was}") };
    let wanted =
        if wanted.is_empty() { "\nto be removed".to_owned() } else { format!("\nto become{wanted}") };
    format!("; {place}{now}{was}{wanted}")
}

/// The first lines of a text, each behind its sign.
fn listed(text: &[u8], sign: impl Fn(usize) -> String) -> String {
    let lines = Lines::new(text, Breaks::Lf);
    let shown = (0..lines.len()).take(SHOWN).map(|i| format!("\n{}{}", sign(i), excerpt(lines.text(i))));
    let rest = lines.len().saturating_sub(SHOWN);
    let more = (rest > 0).then(|| format!("\n… and {rest} more"));
    shown.chain(more).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(body: &str, merged: &str, expected: &str) {
        let found = with_terminators(body.as_bytes(), merged.as_bytes());
        assert_eq!(String::from_utf8_lossy(&found), expected, "{body:?} {merged:?}");
    }

    #[test]
    fn terminators_of_the_present_text_stay() {
        check("a\nb\n", "a\nx\nb\n", "a\nx\nb\n");
        check("a\r\nb\r\n", "a\nx\nb", "a\r\nx\r\nb");
        check("a\r\nb\nc\r\n", "a\nx\nb\nc\nd\n", "a\r\nx\r\nb\nc\r\nd\r\n");
        check("a\nb\r\nc", "a\nB\nB2\nc", "a\nB\r\nB2\r\nc");
        check("a\r\nb\nc", "a\nc", "a\r\nc");
    }

    #[test]
    fn lines_are_followed() {
        let map = LineMap::new(b"a\nb\nc\n", b"x\na\nB\nc\n");
        assert_eq!([0, 1, 2, 3].map(|line| map.line(line)), [1, 2, 3, 4]);
    }
}
