//! The keys of JSON entries with all their spellings, and which kind of entry a set of keys makes.

use crate::edit::Format;

macro_rules! keys {
    ($($key:ident: $first:literal $(| $more:literal)*,)*) => {
        /// What a key means, however it is spelt.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub(super) enum Key { $($key,)* }

        const SPELLINGS: &[(Key, &[&str])] = &[$((Key::$key, &[$first $(, $more)*]),)*];
    };
}

keys! {
    Path: "path" | "file_path" | "filePath",
    Patch: "patch",
    Patches: "patches",
    Operation: "operation" | "op",
    Rename: "moveTo" | "rename" | "move_to",
    Diff: "diff",
    Edits: "edits",
    Old: "old_string" | "oldString" | "oldText" | "old_text" | "old_str" | "old",
    New: "new_string" | "newString" | "newText" | "new_text" | "new_str" | "new",
    All: "replace_all" | "replaceAll" | "all",
    Expected: "expected",
    Content: "content",
    AllowEmpty: "allow_empty" | "allowEmpty",
    Tag: "tag",
    Tool: "tool",
    Args: "args",
    Calls: "calls",
    Steps: "steps",
    Changes: "changes" | "documentChanges",
    Plan: "patchmany_plan",
    Input: "input",
    Reason: "reason",
    Range: "range",
}

impl Key {
    /// The meaning of a key as written.
    pub(super) fn of(written: &str) -> Option<Self> {
        SPELLINGS.iter().find(|(_, all)| all.contains(&written)).map(|(key, _)| *key)
    }

    /// All spellings of the key that is spelt `first` to be shown.
    #[cfg(feature = "schema")]
    pub(super) fn spellings(first: &str) -> &'static [&'static str] {
        SPELLINGS.iter().find(|(_, all)| all[0] == first).map_or(&[], |(_, all)| all)
    }

    /// The spelling to show.
    pub(super) fn as_str(self) -> &'static str {
        SPELLINGS.iter().find(|(key, _)| *key == self).map_or("", |(_, all)| all[0])
    }

    /// The known spelling closest to `written`, if any is close.
    pub(super) fn nearest(written: &str) -> Option<&'static str> {
        let all = SPELLINGS.iter().flat_map(|(_, all)| all.iter().copied());
        let close = all.map(|known| (distance(written, known), known)).min()?;
        (close.0 > 0 && close.0 <= 2 && close.0 * 2 < written.len()).then_some(close.1)
    }
}

/// What kind of entry an object is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// One entry of this form.
    Entry(Format),
    /// `patches`: more entries.
    Patches,
    /// `edits`: more entries, for the same path where they name none.
    Edits,
    /// `calls` or `steps`: calls of tools.
    Calls,
    /// `input`: a text of any other form.
    Input,
    /// A plan that patchmany wrote.
    Plan,
}

/// The kinds that these keys make: one for a good entry.
pub(super) fn kinds(has: &dyn Fn(Key) -> bool) -> Vec<Kind> {
    let any = |keys: &[Key]| keys.iter().any(|&k| has(k));
    let all = |keys: &[Key]| keys.iter().all(|&k| has(k));
    let found = [
        (has(Key::Patches), Kind::Patches),
        (has(Key::Patch), Kind::Entry(Format::PatchMany)),
        (any(&[Key::Operation, Key::Diff, Key::Rename]), Kind::Entry(Format::Ops)),
        (has(Key::Edits), Kind::Edits),
        (
            has(Key::Content) || all(&[Key::Old, Key::New]) || all(&[Key::Tool, Key::Args]),
            Kind::Entry(Format::Edits),
        ),
        (any(&[Key::Calls, Key::Steps]), Kind::Calls),
        (has(Key::Changes), Kind::Entry(Format::Lsp)),
        (has(Key::Plan), Kind::Plan),
        (has(Key::Input), Kind::Input),
    ];
    let mut kinds: Vec<Kind> = found.into_iter().filter(|(is, _)| *is).map(|(_, kind)| kind).collect();
    if kinds.is_empty() && any(&[Key::Reason, Key::Range]) && !has(Key::Path) {
        kinds.push(Kind::Entry(Format::Suggestions));
    }
    kinds
}

/// How many characters must be put in, left out or replaced to make `b` of `a`.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    if a.len() > 4 * b.len() + 8 {
        return usize::MAX;
    }
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(keys: &[&str], expected: &[Kind]) {
        let keys: Vec<_> = keys.iter().filter_map(|k| Key::of(k)).collect();
        assert_eq!(kinds(&|key| keys.contains(&key)), expected, "{keys:?}");
    }

    #[test]
    fn keys_make_a_kind() {
        check(&["path", "patch"], &[Kind::Entry(Format::PatchMany)]);
        check(&["patches"], &[Kind::Patches]);
        check(&["path", "moveTo"], &[Kind::Entry(Format::Ops)]);
        check(&["path", "edits"], &[Kind::Edits]);
        check(&["file_path", "oldText", "newText"], &[Kind::Entry(Format::Edits)]);
        check(&["path", "content"], &[Kind::Entry(Format::Edits)]);
        check(&["tool", "args"], &[Kind::Entry(Format::Edits)]);
        check(&["calls"], &[Kind::Calls]);
        check(&["documentChanges"], &[Kind::Entry(Format::Lsp)]);
        check(&["reason"], &[Kind::Entry(Format::Suggestions)]);
        check(&["input"], &[Kind::Input]);
        check(&["path", "old"], &[]);
        check(&["path", "patch", "diff"], &[Kind::Entry(Format::PatchMany), Kind::Entry(Format::Ops)]);
    }

    #[test]
    fn close_spellings_are_named() {
        assert_eq!(Key::nearest("pth"), Some("path"));
        assert_eq!(Key::nearest("move-to"), Some("move_to"));
        assert_eq!(Key::nearest("colour"), None);
        assert_eq!(Key::nearest("x"), None);
    }
}
