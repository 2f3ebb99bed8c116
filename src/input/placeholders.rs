//! gptme's `# ...` lines: both sides of a block fall into pieces, and anything may stand between two of them.
//!
//! Only with `--placeholders`. Both sides must hold the same placeholders in the same order.

use crate::edit::{Locator, Text};
use std::ops::Range;

/// The locator of a block, its placeholders expanded; an error message where the two sides do not pair.
pub(super) fn locator(old: &Text, new: &Text) -> Result<Locator, String> {
    let (before, after) = (split(old), split(new));
    if before.signs.is_empty() && after.signs.is_empty() {
        return Ok(Locator::Text { old: old.clone(), new: new.clone() });
    }
    if before.signs != after.signs {
        return Err(format!(
            "the placeholders do not pair: ORIGINAL has {}, UPDATED has {}",
            counted(&before.signs),
            counted(&after.signs)
        ));
    }
    pieces(before.parts, after.parts)
}

fn pieces(old: Vec<Text>, new: Vec<Text>) -> Result<Locator, String> {
    // Nothing to find and nothing to write: a placeholder at the edge of the block.
    let pieces: Vec<_> = old.into_iter().zip(new).filter(|(o, n)| !o.is_empty() || !n.is_empty()).collect();
    if pieces.iter().any(|(old, _)| old.trim().is_empty()) {
        return Err("text in UPDATED beside a placeholder has nothing to stand for in ORIGINAL".into());
    }
    if pieces.is_empty() {
        return Err("the block consists of placeholders only".into());
    }
    Ok(Locator::Pieces(pieces))
}

fn counted(signs: &[&str]) -> String {
    if signs.is_empty() {
        "none".into()
    } else {
        signs.iter().map(|s| format!("`{s} ...`")).collect::<Vec<_>>().join(" ")
    }
}

struct Split<'a> {
    /// The comment introducers of the placeholder lines.
    signs: Vec<&'a str>,
    /// The texts around them: one more. The newlines beside a placeholder belong to it.
    parts: Vec<Text>,
}

fn split(text: &Text) -> Split<'_> {
    let (mut signs, mut parts) = (Vec::new(), Vec::new());
    let (mut start, mut at) = (0, 0);
    let piece = |range: Range<usize>| text.slice(range.start.min(range.end)..range.end);
    for line in text.split_inclusive('\n') {
        let next = at + line.len();
        if let Some(sign) = introducer(line) {
            signs.push(sign);
            let end = text[..at].strip_suffix('\n').map_or(at, str::len);
            parts.push(piece(start..end.max(start)));
            start = next;
        }
        at = next;
    }
    parts.push(piece(start..text.len()));
    Split { signs, parts }
}

/// The comment introducer of a placeholder line.
fn introducer(line: &str) -> Option<&'static str> {
    let bare = line.trim();
    let sign = ["#", "//"].into_iter().find(|s| bare.starts_with(s))?;
    let rest = bare[sign.len()..].strip_prefix(" ...")?;
    (rest.is_empty() || rest.starts_with(' ')).then_some(sign)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(old: &str, new: &str, expected: Result<&[(&str, &str)], &str>) {
        match (locator(&old.into(), &new.into()), expected) {
            (Ok(Locator::Pieces(found)), Ok(expected)) => {
                let found: Vec<(&str, &str)> = found.iter().map(|(o, n)| (&**o, &**n)).collect();
                assert_eq!(found, expected, "{old:?}");
            }
            (Ok(Locator::Text { .. }), Ok([])) => {}
            (Err(message), Err(part)) => assert!(message.contains(part), "{message}"),
            (found, _) => panic!("{old:?}: {found:?}"),
        }
    }

    #[test]
    fn both_sides_fall_into_the_same_pieces() {
        check("a\n# ...\nb", "A\n# ...\nb", Ok(&[("a", "A"), ("b", "b")]));
        check("a\n    // ... more\nb\nc", "A\n// ...\nc", Ok(&[("a", "A"), ("b\nc", "c")]));
        check("# ...\nend", "# ...\nnew\nend", Ok(&[("end", "new\nend")]));
        check("def f():\n    # ...", "def g():\n    # ...", Ok(&[("def f():", "def g():")]));
        check("a\n# ...\n\nb", "a\n# ...\n\nc", Ok(&[("a", "a"), ("\nb", "\nc")]));
        check("a # ...", "b", Ok(&[]));
        check("# ....", "# ....", Ok(&[]));
    }

    #[test]
    fn what_does_not_pair_is_refused() {
        check("a\n# ...\nb", "a\nb", Err("ORIGINAL has `# ...`, UPDATED has none"));
        check("a\n# ...", "a\n// ...", Err("do not pair"));
        check("# ...", "# ...", Err("placeholders only"));
        check("# ...", "x\n# ...", Err("nothing to stand for"));
    }
}
