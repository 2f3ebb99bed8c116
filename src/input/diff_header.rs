//! What the header of a file in a diff says: what happens to which path, and its mode.
//!
//! `diffy` reads the lines (quoted and octal names, timestamps, extended headers); which part of a name is a prefix
//! is decided here.

use super::diff_files::Kind;
use crate::edit::Mode;
use bstr::{BStr, BString, ByteSlice};
use diffy::patch_set::{FileMode, FileOperation, ParseOptions, PatchSet};

/// What happens to a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Change {
    Create(BString),
    Delete(BString),
    Modify(BString),
    Rename { from: BString, to: BString },
    Copy { from: BString, to: BString },
}

impl Change {
    /// The path that the entry is about.
    pub(super) fn path(&self) -> &BString {
        match self {
            Self::Create(path) | Self::Delete(path) | Self::Modify(path) => path,
            Self::Rename { from, .. } | Self::Copy { from, .. } => from,
        }
    }
}

/// A header.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Header {
    pub(super) change: Change,
    /// The mode of the file afterwards, or of a link that goes, where the header tells.
    pub(super) mode: Option<Mode>,
    /// Whether it says that a binary file differs, without its bytes.
    pub(super) untold: bool,
}

/// Reads the lines of a header, each ended by LF; an error message for one that is none.
pub(super) fn read(kind: Kind, text: &str, strip: Option<usize>) -> Result<Header, String> {
    let options = match kind {
        Kind::Git => ParseOptions::gitdiff(),
        Kind::Plain => ParseOptions::unidiff(),
    };
    let parsed = PatchSet::parse_bytes(text.as_bytes(), options).next();
    let file = parsed.ok_or("the file has no name")?.map_err(|error| error.to_string())?;
    let names = Names { kind, strip };
    let change = match file.operation() {
        FileOperation::Create(path) => Change::Create(names.one(path, Side::New)?),
        FileOperation::Delete(path) => Change::Delete(names.one(path, Side::Old)?),
        FileOperation::Modify { original, modified } => Change::Modify(names.two(original, modified)?),
        FileOperation::Rename { from, to } => Change::Rename { from: names.bare(from)?, to: names.bare(to)? },
        FileOperation::Copy { from, to } => Change::Copy { from: names.bare(from)?, to: names.bare(to)? },
    };
    let gone = file.old_mode().filter(|_| matches!(change, Change::Delete(_))).map(mode);
    let special = |mode: &Mode| matches!(mode, Mode::Link | Mode::Submodule);
    let mode = file.new_mode().map(mode).or(gone.filter(special)).or(index_mode(text).filter(special));
    Ok(Header { change, mode, untold: file.patch().is_binary() })
}

fn mode(mode: &FileMode) -> Mode {
    match mode {
        FileMode::Regular => Mode::Regular,
        FileMode::Executable => Mode::Executable,
        FileMode::Symlink => Mode::Link,
        FileMode::Gitlink => Mode::Submodule,
    }
}

/// The mode that the `index` line of an unchanged mode ends with.
fn index_mode(text: &str) -> Option<Mode> {
    let line = text.lines().find_map(|line| line.strip_prefix("index "))?;
    line.split(' ').nth(1)?.parse().ok().as_ref().map(mode)
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Side {
    Old,
    New,
}

/// How names of a file are to be read.
#[derive(Clone, Copy)]
struct Names {
    kind: Kind,
    /// How many leading folders are no part of a name (`--strip`).
    strip: Option<usize>,
}

impl Names {
    /// The one name of a file that comes or goes.
    fn one(self, name: &[u8], side: Side) -> Result<BString, String> {
        let letters: &[u8] = match (self.kind, side) {
            (Kind::Plain, Side::Old) => b"a",
            (Kind::Plain, Side::New) => b"b",
            (Kind::Git, _) => b"abciow",
        };
        let prefixed = prefix(name).is_some_and(|letter| letters.contains(&letter));
        self.cut(name, self.strip.unwrap_or(usize::from(prefixed)))
    }

    /// The name of a file that stays, from both of its names.
    fn two(self, old: &[u8], new: &[u8]) -> Result<BString, String> {
        let prefixed = match (self.kind, prefix(old), prefix(new)) {
            (_, Some(b'a'), Some(b'b')) => true,
            // With other prefixes of git's own (`diff.mnemonicPrefix`) only the names tell.
            (Kind::Git, Some(a), Some(b)) => a != b && b"abciow".contains(&a) && old[2..] == new[2..],
            _ => false,
        };
        let depth = self.strip.unwrap_or(usize::from(prefixed));
        let (old, new) = (self.cut(old, depth)?, self.cut(new, depth)?);
        // `f` and `f.orig`, in either order: the file is `f`.
        Ok(if new.starts_with(&old) { old } else { new })
    }

    /// A name of `rename from` and the like, which never has a prefix.
    fn bare(self, name: &[u8]) -> Result<BString, String> {
        self.cut(name, self.strip.unwrap_or(0).saturating_sub(1))
    }

    fn cut(self, name: &[u8], depth: usize) -> Result<BString, String> {
        let mut rest = name.as_bstr();
        if self.strip.is_none() && rest.starts_with(b"/") {
            return Ok(rest.to_owned());
        }
        for _ in 0..depth {
            let at = rest.find_byte(b'/').ok_or_else(|| too_short(name.as_bstr(), depth))?;
            rest = rest[at + 1..].trim_start_with(|c| c == '/').as_bstr();
        }
        if rest.is_empty() {
            return Err(too_short(name.as_bstr(), depth));
        }
        Ok(rest.to_owned())
    }
}

fn too_short(name: &BStr, depth: usize) -> String {
    format!("the name `{name}` has no {depth} leading folders to strip")
}

/// The letter of a one-letter first folder.
fn prefix(name: &[u8]) -> Option<u8> {
    (name.get(1) == Some(&b'/') && name.len() > 2).then(|| name[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, strip: Option<usize>, expected: &str) {
        let kind = if text.starts_with("diff --git") { Kind::Git } else { Kind::Plain };
        let found = match read(kind, text, strip) {
            Ok(header) => {
                let verb = match &header.change {
                    Change::Create(path) => format!("create {path}"),
                    Change::Delete(path) => format!("delete {path}"),
                    Change::Modify(path) => format!("modify {path}"),
                    Change::Rename { from, to } => format!("rename {from} {to}"),
                    Change::Copy { from, to } => format!("copy {from} {to}"),
                };
                let mode = header.mode.map(|mode| format!(" {mode:?}")).unwrap_or_default();
                format!("{verb}{mode}{}", if header.untold { " untold" } else { "" })
            }
            Err(message) => message,
        };
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn plain_headers() {
        check("--- a/f\n+++ b/f\n", None, "modify f");
        check("--- a/f\n+++ a/f\n", None, "modify a/f");
        check("--- f.orig\t2024-01-01 00:00:00 +0000\n+++ f\t2024-01-01\n", None, "modify f");
        check("--- f\n+++ f.new\n", None, "modify f");
        check("--- /dev/null\n+++ b/n\n", None, "create n");
        check("--- a/n\n+++ /dev/null\n", None, "delete n");
        check("--- w/n\n+++ /dev/null\n", None, "delete w/n");
        check("--- \"a/\\303\\244\"\n+++ \"b/\\303\\244\"\n", None, "modify ä");
        check("--- a/x y\t\n+++ b/x y\t\n", None, "modify x y");
        check("--- x/y/f\n+++ z/y/f\n", Some(2), "modify f");
        check("--- f\n+++ f\n", Some(1), "the name `f` has no 1 leading folders to strip");
        check("--- /r/f\n+++ /r/f\n", None, "modify /r/f");
    }

    #[test]
    fn git_headers() {
        let git = |lines: &str| format!("diff --git a/f b b/f b\n{lines}");
        check(&git("old mode 100644\nnew mode 100755\n"), None, "modify f b Executable");
        check(&git("new file mode 100755\nindex 0..1\n"), None, "create f b Executable");
        check(&git("deleted file mode 100644\nindex 1..0\n"), None, "delete f b");
        check(&git("deleted file mode 120000\nindex 1..0\n"), None, "delete f b Link");
        check(&git("index 1..2 120000\n--- a/f b\n+++ b/f b\n"), None, "modify f b Link");
        check(&git("index 1..2 160000\n--- a/f b\n+++ b/f b\n"), None, "modify f b Submodule");
        check(&git("index 1..2 100644\nBinary files a/f b and b/f b differ\n"), None, "modify f b untold");
        check("diff --git a/o b/d/p\nrename from o\nrename to d/p\n", None, "rename o d/p");
        check("diff --git a/o b/p\ncopy from o\ncopy to p\n", None, "copy o p");
        check("diff --git i/f w/f\n--- i/f\n+++ w/f\n", None, "modify f");
        check("diff --git f f\n--- f\n+++ f\n", None, "modify f");
        check("diff --git a/s/f b/s/f\n--- a/s/f\n+++ b/s/f\n", Some(2), "modify f");
    }
}
