//! The snapshot store: exact versions of files that were shown, so that an edit made for one of them can be merged later.
//!
//! Keyed by hash and path, for the owner alone, bounded: the newest are kept. A version is trusted only when its bytes
//! have the hash that its name says, so a torn write is one that is not there. The store never stands in the way: who
//! cannot write it goes without.

use crate::disk::{Disk, Kind};
use crate::edit::{Hash, RelPath, Tag, WeakTag};
use crate::plan::Known;
use bstr::{BStr, BString};
use std::io;

/// Bytes that are kept by default.
pub const MOST_KEPT: u64 = 64 * 1024 * 1024;

/// How the names of notes begin; no hash does.
const SHOWN: &[u8] = b"shown-";

/// The note of which version of `path` was shown last.
fn note_name(path: &RelPath) -> BString {
    [SHOWN, Hash::of(path.as_bstr()).to_string().as_bytes()].concat().into()
}

/// Versions of files in one folder of the state directory.
#[derive(Debug)]
pub struct Snapshots<D: Disk> {
    disk: D,
    dir: D::Dir,
    most: u64,
}

impl<D: Disk> Snapshots<D> {
    /// The store in the folder `dir`, which holds at most `most` bytes.
    pub fn new(disk: D, dir: D::Dir, most: u64) -> Self {
        Self { disk, dir, most }
    }

    /// How large a version may be to be kept, in bytes.
    pub fn most(&self) -> usize {
        usize::try_from(self.most).unwrap_or(usize::MAX)
    }

    /// Keeps `bytes`, whose hash is `hash`, as the newest version of the file `path`; the oldest ones that the bound leaves no room for go. A
    /// version that is larger than the bound is not kept.
    ///
    /// # Errors
    /// Those of the disk. Nothing depends on the version being kept.
    pub fn remember(&self, path: &RelPath, hash: &Hash, bytes: &[u8]) -> io::Result<()> {
        let size = bytes.len() as u64;
        if size > self.most || self.most == 0 {
            return Ok(());
        }
        let name = BString::from(format!("{hash}{}", suffix(path)));
        let mut kept = self.versions()?;
        let newest = kept.iter().rfind(|version| !version.name.starts_with(SHOWN));
        if newest.is_some_and(|newest| newest.name == name && newest.size == size) {
            return Ok(());
        }
        // Taken away and made again it is the newest, and whole.
        self.forget(kept.iter().filter(|version| version.name == name))?;
        kept.retain(|version| version.name != name);
        let mut total: u64 = kept.iter().map(|version| version.size).sum();
        let leave = kept.iter().take_while(|version| {
            let is_too_much = total.saturating_add(size) > self.most;
            total -= if is_too_much { version.size } else { 0 };
            is_too_much
        });
        self.forget(leave)?;
        match self.disk.create(&self.dir, name.as_ref(), bytes, 0o600) {
            // Another run was faster with the same bytes.
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            created => created,
        }
    }

    /// Notes that `hash` is the version of `path` that was shown last. Such notes go with age as versions do.
    ///
    /// # Errors
    /// Those of the disk. Nothing depends on the note being kept.
    pub fn note_shown(&self, path: &RelPath, hash: &Hash) -> io::Result<()> {
        if self.most == 0 || self.showed_last(path, hash) {
            return Ok(());
        }
        let name = note_name(path);
        match self.disk.remove(&self.dir, name.as_ref()) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(e),
            _ => {}
        }
        self.disk.create(&self.dir, name.as_ref(), hash.to_string().as_bytes(), 0o600)
    }

    /// Whether `hash` is the version of `path` that was shown last, as far as that is known.
    pub fn showed_last(&self, path: &RelPath, hash: &Hash) -> bool {
        let noted = self.disk.read(&self.dir, note_name(path).as_ref());
        noted.is_ok_and(|(noted, _)| noted == hash.to_string().as_bytes())
    }

    /// The version that `tag` names.
    ///
    /// # Errors
    /// Those of the disk.
    pub fn find(&self, tag: &Tag) -> io::Result<Known> {
        let mut known = Known::Nothing;
        let names = self.disk.list(&self.dir)?;
        for name in names.iter().filter(|name| name.starts_with(tag.as_str().as_bytes())) {
            known = self.read(name.as_ref()).into_iter().fold(known, Known::and);
        }
        Ok(known)
    }

    /// The versions of the file `path` that have the short tag `tag`.
    ///
    /// # Errors
    /// Those of the disk.
    pub fn shown(&self, path: &RelPath, tag: WeakTag) -> io::Result<Vec<Vec<u8>>> {
        let (names, suffix) = (self.disk.list(&self.dir)?, suffix(path));
        let own = names.iter().filter(|name| name.ends_with(suffix.as_bytes()));
        let versions = own.filter_map(|name| self.read(name.as_ref()));
        Ok(versions.filter(|bytes| WeakTag::of(bytes) == tag).collect())
    }

    /// A version whose bytes have the hash that its name says.
    fn read(&self, name: &BStr) -> Option<Vec<u8>> {
        let (bytes, _) = self.disk.read(&self.dir, name).ok()?;
        name.starts_with(Hash::of(&bytes).to_string().as_bytes()).then_some(bytes)
    }

    /// All versions, the oldest first.
    fn versions(&self) -> io::Result<Vec<Version>> {
        let mut versions = Vec::new();
        for name in self.disk.list(&self.dir)? {
            // One that another run takes away meanwhile is no fault.
            if let Some(stat) =
                self.disk.stat(&self.dir, name.as_ref())?.filter(|stat| stat.kind == Kind::File)
            {
                versions.push(Version { modified: stat.stamp.modified, name, size: stat.size });
            }
        }
        versions.sort();
        Ok(versions)
    }

    fn forget<'a>(&self, versions: impl Iterator<Item = &'a Version>) -> io::Result<()> {
        for version in versions {
            match self.disk.remove(&self.dir, version.name.as_ref()) {
                Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(e),
                _ => {}
            }
        }
        Ok(())
    }
}

/// What the names of all versions of a file end with.
fn suffix(path: &RelPath) -> String {
    format!("-{:.16}", Hash::of(path.as_bstr()).to_string())
}

/// The order is that of age.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Version {
    modified: i128,
    name: BString,
    size: u64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::OsDisk;

    struct Folder {
        _temp: tempfile::TempDir,
        store: Snapshots<OsDisk>,
    }

    fn folder(most: u64) -> Folder {
        let temp = tempfile::tempdir().expect("a folder");
        let dir = OsDisk.open_root(temp.path()).expect("opens");
        Folder { _temp: temp, store: Snapshots::new(OsDisk, dir, most) }
    }

    fn path(name: &str) -> RelPath {
        RelPath::new(name).expect("good")
    }

    impl Folder {
        fn remember(&self, text: &str) {
            self.store.remember(&path("f"), &Hash::of(text.as_bytes()), text.as_bytes()).expect("kept");
            // Tells neighbours apart on disks with coarse times.
            std::thread::sleep(std::time::Duration::from_millis(12));
        }

        fn knows(&self, text: &str) -> bool {
            match self.store.find(&Hash::of(text.as_bytes()).tag()).expect("reads") {
                Known::Version(bytes) => bytes == text.as_bytes(),
                _ => false,
            }
        }
    }

    #[test]
    fn what_was_remembered_is_found_by_its_tag() {
        let folder = folder(100);
        ["one", "two", "one", ""].iter().for_each(|text| folder.remember(text));
        assert!(["one", "two", ""].iter().all(|text| folder.knows(text)));
        assert!(!folder.knows("three"));
    }

    #[test]
    fn short_tags_are_those_of_one_file() {
        let folder = folder(100);
        let store = &folder.store;
        for (name, text) in [("f", "a\n"), ("f", "a \n"), ("f", "b\n"), ("g", "a\t\n"), ("g", "a\n")] {
            store.remember(&path(name), &Hash::of(text.as_bytes()), text.as_bytes()).expect("kept");
        }
        let shown = |name: &str, text: &str| {
            let mut found = store.shown(&path(name), WeakTag::of(text.as_bytes())).expect("reads");
            found.sort();
            found
        };
        assert_eq!(shown("f", "a"), Vec::<Vec<u8>>::new());
        assert_eq!(shown("f", "a\n"), [b"a\n".to_vec(), b"a \n".to_vec()]);
        assert_eq!(shown("g", "a\n"), [b"a\t\n".to_vec(), b"a\n".to_vec()]);
        assert_eq!(store.find(&Hash::of(b"a\n").tag()).expect("reads"), Known::Version(b"a\n".to_vec()));
    }

    #[test]
    fn the_newest_stay() {
        let folder = folder(10);
        ["aaaa", "bbbb", "aaaa", "cccc"].iter().for_each(|text| folder.remember(text));
        assert_eq!(["aaaa", "bbbb", "cccc"].map(|text| folder.knows(text)), [true, false, true]);
        folder.remember("more than ten bytes");
        assert!(folder.knows("cccc") && !folder.knows("more than ten bytes"));
    }

    #[test]
    fn the_last_version_shown_is_known_by_path() {
        let folder = folder(100_000);
        let (path, other) = (RelPath::new("a/b").expect("a path"), RelPath::new("a/c").expect("a path"));
        let showed = |path: &RelPath, text: &str| folder.store.showed_last(path, &Hash::of(text.as_bytes()));
        for text in ["one", "two", "two"] {
            folder.store.note_shown(&path, &Hash::of(text.as_bytes())).expect("noted");
        }
        assert!(showed(&path, "two") && !showed(&path, "one") && !showed(&other, "two"));
    }

    #[test]
    fn torn_versions_are_not_trusted_and_heal() {
        let folder = folder(100);
        let name = BString::from(format!("{}{}", Hash::of(b"whole"), suffix(&path("f"))));
        folder.store.disk.create(&folder.store.dir, name.as_ref(), b"who", 0o600).expect("made");
        assert!(!folder.knows("whole"));
        folder.remember("whole");
        assert!(folder.knows("whole"));
    }

    #[cfg(unix)]
    #[test]
    fn versions_are_for_the_owner_alone() {
        let folder = folder(100);
        folder.remember("x");
        let name = BString::from(format!("{}{}", Hash::of(b"x"), suffix(&path("f"))));
        let stat = folder.store.disk.stat(&folder.store.dir, name.as_ref()).expect("asked").expect("there");
        assert_eq!(stat.mode, 0o600);
    }
}
