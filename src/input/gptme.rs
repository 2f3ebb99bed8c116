//! ORIGINAL/UPDATED blocks: markers are whole lines, both sides are verbatim text without a final newline.
//!
//! Shared by `patch-many` and `fenced`. A block that does not open, divide and close with markers of one length is
//! a fault, never content. Nothing is looked up in a file here.

use super::body::{Body, Fault, Line, all_crlf, lines, shown};
use super::draft::{Draft, Head};
use super::placeholders;
use crate::edit::{Hunk, Locator, Step, Text};
use std::ops::Range;

const LONGER: &str = "use longer markers (<<<<<<<<) or the JSON form with old_string/new_string";
const SHORTEST: usize = 7;

/// Where blocks stand, and so what else may stand beside them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Setting {
    /// The whole text is for one path.
    OnePath,
    /// `=== PATH: p ===` lines start sections.
    Sections,
}

/// What a text of blocks consists of.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Item {
    /// A `=== PATH: p ===` line.
    Path { path: String, line: usize },
    /// A block.
    Block(Block),
    /// Something that is neither.
    Fault(Fault),
    /// A block that is still open where the text ends.
    Unclosed(Fault),
}

/// One block. Lines count from 0 within the body.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Block {
    /// The line of the opener.
    pub(super) line: usize,
    /// The text that stands there.
    pub(super) old: Text,
    /// The text that shall stand there.
    pub(super) new: Text,
}

/// A marker line and its length.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Marker {
    Open(usize),
    Divide(usize),
    Close(usize),
}

impl Block {
    /// The block as a step of its own; it is hunk `hunk` of the entry.
    fn step(&self, head: &Head, hunk: usize, body: &Body, with: Placeholders) -> Result<Step, Fault> {
        let locator = match with {
            _ if self.old.trim().is_empty() && !self.old.contains('\n') => Locator::Fill(self.new.clone()),
            Placeholders::Literal => Locator::Text { old: self.old.clone(), new: self.new.clone() },
            Placeholders::Expand => placeholders::locator(&self.old, &self.new)
                .map_err(|m| Fault::new(self.line, m).hunk(hunk))?,
        };
        let hunks: Vec<Hunk> = vec![head.hunk(hunk, body.line(self.line), locator)];
        Ok(Step { hunks })
    }
}

/// What `# ...` lines are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Placeholders {
    Literal,
    Expand,
}

impl From<bool> for Placeholders {
    fn from(expand: bool) -> Self {
        if expand { Self::Expand } else { Self::Literal }
    }
}

/// The path of a `=== PATH: p ===` line.
pub(super) fn section_path(line: &str) -> Option<&str> {
    let path = line.trim_end().strip_prefix("=== PATH:")?.strip_suffix("===")?.trim();
    (!path.is_empty()).then_some(path)
}

/// Whether this line opens a block, or was meant to.
pub(super) fn is_opener(line: &str) -> bool {
    matches!(marker(line), Some(Marker::Open(_))) || matches!(misspelt(line), Some((Marker::Open(_), _)))
}

/// Reads blocks, and sections where the setting allows them. Everything in the text is an item or blank.
pub(super) fn scan(body: &Body, setting: Setting) -> Vec<Item> {
    let lines = lines(&body.text).collect();
    let mut scanner = Scanner { body, lines, setting, items: Vec::new() };
    scanner.run();
    scanner.items
}

/// Adds the items of one path: every block is a step of its own.
pub(super) fn lower(head: &Head, body: &Body, items: &[Item], draft: &mut Draft<'_>) {
    let mut steps = Vec::new();
    for (hunk, item) in (1..).zip(items) {
        let step = match item {
            Item::Block(block) => block.step(head, hunk, body, draft.options.placeholders.into()),
            Item::Fault(fault) | Item::Unclosed(fault) => Err(fault.clone().hunk(hunk)),
            Item::Path { .. } => continue,
        };
        match step {
            Ok(step) => steps.push(step),
            Err(fault) => draft.entry_faults(body, head, [fault]),
        }
    }
    draft.push_steps(head, steps);
}

struct Scanner<'a> {
    body: &'a Body,
    lines: Vec<Line<'a>>,
    setting: Setting,
    items: Vec<Item>,
}

impl Scanner<'_> {
    fn run(&mut self) {
        let mut at = 0;
        while let Some(line) = self.lines.get(at) {
            at = match (marker(line.text), section_path(line.text)) {
                _ if line.is_blank() => at + 1,
                (Some(Marker::Open(length)), _) => self.block(at, length),
                (_, Some(path)) if self.setting == Setting::Sections => {
                    self.items.push(Item::Path { path: path.to_owned(), line: at });
                    at + 1
                }
                (found, _) => self.stray(at, found),
            };
        }
    }

    /// Reads the block that opens on line `open`; returns the line to go on with.
    fn block(&mut self, open: usize, length: usize) -> usize {
        let mut divider = None;
        for at in open + 1..self.lines.len() {
            match marker(self.lines[at].text) {
                Some(Marker::Open(n)) if n == length => {
                    let outer = self.body.line_in_words(open);
                    let message = format!("another block opens inside the block of {outer}");
                    return self.broken(Fault::new(at, message).hint(self.advice(open..at, LONGER)), at);
                }
                Some(Marker::Divide(n)) if n == length => match divider {
                    None => divider = Some(at),
                    Some(first) => {
                        let first = self.body.line_in_words(first);
                        let message = format!("a second divider in one block; the first is {first}");
                        return self.broken(Fault::new(at, message).hint(LONGER), self.after(at, length));
                    }
                },
                Some(Marker::Close(n)) if n == length => {
                    let Some(divider) = divider else {
                        let hint =
                            self.advice(open..at, "put a line `=======` between the old and the new text");
                        return self
                            .broken(Fault::new(at, "the block closes without a divider").hint(hint), at + 1);
                    };
                    self.items.push(Item::Block(self.taken(open, divider, at)));
                    return at + 1;
                }
                _ => {}
            }
        }
        let closer = format!("close it with `{} UPDATED`", ">".repeat(length));
        let hint = self.advice(open..self.lines.len(), &closer);
        self.items.push(Item::Unclosed(Fault::new(open, "the block is never closed").hint(hint)));
        self.lines.len()
    }

    fn broken(&mut self, fault: Fault, next: usize) -> usize {
        self.items.push(Item::Fault(fault));
        next
    }

    /// The line after the closer of a broken block, or the next opener.
    fn after(&self, from: usize, length: usize) -> usize {
        let rest = self.lines.iter().enumerate().skip(from);
        let end = rest.map(|(at, l)| (at, marker(l.text))).find_map(|(at, found)| match found {
            Some(Marker::Close(n)) if n == length => Some(at + 1),
            Some(Marker::Open(n)) if n == length => Some(at),
            _ => None,
        });
        end.unwrap_or(self.lines.len())
    }

    /// Names a line of the block that looks like a marker but is none; otherwise `general`.
    fn advice(&self, block: Range<usize>, general: &str) -> String {
        let found = block.into_iter().find_map(|at| misspelt(self.lines[at].text).map(|(_, why)| (at, why)));
        found.map_or_else(
            || general.to_owned(),
            |(at, why)| format!("{} {}: {why}", self.body.line_in_words(at), shown(self.lines[at].text)),
        )
    }

    /// Text that stands outside of blocks: one fault for all of it.
    fn stray(&mut self, at: usize, found: Option<Marker>) -> usize {
        let text = shown(self.lines[at].text);
        let blocks_before = self.items.iter().any(|i| !matches!(i, Item::Path { .. }));
        let fault = match (found, misspelt(self.lines[at].text)) {
            (Some(_), _) => {
                Fault::new(at, format!("the marker {text} stands outside of a block")).hint(LONGER)
            }
            (None, Some((_, why))) => Fault::new(at, format!("the marker {text} is misspelt")).hint(why),
            (None, None) => {
                let place = if blocks_before { "after or between blocks" } else { "before the first block" };
                let hint = "only blank lines may stand around `<<<<<<< ORIGINAL` … `>>>>>>> UPDATED` blocks";
                Fault::new(at, format!("text {place}: {text}")).hint(hint)
            }
        };
        self.items.push(Item::Fault(fault));
        let sections = self.setting == Setting::Sections;
        let rest = self.lines.iter().enumerate().skip(at + 1);
        let next = rest.map(|(at, l)| (at, l.text)).find(|(_, text)| {
            matches!(marker(text), Some(Marker::Open(_))) || (sections && section_path(text).is_some())
        });
        next.map_or(self.lines.len(), |(at, _)| at)
    }

    /// The block between these three marker lines.
    fn taken(&self, open: usize, divider: usize, close: usize) -> Block {
        let drop_cr = all_crlf(&self.lines[open..=close]);
        let side = |range: Range<usize>| {
            let lines = &self.lines[range];
            match (lines.first(), lines.last()) {
                (Some(_), Some(_)) if drop_cr => {
                    Text::from(lines.iter().map(|l| l.text).collect::<Vec<_>>().join("\n"))
                }
                (Some(first), Some(last)) => self.body.text.slice(first.start..last.end()),
                _ => Text::from(""),
            }
        };
        Block { line: open, old: side(open + 1..divider), new: side(divider + 1..close) }
    }
}

fn marker(line: &str) -> Option<Marker> {
    let (indent, sign, length, rest) = signs(line)?;
    if indent > 3 || length < SHORTEST {
        return None;
    }
    match (sign, rest) {
        ('<', " ORIGINAL") => Some(Marker::Open(length)),
        ('=', "") => Some(Marker::Divide(length)),
        ('>', " UPDATED") => Some(Marker::Close(length)),
        _ => None,
    }
}

/// What a line that looks like a marker was meant to be, and what is wrong with it.
fn misspelt(line: &str) -> Option<(Marker, String)> {
    let (indent, sign, length, rest) = signs(line)?;
    let word = rest.trim();
    let meant = match sign {
        '<' if word.eq_ignore_ascii_case("original") => Marker::Open(length),
        '>' if word.eq_ignore_ascii_case("updated") => Marker::Close(length),
        '=' if word.is_empty() && length + 1 >= SHORTEST => Marker::Divide(length),
        _ => return None,
    };
    let why = if indent > 3 {
        "at most three blanks may stand before a marker".to_owned()
    } else if length < SHORTEST {
        format!("a marker has 7 signs or more, this one has {length}")
    } else if marker(line).is_none() {
        format!("write `{0} ORIGINAL`, a line of `=`, `{1} UPDATED`", "<".repeat(length), ">".repeat(length))
    } else {
        return None;
    };
    Some((meant, why))
}

/// Leading blanks, the sign, how often it stands there (3 times or more), and the rest without trailing blanks.
fn signs(line: &str) -> Option<(usize, char, usize, &str)> {
    let line = line.trim_end_matches([' ', '\t', '\r']);
    let bare = line.trim_start_matches(' ');
    let sign = bare.chars().next().filter(|c| ['<', '=', '>'].contains(c))?;
    let rest = bare.trim_start_matches(sign);
    let length = bare.len() - rest.len();
    (length >= 3).then_some((line.len() - bare.len(), sign, length, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Blocks as `old|new`, sections as `=path`, faults as `line: message`.
    fn check(text: &str, setting: Setting, expected: &[&str]) {
        let items = scan(&Body::lines(text.into(), 1), setting);
        let found: Vec<String> = items
            .iter()
            .map(|item| match item {
                Item::Path { path, .. } => format!("={path}"),
                Item::Block(b) => format!("{}|{}", &*b.old, &*b.new),
                Item::Fault(f) | Item::Unclosed(f) => format!("{}: {}", f.line + 1, f.message),
            })
            .collect();
        assert_eq!(found, expected, "{text:?}");
    }

    #[test]
    fn blocks() {
        let one = |text: &str, expected: &str| check(text, Setting::OnePath, &[expected]);
        one("<<<<<<< ORIGINAL\na\n=======\nb\n>>>>>>> UPDATED", "a|b");
        one("\n   <<<<<<< ORIGINAL \na\n\nc\n   =======\t\n   >>>>>>> UPDATED\r\n\n", "a\n\nc|");
        one("<<<<<<< ORIGINAL\n=======\n\n>>>>>>> UPDATED\n", "|");
        one("<<<<<<<< ORIGINAL\na\n=======\nb\n========\nc\n>>>>>>>> UPDATED", "a\n=======\nb|c");
        one("<<<<<<< ORIGINAL\r\na\r\nb\r\n=======\r\nc\r\n>>>>>>> UPDATED", "a\nb|c");
        one("<<<<<<< ORIGINAL\na\r\nb\r\n=======\nc\n>>>>>>> UPDATED", "a\r\nb|c");
        one(
            "<<<<<<< ORIGINAL\na\n=======\nx\n======= foo\n========\n>>>>>>> UPDATED",
            "a|x\n======= foo\n========",
        );
        one("<<<<<<< ORIGINAL\n=== PATH: p ===\n=======\nb\n>>>>>>> UPDATED\n", "=== PATH: p ===|b");
    }

    #[test]
    fn sections() {
        let text = "=== PATH: a b ===\n<<<<<<< ORIGINAL\n1\n=======\n2\n>>>>>>> UPDATED\n=== PATH: c ===\n";
        check(text, Setting::Sections, &["=a b", "1|2", "=c"]);
        let found = ["1: text before the first block: `=== PATH: a b ===`", "1|2"];
        let last = "7: text after or between blocks: `=== PATH: c ===`";
        check(text, Setting::OnePath, &[found[0], found[1], last]);
    }

    #[test]
    fn faults() {
        let all = |text: &str, expected: &[&str]| check(text, Setting::OnePath, expected);
        let block = "<<<<<<< ORIGINAL\na\n=======\nb\n>>>>>>> UPDATED\n";
        all(&format!("hi\n{block}"), &["1: text before the first block: `hi`", "a|b"]);
        all(&format!("{block}x\ny\n{block}"), &["a|b", "6: text after or between blocks: `x`", "a|b"]);
        all(
            &format!("{block}{}", ">>>>>>> UPDATED"),
            &["a|b", "6: the marker `>>>>>>> UPDATED` stands outside of a block"],
        );
        all(&block.replace("\n>>>>>>> UPDATED", "\n>>>>>> UPDATED"), &["1: the block is never closed"]);
        all(&block.replace("<<<<<<< ", "<<<<<< "), &["1: the marker `<<<<<< ORIGINAL` is misspelt"]);
        all(
            &block.replace("<<<<<<< ", "    <<<<<<< "),
            &["1: the marker `    <<<<<<< ORIGINAL` is misspelt"],
        );
        all(&block.replace("=======", "======"), &["5: the block closes without a divider"]);
        let twice = block.replace("b\n", "=======\nb\n");
        all(&format!("{twice}{block}"), &["4: a second divider in one block; the first is line 3", "a|b"]);
        let inner = block.replace("b\n", "<<<<<<< ORIGINAL\nx\n");
        all(
            &inner,
            &["4: another block opens inside the block of line 1", "6: the block closes without a divider"],
        );
    }

    #[test]
    fn hints_name_the_misspelt_marker() {
        let text = "<<<<<<< ORIGINAL\na\n======\nb\n>>>>>>> UPDATED\n";
        let items = scan(&Body::lines(text.into(), 10), Setting::OnePath);
        let [Item::Fault(fault)] = &items[..] else { panic!("{items:?}") };
        assert_eq!(
            fault.hint.as_deref(),
            Some("line 12 `======`: a marker has 7 signs or more, this one has 6")
        );
    }
}
