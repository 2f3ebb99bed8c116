//! The `@@` line of a hunk: plain, numbered, with anchors, or with a hint in words.
//!
//! Hints and counts are read, not judged: whether they fit a body or a file is decided elsewhere.

use crate::edit::Text;

/// What a `@@` line says.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Header {
    /// Lines that stand before the place, outermost first.
    pub(super) anchors: Vec<Text>,
    /// The old first line, from 1, and the old line count.
    pub(super) hint: Option<(usize, usize)>,
    /// The old and the new line count, where the header has numbers.
    pub(super) counts: Option<(usize, usize)>,
}

/// Reads the `@@` line `line`; an error message for one that is none. The texts are slices of `line`.
pub(super) fn parse(line: &Text) -> Result<Header, String> {
    let mut header = Header::default();
    let rest = line.trim_end();
    let mut start = 2;
    match rest[2..].chars().next() {
        None => return Ok(header),
        Some(' ' | '\t') => start += 1,
        Some(_) => return Err("a hunk header needs a blank after `@@`".into()),
    }
    if rest[start..].trim_start().starts_with("@@ ") {
        start = rest.len() - rest[start..].trim_start().len() + 3;
    }
    let mut end = rest.len();
    if let Some(closed) = rest.strip_suffix(" @@").filter(|closed| closed.len() >= start) {
        end = closed.len();
    }
    let mut at = start;
    for (index, part) in rest[start..end.max(start)].split(" @@ ").enumerate() {
        header.part(line, at, part, index)?;
        at += part.len() + " @@ ".len();
    }
    Ok(header)
}

impl Header {
    fn part(&mut self, line: &Text, at: usize, part: &str, index: usize) -> Result<(), String> {
        let words = part.trim();
        if index == 0 && looks_numbered(words) {
            let numbers =
                numbers(words).ok_or("a numbered hunk header reads `@@ -start,count +start,count @@`")?;
            self.hint = Some((numbers[0], numbers[1]));
            self.counts = Some((numbers[1], numbers[3]));
        } else if let Some(hint) = words_hint(words) {
            self.hint = Some(hint);
        } else if !words.is_empty() && words != "@@" {
            self.anchors.push(line.slice(at..at + part.trim_end().len()));
        }
        Ok(())
    }

    /// Adds what a header directly below says.
    pub(super) fn stack(&mut self, below: Self) {
        self.anchors.extend(below.anchors);
        self.hint = below.hint.or(self.hint);
        self.counts = below.counts.or(self.counts);
    }

    /// Whether it says nothing at all.
    pub(super) fn is_plain(&self) -> bool {
        *self == Self::default()
    }
}

fn looks_numbered(words: &str) -> bool {
    words.strip_prefix('-').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

/// `-a,b +c,d` as `[a, b, c, d]`; a missing count is 1.
fn numbers(words: &str) -> Option<[usize; 4]> {
    let (old, new) = words.split_once(' ')?;
    let (a, b) = span(old.strip_prefix('-')?)?;
    let (c, d) = span(new.trim_start().strip_prefix('+')?)?;
    Some([a, b, c, d])
}

fn span(text: &str) -> Option<(usize, usize)> {
    let (start, count) = text.split_once(',').unwrap_or((text, "1"));
    let digits = |s: &str| s.bytes().all(|b| b.is_ascii_digit()).then(|| s.parse().ok()).flatten();
    Some((digits(start)?, digits(count)?))
}

/// `line N`, `lines N-M`, `top of file`, in any case.
fn words_hint(words: &str) -> Option<(usize, usize)> {
    let words = words.to_lowercase();
    if words == "top of file" {
        return Some((1, 1));
    }
    let span = words.strip_prefix("lines ").or_else(|| words.strip_prefix("line "))?.trim();
    let (first, last) = span.split_once('-').unwrap_or((span, span));
    let digits = |s: &str| s.bytes().all(|b| b.is_ascii_digit()).then(|| s.parse().ok()).flatten();
    let (first, last): (usize, usize) = (digits(first.trim())?, digits(last.trim())?);
    Some((first, (last.checked_sub(first)?).saturating_add(1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, anchors: &[&str], hint: Option<(usize, usize)>, counts: Option<(usize, usize)>) {
        let found = parse(&line.into()).unwrap_or_else(|e| panic!("{line}: {e}"));
        let names: Vec<&str> = found.anchors.iter().map(|a| &**a).collect();
        assert_eq!((&names[..], found.hint, found.counts), (anchors, hint, counts), "{line}");
    }

    #[test]
    fn spellings() {
        check("@@", &[], None, None);
        check("@@ \r", &[], None, None);
        check("@@ def f():", &["def f():"], None, None);
        check("@@   def run(self): ", &["  def run(self):"], None, None);
        check("@@ class B: @@ def m():", &["class B:", "def m():"], None, None);
        check("@@ -3 +4 @@", &[], Some((3, 1)), Some((1, 1)));
        check("@@ -0,0 +1,2 @@ fn x", &["fn x"], Some((0, 0)), Some((0, 2)));
        check("@@ line 3", &[], Some((3, 1)), None);
        check("@@ Line 3-5", &[], Some((3, 3)), None);
        check("@@ line 3 @@", &[], Some((3, 1)), None);
        check("@@ @@ lines 3", &[], Some((3, 1)), None);
        check("@@ top of file", &[], Some((1, 1)), None);
        check("@@ line of code", &["line of code"], None, None);
        check("@@ @@", &[], None, None);
    }

    #[test]
    fn what_is_no_header() {
        for line in
            ["@@x", "@@ -1,2", "@@ -1 2 @@", "@@ -1,x +1 @@", "@@ -99999999999999999999 +1 @@", "@@@@"]
        {
            assert!(parse(&line.into()).is_err(), "{line}");
        }
    }
}
