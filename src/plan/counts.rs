//! How many lines of a file come and go: as many as the diff of its old and new text shows, however many entries and
//! hunks have made the change.
//!
//! What is equal at both ends is left out first, so that a small change of a large text costs one comparison of bytes.

use crate::edit::{common_prefix, common_suffix};
use similar::{Algorithm, DiffOp};

/// Above this estimate of comparisons the sum of the hunks stands, which may count a line more than once.
const DIFF_LIMIT: usize = 16_000_000;

/// The lines that come and go between two texts. `summed` is what the hunks say: it bounds how far the texts are
/// apart, and is taken as it is where the diff would take too long.
pub(super) fn counts(old: &[u8], new: &[u8], summed: (usize, usize)) -> (usize, usize) {
    let (old, new) = different(old, new);
    let lines = |text: &[u8]| text.split_inclusive(|b| *b == b'\n').count();
    let (gone, come) = (lines(old), lines(new));
    if gone == 0 || come == 0 {
        return (come, gone);
    }
    let all = gone + come;
    if all.saturating_mul(all.min(summed.0 + summed.1)) > DIFF_LIMIT {
        return summed;
    }
    let lines = |text| <[u8]>::split_inclusive(text, |b| *b == b'\n').collect::<Vec<_>>();
    similar::capture_diff_slices(Algorithm::Myers, &lines(old), &lines(new))
        .into_iter()
        .filter(|op| !matches!(op, DiffOp::Equal { .. }))
        .fold((0, 0), |(come, gone), op| (come + op.new_range().len(), gone + op.old_range().len()))
}

/// The whole lines between the equal ones at both ends.
fn different<'t>(old: &'t [u8], new: &'t [u8]) -> (&'t [u8], &'t [u8]) {
    let same = common_prefix(old, new);
    let head = memchr::memrchr(b'\n', &old[..same]).map_or(0, |at| at + 1);
    let (old, new) = (&old[head..], &new[head..]);
    let same = common_suffix(old, new);
    // The first line of the common end may be the end of two different lines.
    let end = &old[old.len() - same..];
    let tail = memchr::memchr(b'\n', end).map_or(0, |at| end.len() - at - 1);
    (&old[..old.len() - tail], &new[..new.len() - tail])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MANY: (usize, usize) = (1000, 1000);

    /// Those of a diff of everything.
    fn diffed(old: &[u8], new: &[u8]) -> (usize, usize) {
        let lines = |text| <[u8]>::split_inclusive(text, |b| *b == b'\n').collect::<Vec<_>>();
        let ops = similar::capture_diff_slices(Algorithm::Myers, &lines(old), &lines(new));
        let changed = ops.iter().filter(|op| !matches!(op, DiffOp::Equal { .. }));
        changed.fold((0, 0), |(come, gone), op| (come + op.new_range().len(), gone + op.old_range().len()))
    }

    proptest! {
        #[test]
        fn they_are_those_of_the_diff(old in "([ab]{0,2}\r?\n){0,8}[ab]{0,2}", new in "([ab]{0,2}\r?\n){0,8}[ab]{0,2}") {
            let check = |old: String, new: String| {
                let (old, new) = (old.as_bytes(), new.as_bytes());
                prop_assert_eq!(counts(old, new, MANY), diffed(old, new));
                Ok(())
            };
            check(old.clone(), new.clone())?;
            let (head, tail) = ("head\n".repeat(2000), "tail\n".repeat(2000));
            let long = |middle: &str| format!("{head}{middle}\n{tail}");
            check(long(&old), long(&new))?;
            check(format!("{head}{old}"), format!("{head}{new}"))?;
        }
    }

    #[test]
    fn what_takes_too_long_is_not_compared() {
        let text = |word: &str| format!("{word}\nsame\n").repeat(5000).into_bytes();
        assert_eq!(counts(&text("a"), &text("b"), (7, 8)), (5000, 5000));
        assert_eq!(counts(&text("a"), &text("b"), (7000, 8000)), (7000, 8000));
    }
}
