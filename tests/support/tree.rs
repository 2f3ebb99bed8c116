//! What stands below a folder, for comparing before with after. The root's `.git` is left out.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Every path with its kind, permission bits and bytes, fit for reading in a failed assertion.
pub(crate) fn tree(root: &Path) -> BTreeMap<String, String> {
    walk(root, &|path, metadata| {
        let mode = metadata.mode() & 0o7777;
        if metadata.is_symlink() {
            format!("link to {}", std::fs::read_link(path).unwrap().display())
        } else if metadata.is_dir() {
            "folder".to_owned()
        } else {
            format!("{mode:o} {}", std::fs::read(path).unwrap().escape_ascii())
        }
    })
}

/// The same, with the permission bits of folders.
pub(crate) fn tree_and_folders(root: &Path) -> BTreeMap<String, String> {
    let mut all = walk(root, &|_, metadata| format!("{:o} folder", metadata.mode() & 0o7777));
    for (path, content) in tree(root).into_iter().filter(|(_, content)| content != "folder") {
        all.insert(path, content);
    }
    all
}

/// Every path with what changes whenever somebody writes: inode number and modification time, beside its bytes.
pub(crate) fn identity(root: &Path) -> BTreeMap<String, String> {
    let mut all = walk(root, &|_, metadata| {
        format!("{} {}.{:09}", metadata.ino(), metadata.mtime(), metadata.mtime_nsec())
    });
    for (path, content) in tree(root) {
        all.entry(path).and_modify(|identity| *identity = format!("{identity} {content}"));
    }
    all
}

fn walk(root: &Path, show: &dyn Fn(&Path, &std::fs::Metadata) -> String) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let metadata = path.symlink_metadata().unwrap();
            let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
            if name == ".git" {
                continue;
            }
            all.insert(name, show(&path, &metadata));
            if metadata.is_dir() {
                folders.push(path);
            }
        }
    }
    all
}
