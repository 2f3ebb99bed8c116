//! The list of roots without git, in the user's state directory: roots that contain one another share lock and recovery.
//!
//! A root is in the list before its lock is taken for the first time, and whoever takes locks reads the list after that:
//! of two runs at least one sees the other and takes its lock too. Nothing is ever removed from the list.

use bstr::{ByteSlice, ByteVec};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

const LIST: &str = "roots";

/// Adds `root` unless it is in the list of the folder `state`.
pub(super) fn register(state: &Path, root: &Path) -> io::Result<()> {
    if read(state)?.iter().any(|known| known == root) {
        return Ok(());
    }
    let mut options = fs_err::OpenOptions::new();
    let mut list = options.create(true).append(true).open(state.join(LIST))?;
    // The byte before it ends what another run may have left half-written.
    let entry = [b"\0", &*Vec::from_path_lossy(root), b"\0"].concat();
    list.write_all(&entry)?;
    list.sync_all()
}

/// The other roots of the list that contain `root` or lie in it, sorted.
pub(super) fn overlapping(state: &Path, root: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = read(state)?;
    found.retain(|other| other != root && (other.starts_with(root) || root.starts_with(other)));
    found.sort();
    found.dedup();
    Ok(found)
}

fn read(state: &Path) -> io::Result<Vec<PathBuf>> {
    match fs_err::read(state.join(LIST)) {
        Ok(bytes) => {
            let paths = bytes.split_str(b"\0").filter(|path| !path.is_empty());
            Ok(paths.map(|path| path.to_path_lossy().into_owned()).collect())
        }
        Err(e) if matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Ok(Vec::new())
        }
        Err(e) => Err(e),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roots_above_and_below_overlap() {
        let state = tempfile::tempdir().expect("made");
        assert_eq!(overlapping(state.path(), Path::new("/a")).expect("read"), Vec::<PathBuf>::new());
        for root in ["/a/b", "/a", "/a/bc", "/x", "/a/b/c", "/a"] {
            register(state.path(), Path::new(root)).expect("written");
        }
        let of = |root: &str| overlapping(state.path(), Path::new(root)).expect("read");
        assert_eq!(of("/a/b"), ["/a", "/a/b/c"].map(PathBuf::from));
        assert_eq!(of("/a"), ["/a/b", "/a/b/c", "/a/bc"].map(PathBuf::from));
        assert_eq!(of("/x"), Vec::<PathBuf>::new());
        assert_eq!(of("/"), ["/a", "/a/b", "/a/b/c", "/a/bc", "/x"].map(PathBuf::from));
    }

    #[test]
    fn a_torn_entry_spoils_no_other() {
        let state = tempfile::tempdir().expect("made");
        fs_err::write(state.path().join(LIST), b"\0/a/hal").expect("written");
        register(state.path(), Path::new("/a")).expect("written");
        register(state.path(), Path::new("/a/b")).expect("written");
        let found = overlapping(state.path(), Path::new("/a")).expect("read");
        assert_eq!(found, ["/a/b", "/a/hal"].map(PathBuf::from));
    }
}
