//! New lines typed as the file is: the changes from the batch's old lines to its new ones, made to the file's lines, so
//! that what the batch leaves alone keeps the file's characters.

use super::equality::trim_end;
use super::fold::aligned;
use similar::{Algorithm, DiffOp};
use std::ops::Range;

/// Above this product of character counts the changed middle is taken as the batch has it.
const DIFF_LIMIT: usize = 4_000_000;

/// The rows `new` where the rows `old` stand as `file`, equal when folded. `None` when they stay as they are.
pub(super) fn retype(file: &[&str], old: &[&str], new: &[&str]) -> Option<Vec<String>> {
    if file == old || new.is_empty() {
        return None;
    }
    let (before, after) = (joined(old), joined(new));
    let parts = parts(file, old);
    let mut typed = String::with_capacity(after.len());
    let mut next = 0;
    for op in char_diff(&before, &after) {
        match op {
            Piece::Kept(range) => keep(&before, &parts, &mut next, range, &mut typed),
            Piece::Put(range) => typed.push_str(&after[range]),
        }
    }
    Some(typed.split_terminator('\n').map(str::to_owned).collect())
}

/// Every row ends with a newline here.
fn joined(rows: &[&str]) -> String {
    rows.iter().flat_map(|row| [row, "\n"]).collect()
}

/// A part of the joined old rows that the file spells in its own way.
struct Part<'a> {
    old: Range<usize>,
    file: &'a str,
    /// Trailing blanks of the file's row: they stay only where the character before them does.
    tail: bool,
}

/// Parts in order, those spelled alike left out.
fn parts<'a>(file: &[&'a str], old: &[&'a str]) -> Vec<Part<'a>> {
    let mut parts = Vec::new();
    let mut start = 0;
    for (file, old) in file.iter().zip(old) {
        let (o, f) = (trimmed(old), trimmed(file));
        let (mut old_end, mut file_end) = (o, f);
        for (one, other) in aligned(&old[..o], &file[..f]) {
            (old_end, file_end) = (one.end, other.end);
            if old[one.clone()] != file[other.clone()] {
                parts.push(Part { old: start + one.start..start + one.end, file: &file[other], tail: false });
            }
        }
        if old[old_end..] != file[file_end..] {
            parts.push(Part { old: start + old_end..start + old.len(), file: &file[file_end..], tail: true });
        }
        start += old.len() + 1;
    }
    parts
}

fn trimmed(row: &str) -> usize {
    trim_end(row.as_bytes()).len()
}

/// Types the old text at `range`, which the batch keeps: parts that are kept whole as the file spells them.
fn keep(before: &str, parts: &[Part<'_>], next: &mut usize, range: Range<usize>, typed: &mut String) {
    let mut at = range.start;
    while let Some(part) = parts.get(*next).filter(|part| part.old.start < range.end) {
        *next += 1;
        // A row's trailing blanks belong to the newline that follows and to the character before.
        let line_start = part.old.start == 0 || before.as_bytes()[part.old.start - 1] == b'\n';
        let whole = part.old.start >= at && part.old.end <= range.end;
        let held = !part.tail || ((part.old.start > range.start || line_start) && part.old.end < range.end);
        if whole && held {
            typed.push_str(&before[at..part.old.start]);
            typed.push_str(part.file);
            at = part.old.end;
        } else if part.old.end > range.end {
            // The next kept range may go on inside it; it is typed as given there too.
            *next -= 1;
            break;
        }
    }
    typed.push_str(&before[at..range.end]);
}

/// What becomes of the old text: kept, or something put in.
enum Piece {
    Kept(Range<usize>),
    Put(Range<usize>),
}

/// Differences by characters; equal ones at both ends are found first. Offsets are bytes.
fn char_diff(before: &str, after: &str) -> Vec<Piece> {
    let same = |(a, b): &(char, char)| a == b;
    let head: usize = before.chars().zip(after.chars()).take_while(same).map(|(c, _)| c.len_utf8()).sum();
    let (b, a) = (&before[head..], &after[head..]);
    let tail: usize = b.chars().rev().zip(a.chars().rev()).take_while(same).map(|(c, _)| c.len_utf8()).sum();
    let (b, a) = (&b[..b.len() - tail], &a[..a.len() - tail]);
    let mut pieces = vec![Piece::Kept(0..head)];
    let (old, new): (Vec<char>, Vec<char>) = (b.chars().collect(), a.chars().collect());
    if old.len().saturating_mul(new.len()) > DIFF_LIMIT {
        pieces.push(Piece::Put(head..head + a.len()));
    } else {
        let (old_at, new_at) = (offsets(b, head), offsets(a, head));
        for op in similar::capture_diff_slices(Algorithm::Myers, &old, &new) {
            let (o, n) = (op.old_range(), op.new_range());
            pieces.push(match op {
                DiffOp::Equal { .. } => Piece::Kept(old_at[o.start]..old_at[o.end]),
                _ => Piece::Put(new_at[n.start]..new_at[n.end]),
            });
        }
    }
    pieces.push(Piece::Kept(before.len() - tail..before.len()));
    pieces
}

/// Where each character of `text` starts, counted from `first`, and where the last one ends.
fn offsets(text: &str, first: usize) -> Vec<usize> {
    text.char_indices().map(|(at, _)| at).chain([text.len()]).map(|at| first + at).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(file: &str, old: &str, new: &str, expected: &str) {
        let rows = |text: &'static str| text.split('|').collect::<Vec<_>>();
        let leaked = |text: &str| -> &'static str { Box::leak(text.to_owned().into_boxed_str()) };
        let typed = retype(&rows(leaked(file)), &rows(leaked(old)), &rows(leaked(new)));
        let typed = typed.map_or_else(|| new.to_owned(), |rows| rows.join("|"));
        assert_eq!(typed, expected, "{file} {old} {new}");
    }

    #[test]
    fn what_the_batch_leaves_alone_is_typed_as_the_file_is() {
        check("He said “go” now", "He said \"go\" now", "He said \"go\" later", "He said “go” later");
        check("a “b” – c\u{a0}d", "a \"b\" - c d", "a \"b\" - c e", "a “b” – c\u{a0}e");
        check("“x”|y", "\"x\"|y", "\"x\"|z|\"w\"", "“x”|z|\"w\"");
        check("cafe\u{301} x", "café x", "café y", "cafe\u{301} y");
    }

    #[test]
    fn what_it_changes_is_typed_as_given() {
        check("wait… now", "wait... now", "wait.. now", "wait.. now");
        check("wait... now", "wait… now", "wait… later", "wait... later");
        check("cafe\u{301} x", "café x", "tea x", "tea x");
    }

    #[test]
    fn trailing_blanks_stay_behind_what_stays() {
        check("say “a”  ", "say \"a\"", "tell \"a\"", "tell “a”  ");
        check("say “a”  ", "say \"a\"", "say \"a\" b", "say “a” b");
        check("“a” b  |c", "\"a\" b|c", "\"a\" x|c", "“a” x|c");
    }
}
