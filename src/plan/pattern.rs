//! Patterns for paths, as globs: `*` and `?` stay within a name, `**` stands for any folders.

use super::Refusal;
use crate::edit::Code;
use bstr::{BStr, ByteSlice};
use globset::{GlobBuilder, GlobMatcher};
use std::path::Path;

/// A pattern for paths: `*` and `?` stay within a name, `**` stands for any folders, `{a,b}` for either.
#[derive(Clone, Debug)]
pub struct Pattern {
    glob: GlobMatcher,
    /// What a pattern without special characters names: a file, or a folder with all below it.
    literal: Option<String>,
}

impl Pattern {
    /// # Errors
    /// `usage` for one that does not parse, or that is not about paths below the start.
    pub fn new(written: &str) -> Result<Self, Refusal> {
        let usage = |message: String| Refusal::new(Code::Usage, message);
        let pattern = written.strip_prefix("./").unwrap_or(written);
        let leaves = pattern.split('/').any(|name| name == "..");
        if pattern.is_empty() || pattern.starts_with('/') || leaves {
            let message = format!("the pattern {written:?} is not about paths below a folder");
            return Err(usage(message).hint("name the folder beside the pattern"));
        }
        let glob = GlobBuilder::new(pattern).literal_separator(true).build();
        let glob = glob.map_err(|e| usage(e.to_string()))?.compile_matcher();
        let is_special = pattern.contains(['*', '?', '[', ']', '{', '}', '\\', '!']);
        let literal = (!is_special).then(|| pattern.trim_end_matches('/').to_owned());
        Ok(Self { glob, literal })
    }

    /// Whether the whole path fits.
    pub fn fits(&self, path: &Path) -> bool {
        self.glob.is_match(path)
    }

    /// Whether the path fits, or lies below the folder that a pattern without special characters names.
    pub(super) fn takes(&self, path: &BStr) -> bool {
        let below = |folder: &String| {
            folder == "." || path.strip_prefix(folder.as_bytes()).is_some_and(|rest| rest.starts_with(b"/"))
        };
        self.fits(&path.to_path_lossy()) || self.literal.as_ref().is_some_and(below)
    }

    /// As it was written, or nearly so.
    pub fn as_str(&self) -> &str {
        self.glob.glob().glob()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(pattern: &str, fits: &[&str], others: &[&str]) {
        let pattern = Pattern::new(pattern).expect("parses");
        assert!(fits.iter().all(|path| pattern.fits(Path::new(path))), "{pattern:?}");
        assert!(!others.iter().any(|path| pattern.fits(Path::new(path))), "{pattern:?}");
    }

    #[test]
    fn a_star_stays_within_a_name() {
        check("*.rs", &["a.rs", ".rs"], &["src/a.rs", "a.rsx"]);
        check("**/*.rs", &["a.rs", "src/deep/a.rs"], &["a.py"]);
        check("./src/**", &["src/a", "src/b/c"], &["lib/a"]);
        check("s?c/{a,b}.[rp]*", &["src/a.rs", "src/b.py"], &["src/c.rs", "s/c/a.rs"]);
    }

    #[test]
    fn a_folder_takes_what_is_below_it() {
        let takes = |pattern: &str, path: &str| Pattern::new(pattern).expect("parses").takes(path.into());
        assert!(
            takes("src", "src/a") && takes("src/", "src/b/c") && takes("src/a", "src/a") && takes(".", "x/y")
        );
        assert!(!takes("src", "srcs/a") && !takes("s*", "src/a") && !takes("src", "lib/src"));
    }

    #[test]
    fn patterns_are_about_paths_below() {
        for bad in ["", "./", "/a", "../*", "a/../b", "[", "{a"] {
            assert_eq!(Pattern::new(bad).expect_err("refused").code, Code::Usage, "{bad}");
        }
    }
}
