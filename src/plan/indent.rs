//! How the indents of a block relate to those of the lines it stands for, and what that makes of an added line's
//! indent. An indent that the relation does not determine has no image: nothing is guessed.

use super::equality::{indent_len, is_blank_line};
use std::collections::BTreeMap;

/// Which relations a pass allows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Indents {
    /// Indents are part of the line.
    Same,
    /// The file has, or lacks, one prefix before all of them.
    Shifted,
    /// Each is turned into another one, deeper ones into deeper ones.
    Mapped,
    /// Anything.
    Any,
}

/// How the indents of a block's rows relate to those of the file's lines. Blank rows have none.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Relation<'a> {
    /// The file's lines have this before the block's indent.
    Longer(&'a str),
    /// The file's lines lack this, which the block's have.
    Shorter(&'a str),
    /// From the block's indents to the file's; each is the beginning of the next on both sides.
    Map(BTreeMap<&'a str, &'a str>),
    /// From the block's indents to the file's, where it is always the same.
    Loose(BTreeMap<&'a str, Option<&'a str>>),
}

impl<'a> Relation<'a> {
    /// The relation of `pairs`, a row of the block and the line of the file that has the same body; `None` where it is
    /// not one that the pass allows.
    pub(super) fn find(allowed: Indents, pairs: impl Iterator<Item = (&'a str, &'a str)>) -> Option<Self> {
        let mut pairs =
            pairs.filter(|(row, _)| !is_blank_line(row.as_bytes())).map(|(a, b)| (indent(a), indent(b)));
        match allowed {
            Indents::Same => None,
            Indents::Shifted => shift(pairs),
            Indents::Mapped => map(pairs),
            Indents::Any => {
                let mut images: BTreeMap<&str, Option<&str>> = BTreeMap::new();
                pairs.by_ref().for_each(|(row, line)| {
                    let image = images.entry(row).or_insert(Some(line));
                    *image = image.filter(|known| *known == line);
                });
                Some(Self::Loose(images))
            }
        }
    }

    /// What an indent of the block is in the file.
    pub(super) fn image(&self, indent: &str) -> Option<String> {
        match self {
            Self::Longer(prefix) => Some(format!("{prefix}{indent}")),
            Self::Shorter(prefix) => indent.strip_prefix(prefix).map(str::to_owned),
            Self::Map(map) => mapped(map, indent),
            Self::Loose(images) => images.get(indent).copied().flatten().map(str::to_owned),
        }
    }
}

/// The leading blanks and tabs of a row.
pub(super) fn indent(row: &str) -> &str {
    &row[..indent_len(row.as_bytes())]
}

fn shift<'a>(mut pairs: impl Iterator<Item = (&'a str, &'a str)>) -> Option<Relation<'a>> {
    let (row, line) = pairs.next()?;
    if let Some(prefix) = line.strip_suffix(row) {
        let fits = |(row, line): (&str, &str)| line.strip_prefix(prefix) == Some(row);
        return pairs.all(fits).then_some(Relation::Longer(prefix));
    }
    let prefix = row.strip_suffix(line)?;
    let fits = |(row, line): (&str, &str)| row.strip_prefix(prefix) == Some(line);
    pairs.all(fits).then_some(Relation::Shorter(prefix))
}

fn map<'a>(mut pairs: impl Iterator<Item = (&'a str, &'a str)>) -> Option<Relation<'a>> {
    let mut map: BTreeMap<&str, &str> = BTreeMap::new();
    if !pairs.all(|(row, line)| *map.entry(row).or_insert(line) == line) {
        return None;
    }
    let deeper = |a: &str, b: &str| a.len() < b.len() && b.starts_with(a);
    // A string sorts before those it is the beginning of.
    let ascends = map.iter().zip(map.iter().skip(1)).all(|((a, x), (b, y))| deeper(a, b) && deeper(x, y));
    ascends.then_some(Relation::Map(map))
}

/// The image of `indent`, seen or some whole units away from one that was.
fn mapped(map: &BTreeMap<&str, &str>, indent: &str) -> Option<String> {
    if let Some(image) = map.get(indent) {
        return Some((*image).to_owned());
    }
    let above = map.iter().rev().find(|(seen, _)| indent.starts_with(**seen));
    let below = map.iter().find(|(seen, _)| seen.starts_with(indent));
    let image = match (above, below) {
        (Some((seen, image)), _) => {
            let steps = units(map, &indent[seen.len()..])?;
            format!("{image}{steps}")
        }
        (None, Some((seen, image))) => {
            let steps = units(map, &seen[indent.len()..])?;
            image.strip_suffix(steps.as_str())?.to_owned()
        }
        (None, None) => return None,
    };
    // Still deeper than what is above it, and less deep than what is below.
    below.is_none_or(|(_, image_below)| image_below.len() > image.len()).then_some(image)
}

/// What `rest`, whole units of the block's indent, is in the file. All units seen must agree.
fn units(map: &BTreeMap<&str, &str>, rest: &str) -> Option<String> {
    let steps = map.iter().zip(map.iter().skip(1)).map(|((a, x), (b, y))| (&b[a.len()..], &y[x.len()..]));
    let image = |(unit, step): (&str, &str)| {
        let times = rest.len() / unit.len();
        (rest == unit.repeat(times)).then(|| step.repeat(times))
    };
    let mut images = steps.filter_map(image);
    let first = images.next()?;
    images.all(|other| other == first).then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `pairs` like `block>file`, `image` like `block>file` or `block>?`; `.` is a blank, `t` a tab.
    fn check(allowed: Indents, pairs: &[&str], images: &[&str]) {
        let typed = |text: &str| text.replace('.', " ").replace('t', "\t");
        let rows: Vec<(String, String)> = pairs
            .iter()
            .filter_map(|pair| pair.split_once('>'))
            .map(|(a, b)| (typed(a) + "x", typed(b) + "x"))
            .collect();
        let relation = Relation::find(allowed, rows.iter().map(|(a, b)| (a.as_str(), b.as_str())));
        for image in images {
            let (from, to) = image.split_once('>').expect("block>file");
            let found = relation.as_ref().expect("related").image(&typed(from));
            assert_eq!(found, (to != "?").then(|| typed(to)), "{pairs:?} {image}");
        }
        assert_eq!(relation.is_some(), !images.is_empty(), "{pairs:?}");
    }

    #[test]
    fn one_prefix_more_or_less() {
        check(Indents::Shifted, &[">..", "..>...."], &["....>......", "t>..t"]);
        check(Indents::Shifted, &["....>..", "..>"], &["..>", ">?", "t>?"]);
        check(Indents::Shifted, &[">t", "t>tt"], &["..>t.."]);
        for other in [&[">..", "..>..."][..], &["..>t"], &["..>", ">.."]] {
            check(Indents::Shifted, other, &[]);
        }
    }

    #[test]
    fn a_map_goes_up_and_is_continued_by_whole_units() {
        check(Indents::Mapped, &[">", "..>....", "....>........"], &["......>............", ".....>?"]);
        check(Indents::Mapped, &["....>t", "........>tt"], &["............>ttt", ">", "..>?"]);
        check(Indents::Mapped, &["....>t"], &["....>t", "........>?", ">?"]);
        check(Indents::Mapped, &[">", "........>tt"], &["....>?", "................>tttt"]);
        // Units that disagree determine nothing.
        check(Indents::Mapped, &[">", "..>....", "....>......"], &["......>?"]);
        for other in [&["..>t", "..>tt"][..], &["..>t", "....>t"], &["..>tt", "....>t"], &["t>..", "..>...."]]
        {
            check(Indents::Mapped, other, &[]);
        }
    }

    #[test]
    fn anything_else_has_the_images_that_never_differ() {
        check(Indents::Any, &[">", "..>....", "...>....", ">.."], &["...>....", "..>....", ">?", "....>?"]);
    }
}
