//! Three-way merging of texts by lines, as git merges files. Nothing is read or written.

use crate::plan::{Chunk, Sides};
use bstr::ByteSlice;
use gix::diff::blob::{Algorithm, InternedInput};
use gix::merge::blob::Resolution;
use gix::merge::blob::builtin_driver::text::{Conflict, ConflictStyle, Labels, Merge};
use std::num::NonZeroU8;

/// Merges what `ours` and `theirs` have made of `base`: one clean piece, or the conflicts between clean ones.
pub fn merge(sides: Sides<'_>) -> Vec<Chunk> {
    let mut input = InternedInput::default();
    let merge = Merge::new(&mut input, sides.ours, sides.base, sides.theirs, Algorithm::Histogram);
    let marker_size = marker_size(sides);
    let mut text = Vec::new();
    let keep = Conflict::Keep { style: ConflictStyle::Diff3, marker_size };
    match merge.run(&mut text, Labels::default(), keep) {
        Resolution::Conflict => pieces(&text, marker_size),
        Resolution::Complete | Resolution::CompleteWithAutoResolvedConflict => vec![Chunk::Clean(text)],
    }
}

/// More than any line of the texts begins with.
fn marker_size(sides: Sides<'_>) -> NonZeroU8 {
    let all = [sides.base, sides.ours, sides.theirs];
    let signs = |line: &[u8]| match line.first() {
        Some(sign @ (b'<' | b'|' | b'=' | b'>')) => line.iter().take_while(|b| *b == sign).count(),
        _ => 0,
    };
    let longest = all.iter().flat_map(|text| text.lines()).map(signs).max().unwrap_or(0);
    let size = u8::try_from(longest.max(6) + 1).unwrap_or(u8::MAX);
    NonZeroU8::new(size).unwrap_or(NonZeroU8::MAX)
}

/// Cuts a text with conflict markers of exactly this size.
fn pieces(text: &[u8], marker_size: NonZeroU8) -> Vec<Chunk> {
    let size = usize::from(marker_size.get());
    let is_marker = |line: &[u8], sign: u8| line.len() == size && line.iter().all(|b| *b == sign);
    // What is clean, then the three texts of a conflict in the order in which they stand.
    let mut parts: [Vec<u8>; 4] = Default::default();
    let mut at = 0;
    let mut chunks = Vec::new();
    for whole in text.split_inclusive(|b| *b == b'\n') {
        let line = whole.trim_end_with(|c| matches!(c, '\n' | '\r'));
        if at == 3 && is_marker(line, b'>') {
            let [clean, ours, base, theirs] = std::mem::take(&mut parts);
            chunks.extend([Chunk::Clean(clean), Chunk::Conflict { base, ours, theirs }]);
            at = 0;
        } else if at < 3 && is_marker(line, b"<|="[at]) {
            at += 1;
        } else {
            parts[at].extend_from_slice(whole);
        }
    }
    chunks.push(Chunk::Clean(parts.concat()));
    chunks.retain(|chunk| !matches!(chunk, Chunk::Clean(text) if text.is_empty()));
    chunks
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(base: &str, ours: &str, theirs: &str, expected: &str) {
        let sides = Sides { base: base.as_bytes(), ours: ours.as_bytes(), theirs: theirs.as_bytes() };
        let shown = |chunk: &Chunk| match chunk {
            Chunk::Clean(text) => text.to_str_lossy().into_owned(),
            Chunk::Conflict { base, ours, theirs } => {
                format!("({}|{}|{})", base.as_bstr(), ours.as_bstr(), theirs.as_bstr())
            }
        };
        let found: String = merge(sides).iter().map(shown).collect();
        assert_eq!(found, expected, "{base:?} {ours:?} {theirs:?}");
    }

    #[test]
    fn changes_apart_come_together() {
        check("a\nb\nc\n", "x\na\nb\nc\n", "a\nb\nC\n", "x\na\nb\nC\n");
        check("a\nb\nc\n", "a\nB\nc\n", "a\nB\nc\n", "a\nB\nc\n");
        check("a", "a", "b", "b");
    }

    #[test]
    fn changes_of_one_place_are_conflicts() {
        check("a\nb\nc\n", "a\nx\nc\n", "a\ny\nc\n", "a\n(b\n|x\n|y\n)c\n");
        check("a\nb\n", "a\n", "a\nB\n", "a\n(b\n||B\n)");
        check("<<<<<<< a\n", "=======\n", ">>>>>>>>\n", "(<<<<<<< a\n|=======\n|>>>>>>>>\n)");
    }
}
