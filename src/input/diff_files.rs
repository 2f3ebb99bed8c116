//! Cuts a diff into the files it changes: for each the lines of its header, and the lines of its hunks.
//!
//! A hunk ends where its header's counts say, or where its body does; so a removed line `-- x` is not taken for the
//! header of a file. Text between the files is skipped, but nothing that stands for a change is.

use super::body::{Line, shown};
use super::hunk_header;
use std::ops::Range;

/// The lines of one file, from 0.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct FileLines {
    /// Whose header it is.
    pub(super) kind: Kind,
    /// Everything above the hunks.
    pub(super) header: Range<usize>,
    /// From the first `@@` to the last line of a hunk; empty without hunks.
    pub(super) hunks: Range<usize>,
    /// From `GIT binary patch` on; empty without one.
    pub(super) binary: Range<usize>,
}

/// Who wrote the header of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// `diff --git`
    Git,
    /// `---` and `+++` alone.
    Plain,
}

/// A line that stands for a change which cannot be read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Stray {
    pub(super) line: usize,
    pub(super) message: String,
}

/// The files of a diff in order, and what stands between them and must not be skipped.
pub(super) fn split(lines: &[Line<'_>]) -> (Vec<FileLines>, Vec<Stray>) {
    let mut cutter = Cutter { lines, at: 0, files: Vec::new(), strays: Vec::new(), in_header: false };
    while cutter.at < lines.len() {
        cutter.at = cutter.next();
    }
    (cutter.files, cutter.strays)
}

struct Cutter<'a> {
    lines: &'a [Line<'a>],
    at: usize,
    files: Vec<FileLines>,
    strays: Vec<Stray>,
    /// Whether the header of the last file may go on.
    in_header: bool,
}

impl Cutter<'_> {
    fn text(&self, at: usize) -> &str {
        self.lines.get(at).map_or("", |line| line.text)
    }

    /// Takes the line at `self.at` and what belongs to it; the line to go on with.
    fn next(&mut self) -> usize {
        let at = self.at;
        let text = self.lines[at].text;
        if text.starts_with("diff --git ") {
            return self.open(Kind::Git, at + 1);
        }
        if self.is_pair(at) {
            return self.names(at + 2);
        }
        if text.starts_with("@@ ") || text == "@@" {
            return self.hunk();
        }
        if text == "GIT binary patch" && self.in_header {
            return self.binary();
        }
        let is_git = self.files.last().is_some_and(|file| file.kind == Kind::Git);
        if self.in_header && is_git && is_extended(text) {
            self.extend_header(at + 1);
            return at + 1;
        }
        if differs(text) {
            self.stray(at, format!("{} holds no bytes to apply", shown(text)));
        }
        self.in_header = false;
        at + 1
    }

    fn open(&mut self, kind: Kind, end: usize) -> usize {
        self.files.push(FileLines { kind, header: self.at..end, hunks: end..end, binary: end..end });
        self.in_header = true;
        end
    }

    fn extend_header(&mut self, end: usize) {
        if let Some(file) = self.files.last_mut() {
            file.header.end = end;
            file.hunks = end..end;
            file.binary = end..end;
        }
    }

    /// `---` and `+++`: of the git header that stands above, or of a file of their own.
    fn names(&mut self, end: usize) -> usize {
        let named = self
            .files
            .last()
            .is_some_and(|file| file.header.clone().any(|at| self.lines[at].text.starts_with("+++ ")));
        if self.in_header && !named {
            self.extend_header(end);
            return end;
        }
        self.open(Kind::Plain, end)
    }

    fn hunk(&mut self) -> usize {
        let end = self.end_of_hunk();
        match self.files.last_mut() {
            Some(file) if file.hunks.is_empty() && self.in_header => file.hunks = self.at..end,
            // What stands between two hunks of a file is judged by the reader of hunks.
            Some(file) if !file.hunks.is_empty() => file.hunks.end = end,
            _ => {
                let message = "a hunk without `---` and `+++` lines above it".to_owned();
                self.stray(self.at, message);
            }
        }
        self.in_header = false;
        end
    }

    /// The line after the hunk that starts here.
    fn end_of_hunk(&self) -> usize {
        let header = hunk_header::parse(&self.text(self.at).into()).ok();
        let mut left = header.and_then(|h| h.counts).map(|(old, new)| Left { old, new });
        let mut at = self.at + 1;
        while at < self.lines.len() && !self.ends_hunk(at, left) {
            left = left.map(|left| left.without(self.text(at)));
            at += 1;
        }
        let full = left.is_some_and(Left::is_none);
        // Empty lines at the end are context only where the counts ask for them.
        while !full && at > self.at + 1 && self.text(at - 1).is_empty() {
            at -= 1;
        }
        at
    }

    fn ends_hunk(&self, at: usize, left: Option<Left>) -> bool {
        let text = self.text(at);
        let full = left.is_some_and(Left::is_none);
        // A pair that is the rest of the hunk is a removed and an added line.
        let is_rest = left.is_some_and(|left| (left.old, left.new) == (1, 1));
        match text.as_bytes().first() {
            Some(b'\\') => false,
            Some(b' ' | b'-' | b'+') => {
                let header = self.is_pair(at) && (full || (!is_rest && self.text(at + 2).starts_with("@@ ")));
                header || (full && is_signature(text))
            }
            // An empty line stands for an empty context line, which both sides have.
            None => left.is_some_and(|left| left.old == 0 || left.new == 0),
            // What follows would be skipped as text between files: the reader of hunks refuses the line.
            Some(_) => full || is_boundary(text),
        }
    }

    fn is_pair(&self, at: usize) -> bool {
        self.text(at).starts_with("--- ") && self.text(at + 1).starts_with("+++ ")
    }

    fn binary(&mut self) -> usize {
        let start = self.at;
        let next = |at: &usize| self.text(*at).starts_with("diff --git ") || is_signature(self.text(*at));
        let end = (start + 1..self.lines.len()).find(next).unwrap_or(self.lines.len());
        if let Some(file) = self.files.last_mut() {
            file.binary = start..end;
        }
        self.in_header = false;
        end
    }

    fn stray(&mut self, line: usize, message: String) {
        self.strays.push(Stray { line, message });
    }
}

/// How many old and new lines a hunk still has.
#[derive(Clone, Copy)]
struct Left {
    old: usize,
    new: usize,
}

impl Left {
    fn is_none(self) -> bool {
        (self.old, self.new) == (0, 0)
    }

    fn without(self, line: &str) -> Self {
        let first = line.as_bytes().first();
        let old = usize::from(!matches!(first, Some(b'+' | b'\\')));
        let new = usize::from(!matches!(first, Some(b'-' | b'\\')));
        Self { old: self.old.saturating_sub(old), new: self.new.saturating_sub(new) }
    }
}

/// A line of a git header between `diff --git` and `---`.
fn is_extended(line: &str) -> bool {
    const WORDS: [&str; 12] = [
        "index ",
        "old mode ",
        "new mode ",
        "new file mode ",
        "deleted file mode ",
        "similarity index ",
        "dissimilarity index ",
        "rename from ",
        "rename to ",
        "copy from ",
        "copy to ",
        "Binary files ",
    ];
    WORDS.iter().any(|word| line.starts_with(word))
}

/// A line that stands for a change of a binary file.
fn differs(line: &str) -> bool {
    let binary = line.starts_with("Binary files ") && line.ends_with(" differ");
    binary || line == "GIT binary patch" || line.starts_with("Cannot display: file marked as a binary type")
}

/// A line that stands between two hunks or two files, whatever the counts say.
fn is_boundary(line: &str) -> bool {
    const STARTS: [&str; 9] = [
        "@@",
        "diff ",
        "Index: ",
        "====",
        "From ",
        "Only in ",
        "index ",
        "GIT binary patch",
        "Binary files ",
    ];
    STARTS.iter().any(|start| line.starts_with(start))
}

/// The line that a mail ends with.
fn is_signature(line: &str) -> bool {
    line == "-- "
}

#[cfg(test)]
mod tests {
    use super::super::body::lines;
    use super::*;

    /// Files as `kind header hunks binary` with lines from 0, strays as `!line`.
    fn check(text: &str, expected: &[&str]) {
        let all: Vec<_> = lines(text).collect();
        let (files, strays) = split(&all);
        let file = |f: &FileLines| {
            let binary = if f.binary.is_empty() { String::new() } else { format!(" {:?}", f.binary) };
            format!("{:?} {:?} {:?}{binary}", f.kind, f.header, f.hunks)
        };
        let mut found: Vec<String> = files.iter().map(file).collect();
        found.extend(strays.iter().map(|s| format!("!{}", s.line)));
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn files() {
        let one = "--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y\n";
        check(one, &["Plain 0..2 2..5"]);
        check(&format!("{one}{one}"), &["Plain 0..2 2..5", "Plain 5..7 7..10"]);
        check(&format!("mail\n---\n f | 2\n\n{one}-- \n2.40\n\n"), &["Plain 4..6 6..9"]);
        check(&format!("diff --git a/f b/f\nindex 1..2\n{one}"), &["Git 0..4 4..7"]);
        check(
            "diff --git a/f b/f\nold mode 100644\nnew mode 100755\ndiff --git a/g b/g\n",
            &["Git 0..3 3..3", "Git 3..4 4..4"],
        );
        check(&format!("{one}@@ -9 +9 @@\n-x\n\n\n"), &["Plain 0..2 2..7"]);
        check(
            "diff --git a/f b/f\nindex 1..2\nGIT binary patch\nliteral 1\nx\n\ndiff --git a/g b/g\n",
            &["Git 0..2 2..2 2..6", "Git 6..7 7..7"],
        );
    }

    #[test]
    fn lines_that_look_like_headers_are_rows_where_the_counts_say_so() {
        check("--- f\n+++ f\n@@ -1,2 +1,2 @@\n a\n--- x\n+++ y\n@@ -9 +9 @@\n-b\n", &["Plain 0..2 2..8"]);
        check(
            "--- f\n+++ f\n@@ -1,9 +1,9 @@\n a\n--- x\n+++ y\n@@ -9 +9 @@\n-b\n",
            &["Plain 0..2 2..4", "Plain 4..6 6..8"],
        );
        check("--- f\n+++ f\n@@ -1,1 +0,0 @@\n--- a\n", &["Plain 0..2 2..4"]);
        check("--- f\n+++ f\n@@ -1,1 +1,1 @@\n-a\n+b\n c\n", &["Plain 0..2 2..6"]);
        check("--- f\n+++ f\n@@ -1,3 +1,3 @@\n-a\n+b\nc\n-d\n+e\n", &["Plain 0..2 2..8"]);
        check("--- f\n+++ f\n@@ -1,3 +1,3 @@\n-a\n+b\nIndex: c\n", &["Plain 0..2 2..5"]);
        check("--- f\n+++ f\n@@ -1 +1 @@\n-a\n+b\nprose\n-d\n", &["Plain 0..2 2..5"]);
    }

    #[test]
    fn what_stands_for_a_change_is_not_skipped() {
        check("Binary files a and b differ\n", &["!0"]);
        check("text\n@@ -1 +1 @@\n-a\n", &["!1"]);
        check("diff --git a/f b/f\nprose\nGIT binary patch\n", &["Git 0..1 1..1", "!2"]);
    }
}
