//! Operations that the tests run through the library, to stop where the program would not.

use patchmany::disk::{Disk, Folders, Node, OsDisk};
use patchmany::edit::{Hash, RelPath};
use patchmany::plan::{Metadata, Resolved, Sink};
use patchmany::transaction::{Durability, Ground, Staging, Stop, Store};
use std::path::Path;

/// A file of mode 644 whose whole text changes.
pub(crate) fn resolved((path, old, new): (&str, &str, &str)) -> Resolved {
    let node =
        |text: &str| Node::File { hash: Hash::of(text.as_bytes()), mode: 0o644, size: text.len() as u64 };
    let path = RelPath::new(path).unwrap();
    Resolved {
        path: path.clone(),
        before: node(old),
        after: node(new),
        seen: None,
        old: None,
        new: Some(new.as_bytes().to_vec().into()),
        metadata: Metadata::Of(path),
    }
}

/// A run on `root` that dies after the swap. `head` is where HEAD stands.
pub(crate) fn die(root: &Path, store: &Store<OsDisk>, head: &[u8], edit: (&str, &str, &str)) {
    let folders = Folders::new(OsDisk, OsDisk.open_root(root).unwrap());
    let staging = Staging::begin(Ground { folders: &folders, store, head }, Durability::None).unwrap();
    staging.put(&resolved(edit)).unwrap();
    std::mem::forget(staging.seal().unwrap().swap(&Stop::new(0)).unwrap());
}
