//! Unified diffs of a plan, as `git diff` prints and `git apply` takes them.

mod binary;

use crate::edit::{Pieces, RelPath};
use crate::git::Naming;
use crate::output::quoted;
use crate::plan::{FileAction, Plan, PlannedFile, Resolved, Sink, SinkFull, is_binary};
use bytes::Bytes;
use similar::{Algorithm, DiffOp};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// Lines of context around a change.
const CONTEXT: usize = 3;

/// Keeps the contents of changed files, so that their diff can be shown.
#[derive(Debug, Default)]
pub struct Contents {
    naming: Naming,
    files: Mutex<HashMap<RelPath, Sides>>,
}

#[derive(Clone, Debug, Default)]
struct Sides {
    old: Option<Bytes>,
    new: Option<Pieces>,
}

impl Sink for Contents {
    fn put(&self, file: &Resolved) -> Result<(), SinkFull> {
        let sides = Sides { old: file.old.clone(), new: file.new.clone() };
        self.files.lock().unwrap_or_else(PoisonError::into_inner).insert(file.path.clone(), sides);
        Ok(())
    }
}

impl Contents {
    /// Nothing yet; `naming` is how git names the contents of binary files.
    pub fn new(naming: Naming) -> Self {
        Self { naming, files: Mutex::default() }
    }

    /// The diff of the whole plan, in its order.
    pub fn diff(&self, plan: &Plan) -> Vec<u8> {
        let files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        let mut out = Vec::new();
        for file in plan.files.iter().filter(|f| f.action != FileAction::None) {
            let (old, new) = sides(&files, file);
            Section { file, naming: self.naming, old: &old, new: &new }.write(&mut out);
        }
        out
    }

    /// The bytes of a file before and after the plan.
    pub(crate) fn sides(&self, file: &PlannedFile) -> (Bytes, Bytes) {
        sides(&self.files.lock().unwrap_or_else(PoisonError::into_inner), file)
    }
}

fn sides(files: &HashMap<RelPath, Sides>, file: &PlannedFile) -> (Bytes, Bytes) {
    let from = file.from.as_ref().unwrap_or(&file.path);
    let old = files.get(from).and_then(|sides| sides.old.clone()).unwrap_or_default();
    let new = files.get(&file.path).and_then(|sides| sides.new.as_ref().map(Pieces::whole));
    (old, new.unwrap_or_default())
}

/// What is written of one file.
struct Section<'a> {
    file: &'a PlannedFile,
    naming: Naming,
    old: &'a [u8],
    new: &'a [u8],
}

impl Section<'_> {
    fn write(&self, out: &mut Vec<u8>) {
        let modes = (self.file.before.git_mode(), self.file.after.git_mode());
        let is_link = |mode: &str| mode == "120000";
        match modes {
            // To git a link instead of a file is another object: one goes, one comes.
            (Some(old), Some(new)) if is_link(old) != is_link(new) => {
                self.part(out, (Some(old), None));
                self.part(out, (None, Some(new)));
            }
            modes => self.part(out, modes),
        }
    }

    /// The change between these modes, of a file that stays, comes or goes.
    fn part(&self, out: &mut Vec<u8>, (before, after): (Option<&str>, Option<&str>)) {
        let from = self.file.from.as_ref().unwrap_or(&self.file.path);
        let (from, to) = match (before, after) {
            (Some(_), None) => (from, from),
            (None, Some(_)) => (&self.file.path, &self.file.path),
            _ => (from, &self.file.path),
        };
        let (a, b) = (quoted("a/", from.as_bstr()), quoted("b/", to.as_bstr()));
        line(out, &[b"diff --git ", &a, b" ", &b]);
        match (before, after) {
            (None, Some(mode)) => line(out, &[b"new file mode ", mode.as_bytes()]),
            (Some(mode), None) => line(out, &[b"deleted file mode ", mode.as_bytes()]),
            (Some(old), Some(new)) if old != new => {
                line(out, &[b"old mode ", old.as_bytes()]);
                line(out, &[b"new mode ", new.as_bytes()]);
            }
            _ => {}
        }
        if from != to {
            line(out, &[b"rename from ", &quoted("", from.as_bstr())]);
            line(out, &[b"rename to ", &quoted("", to.as_bstr())]);
        }
        let old = before.map(|_| self.old);
        let new = after.map(|_| self.new);
        let link = before.or(after) == Some("120000");
        let binary = |side: Option<&[u8]>| side.is_some_and(is_binary);
        if !link && old != new && (binary(old) || binary(new)) {
            let name = |side: Option<&[u8]>| {
                side.map_or_else(|| self.naming.nothing(), |side| self.naming.blob(side))
            };
            line(out, &[b"index ", name(old).as_bytes(), b"..", name(new).as_bytes()]);
            return out.append(&mut binary::section(old.unwrap_or_default(), new.unwrap_or_default()));
        }
        let hunks = hunks(old.unwrap_or_default(), new.unwrap_or_default());
        if hunks.is_empty() {
            return;
        }
        let null: &[u8] = b"/dev/null";
        let (a, b) = (ended(a), ended(b));
        line(out, &[b"--- ", if before.is_some() { &a } else { null }]);
        line(out, &[b"+++ ", if after.is_some() { &b } else { null }]);
        out.extend_from_slice(&hunks);
    }
}

fn line(out: &mut Vec<u8>, parts: &[&[u8]]) {
    parts.iter().for_each(|part| out.extend_from_slice(part));
    out.push(b'\n');
}

/// A name with a blank needs a tab behind it in the file headers: readers would cut it at the blank.
fn ended(mut name: Vec<u8>) -> Vec<u8> {
    if name.contains(&b' ') {
        name.push(b'\t');
    }
    name
}

/// How many lines come and how many go between two texts.
pub fn counts(old: &[u8], new: &[u8]) -> (usize, usize) {
    let (old, new): (Vec<&[u8]>, Vec<&[u8]>) = (lines_of(old), lines_of(new));
    let changed = |op: &DiffOp| !matches!(op, DiffOp::Equal { .. });
    let ops = similar::capture_diff_slices(Algorithm::Myers, &old, &new);
    let sum = |(come, go), op: DiffOp| (come + op.new_range().len(), go + op.old_range().len());
    ops.into_iter().filter(changed).fold((0, 0), sum)
}

/// The hunks that turn `old` into `new`; nothing when they are equal.
fn hunks(old: &[u8], new: &[u8]) -> Vec<u8> {
    let (old, new): (Vec<&[u8]>, Vec<&[u8]>) = (lines_of(old), lines_of(new));
    let ops = similar::capture_diff_slices(Algorithm::Myers, &old, &new);
    let mut out = Vec::new();
    for group in similar::group_diff_ops(ops, CONTEXT) {
        let (Some(first), Some(last)) = (group.first(), group.last()) else { continue };
        let (a, b) =
            (first.old_range().start..last.old_range().end, first.new_range().start..last.new_range().end);
        line(&mut out, &[b"@@ -", range(&a).as_bytes(), b" +", range(&b).as_bytes(), b" @@"]);
        group.iter().for_each(|op| write_op(&mut out, op, &old, &new));
    }
    out
}

fn lines_of(text: &[u8]) -> Vec<&[u8]> {
    text.split_inclusive(|b| *b == b'\n').collect()
}

fn range(lines: &std::ops::Range<usize>) -> String {
    match lines.len() {
        0 => format!("{},0", lines.start),
        1 => (lines.start + 1).to_string(),
        n => format!("{},{n}", lines.start + 1),
    }
}

fn write_op(out: &mut Vec<u8>, op: &DiffOp, old: &[&[u8]], new: &[&[u8]]) {
    let mut rows = |sign: u8, lines: &[&[u8]]| {
        for text in lines {
            out.push(sign);
            out.extend_from_slice(text);
            if !text.ends_with(b"\n") {
                out.extend_from_slice(b"\n\\ No newline at end of file\n");
            }
        }
    };
    match op {
        DiffOp::Equal { .. } => rows(b' ', &old[op.old_range()]),
        _ => {
            rows(b'-', &old[op.old_range()]);
            rows(b'+', &new[op.new_range()]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bstr::ByteSlice;

    #[test]
    fn hunks_are_unified() {
        let text = hunks(b"a\nb\nc\n", b"a\nB\nc");
        assert_eq!(text.as_bstr(), "@@ -1,3 +1,3 @@\n a\n-b\n-c\n+B\n+c\n\\ No newline at end of file\n");
        assert_eq!(hunks(b"", b"x\n").as_bstr(), "@@ -0,0 +1 @@\n+x\n");
        assert!(hunks(b"same", b"same").is_empty());
        assert_eq!(
            (counts(b"a\nb\n", b"a\nc\nd\n"), counts(b"", b""), counts(b"x", b"")),
            ((2, 1), (0, 0), (0, 1))
        );
    }
}
