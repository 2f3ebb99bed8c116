//! The info string of an edit fence: its word, and the paths behind it with shell-like quotes.

/// The first word of an info string and the rest.
pub(super) fn split(info: &str) -> (&str, &str) {
    let info = info.trim();
    let end = info.find(char::is_whitespace).unwrap_or(info.len());
    (&info[..end], info[end..].trim())
}

/// The paths of a header; an error message for a quote that is not closed.
///
/// An unquoted rest with blanks that `exists` as a whole is one path.
pub(super) fn paths(rest: &str, exists: &dyn Fn(&str) -> bool) -> Result<Vec<String>, String> {
    let quoted = rest.contains(['"', '\'']);
    if !quoted && rest.contains(char::is_whitespace) && exists(rest) {
        return Ok(vec![rest.to_owned()]);
    }
    let (mut paths, mut path, mut inside) = (Vec::new(), None::<String>, None);
    let mut chars = rest.chars().peekable();
    while let Some(c) = chars.next() {
        match (inside, c) {
            (Some(quote), c) if c == quote => inside = None,
            (None, '"' | '\'') => {
                inside = Some(c);
                path.get_or_insert_default();
            }
            (None, c) if c.is_whitespace() => paths.extend(path.take()),
            (None | Some('"'), '\\') => {
                let escaped = chars.next_if(|n| escapable(*n, inside.is_some()));
                path.get_or_insert_default().push(escaped.unwrap_or('\\'));
            }
            (_, c) => path.get_or_insert_default().push(c),
        }
    }
    paths.extend(path);
    match inside {
        Some(quote) => Err(format!("the quote {quote} in the fence header is never closed")),
        None => Ok(paths),
    }
}

/// Backslashes before other characters are text, as in Windows paths.
fn escapable(c: char, inside: bool) -> bool {
    matches!(c, '"' | '\\') || (!inside && (c == '\'' || c.is_whitespace()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(rest: &str, expected: &[&str]) {
        assert_eq!(paths(rest, &|p| p == "my file.py").as_deref(), Ok(&expected.map_owned()[..]), "{rest}");
    }

    trait Owned {
        fn map_owned(&self) -> Vec<String>;
    }

    impl Owned for &[&str] {
        fn map_owned(&self) -> Vec<String> {
            self.iter().map(ToString::to_string).collect()
        }
    }

    #[test]
    fn quotes_and_blanks() {
        check("", &[]);
        check("a  b", &["a", "b"]);
        check("my file.py", &["my file.py"]);
        check("\"my file.py\" b", &["my file.py", "b"]);
        check("'it is' a\\ b", &["it is", "a b"]);
        check("\"a\\\"b\" src\\x.rs", &["a\"b", "src\\x.rs"]);
        assert!(paths("'a", &|_| false).is_err());
        assert_eq!(split("  patch_many  a b "), ("patch_many", "a b"));
    }
}
