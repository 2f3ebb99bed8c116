//! A diff body: hunks of whole lines that belong to one file.
//!
//! Shared by every form with `@@` hunks. Each line is context, removal or addition, or a fault: nothing is skipped,
//! nothing is repaired. Where a hunk belongs in the file is not looked at.

use super::body::{Body, Ending, Fault, Line, all_crlf, lines, shown};
use super::draft::{Draft, Head};
use super::hunk_header::{self, Header};
use crate::edit::{LineHunk, Locator, Row, Step, Text, WarningCode};

/// What a diff body holds.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Diff {
    /// Each hunk with its first line (from 0).
    pub(super) hunks: Vec<(usize, LineHunk)>,
    /// What is wrong with it.
    pub(super) faults: Vec<Fault>,
    /// Hunks (from 1) whose header counts do not fit their body.
    pub(super) miscounted: Vec<usize>,
}

impl Diff {
    /// With a fault where all hunks are context.
    fn changing(mut self) -> Self {
        let changes = |hunk: &LineHunk| hunk.rows.iter().any(|r| !matches!(r, Row::Keep(_)));
        if self.faults.is_empty() && !self.hunks.iter().any(|(_, hunk)| changes(hunk)) {
            let line = self.hunks[0].0;
            let hint = "mark removed lines with `-` and added lines with `+`";
            self.faults
                .push(Fault::new(line, "the diff changes nothing: all its lines are context").hint(hint));
        }
        self
    }
}

/// The body as the one step of an entry; `None` when it has faults, which are noted.
pub(super) fn step(body: &Body, head: &Head, draft: &mut Draft<'_>) -> Option<Step> {
    lower(parse(body).changing(), body, head, draft)
}

/// As [`step`], for an entry that moves the file: its hunks may be context alone, which must stand there.
pub(super) fn step_of_move(body: &Body, head: &Head, draft: &mut Draft<'_>) -> Option<Step> {
    lower(parse(body), body, head, draft)
}

fn lower(diff: Diff, body: &Body, head: &Head, draft: &mut Draft<'_>) -> Option<Step> {
    for hunk in diff.miscounted {
        let message = format!("hunk {hunk}: the counts of the header do not fit the body; the body counts");
        draft.warn(WarningCode::CountsIgnored, head.entry, message);
    }
    if !diff.faults.is_empty() {
        draft.entry_faults(body, head, diff.faults);
        return None;
    }
    let hunks =
        (1..).zip(diff.hunks).map(|(n, (line, hunk))| head.hunk(n, body.line(line), Locator::Lines(hunk)));
    Some(Step { hunks: hunks.collect() })
}

/// Reads a diff body.
pub(super) fn parse(body: &Body) -> Diff {
    let mut lines: Vec<Line<'_>> = lines(&body.text).collect();
    keep_lone_crs(&body.text, &mut lines);
    let mut parser = Parser { body, at: file_headers(&lines), lines, open: None, diff: Diff::default() };
    while parser.at < parser.lines.len() {
        parser.line();
    }
    parser.close();
    parser.finish()
}

/// A CR before LF is part of the ending only when every line has it; otherwise it is text.
fn keep_lone_crs<'a>(text: &'a str, lines: &mut [Line<'a>]) {
    if all_crlf(lines) {
        if let Some(last) = lines.last_mut().filter(|l| l.ending == Ending::Text) {
            last.text = last.text.strip_suffix('\r').unwrap_or(last.text);
        }
        return;
    }
    for line in lines.iter_mut().filter(|l| l.ending == Ending::CrLf && !l.text.starts_with("@@")) {
        line.text = &text[line.start..line.end() + 1];
        line.ending = Ending::Lf;
    }
}

/// How many lines stand before the first hunk: blank lines and the headers of one file.
fn file_headers(lines: &[Line<'_>]) -> usize {
    const GIT: [&str; 13] = [
        "diff --git ",
        "index ",
        "old mode ",
        "new mode ",
        "new file mode ",
        "deleted file mode ",
        "similarity index ",
        "dissimilarity index ",
        "rename ",
        "copy ",
        "Index: ",
        "=======",
        "--- ",
    ];
    let first_hunk = lines.iter().position(|l| l.text.starts_with("@@"));
    let head = &lines[..first_hunk.unwrap_or(0)];
    let is_header = |l: &Line<'_>| l.text.starts_with("+++ ") || GIT.iter().any(|g| l.text.starts_with(g));
    let headers = head.iter().all(|l| l.is_blank() || is_header(l));
    let files = head.iter().filter(|l| l.text.starts_with("--- ")).count();
    if headers && files <= 1 { head.len() } else { 0 }
}

struct Parser<'a> {
    body: &'a Body,
    lines: Vec<Line<'a>>,
    /// The line to read next.
    at: usize,
    open: Option<Open>,
    diff: Diff,
}

/// A hunk that is being read.
struct Open {
    line: usize,
    header: Header,
    hunk: LineHunk,
    state: State,
    /// How many rows at the end come from lines without their blank.
    bare: usize,
    /// How many old and how many new rows it has.
    counts: (usize, usize),
}

/// How far a hunk is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Head,
    Body,
    /// After `*** End of File`.
    Done,
}

impl Open {
    fn new(line: usize, header: Header, state: State) -> Self {
        Self { line, header, hunk: LineHunk::default(), state, bare: 0, counts: (0, 0) }
    }

    /// Whether the header has counts and the body has reached them.
    fn is_full(&self) -> bool {
        self.state == State::Body && self.header.counts == Some(self.counts)
    }

    /// Takes empty lines at the end, which may stand between hunks, for no context where the counts fit then.
    /// Says whether they fit.
    fn fit_counts(&mut self) -> bool {
        let Some((old, new)) = self.header.counts else {
            return true;
        };
        let extra = self.counts.0.saturating_sub(old);
        if extra <= self.bare && self.counts == (old + extra, new.saturating_add(extra)) {
            self.hunk.rows.truncate(self.hunk.rows.len() - extra);
            self.counts = (old, new);
        }
        self.counts == (old, new)
    }
}

impl Parser<'_> {
    fn line(&mut self) {
        let line = self.lines[self.at];
        let second = self.at_second_file();
        match line.text.as_bytes().first() {
            Some(b'@') if line.text.starts_with("@@") => self.header(line),
            Some(b'*') if line.text.trim_end() == "*** End of File" => self.end_of_file(),
            _ if second => self.second_file(),
            None if self.between_hunks() => {}
            Some(b'\\') => self.no_newline(),
            first => match (self.row(line, first.copied()), self.open.as_ref().map(|o| o.state)) {
                (Some(_), Some(State::Done)) => {
                    self.fault("a line after `*** End of File`", "start a hunk with `@@`")
                }
                (Some(row), _) => self.push(row, first.copied()),
                (None, _) => self.unprefixed(line),
            },
        }
        self.at += 1;
    }

    fn header(&mut self, line: Line<'_>) {
        let text = self.body.text.slice(line.start..line.end());
        match (hunk_header::parse(&text), &mut self.open) {
            (Ok(header), Some(open)) if open.state == State::Head && !open.header.is_plain() => {
                open.header.stack(header);
            }
            (Ok(header), _) => {
                self.close();
                self.open = Some(Open::new(self.at, header, State::Head));
            }
            (Err(message), _) => {
                let hint = format!("write `@@ {}`", line.text[2..].trim());
                self.close();
                self.open = Some(Open::new(self.at, Header::default(), State::Body));
                self.fault(&message, &hint);
            }
        }
    }

    fn end_of_file(&mut self) {
        let at = self.at;
        let open = self.open.get_or_insert_with(|| Open::new(at, Header::default(), State::Body));
        open.hunk.at_end = true;
        open.state = State::Done;
    }

    /// Whether an empty line here is no context: after the end marker or after a body that has its counts.
    fn between_hunks(&self) -> bool {
        self.open.as_ref().is_some_and(|open| open.state == State::Done || open.is_full())
    }

    /// Whether the header of another file stands here.
    fn at_second_file(&self) -> bool {
        let starts = |at: usize, with: &str| self.lines.get(at).is_some_and(|l| l.text.starts_with(with));
        let pair = starts(self.at, "--- ") && starts(self.at + 1, "+++ ") && starts(self.at + 2, "@@ -");
        starts(self.at, "diff --git ") || (pair && self.open.as_ref().is_some_and(Open::is_full))
    }

    fn second_file(&mut self) {
        self.fault("the diff holds a second file", "write one entry for each file");
        self.at = self.lines.len();
    }

    /// The line as a row of a body. `None` for a line without prefix.
    fn row(&self, line: Line<'_>, first: Option<u8>) -> Option<Row> {
        let text = || self.body.text.slice(line.start + 1..line.end());
        match first {
            None => Some(Row::Keep(Text::from(""))),
            Some(b'\r') if line.text == "\r" => Some(Row::Keep(Text::from("\r"))),
            Some(b' ') => Some(Row::Keep(text())),
            Some(b'-') => Some(Row::Remove(text())),
            Some(b'+') => Some(Row::Add(text())),
            Some(_) => None,
        }
    }

    fn push(&mut self, row: Row, prefix: Option<u8>) {
        let at = self.at;
        let open = self.open.get_or_insert_with(|| Open::new(at, Header::default(), State::Body));
        let hunk = &mut open.hunk;
        let (old, new) = (!matches!(row, Row::Add(_)), !matches!(row, Row::Remove(_)));
        let late = (old && hunk.old_unterminated) || (new && hunk.new_unterminated);
        open.state = State::Body;
        open.bare = if prefix.is_none() { open.bare + 1 } else { 0 };
        hunk.rows.push(row);
        open.counts = (open.counts.0 + usize::from(old), open.counts.1 + usize::from(new));
        if late {
            self.fault(
                "a line after the one that has no newline",
                "`\\ No newline` belongs to the last line",
            );
        }
    }

    fn no_newline(&mut self) {
        if !self.lines[self.at].text.starts_with("\\ ") {
            return self.unprefixed(self.lines[self.at]);
        }
        let last = self.open.as_mut().and_then(|open| {
            let (hunk, kind) = (&mut open.hunk, open.state);
            let row = hunk.rows.last().filter(|_| kind == State::Body)?;
            let (old, new) = (!matches!(row, Row::Add(_)), !matches!(row, Row::Remove(_)));
            hunk.old_unterminated |= old;
            hunk.new_unterminated |= new;
            Some(())
        });
        if last.is_none() {
            self.fault("`\\ No newline` without a line before it", "put it below the last line of the file");
        }
    }

    fn unprefixed(&mut self, line: Line<'_>) {
        let text = shown(line.text);
        if line.text.starts_with("***") {
            let hint = "an envelope stands alone or in `input`; a context line starts with a blank";
            return self.fault(&format!("the envelope line {text} inside a diff body"), hint);
        }
        let hint = format!("a context line starts with a blank: {}", shown(&format!(" {}", line.text)));
        self.fault(&format!("the line {text} starts with none of blank, `-`, `+`, `@@`"), &hint);
    }

    fn fault(&mut self, message: &str, hint: &str) {
        let before = self.diff.hunks.len();
        let fault = Fault::new(self.at, message).hint(hint).hunk(before + 1);
        self.diff.faults.push(fault);
        if self.open.is_none() {
            self.open = Some(Open::new(self.at, Header::default(), State::Body));
        }
    }

    /// Ends the open hunk.
    fn close(&mut self) {
        let Some(mut open) = self.open.take() else { return };
        let number = self.diff.hunks.len() + 1;
        if !open.fit_counts() {
            self.diff.miscounted.push(number);
        }
        if open.hunk.rows.is_empty() && self.diff.faults.last().is_none_or(|f| f.hunk != Some(number)) {
            let fault =
                Fault::new(open.line, "the hunk has no body").hint("write the lines to change below `@@`");
            self.diff.faults.push(fault.hunk(number));
        }
        (open.hunk.anchors, open.hunk.hint) = (open.header.anchors, open.header.hint);
        self.diff.hunks.push((open.line, open.hunk));
    }

    fn finish(self) -> Diff {
        let mut diff = self.diff;
        if diff.hunks.is_empty() {
            diff.faults.push(Fault::new(0, "the diff is empty"));
        }
        diff
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hunks as `line:anchors?hint:rows!flags`, faults as `line: message`, miscounted hunks as `#n`.
    fn check(text: &str, expected: &[&str]) {
        let diff = parse(&Body::lines(text.into(), 1)).changing();
        let mut found: Vec<String> =
            diff.faults.iter().map(|f| format!("{}: {}", f.line + 1, f.message)).collect();
        if found.is_empty() {
            found = diff.hunks.iter().map(|(line, hunk)| format!("{}:{}", line + 1, shape(hunk))).collect();
        }
        found.extend(diff.miscounted.iter().map(|n| format!("#{n}")));
        assert_eq!(found, expected, "{text:?}");
    }

    fn shape(hunk: &LineHunk) -> String {
        let anchors: Vec<&str> = hunk.anchors.iter().map(|a| &**a).collect();
        let hint = hunk.hint.map(|(line, count)| format!("?{line},{count}")).unwrap_or_default();
        let rows: Vec<String> = hunk
            .rows
            .iter()
            .map(|row| match row {
                Row::Keep(t) => format!(" {}", &**t),
                Row::Remove(t) => format!("-{}", &**t),
                Row::Add(t) => format!("+{}", &**t),
            })
            .collect();
        let flags = [(hunk.at_end, "!end"), (hunk.old_unterminated, "!old"), (hunk.new_unterminated, "!new")];
        let flags: String = flags.iter().filter(|(on, _)| *on).map(|(_, name)| *name).collect();
        format!("{}{hint}:{}{flags}", anchors.join(">"), rows.join("|"))
    }

    #[test]
    fn bodies() {
        check("@@\n a\n-b\n+c\n", &["1:: a|-b|+c"]);
        check("-a\n+b\n\n@@\n-c", &["1::-a|+b| ", "4::-c"]);
        check("@@\n a\n\n-b", &["1:: a| |-b"]);
        check("@@ x\n@@  y\n+z", &["1:x> y:+z"]);
        check("@@ x\n+1\n@@ x\n+2", &["1:x:+1", "3:x:+2"]);
        check("@@\n--- x\n+++ y\n", &["1::--- x|+++ y"]);
        check("@@\r\n-a\r\n+b\r\n", &["1::-a|+b"]);
        check("@@\r\n-a\r\n+b", &["1::-a|+b"]);
        check("@@\n-a\r\n+b\n", &["1::-a\r|+b"]);
        check("@@\n-a\n@@\n k\n", &["1::-a", "3:: k"]);
        check("@@ line 3\n-a\n+b\n", &["1:?3,1:-a|+b"]);
    }

    #[test]
    fn ends_of_files() {
        check("@@\n+r\n*** End of File\n\n", &["1::+r!end"]);
        check("@@\n-a\n\\ No newline at end of file\n+A\n", &["1::-a|+A!old"]);
        check("@@\n-a\n+A\n\\ No newline at end of file\n", &["1::-a|+A!new"]);
        check("@@\n-a\n b\n\\ No newline at end of file\n", &["1::-a| b!old!new"]);
        check("@@\n+r\n*** End of File\n+s\n", &["4: a line after `*** End of File`"]);
        check("@@\n-a\n\\ No newline at end of file\n b\n", &["4: a line after the one that has no newline"]);
        check("\\ No newline at end of file\n+a", &["1: `\\ No newline` without a line before it"]);
    }

    #[test]
    fn counts() {
        check("@@ -1,2 +1,2 @@\n a\n-b\n+B\n\n", &["1:?1,2: a|-b|+B"]);
        check("@@ -1,3 +1,3 @@ f\n a\n-b\n+B\n\n", &["1:f?1,3: a|-b|+B| "]);
        check("@@ -1,9 +1,9 @@\n a\n-b\n+B\n c\n", &["1:?1,9: a|-b|+B| c", "#1"]);
        check("@@ -0,0 +1 @@\n+z\n\n@@ -4 +5 @@\n-y\n+Y", &["1:?0,0:+z", "4:?4,1:-y|+Y"]);
    }

    #[test]
    fn file_headers_stand_outside_of_hunks() {
        let git = "diff --git a/f b/f\nindex 1..2 100644\n--- a/f\n+++ b/f\n";
        check(&format!("{git}@@ -1,2 +1,2 @@\n--- one\n+-- ONE\n two"), &["5:?1,2:--- one|+-- ONE| two"]);
        check(
            &format!("{git}@@ -1 +1 @@\n-a\n+A\n{git}@@ -1 +1 @@\n-b\n"),
            &["8: the diff holds a second file"],
        );
        let bare = "--- a\n+++ a\n@@ -1 +1 @@\n-a\n+A\n";
        check(&format!("{bare}{bare}"), &["6: the diff holds a second file"]);
        check("--- a\n+++ b\n", &["1::--- a|+++ b"]);
    }

    #[test]
    fn faults() {
        check("", &["1: the diff is empty"]);
        check("@@", &["1: the hunk has no body"]);
        check("@@ x\n", &["1: the hunk has no body"]);
        check("@@\n a\n b", &["1: the diff changes nothing: all its lines are context"]);
        check("@@x\n-a", &["1: a hunk header needs a blank after `@@`"]);
        check(
            "@@\nq\n-b\nr",
            &[
                "2: the line `q` starts with none of blank, `-`, `+`, `@@`",
                "4: the line `r` starts with none of blank, `-`, `+`, `@@`",
            ],
        );
        check("@@\n-b\n*** End Patch", &["3: the envelope line `*** End Patch` inside a diff body"]);
    }
}
