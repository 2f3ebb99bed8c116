//! The passes of matching.md as data: under which equality old text is looked for, strictest first.
//!
//! A looser pass is asked only when every stricter one finds nothing; it never settles a stricter one's tie.

use super::equality::Key;
use super::indent::Indents;

/// One equality of blocks of lines.
#[derive(Debug)]
pub(super) struct Pass {
    /// Its name in results.
    pub name: &'static str,
    /// Lines are equal when their keys are.
    pub key: Key,
    /// How the indents of equal lines may differ.
    pub indents: Indents,
    /// How added lines are written.
    pub added: Added,
    /// How many word characters the old text must have.
    pub words: usize,
}

/// How the lines that a hunk adds are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Added {
    /// As the batch has them.
    AsGiven,
    /// The changes that the batch makes to its own old lines are made to the file's lines.
    Retyped,
}

/// The ladder, strictest first.
pub(super) const PASSES: &[Pass] = &[EXACT, TRAILING_WS, UNICODE, INDENT_SHIFT, INDENT_MAP, TRIM];

/// P0: bytes are equal, terminators aside. The only pass for a text that starts or ends inside a line.
pub(super) const EXACT: Pass =
    Pass { name: "exact", key: Key::Bytes, indents: Indents::Same, added: Added::AsGiven, words: 0 };

/// P1: equal after dropping trailing blanks.
const TRAILING_WS: Pass = Pass { name: "trailing-ws", key: Key::Trimmed, ..EXACT };

/// P2: equal after composing characters and folding typographic ones.
const UNICODE: Pass = Pass { name: "unicode", key: Key::Folded, added: Added::Retyped, words: 1, ..EXACT };

/// P3: bodies are equal under P2; the file has, or lacks, one prefix on all lines that are not blank.
const INDENT_SHIFT: Pass =
    Pass { name: "indent-shift", key: Key::Body, indents: Indents::Shifted, words: 3, ..UNICODE };

/// P4: bodies are equal under P2; each indent has one image, deeper ones deeper images.
const INDENT_MAP: Pass = Pass { name: "indent-map", indents: Indents::Mapped, ..INDENT_SHIFT };

/// P5: bodies are equal under P2.
pub(super) const TRIM: Pass = Pass { name: "trim", indents: Indents::Any, ..INDENT_SHIFT };

/// The loosest pass that a run allows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Loosest {
    /// Lines are equal byte for byte, terminators aside.
    Exact,
    /// But for trailing blanks.
    TrailingWs,
    /// But for typography as well.
    Unicode,
    /// But for indents as well: every pass.
    Indent,
}

/// The passes that a run allows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ladder(&'static [Pass]);

impl Ladder {
    /// The passes up to the loosest one.
    pub(super) fn up_to(loosest: Loosest) -> Self {
        let last = match loosest {
            Loosest::Exact => &EXACT,
            Loosest::TrailingWs => &TRAILING_WS,
            Loosest::Unicode => &UNICODE,
            Loosest::Indent => &TRIM,
        };
        let count = PASSES.iter().take_while(|pass| pass.name != last.name).count() + 1;
        Self(&PASSES[..count])
    }

    /// The passes for a text, strictest first. One that is not UTF-8 is edited by exact bytes only.
    pub(super) fn passes(self, is_utf8: bool) -> &'static [Pass] {
        if is_utf8 { self.0 } else { &PASSES[..1] }
    }

    /// The equality of lines of the last pass for a text.
    pub(super) fn key(self, is_utf8: bool) -> Key {
        self.passes(is_utf8).last().map_or(EXACT.key, |pass| pass.key)
    }

    /// The name of the last pass for a text.
    pub(super) fn last(self, is_utf8: bool) -> &'static str {
        self.passes(is_utf8).last().map_or(EXACT.name, |pass| pass.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ladder_ends_where_it_is_told() {
        let names = |loosest| Ladder::up_to(loosest).passes(true).iter().map(|p| p.name).collect::<Vec<_>>();
        assert_eq!(names(Loosest::Exact), ["exact"]);
        assert_eq!(names(Loosest::Unicode), ["exact", "trailing-ws", "unicode"]);
        assert_eq!(names(Loosest::Indent).last(), Some(&"trim"));
        assert_eq!(Ladder::up_to(Loosest::Indent).passes(false).len(), 1);
    }
}
