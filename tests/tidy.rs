//! The rules of the house that a program can check: what each file starts with, its size, who may use what.

use patchmany::edit::{Code, WarningCode};
use std::path::{Path, PathBuf};

/// The modules of the library; each uses only those before it.
const ORDER: [&str; 17] = [
    "edit",
    "disk",
    "input",
    "output",
    "plan",
    "transaction",
    "git",
    "history",
    "search",
    "report",
    "diff",
    "error",
    "workspace",
    "apply",
    "convert",
    "undo",
    "look",
];
const MOST_LINES: usize = 600;

struct Source {
    path: String,
    text: String,
}

impl Source {
    /// The module of the library that the file belongs to.
    fn module(&self) -> Option<&str> {
        let inner = self.path.strip_prefix("src/")?;
        let name = inner.split('/').next()?;
        let name = name.strip_suffix(".rs").unwrap_or(name);
        ORDER.contains(&name).then_some(name)
    }

    /// How many steps up the root of the library is.
    fn depth(&self) -> usize {
        self.path.trim_end_matches("/mod.rs").matches('/').count()
    }

    fn is_below(&self, folders: &[&str]) -> bool {
        folders.iter().any(|folder| self.path.starts_with(folder))
    }

    /// The lines that are code, with their numbers from 1.
    fn code(&self) -> impl Iterator<Item = (usize, &str)> {
        let lines = (1..).zip(self.text.lines());
        lines.filter(|(_, line)| !line.trim_start().starts_with("//"))
    }

    /// The lines of code before the unit tests at the end.
    fn shipped(&self) -> impl Iterator<Item = (usize, &str)> {
        let tests = self.text.lines().position(|line| line == "#[cfg(test)]").unwrap_or(usize::MAX);
        let is_tests = self.path.ends_with("/tests.rs");
        self.code().filter(move |(number, _)| !is_tests && *number <= tests)
    }
}

/// Every Rust file of `folders`.
fn sources(folders: &[&str]) -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut waiting: Vec<PathBuf> = folders.iter().map(|folder| root.join(folder)).collect();
    let mut found = Vec::new();
    while let Some(path) = waiting.pop() {
        if path.is_dir() {
            waiting.extend(std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
            found.push(Source { path: name, text: std::fs::read_to_string(&path).unwrap() });
        }
    }
    assert!(found.len() > 5, "no sources in {folders:?}");
    found
}

/// Fails with everything that `faults` finds in the files of `folders`.
#[track_caller]
fn check<F: IntoIterator<Item = String>>(folders: &[&str], faults: impl Fn(&Source) -> F) {
    let mut all: Vec<String> = Vec::new();
    for source in sources(folders) {
        all.extend(faults(&source).into_iter().map(|fault| format!("{}: {fault}", source.path)));
    }
    all.sort();
    assert!(all.is_empty(), "{}", all.join("\n"));
}

/// The words after each `crate::` of a line.
fn crate_paths(line: &str) -> impl Iterator<Item = &str> {
    line.match_indices("crate::").map(|(at, found)| {
        let rest = &line[at + found.len()..];
        rest.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next().unwrap_or_default()
    })
}

#[test]
fn files_say_what_they_do() {
    check(&["src", "tests"], |source| {
        let first = source.text.lines().next().unwrap_or_default();
        (!first.starts_with("//! ")).then(|| "does not start with `//! `".to_owned())
    });
}

#[test]
fn files_are_short_and_end_with_a_newline() {
    check(&["src", "tests"], |source| {
        let lines = source.text.lines().count();
        let long = (lines > MOST_LINES).then(|| format!("{lines} lines"));
        let ends = source.text.ends_with('\n') && !source.text.ends_with("\n\n");
        long.into_iter().chain((!ends).then(|| "does not end with one newline".to_owned()))
    });
}

#[test]
fn modules_use_only_earlier_ones() {
    check(&["src"], |source| {
        let rank = |name: &str| ORDER.iter().position(|module| *module == name);
        let own = source.module();
        let to_the_root = "super::".repeat(source.depth());
        let mut faults = Vec::new();
        for (number, _) in source.shipped().filter(|(_, line)| own.is_some() && line.contains(&to_the_root)) {
            faults.push(format!("{number}: `{to_the_root}` hides the module, write `crate::`"));
        }
        for (number, line) in source.code().filter(|_| own.is_some()) {
            for name in crate_paths(line) {
                match rank(name) {
                    None => faults.push(format!("{number}: `crate::{name}` is no module of the order")),
                    Some(used) if Some(used) > own.and_then(rank) => {
                        faults.push(format!("{number}: uses the later module {name}"));
                    }
                    Some(_) => {}
                }
            }
        }
        faults
    });
}

#[test]
fn every_module_is_in_the_order() {
    let lib = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/lib.rs")).unwrap();
    let modules = lib.lines().filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(';'));
    assert_eq!(modules.collect::<Vec<_>>(), ORDER);
}

#[test]
fn only_git_uses_gix() {
    check(&["src"], |source| {
        let uses = |line: &str| line.contains("gix::") || line.contains("use gix");
        let lines = source.code().filter(|(_, line)| uses(line) && !source.is_below(&["src/git/"]));
        lines.map(|(number, _)| format!("{number}: uses gix")).collect::<Vec<_>>()
    });
}

#[test]
fn only_the_disk_touches_files() {
    let allowed = ["src/disk/", "src/git/", "src/workspace.rs", "src/workspace/", "src/bin/"];
    check(&["src"], |source| {
        let uses = |line: &str| ["std::fs", "fs_err", "File::open"].iter().any(|word| line.contains(word));
        let lines = source.shipped().filter(|(_, line)| uses(line) && !source.is_below(&allowed));
        lines.map(|(number, _)| format!("{number}: touches files itself")).collect::<Vec<_>>()
    });
}

#[test]
fn nothing_is_left_to_do() {
    let words = [["TO", "DO"].concat(), ["FIX", "ME"].concat()];
    check(&["src", "tests"], |source| {
        let found = words.iter().filter(|word| source.text.contains(*word));
        found.map(|word| format!("holds {word}")).collect::<Vec<_>>()
    });
}

#[test]
fn every_code_is_documented() {
    let readme = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")).unwrap();
    let codes = Code::ALL.iter().map(|code| code.as_str());
    let all = codes.chain(WarningCode::ALL.iter().map(|code| code.as_str()));
    let missing: Vec<_> = all.filter(|code| !readme.contains(&format!("| `{code}` |"))).collect();
    assert!(missing.is_empty(), "not in the README: {missing:?}");
}
