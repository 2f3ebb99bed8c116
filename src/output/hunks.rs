//! Hunks of whole lines as the body of a diff.

use super::{Said, no_place, no_words, once};
use crate::edit::{Hunk, LineHunk, Locator, Row, Step};

/// What stands on the `@@` line of a hunk.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Headers {
    /// Numbers and anchors, or anchors alone.
    Any,
    /// Anchors alone: tools that read the form take numbers for the text of a line.
    Anchors,
    /// Numbers alone.
    Numbers,
}

/// The hunks of a step.
pub(super) fn body(step: &Step, headers: Headers) -> Said<String> {
    let (mut out, mut growth) = (String::new(), 0);
    for hunk in &step.hunks {
        let lines = lines(hunk)?;
        header(&mut out, lines, growth, headers)?;
        rows(&mut out, lines, headers)?;
        growth += lines.new_rows().count().cast_signed() - lines.old_rows().count().cast_signed();
    }
    Ok(out)
}

/// The hunk of whole lines that `hunk` is.
pub(super) fn lines(hunk: &Hunk) -> Said<&LineHunk> {
    once(hunk.occurrence)?;
    match &hunk.locator {
        Locator::Lines(lines) => Ok(lines),
        Locator::Text { .. } | Locator::Pieces(_) => no_place("a text that may begin inside of a line"),
        Locator::Fill(_) => no_place("the filling of an empty file"),
        Locator::LineRange { .. } | Locator::Gap { .. } => no_place("an edit of numbered lines"),
        Locator::Binary(_) => no_words("the change of a binary file"),
    }
}

/// The `@@` lines; `growth` is by how many lines the hunks above grow the file.
fn header(out: &mut String, hunk: &LineHunk, growth: isize, headers: Headers) -> Said<()> {
    let numbers = match (hunk.hint, headers) {
        (None, Headers::Numbers) => return no_place("a hunk without line numbers"),
        (Some(_), Headers::Anchors) => return no_place("the line numbers of a hunk"),
        (Some(hint), _) => Some(numbers(hunk, hint, growth, headers)?),
        (None, _) => None,
    };
    if headers == Headers::Numbers && !hunk.anchors.is_empty() {
        return no_place("the anchor of a hunk");
    }
    let anchors = hunk.anchors.iter().map(|anchor| &**anchor);
    let words: Vec<&str> = numbers.as_deref().into_iter().chain(anchors).collect();
    if words.is_empty() {
        out.push_str("@@\n");
    }
    for word in words {
        out.push_str(&format!("@@ {word}\n"));
    }
    Ok(())
}

/// `-a,b +c,d @@`; a hint whose count is not that of the old rows is one in words.
fn numbers(hunk: &LineHunk, hint: (usize, usize), growth: isize, headers: Headers) -> Said<String> {
    let ((first, count), old) = (hint, hunk.old_rows().count());
    if count == old {
        let new = hunk.new_rows().count();
        let start = if old == 0 { first } else { first.saturating_sub(1) }.saturating_add_signed(growth);
        let start = if new == 0 { start } else { start + 1 };
        return Ok(format!("-{first},{old} +{start},{new} @@"));
    }
    if headers == Headers::Numbers || count == 0 {
        return no_place("a line number that says little");
    }
    Ok(format!("lines {first}-{}", first.saturating_add(count - 1)))
}

fn rows(out: &mut String, hunk: &LineHunk, headers: Headers) -> Said<()> {
    let last_old = hunk.rows.iter().rposition(|row| !matches!(row, Row::Add(_)));
    let last_new = hunk.rows.iter().rposition(|row| !matches!(row, Row::Remove(_)));
    for (at, row) in hunk.rows.iter().enumerate() {
        let (sign, text) = match row {
            Row::Keep(text) => (' ', text),
            Row::Remove(text) => ('-', text),
            Row::Add(text) => ('+', text),
        };
        out.push(sign);
        out.push_str(text);
        out.push('\n');
        let ends_old = hunk.old_unterminated && last_old == Some(at);
        let ends_new = hunk.new_unterminated && last_new == Some(at);
        if ends_old || ends_new {
            out.push_str("\\ No newline at end of file\n");
        }
    }
    match (hunk.at_end, headers) {
        (true, Headers::Numbers) => return no_place("that a hunk ends the file"),
        (true, _) => out.push_str("*** End of File\n"),
        (false, _) => {}
    }
    Ok(())
}
