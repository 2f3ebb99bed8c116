//! What every target does with its bytes: read them in one form, and write what was read in all forms.

use patchmany::edit::Format;
use patchmany::{input, output};

/// Reads `bytes` as `format`, or as what they seem to be. The first byte chooses the options.
///
/// # Panics
/// Where no edit comes of bytes that are said to be a batch, or where reading or writing panics.
pub fn run(format: Option<Format>, bytes: &[u8]) {
    let Some((&choice, bytes)) = bytes.split_first() else { return };
    let options = input::Options {
        format,
        default_path: (choice & 1 == 1).then(|| "given".into()),
        placeholders: choice & 2 == 2,
        strip: (choice & 4 == 4).then_some(usize::from(choice >> 6)),
        exists: &|path| path.written.len() % 2 == usize::from(choice >> 3 & 1),
    };
    match input::parse(bytes, &options) {
        Ok(changes) => {
            assert!(!changes.operations.is_empty());
            for form in output::WRITTEN {
                let _ = output::print(&changes, form);
            }
        }
        Err(errors) => assert!(!errors.errors.is_empty()),
    }
}
