//! Why a text that stands nowhere is not equal to the place that comes nearest: the class of their difference. It is
//! told with a refusal; nothing is placed by it.

use super::fold::fold;
use super::names::like;

/// What two texts differ in, all of the text considered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reason {
    /// In blanks and ends of lines.
    Whitespace,
    /// In tabs, where the other has blanks or nothing.
    Tabs,
    /// In characters that look alike or cannot be seen, perhaps in whitespace too.
    Unicode,
    /// In upper and lower case, perhaps in all that as well.
    Case,
    /// In what they say: the text may be one of an older version.
    Stale,
}

impl Reason {
    /// The word of the JSON result.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Whitespace => "whitespace",
            Self::Tabs => "tabs",
            Self::Unicode => "unicode",
            Self::Case => "case",
            Self::Stale => "stale",
        }
    }

    /// What is wrong with the nearest lines, in words that follow their numbers.
    pub(super) const fn in_words(self) -> &'static str {
        match self {
            Self::Whitespace => "with other blanks or ends of lines",
            Self::Tabs => "with other tabs and blanks",
            Self::Unicode => "with characters that look alike or cannot be seen",
            Self::Case => "with other upper and lower case",
            Self::Stale => "with other words",
        }
    }

    /// The class for the rows `wanted` and the lines that begin where they come nearest; `tabs` says whether the first
    /// rows that differ do so in tabs.
    pub(super) fn of<'l>(wanted: &[&[u8]], found: impl Iterator<Item = &'l [u8]>, tabs: bool) -> Self {
        let wanted = squeezed(wanted.iter().copied(), usize::MAX);
        // The text may begin anywhere in the first line, and lines may be broken elsewhere.
        let mut found = found.peekable();
        let first = found.peek().map_or(0, |line| line.len());
        let found = squeezed(found, first + wanted.len());
        let within =
            |wanted: &str, found: &str| memchr::memmem::find(found.as_bytes(), wanted.as_bytes()).is_some();
        if within(&wanted, &found) {
            return if tabs { Self::Tabs } else { Self::Whitespace };
        }
        let (wanted, found) = (plain(&wanted), plain(&found));
        if within(&wanted, &found) {
            return Self::Unicode;
        }
        if within(&wanted.to_lowercase(), &found.to_lowercase()) { Self::Case } else { Self::Stale }
    }
}

/// The text without blanks, tabs and ends of lines, at least `most` bytes of it where there are so many.
fn squeezed<'l>(lines: impl Iterator<Item = &'l [u8]>, most: usize) -> String {
    let mut text = String::new();
    for line in lines {
        text.extend(String::from_utf8_lossy(line).split_ascii_whitespace());
        if text.len() > most {
            break;
        }
    }
    text
}

/// The text as a keyboard would type it; blanks of all kinds are left out.
fn plain(text: &str) -> String {
    let typed = fold(text);
    let mut plain = String::with_capacity(typed.len());
    for c in typed.chars() {
        match like(c) {
            Some(like) => plain.push_str(&like),
            None => plain.push(c),
        }
    }
    plain.retain(|c| !c.is_whitespace());
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(wanted: &str, found: &str, reason: Reason) {
        let rows: Vec<&[u8]> = wanted.split('|').map(str::as_bytes).collect();
        assert_eq!(
            Reason::of(&rows, found.split('|').map(str::as_bytes), false),
            reason,
            "{wanted} / {found}"
        );
    }

    #[test]
    fn each_class_is_told() {
        check("f(a, b)", "x = f( a,b );", Reason::Whitespace);
        check("a|b", "a||b|c", Reason::Whitespace);
        check("f(a,|  b)", "f(a, b)|", Reason::Whitespace);
        check("say 'go'", "say\u{200b} ’go’", Reason::Unicode);
        check("cop", "с\u{43e}p", Reason::Unicode);
        check("f ( x )", "ｆ（x）", Reason::Unicode);
        check("Retry = “a”", "retry = \"a\"", Reason::Case);
        check("retry = 3", "retry = 5", Reason::Stale);
        check("a|b", "a", Reason::Stale);
    }
}
