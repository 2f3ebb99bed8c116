//! The passes of matching.md as data: under which equality old text is looked for, strictest first.

use std::borrow::Cow;

/// One equality.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pass {
    /// Its name in results.
    pub name: &'static str,
    /// Lines (without terminators) are equal when their keys are.
    pub key: for<'a> fn(&'a [u8]) -> Cow<'a, [u8]>,
    /// How a text that may start inside a line is looked for.
    pub texts: Texts,
}

/// How a pass places a text that is not made of whole lines.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Texts {
    /// As a substring, terminators equated.
    Substring,
}

/// The ladder. A looser pass is asked only when no stricter one finds anything.
pub(super) const PASSES: &[Pass] = &[EXACT];

/// P0: bytes are equal, terminators aside.
pub(super) const EXACT: Pass =
    Pass { name: "exact", key: |line| Cow::Borrowed(line), texts: Texts::Substring };

/// The name of the pass that a file that is not UTF-8 stops at, and of the last one today.
pub(super) const LAST: &str = EXACT.name;
