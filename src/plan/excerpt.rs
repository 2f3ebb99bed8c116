//! Lines of a file as a message shows them: cut at a character, with what cannot be seen made visible.

use super::names::name;
use bstr::ByteSlice;
use unicode_normalization::char::is_combining_mark;

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

/// Where two lines part, in words: `column 5: the batch has "→", the file has "····"`. The column is one of the file;
/// `from` says how far into each line they are not compared.
pub(super) fn difference(wanted: &[u8], found: &[u8], from: (usize, usize)) -> String {
    let (before, wanted, found) = (&found[..from.1], &wanted[from.0..], &found[from.1..]);
    let same = wanted.iter().zip(found).take_while(|(a, b)| a == b).count();
    let start = boundary(wanted, found, same);
    let column = before.chars().count() + found[..start].chars().count() + 1;
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
    for (at, c) in rest.chars().take(12).enumerate() {
        let number = u32::from(c);
        match (c, name(c)) {
            (' ', _) => shown.push('·'),
            ('\t', _) => shown.push('→'),
            ('\r', _) => shown.push('␍'),
            // Letters of other scripts are named where the texts part; behind that they are text.
            (_, Some(name)) if at == 0 || !c.is_alphabetic() => {
                shown.push_str(&format!("<U+{number:04X} {name}>"));
            }
            _ if c.is_control() || c.is_whitespace() || is_combining_mark(c) => {
                shown.push_str(&format!("<U+{number:04X}>"));
            }
            _ => shown.push(c),
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
        let parted = |wanted: &str, found: &str| difference(wanted.as_bytes(), found.as_bytes(), (0, 0));
        assert_eq!(parted("a\tb", "a    b"), "column 2: the batch has \"→b\", the file has \"····b\"");
        assert!(parted("a b", "a\u{a0}b").ends_with("the file has \"<U+00A0 no-break space>b\""));
        assert!(parted("a", "\u{430}сс").ends_with("the file has \"<U+0430 Cyrillic small letter a>сс\""));
        assert!(parted("ab", "a").ends_with("the end of the line"));
        assert_eq!(difference(b"ab", b"  ac", (0, 2)), "column 4: the batch has \"b\", the file has \"c\"");
    }
}
