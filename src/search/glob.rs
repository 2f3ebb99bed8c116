//! Files whose paths fit a pattern, the last modified first, equally old ones by path.

use super::walk::{Filter, Ground, walk};
use crate::edit::{Code, RelPath};
use crate::plan::Refusal;
use globset::{GlobBuilder, GlobMatcher};
use std::cmp::Reverse;
use std::time::SystemTime;

/// A pattern for paths: `*` and `?` stay within a name, `**` stands for any folders, `{a,b}` for either.
#[derive(Clone, Debug)]
pub struct Pattern(GlobMatcher);

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
        glob.map(|glob| Self(glob.compile_matcher())).map_err(|e| usage(e.to_string()))
    }
}

/// The files below the start whose paths from there fit, and what could not be looked at.
pub fn glob(ground: &Ground<'_>, pattern: &Pattern) -> (Vec<RelPath>, Vec<String>) {
    let skip = if ground.start.is_root() { 0 } else { ground.start.as_bstr().len() + 1 };
    let (mut found, faults) = walk(ground, &Filter::all(), &|path, entry| {
        let inside = RelPath::new(path.as_bstr().get(skip..)?).ok()?;
        let fits = pattern.0.is_match(inside.to_path());
        fits.then(|| (entry.metadata().and_then(|m| m.modified().map_err(Into::into)).ok(), path))
    });
    found.sort_by(|a, b| order(a).cmp(&order(b)));
    (found.into_iter().map(|(_, path)| path).collect(), faults)
}

fn order((modified, path): &(Option<SystemTime>, RelPath)) -> (Reverse<Option<SystemTime>>, &RelPath) {
    (Reverse(*modified), path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(pattern: &str, fits: &[&str], others: &[&str]) {
        let Pattern(glob) = Pattern::new(pattern).expect("parses");
        assert!(fits.iter().all(|path| glob.is_match(path)), "{pattern}");
        assert!(!others.iter().any(|path| glob.is_match(path)), "{pattern}");
    }

    #[test]
    fn a_star_stays_within_a_name() {
        check("*.rs", &["a.rs", ".rs"], &["src/a.rs", "a.rsx"]);
        check("**/*.rs", &["a.rs", "src/deep/a.rs"], &["a.py"]);
        check("./src/**", &["src/a", "src/b/c"], &["lib/a"]);
        check("s?c/{a,b}.[rp]*", &["src/a.rs", "src/b.py"], &["src/c.rs", "s/c/a.rs"]);
    }

    #[test]
    fn patterns_are_about_paths_below() {
        for bad in ["", "./", "/a", "../*", "a/../b", "[", "{a"] {
            assert_eq!(Pattern::new(bad).expect_err("refused").code, Code::Usage, "{bad}");
        }
    }
}
