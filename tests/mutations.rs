//! No bytes make a parser panic: the batches of all cases, cut up, put together and spoilt at random, go to every parser,
//! and what is read goes to every printer. `scripts/fuzz` does the same for longer.

use patchmany::edit::Format;
use patchmany::{input, output};
use proptest::prelude::*;
use proptest::sample::Index;
use std::path::Path;
use std::sync::LazyLock;

/// Every form that a batch can be in.
fn forms() -> impl Iterator<Item = Format> {
    output::WRITTEN.into_iter().chain([Format::Lsp, Format::Suggestions])
}

/// What one form or another looks for.
const WORDS: &[&str] = &[
    "\n",
    "\r\n",
    "\r",
    "\u{feff}",
    "\0",
    "é",
    "\u{2028}",
    "@@",
    "@@ -1,2 +1,2 @@\n",
    "@@ -0,0 +18446744073709551615,18446744073709551615 @@\n",
    "--- a/f\n+++ b/f\n",
    "diff --git a/f b/f\n",
    "rename from \"a\\377\"\n",
    "GIT binary patch\nliteral 9\n",
    "\\ No newline at end of file\n",
    "*** Begin Patch\n",
    "*** End Patch\n",
    "*** Update File: f\n",
    "*** End of File\n",
    "cat <<'EOF'\n",
    "<<<<<<< ORIGINAL\n",
    "<<<<<<< SEARCH\n",
    "=======\n",
    ">>>>>>> UPDATED\n",
    ">>>>>>> REPLACE\n",
    "=== PATH: f ===\n",
    "````patch f\n",
    "```\n",
    "~~~",
    "> ",
    "  - ",
    "<div>",
    "[f#12345678]\n",
    "SWAP 18446744073709551615.=18446744073709551615:\n",
    "INS.PRE 0:\n+x\n",
    "{",
    "[",
    "]",
    "\"",
    "\\ud800",
    ",",
    "\"path\": \"f\", ",
    "\"edits\": [",
    "1e999",
];

static BATCHES: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata");
    let (mut waiting, mut found) = (vec![root], Vec::new());
    while let Some(folder) = waiting.pop() {
        for path in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                waiting.push(path);
            } else if path.file_stem().is_some_and(|stem| stem == "batch" || stem == "answer") {
                found.push(path);
            }
        }
    }
    found.sort();
    let small =
        found.into_iter().map(|path| std::fs::read(path).unwrap()).filter(|batch| batch.len() < 20_000);
    small.collect()
});

/// One change of a batch.
#[derive(Clone, Debug)]
enum Spoil {
    Insert(Index, Index),
    Remove(Index, usize),
    Repeat(Index, usize),
    Byte(Index, u8),
    /// The rest is that of another batch.
    Splice(Index, Index, Index),
}

impl Spoil {
    fn apply(&self, batch: &mut Vec<u8>) {
        let length = batch.len() + 1;
        let range = |at: &Index, count: &usize| {
            let start = at.index(length);
            start..batch.len().min(start + count)
        };
        match self {
            Self::Insert(at, word) => {
                let at = at.index(length);
                batch.splice(at..at, WORDS[word.index(WORDS.len())].bytes());
            }
            Self::Remove(at, count) => drop(batch.drain(range(at, count))),
            Self::Repeat(at, count) => {
                let part = batch[range(at, count)].to_vec();
                let at = at.index(length);
                batch.splice(at..at, part);
            }
            Self::Byte(at, byte) => {
                if let Some(old) = batch.get_mut(at.index(length)) {
                    *old = *byte;
                }
            }
            Self::Splice(at, other, from) => {
                let other = &BATCHES[other.index(BATCHES.len())];
                batch.truncate(at.index(length));
                batch.extend_from_slice(&other[from.index(other.len() + 1)..]);
            }
        }
    }
}

fn spoil() -> impl Strategy<Value = Spoil> {
    let index = any::<Index>;
    prop_oneof![
        4 => (index(), index()).prop_map(|(at, word)| Spoil::Insert(at, word)),
        2 => (index(), 1..40usize).prop_map(|(at, count)| Spoil::Remove(at, count)),
        1 => (index(), 1..80usize).prop_map(|(at, count)| Spoil::Repeat(at, count)),
        1 => (index(), any::<u8>()).prop_map(|(at, byte)| Spoil::Byte(at, byte)),
        1 => (index(), index(), index()).prop_map(|(at, other, from)| Spoil::Splice(at, other, from)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(500) })]

    #[test]
    fn no_batch_makes_a_parser_panic(
        batch in any::<Index>(),
        spoils in proptest::collection::vec(spoil(), 0..6),
        placeholders in any::<bool>(),
        given in any::<bool>(),
        strip in any::<Option<u8>>(),
    ) {
        let mut batch = BATCHES[batch.index(BATCHES.len())].clone();
        spoils.iter().for_each(|spoil| spoil.apply(&mut batch));
        for format in std::iter::once(None).chain(forms().map(Some)) {
            let options = input::Options {
                format,
                default_path: given.then(|| "given".into()),
                placeholders,
                strip: strip.map(usize::from),
                exists: &|path| path.written.len() % 2 == 0,
            };
            match input::parse(&batch, &options) {
                Ok(changes) => {
                    prop_assert!(!changes.operations.is_empty());
                    for form in forms() {
                        let _ = output::print(&changes, form);
                    }
                }
                Err(errors) => prop_assert!(!errors.errors.is_empty()),
            }
        }
    }
}
