//! Markdown with edit fences, bare `=== PATH: p ===` sections, and bare blocks for `--path`.
//!
//! All edit fences in order are one batch; prose and fences of other languages are ignored. A fence that is not
//! closed, or that its own content cuts in two, is an error: no edit is ever taken in part.

use super::body::{Body, Fault};
use super::detect::{self, Role};
use super::draft::{Draft, Head};
use super::fences::{self, End, Fence};
use super::gptme::{self, Item, Setting};
use super::{ParseError, blocks, entry, header, read_text, wrapper};
use crate::edit::{BatchPath, Code, Format, Precondition};

const LONGER_FENCE: &str = "use a longer fence (````) around blocks that hold fence lines";

/// Reads a text that detection calls fenced.
pub(super) fn read(body: &Body, draft: &mut Draft<'_>) {
    let fences = fences::find(&body.text);
    let edits: Vec<(&Fence, Role)> = fences.iter().filter_map(|f| Some((f, detect::role(f)?))).collect();
    if edits.is_empty() {
        return bare(body, draft);
    }
    for (fence, role) in edits {
        self::fence(fence, role, body, draft);
    }
    swallowed(body, &fences, draft);
    if draft.is_clean() {
        outside(body, &fences, draft);
    }
}

/// Edit fences that the Markdown around them turns into text.
fn swallowed(body: &Body, fences: &[Fence], draft: &mut Draft<'_>) {
    for hidden in fences::hidden(&body.text, fences) {
        let holder = hidden.inside.map(|index| &fences[index]);
        // Inside an edit fence it is content, which the fence's own reader judges.
        if !detect::is_edit_word(hidden.info) || holder.is_some_and(|f| detect::role(f).is_some()) {
            continue;
        }
        let word = header::split(hidden.info).0;
        let (place, hint) = match holder {
            Some(f) => {
                (format!("the open fence of {}", body.line_in_words(f.lines.start)), "close that fence first")
            }
            None => ("HTML".to_owned(), "put an empty line before the fence"),
        };
        let message = format!("the `{word}` fence stands inside {place} and would be ignored");
        draft.faults(body, [Fault::new(hidden.line, message).hint(hint)]);
    }
}

/// Edits that stand beside the fences would be lost in the prose.
fn outside(body: &Body, fences: &[Fence], draft: &mut Draft<'_>) {
    let mut fences = fences.iter().peekable();
    for (at, line) in body.text.lines().enumerate() {
        while fences.next_if(|f| f.lines.end <= at).is_some() {}
        let inside = fences.peek().filter(|f| f.lines.contains(&at));
        let lost = match inside {
            Some(fence) => blocks::is_opener(line) && detect::role(fence).is_none(),
            None => blocks::is_opener(line) || (gptme::is_opener(line) && !line.starts_with("    ")),
        };
        if lost {
            let fault =
                Fault::new(at, "a block outside of the edit fences").hint("put it into a `patch` fence");
            draft.faults(body, [fault]);
        } else if let Some((what, word)) = unfenced(line, inside) {
            let fault = Fault::new(at, format!("{what} outside of the edit fences"));
            draft.faults(body, [fault.hint(format!("put it into {word} fence"))]);
        }
    }
}

/// What an edit that begins with this line, in no fence or in one of another language, is, and the fence that it belongs
/// into.
fn unfenced(line: &str, inside: Option<&&Fence>) -> Option<(&'static str, &'static str)> {
    match (line.trim_end(), inside) {
        (_, Some(fence)) if detect::role(fence).is_some() => None,
        (wrapper::BEGIN, _) => Some(("an envelope", "an `apply_patch`")),
        // In a fence it may well be what a command has printed.
        (line, None) if line.starts_with("diff --git a/") => Some(("a diff", "a `diff`")),
        _ => None,
    }
}

fn fence(fence: &Fence, role: Role, outer: &Body, draft: &mut Draft<'_>) {
    let body = fence.body(outer);
    if fence.end == End::Open {
        let fault = Fault::new(fence.lines.start, "the fence is never closed");
        return draft.faults(outer, [fault.hint("end it with a line of as many fence signs")]);
    }
    match role {
        Role::Json => entry::read(&body, draft),
        Role::Text(Format::Blocks) => {
            draft.saw(Format::Blocks);
            let above: Vec<&str> = outer.text.lines().take(fence.lines.start).collect();
            // The path may stand on the last line of text, a blank line between.
            blocks::read_below(&above[above.len().saturating_sub(2)..], &body, draft);
        }
        Role::Text(format) => read_text(format, &body, draft),
        Role::Blocks => originals(fence, &body, outer, draft),
    }
}

fn originals(fence: &Fence, body: &Body, outer: &Body, draft: &mut Draft<'_>) {
    let opening = fence.lines.start;
    let paths = match header::paths(header::split(&fence.info).1, &|path| draft.exists(path)) {
        Ok(paths) => paths,
        Err(message) => return draft.faults(outer, [Fault::new(opening, message)]),
    };
    let setting = if paths.is_empty() { Setting::Sections } else { Setting::OnePath };
    let closing = outer.line_in_words(fence.lines.end - 1);
    let items: Vec<Item> =
        gptme::scan(body, setting).into_iter().map(|item| cut_in_two(item, &closing)).collect();
    match &paths[..] {
        _ if items.is_empty() => {
            let fault = Fault::new(opening, "the fence holds no block");
            draft.faults(outer, [fault.hint("write `<<<<<<< ORIGINAL` … `>>>>>>> UPDATED`")]);
        }
        [] => sections(body, &items, draft),
        [path] => one(path, outer.line(opening), body, &items, draft),
        paths => pairs(paths, Fault::new(opening, ""), outer, body, &items, draft),
    }
}

/// A block that is open where its fence closes was cut by a fence line of its own.
fn cut_in_two(item: Item, closing: &str) -> Item {
    match item {
        Item::Unclosed(fault) => {
            let message = format!(
                "{}: the fence line on {closing} cuts it in two, or its closer is missing",
                fault.message
            );
            let hint = fault.hint.filter(|hint| hint.contains("sign")).unwrap_or_else(|| LONGER_FENCE.into());
            Item::Unclosed(Fault { message, hint: Some(hint), ..fault })
        }
        other => other,
    }
}

/// All blocks for one path.
fn one(path: &str, line: usize, body: &Body, items: &[Item], draft: &mut Draft<'_>) {
    let entry = draft.next_entry();
    let head = Head { entry, path: path.into(), line, expects: Precondition::Any };
    gptme::lower(&head, body, items, draft);
}

/// Blocks and paths by position. `at` stands on the opening line.
fn pairs(paths: &[String], at: Fault, outer: &Body, body: &Body, items: &[Item], draft: &mut Draft<'_>) {
    let faulty = items.iter().any(|item| !matches!(item, Item::Block(_)));
    if items.len() != paths.len() && !faulty {
        let blocks = if items.len() == 1 { "1 block".to_owned() } else { format!("{} blocks", items.len()) };
        let message = format!("{} paths, but {blocks}: they pair by position", paths.len());
        return draft
            .faults(outer, [Fault { message, ..at }.hint("write one path for each block, or one for all")]);
    }
    for (index, item) in items.iter().enumerate() {
        let path = paths.get(index).or(paths.last()).map_or("", String::as_str);
        one(path, outer.line(at.line), body, std::slice::from_ref(item), draft);
    }
}

/// Each `=== PATH: p ===` line and its blocks; blocks above the first one are for `--path`.
fn sections(body: &Body, items: &[Item], draft: &mut Draft<'_>) {
    let starts = items.iter().enumerate().filter(|(_, item)| matches!(item, Item::Path { .. }));
    let mut bounds: Vec<usize> = starts.map(|(at, _)| at).collect();
    if bounds.first() != Some(&0) {
        bounds.insert(0, 0);
    }
    bounds.push(items.len());
    for bound in bounds.windows(2) {
        match &items[bound[0]..bound[1]] {
            [Item::Path { path, line }] => {
                let hint = "write `<<<<<<< ORIGINAL` … `>>>>>>> UPDATED` below it";
                draft.faults(
                    body,
                    [Fault::new(*line, format!("the section of `{path}` holds no block")).hint(hint)],
                );
            }
            [Item::Path { path, line }, blocks @ ..] => one(path, body.line(*line), body, blocks, draft),
            blocks => pathless(body, blocks, draft),
        }
    }
}

fn pathless(body: &Body, items: &[Item], draft: &mut Draft<'_>) {
    let line = items.first().map_or(0, |item| match item {
        Item::Path { line, .. } => *line,
        Item::Block(block) => block.line,
        Item::Fault(fault) | Item::Unclosed(fault) => fault.line,
    });
    if let Some(path) = draft.options.default_path.as_ref().map(BatchPath::to_string) {
        return one(&path, body.line(line), body, items, draft);
    }
    let mut faults = items.iter().filter_map(|item| match item {
        Item::Fault(fault) | Item::Unclosed(fault) => Some(fault.clone()),
        _ => None,
    });
    if let Some(fault) = faults.next() {
        return draft.faults(body, std::iter::once(fault).chain(faults));
    }
    let entry = draft.next_entry();
    let error = ParseError::new(Code::Usage, "the blocks name no path");
    let error =
        error.hint("give `--path`, or put the path behind the fence's word or in a `=== PATH: p ===` line");
    draft.error(ParseError { entry: Some(entry), line: Some(body.line(line)), ..error });
}

/// Sections or blocks without any fence.
fn bare(body: &Body, draft: &mut Draft<'_>) {
    let items = gptme::scan(body, Setting::Sections);
    if items.is_empty() {
        return draft.error(detect::refusal(body, None));
    }
    if !items.iter().any(|item| !matches!(item, Item::Fault(_)))
        && detect::format(&body.text) != detect::Detected::Text(Format::Fenced)
    {
        return draft.error(detect::refusal(body, None));
    }
    sections(body, &items, draft);
}
