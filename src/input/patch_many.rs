//! The JSON form `{"path", "patch"}` with ORIGINAL/UPDATED blocks: each block is a step of its own.

use super::body::Fault;
use super::draft::Draft;
use super::entry::Entry;
use super::gptme::{self, Setting};
use super::keys::Key;

/// Reads one entry.
pub(super) fn read(entry: &Entry<'_>, draft: &mut Draft<'_>) {
    entry.check_keys(&[Key::Path, Key::Patch, Key::Tag], draft);
    let (head, body) = (entry.head(draft), entry.text(Key::Patch, draft));
    let (Some(head), Some(body)) = (head, body) else {
        return;
    };
    let items = gptme::scan(&body, Setting::OnePath);
    if items.is_empty() {
        let fault =
            Fault::new(0, "the patch holds no block").hint("write `<<<<<<< ORIGINAL` … `>>>>>>> UPDATED`");
        draft.entry_faults(&body, &head, [fault]);
    }
    gptme::lower(&head, &body, &items, draft);
}
