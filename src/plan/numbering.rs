//! Whether new text carries line numbers that a display put before it: told, never taken off.

use crate::edit::{Hunk, Locator, Row};

/// Whether the new rows of a hunk are numbered one after another, as `3:text`, and its old rows are not.
pub(super) fn is_numbered(hunk: &Hunk) -> bool {
    match &hunk.locator {
        Locator::Text { old, new } => numbered(new.lines()) && !any_numbered(old.lines()),
        Locator::Pieces(pieces) => {
            pieces.iter().any(|(old, new)| numbered(new.lines()) && !any_numbered(old.lines()))
        }
        Locator::Lines(lines) => {
            let added = lines.rows.iter().filter_map(|row| match row {
                Row::Add(text) => Some(&**text),
                Row::Keep(_) | Row::Remove(_) => None,
            });
            numbered(added) && !any_numbered(lines.old_rows().map(|text| &**text))
        }
        Locator::Fill(new) => numbered(new.lines()),
        Locator::LineRange { rows, .. } | Locator::Gap { rows, .. } => {
            numbered(rows.iter().map(|row| &**row))
        }
        Locator::Binary(_) => false,
    }
}

/// Whether all of `rows`, two at least, begin with numbers that count up by one.
pub(super) fn numbered<'t>(rows: impl Iterator<Item = &'t str>) -> bool {
    let (mut count, mut last) = (0, None);
    for row in rows {
        let Some(number) = number(row) else { return false };
        if last.is_some_and(|last: usize| last.checked_add(1) != Some(number)) {
            return false;
        }
        (count, last) = (count + 1, Some(number));
    }
    count > 1
}

fn any_numbered<'t>(mut rows: impl Iterator<Item = &'t str>) -> bool {
    rows.any(|row| number(row).is_some())
}

/// The number that the row begins with, up to a colon.
fn number(row: &str) -> Option<usize> {
    let digits = row.trim_start().split_once(':')?.0;
    digits.bytes().all(|b| b.is_ascii_digit()).then_some(digits)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_that_count_up_are_numbered() {
        for text in ["1:a\n2:b", " 9: a\n10: b\n11:", "7:\n8:"] {
            assert!(numbered(text.lines()), "{text}");
        }
        for text in ["", "1:a", "1:a\n3:b", "1:a\nb", "a:1\nb:2", "11:00 x\n11:30 y", "1 a\n2 b", ":\n:"] {
            assert!(!numbered(text.lines()), "{text}");
        }
    }
}
