//! One operation line of a hashline section, and the corrected line for one that is almost one.

use crate::edit::{Gap, Locator, Text};
use std::fmt;

/// The operations in one line, for hints.
pub(super) const OPERATIONS: &str = "the operations are `SWAP n.=m:`, `DEL n`, `DEL n.=m`, `INS.PRE n:`, `INS.POST n:`, \
                                     `INS.HEAD:`, `INS.TAIL:`, `REM` and `MV path`";

/// An operation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Op {
    Edit(Edit),
    Remove,
    Move(String),
}

/// An edit of lines, which count from 1.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Edit {
    Swap(usize, usize),
    Delete(usize, usize),
    Insert(Gap),
}

impl Op {
    /// Whether `+` rows belong to it.
    pub(super) fn takes_body(&self) -> bool {
        matches!(self, Self::Edit(Edit::Swap(..) | Edit::Insert(_)))
    }
}

impl Edit {
    /// The edit with its body as a hunk's locator.
    pub(super) fn locator(self, rows: Vec<Text>) -> Locator {
        match self {
            Self::Swap(first, last) | Self::Delete(first, last) => Locator::LineRange { first, last, rows },
            Self::Insert(gap) => Locator::Gap { gap, rows },
        }
    }
}

impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Edit(Edit::Swap(first, last)) => write!(f, "SWAP {first}.={last}:"),
            Self::Edit(Edit::Delete(first, last)) if first == last => write!(f, "DEL {first}"),
            Self::Edit(Edit::Delete(first, last)) => write!(f, "DEL {first}.={last}"),
            Self::Edit(Edit::Insert(Gap::Before(line))) => write!(f, "INS.PRE {line}:"),
            Self::Edit(Edit::Insert(Gap::After(line))) => write!(f, "INS.POST {line}:"),
            Self::Edit(Edit::Insert(Gap::Start)) => f.write_str("INS.HEAD:"),
            Self::Edit(Edit::Insert(Gap::End)) => f.write_str("INS.TAIL:"),
            Self::Remove => f.write_str("REM"),
            Self::Move(to) => write!(f, "MV {to}"),
        }
    }
}

/// Reads an operation line; a hint with the corrected line where one can be told.
pub(super) fn parse(line: &str) -> Result<Op, Option<String>> {
    strict(line.trim_end()).ok_or_else(|| corrected(line).map(|op| format!("write `{op}`")))
}

fn strict(line: &str) -> Option<Op> {
    let (verb, rest) = line.split_once(' ').unwrap_or((line, ""));
    let edit = match verb {
        "REM" => return rest.is_empty().then_some(Op::Remove),
        "MV" => return (!rest.trim().is_empty()).then(|| Op::Move(rest.trim().to_owned())),
        "INS.HEAD:" if rest.is_empty() => Edit::Insert(Gap::Start),
        "INS.TAIL:" if rest.is_empty() => Edit::Insert(Gap::End),
        "INS.PRE" => Edit::Insert(Gap::Before(number(rest.strip_suffix(':')?)?)),
        "INS.POST" => Edit::Insert(Gap::After(number(rest.strip_suffix(':')?)?)),
        "SWAP" | "PUT" => put(rest.strip_suffix(':')?)?,
        "DEL" | "CUT" => {
            let (first, last) = range(rest).or_else(|| number(rest).map(|n| (n, n)))?;
            Edit::Delete(first, last)
        }
        _ => return None,
    };
    Some(Op::Edit(edit))
}

/// `n.=m`, and of the later protocol `<n` and `>n`.
fn put(place: &str) -> Option<Edit> {
    if let Some(line) = place.strip_prefix('<') {
        return Some(Edit::Insert(Gap::Before(number(line)?)));
    }
    if let Some(line) = place.strip_prefix('>') {
        return Some(Edit::Insert(Gap::After(number(line)?)));
    }
    range(place).map(|(first, last)| Edit::Swap(first, last))
}

fn range(text: &str) -> Option<(usize, usize)> {
    let (first, last) = text.split_once(".=")?;
    Some((number(first)?, number(last)?))
}

fn number(text: &str) -> Option<usize> {
    text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

/// The operation that a line was meant to be, by its first word and its numbers.
fn corrected(line: &str) -> Option<Op> {
    let line = line.trim();
    let end = line.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(line.len());
    let word = line[..end].to_ascii_uppercase();
    let digits = line[end..].split(|c: char| !c.is_ascii_digit()).filter(|part| !part.is_empty());
    let numbers: Option<Vec<usize>> = digits.map(|part| part.parse().ok()).collect();
    let numbers = numbers?;
    let edit = match (&*word, &numbers[..]) {
        ("SWAP" | "PUT" | "REPLACE", [line]) => Edit::Swap(*line, *line),
        ("SWAP" | "PUT" | "REPLACE", [first, last]) => Edit::Swap(*first, *last),
        ("DEL" | "CUT" | "DELETE", [line]) => Edit::Delete(*line, *line),
        ("DEL" | "CUT" | "DELETE", [first, last]) => Edit::Delete(*first, *last),
        ("INS" | "INSERT", numbers) => Edit::Insert(gap(&line[end..].to_ascii_uppercase(), numbers)?),
        _ => return None,
    };
    Some(Op::Edit(edit))
}

fn gap(words: &str, numbers: &[usize]) -> Option<Gap> {
    let says = |all: &[&str]| all.iter().any(|word| words.contains(word));
    match numbers {
        [] if says(&["HEAD", "TOP", "START"]) => Some(Gap::Start),
        [] if says(&["TAIL", "END", "BOTTOM"]) => Some(Gap::End),
        [line] if says(&["PRE", "BEFORE"]) => Some(Gap::Before(*line)),
        [line] if says(&["POST", "AFTER"]) => Some(Gap::After(*line)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_spelling_each() {
        for line in [
            "SWAP 2.=3:",
            "DEL 2",
            "DEL 2.=4",
            "INS.PRE 1:",
            "INS.POST 1:",
            "INS.HEAD:",
            "INS.TAIL:",
            "REM",
            "MV a b",
        ] {
            assert_eq!(parse(line).map(|op| op.to_string()), Ok(line.to_owned()));
        }
        for (line, same) in [
            ("PUT 2.=3:", "SWAP 2.=3:"),
            ("PUT <2:", "INS.PRE 2:"),
            ("PUT >2:", "INS.POST 2:"),
            ("CUT 2", "DEL 2"),
        ] {
            assert_eq!(parse(line).map(|op| op.to_string()), Ok(same.to_owned()));
        }
    }

    #[test]
    fn other_spellings_are_corrected() {
        for (line, right) in [
            ("SWAP 2:", "SWAP 2.=2:"),
            ("SWAP 2-3:", "SWAP 2.=3:"),
            ("SWAP2.=3:", "SWAP 2.=3:"),
            ("swap 2.=3", "SWAP 2.=3:"),
            ("DEL 2:", "DEL 2"),
            ("DEL 2=3", "DEL 2.=3"),
            ("INS POST 2:", "INS.POST 2:"),
            ("INS.AFTER 2:", "INS.POST 2:"),
            ("INS.HEAD", "INS.HEAD:"),
        ] {
            assert_eq!(parse(line), Err(Some(format!("write `{right}`"))), "{line}");
        }
        for line in [
            "text",
            "REM x",
            "MV",
            "SWAP 1 2 3",
            "DEL",
            "SWAP 99999999999999999999.=1:",
            "2:x",
            "*** Abort",
            "é",
        ] {
            assert_eq!(parse(line), Err(None), "{line}");
        }
    }
}
