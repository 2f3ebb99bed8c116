//! Lines of a file as a message shows them: cut at a character, with what cannot be seen made visible.

use bstr::ByteSlice;

/// Longest excerpt of one line, in bytes of the file.
const WIDTH: usize = 160;

/// The start of `line` as text; a cut is shown by `…`, bytes that are no UTF-8 by `\xNN`.
pub(super) fn excerpt(line: &[u8]) -> String {
    let shown = cut(line, WIDTH);
    let mut text = String::new();
    for chunk in shown.utf8_chunks() {
        text.push_str(chunk.valid());
        for byte in chunk.invalid() {
            text.push_str(&format!("\\x{byte:02X}"));
        }
    }
    if shown.len() < line.len() {
        text.push('…');
    }
    text
}

/// At most `most` bytes of `line`, never half a character.
fn cut(line: &[u8], most: usize) -> &[u8] {
    if line.len() <= most {
        return line;
    }
    let mut end = most;
    while end > most - 4 && (line[end] & 0xC0) == 0x80 {
        end -= 1;
    }
    &line[..end]
}

/// Where two lines part, in words: `column 5: the batch has "→", the file has "····"`.
pub(super) fn difference(wanted: &[u8], found: &[u8]) -> String {
    let same = wanted.iter().zip(found).take_while(|(a, b)| a == b).count();
    let start = boundary(wanted, found, same);
    let column = wanted[..start].chars().count() + 1;
    let (w, f) = (visible(&wanted[start..]), visible(&found[start..]));
    format!("column {column}: the batch has {w}, the file has {f}")
}

/// Steps back from `at` to where a character starts in both.
fn boundary(a: &[u8], b: &[u8], mut at: usize) -> usize {
    let inside = |s: &[u8], at: usize| s.get(at).is_some_and(|byte| byte & 0xC0 == 0x80);
    while at > 0 && (inside(a, at) || inside(b, at)) {
        at -= 1;
    }
    at
}

/// The next few characters, blanks and strangers by sign or name.
fn visible(rest: &[u8]) -> String {
    if rest.is_empty() {
        return "the end of the line".to_owned();
    }
    let mut shown = String::from("\"");
    for c in rest.chars().take(12) {
        match c {
            ' ' => shown.push('·'),
            '\t' => shown.push('→'),
            '\r' => shown.push('␍'),
            '\u{a0}' => shown.push_str("<no-break space>"),
            '\u{202f}' => shown.push_str("<narrow no-break space>"),
            '\u{200b}' => shown.push_str("<zero width space>"),
            '\u{feff}' => shown.push_str("<byte order mark>"),
            c if c.is_control() || (c.is_whitespace() && c != ' ') => {
                shown.push_str(&format!("<U+{:04X}>", u32::from(c)));
            }
            '\u{2010}'..='\u{2027}' | '\u{2032}' | '\u{2033}' | '\u{2212}' => {
                shown.push_str(&format!("{c}<U+{:04X}>", u32::from(c)));
            }
            c => shown.push(c),
        }
    }
    shown.push('"');
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_never_splits_a_character() {
        let line = "é".repeat(200);
        let shown = excerpt(line.as_bytes());
        assert!(shown.ends_with('…') && shown.chars().count() == 81, "{shown}");
    }

    #[test]
    fn differences_are_visible() {
        assert_eq!(difference(b"a\tb", b"a    b"), "column 2: the batch has \"→b\", the file has \"····b\"");
        assert_eq!(difference("a b".as_bytes(), "a\u{a0}b".as_bytes()).matches("no-break").count(), 1);
        assert!(difference(b"ab", b"a").ends_with("the end of the line"));
    }
}
