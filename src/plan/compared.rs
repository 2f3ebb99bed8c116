//! The lines of a batch beside those of a file, as rows of a diff that a person reads: never more than a screen of them.

use super::equality::Key;
use super::excerpt::excerpt;
use super::refusal::written;
use similar::{Algorithm, DiffOp};

/// What the rows of one hunk take at most when written as JSON, in bytes.
const MOST_BYTES: usize = 2000;
/// What a row takes besides its text.
const FRAME: usize = 40;
/// Lines of a side that are compared.
const MOST_LINES: usize = 200;
/// Equal lines shown beside a difference.
const CONTEXT: usize = 2;

/// One row.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Compared {
    /// This line of the file, from 1, stands in the batch too.
    Same(usize, String),
    /// The batch has it, the file does not.
    Batch(String),
    /// This line of the file is not in the batch.
    File(usize, String),
    /// Lines are left out.
    Gap,
}

/// The rows of `wanted`, which the batch has, and `found`, which stands in the file from `first` (from 0) on. Those with
/// one `key` are equal, and shown as the file has them.
pub(super) fn compared(key: Key, wanted: &[&[u8]], found: &[&[u8]], first: usize) -> Vec<Compared> {
    let (wanted, cut) = (&wanted[..wanted.len().min(MOST_LINES)], wanted.len() > MOST_LINES);
    let found = &found[..found.len().min(MOST_LINES)];
    let mut rows = Vec::new();
    let keys = |lines: &[&'_ [u8]]| lines.iter().map(|line| key.of(line).into_owned()).collect::<Vec<_>>();
    let ops = similar::capture_diff_slices(Algorithm::Myers, &keys(wanted), &keys(found));
    let last = ops.len().saturating_sub(1);
    for (at, op) in ops.iter().enumerate() {
        let line = |i: usize| (first + i + 1, excerpt(found[i]));
        if let DiffOp::Equal { new_index, len, .. } = *op {
            let near = |i: usize| (at > 0 && i < CONTEXT) || (at < last && i + CONTEXT >= len);
            for i in 0..len {
                match near(i) {
                    true => rows.push({
                        let (n, text) = line(new_index + i);
                        Compared::Same(n, text)
                    }),
                    false if rows.last() != Some(&Compared::Gap) => rows.push(Compared::Gap),
                    false => {}
                }
            }
            continue;
        }
        rows.extend(op.old_range().map(|i| Compared::Batch(excerpt(wanted[i]))));
        rows.extend(op.new_range().map(|i| {
            let (n, text) = line(i);
            Compared::File(n, text)
        }));
    }
    let mut left = MOST_BYTES;
    let fit = rows.iter().take_while(|row| {
        let size = written(row.text()) + FRAME;
        let fits = size <= left;
        left = left.saturating_sub(size);
        fits
    });
    let fit = fit.count();
    if fit < rows.len() || cut {
        rows.truncate(fit);
        rows.push(Compared::Gap);
    }
    rows
}

impl Compared {
    /// Its text; nothing for lines that are left out.
    pub fn text(&self) -> &str {
        match self {
            Self::Same(_, text) | Self::Batch(text) | Self::File(_, text) => text,
            Self::Gap => "",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(wanted: &str, found: &str, expected: &str) {
        let lines = |text: &'static str| text.split('|').map(str::as_bytes).collect::<Vec<_>>();
        let leaked = |text: &str| -> &'static str { Box::leak(text.to_owned().into_boxed_str()) };
        let rows = compared(Key::Body, &lines(leaked(wanted)), &lines(leaked(found)), 9);
        let shown = rows.iter().map(|row| match row {
            Compared::Same(n, text) => format!(" {n}{text}"),
            Compared::Batch(text) => format!("-{text}"),
            Compared::File(n, text) => format!("+{n}{text}"),
            Compared::Gap => "…".to_owned(),
        });
        assert_eq!(shown.collect::<Vec<_>>().join("|"), expected);
    }

    #[test]
    fn rows_are_those_of_a_diff() {
        check("a|b|c", "a|B|c", " 10a|-b|+11B| 12c");
        check("a|b|c|d|e", "a|b|c|d|E", "…| 12c| 13d|-e|+14E");
        check("a|b", "a", " 10a|-b");
        check("a|b", "  a |c", " 10  a |-b|+11c");
    }

    #[test]
    fn there_are_never_too_many() {
        let long = "\u{1}é".repeat(200);
        let rows = |word: &str| format!("{word}{long}\n").repeat(1000);
        let (wanted, found) = (rows("a"), rows("b"));
        let lines = |text: &'static str| text.lines().map(str::as_bytes).collect::<Vec<_>>();
        let shown =
            compared(Key::Bytes, &lines(Box::leak(wanted.into())), &lines(Box::leak(found.into())), 0);
        assert!(shown.iter().map(|row| written(row.text()) + FRAME).sum::<usize>() <= MOST_BYTES + FRAME);
        assert_eq!(shown.last(), Some(&Compared::Gap));
    }
}
