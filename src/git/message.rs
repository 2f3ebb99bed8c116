//! Commit messages: the default one, and the clean-up that git gives to a message from the command line.

use crate::edit::RelPath;
use bstr::{BStr, BString, ByteSlice};

/// The message of a batch for which nobody wrote one: `patchmany: 2 files (src/a.rs, …)`.
pub(crate) fn default(paths: &[&RelPath]) -> BString {
    let first = paths.first().map_or_else(String::new, ToString::to_string);
    match paths.len() {
        1 => format!("patchmany: 1 file ({first})\n"),
        count => format!("patchmany: {count} files ({first}, …)\n"),
    }
    .into()
}

/// Without blanks at line ends, blank lines at both ends and doubled blank lines; with one line feed at the end.
///
/// Empty when nothing is left.
pub(crate) fn clean(message: &[u8]) -> BString {
    let mut cleaned = BString::default();
    let mut blank = false;
    for line in message.lines().map(|line| line.trim_end()) {
        if line.is_empty() {
            blank = !cleaned.is_empty();
            continue;
        }
        if std::mem::take(&mut blank) {
            cleaned.push(b'\n');
        }
        cleaned.extend_from_slice(line);
        cleaned.push(b'\n');
    }
    cleaned
}

/// What the reflog says: the first paragraph on one line.
pub(crate) fn subject(message: &BStr) -> BString {
    let lines = message.lines().take_while(|line| !line.trim().is_empty());
    bstr::join(" ", lines).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_cleaned_as_git_does() {
        let check =
            |written: &str, expected: &str| assert_eq!(clean(written.as_bytes()), expected, "{written:?}");
        check("one", "one\n");
        check("\n\n one \t\n\n\n# two\r\n\n", " one\n\n# two\n");
        check(" \n\t\n", "");
    }

    #[test]
    fn the_default_names_the_first_path() {
        let path = |p: &str| RelPath::new(p).expect("a good path");
        assert_eq!(default(&[&path("a/b")]), "patchmany: 1 file (a/b)\n");
        assert_eq!(default(&[&path("a"), &path("b")]), "patchmany: 2 files (a, …)\n");
        assert_eq!(subject(b"one\ntwo\n\nthree".as_bstr()), "one two");
    }
}
