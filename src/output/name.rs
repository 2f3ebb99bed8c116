//! Names in diffs: quoted as git does, so that every byte of a path gets through.

use bstr::{BStr, ByteSlice};

/// `prefix` and `path`, in quotes with escapes where git puts them.
pub(crate) fn quoted(prefix: &str, path: &BStr) -> Vec<u8> {
    let plain = path.iter().all(|b| (0x20..0x7f).contains(b) && !matches!(b, b'"' | b'\\'));
    if plain {
        return [prefix.as_bytes(), path].concat();
    }
    let mut out = format!("\"{prefix}").into_bytes();
    for &byte in path.as_bytes() {
        match byte {
            b'"' | b'\\' => out.extend_from_slice(&[b'\\', byte]),
            b'\t' => out.extend_from_slice(b"\\t"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            0x20..0x7f => out.push(byte),
            _ => out.extend_from_slice(format!("\\{byte:03o}").as_bytes()),
        }
    }
    out.push(b'"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_quoted_as_git_does() {
        assert_eq!(quoted("a/", "x y".into()).as_bstr(), "a/x y");
        assert_eq!(quoted("a/", "h\u{e9}\t\"".into()).as_bstr(), "\"a/h\\303\\251\\t\\\"\"");
    }
}
