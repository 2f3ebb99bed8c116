//! What may stand around an envelope or hashline sections: a heredoc, and `*** Begin Patch` … `*** End Patch`.
//!
//! Markers may be padded with blanks. Nothing but blank lines may follow the end marker. When every line ends in
//! CRLF, the CR belongs to the way the batch was sent and is dropped.

use super::body::{Body, Fault, Line, all_crlf, lines};
use crate::edit::Text;
use std::ops::Range;

pub(super) const BEGIN: &str = "*** Begin Patch";
const END: &str = "*** End Patch";

/// Whether the markers must be there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Markers {
    Needed,
    Optional,
}

/// The word that ends a heredoc which this line opens: `<<EOF`, `<<'EOF'`, `<<"EOF"`, also after `cat`.
pub(super) fn heredoc(line: &str) -> Option<&str> {
    let (command, word) = line.trim().split_once("<<")?;
    let word = ['\'', '"'].iter().fold(word, |word, quote| {
        word.strip_prefix(*quote).and_then(|inner| inner.strip_suffix(*quote)).unwrap_or(word)
    });
    let is_word = !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    (["", "cat", "apply_patch"].contains(&command.trim()) && is_word).then_some(word)
}

/// The text inside of the wrappers of `body`.
pub(super) fn inside(body: &Body, markers: Markers) -> Result<Body, Fault> {
    let lines: Vec<Line<'_>> = lines(&body.text).collect();
    let outer = filled(&lines, 0..lines.len());
    let rows = match lines.get(outer.start).and_then(|line| heredoc(line.text)) {
        Some(word) => in_heredoc(&lines, outer, word)?,
        None => outer,
    };
    let begins = lines.get(rows.start).is_some_and(|line| line.text.trim() == BEGIN);
    let rows = match (begins, markers) {
        (true, _) => in_markers(&lines, rows)?,
        (false, Markers::Optional) => rows,
        (false, Markers::Needed) => {
            let fault = Fault::new(rows.start, "the envelope does not begin with `*** Begin Patch`");
            return Err(fault.hint("put `*** Begin Patch` on a line of its own above the first section"));
        }
    };
    let start_of = |at: usize| lines.get(at).map_or(body.text.len(), |line| line.start);
    let text = body.text.slice(start_of(rows.start)..start_of(rows.end));
    let text = if all_crlf(&lines) { Text::from(text.replace("\r\n", "\n")) } else { text };
    Ok(body.part(text, rows.start))
}

/// The rows without blank lines at both ends.
fn filled(lines: &[Line<'_>], rows: Range<usize>) -> Range<usize> {
    let is_filled = |&at: &usize| !lines[at].is_blank();
    let Some(first) = rows.clone().find(is_filled) else {
        return rows.start..rows.start;
    };
    first..rows.rev().find(is_filled).map_or(first, |last| last + 1)
}

fn in_heredoc(lines: &[Line<'_>], rows: Range<usize>, word: &str) -> Result<Range<usize>, Fault> {
    if rows.len() < 2 || lines[rows.end - 1].text.trim_end() != word {
        let fault = Fault::new(rows.start, format!("the heredoc is not closed by a last line `{word}`"));
        return Err(fault.hint(format!("end the input with `{word}`, or leave the heredoc out")));
    }
    Ok(filled(lines, rows.start + 1..rows.end - 1))
}

fn in_markers(lines: &[Line<'_>], rows: Range<usize>) -> Result<Range<usize>, Fault> {
    let inner = rows.start + 1..rows.end;
    // A padded line inside of a section is context; at the very end it can only be the marker.
    let flush = inner.clone().find(|&at| lines[at].text.trim_end() == END);
    let last = inner.clone().last().filter(|&at| lines[at].text.trim() == END);
    let Some(end) = flush.or(last) else {
        let fault = Fault::new(rows.start, "the envelope is never closed");
        return Err(fault.hint("end it with a line `*** End Patch`"));
    };
    if end + 1 < rows.end {
        let after = filled(lines, end + 1..rows.end).start;
        return Err(Fault::new(after, "text after `*** End Patch`")
            .hint("put all sections above the one end marker, and explanations before a fence"));
    }
    Ok(inner.start..end)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The inner text and the line it starts on, or the line of the fault and its message.
    fn check(text: &str, expected: Result<(&str, usize), (usize, &str)>) {
        let found = inside(&Body::lines(text.into(), 1), Markers::Needed);
        match (&found, expected) {
            (Ok(body), Ok((text, line))) => assert_eq!((&*body.text, body.line(0)), (text, line), "{text:?}"),
            (Err(fault), Err((line, part))) => {
                assert_eq!(fault.line + 1, line, "{text:?}: {fault:?}");
                assert!(fault.message.contains(part), "{fault:?}");
            }
            _ => panic!("{text:?}: {found:?}"),
        }
    }

    #[test]
    fn markers_and_heredocs() {
        check("*** Begin Patch\nx\n*** End Patch\n\n", Ok(("x\n", 2)));
        check("\n  *** Begin Patch \nx\n *** End Patch", Ok(("x\n", 3)));
        check("*** Begin Patch\n *** End Patch\nx\n*** End Patch", Ok((" *** End Patch\nx\n", 2)));
        check("cat <<'EOF'\n*** Begin Patch\nx\n*** End Patch\nEOF\n", Ok(("x\n", 3)));
        check("*** Begin Patch\r\nx\r\n*** End Patch\r\n", Ok(("x\n", 2)));
        check("*** Begin Patch\r\nx\r\n*** End Patch\n", Ok(("x\r\n", 2)));
    }

    #[test]
    fn what_is_not_closed() {
        check("x\n", Err((1, "does not begin")));
        check("*** Begin Patch\nx\n", Err((1, "never closed")));
        check("*** Begin Patch\n*** End Patch\n\nx\n", Err((4, "text after")));
        check("<<EOF\n*** Begin Patch\n*** End Patch\n", Err((1, "heredoc")));
        check("", Err((1, "does not begin")));
    }

    #[test]
    fn heredoc_words() {
        for line in ["<<EOF", "<<'EOF'", "<<\"EOF\"", "cat <<'EOF'", "apply_patch <<EOF"] {
            assert_eq!(heredoc(line), Some("EOF"), "{line}");
        }
        for line in ["<<\"EOF'", "<<", "<<'E F'", "rm <<EOF", "EOF"] {
            assert_eq!(heredoc(line), None, "{line}");
        }
    }
}
