//! A step that changes a binary file: the bytes of the diff, or a refusal.

use super::Refusal;
use super::outcome::{LineRange, PlacedHunk, Twins};
use super::step::StepDone;
use crate::edit::{BinaryChange, BinaryError, Code, Hunk, Locator, Step};

/// The binary change of a step that has nothing else.
pub(super) fn change(step: &Step) -> Option<(&Hunk, &BinaryChange)> {
    match &step.hunks[..] {
        [hunk @ Hunk { locator: Locator::Binary(change), .. }] => Some((hunk, change)),
        _ => None,
    }
}

/// Whether a file may be what Git LFS puts in the place of a content that is not here.
pub(super) fn is_lfs_pointer(bytes: &[u8]) -> bool {
    bytes.len() < 1024 && bytes.starts_with(b"version https://git-lfs.github.com/spec/")
}

/// Makes the change.
pub(super) fn run(content: &[u8], hunk: &Hunk, change: &BinaryChange) -> Result<StepDone, Vec<Refusal>> {
    let bytes = change.apply(content).map_err(|error| vec![refusal(&error).at(hunk.origin)])?;
    let none = LineRange::new(1, 0);
    let (origin, notes) = (hunk.origin, Vec::new());
    let placed = PlacedHunk {
        origin,
        pass: "exact",
        old_lines: none,
        new_lines: none,
        added: 0,
        removed: 0,
        notes,
        twins: Twins::default(),
    };
    Ok(StepDone { bytes: bytes.into(), hunks: vec![placed] })
}

fn refusal(error: &BinaryError) -> Refusal {
    let (code, hint) = match error {
        BinaryError::Untold => (Code::NotText, "make the diff with `git diff --binary`"),
        BinaryError::Broken(_) => (Code::NotText, "make the diff again with `git diff --binary`"),
        BinaryError::OtherFile => (Code::Stale, "make the diff again from the present file"),
    };
    Refusal::new(code, error.to_string()).hint(hint)
}
