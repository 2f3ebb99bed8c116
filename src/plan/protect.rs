//! Names that some file system takes for `.git`: none of them is ever written to.

/// Code points that HFS+ ignores in names.
const IGNORED: [char; 16] = [
    '\u{200c}', '\u{200d}', '\u{200e}', '\u{200f}', '\u{202a}', '\u{202b}', '\u{202c}', '\u{202d}',
    '\u{202e}', '\u{206a}', '\u{206b}', '\u{206c}', '\u{206d}', '\u{206e}', '\u{206f}', '\u{feff}',
];

/// Whether `name` is `.git`, or reads as it: in any case, with trailing dots or blanks, as its short name on NTFS, as
/// one of its streams, or with code points that HFS+ ignores.
pub(crate) fn is_git_name(name: &bstr::BStr) -> bool {
    let text: String = String::from_utf8_lossy(name).chars().filter(|c| !IGNORED.contains(c)).collect();
    let stem = text.split(':').next().unwrap_or_default();
    let stem = stem.trim_end_matches(['.', ' ']);
    stem.eq_ignore_ascii_case(".git") || stem.eq_ignore_ascii_case("git~1")
}

#[cfg(test)]
mod tests {
    use super::is_git_name;

    #[test]
    fn every_spelling_is_known() {
        for name in
            [".git", ".GIT", ".git.", ".git ", "git~1", "GIT~1", ".git::$INDEX_ALLOCATION", ".g\u{200c}it"]
        {
            assert!(is_git_name(name.into()), "{name:?}");
        }
        for name in [".gitignore", ".github", "git", "x.git", "git~2", ".git2"] {
            assert!(!is_git_name(name.into()), "{name:?}");
        }
    }
}
