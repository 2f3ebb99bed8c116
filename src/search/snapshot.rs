//! The snapshot store: exact versions of files that were shown, so that an edit made for one of them can be merged later.
//!
//! Keyed by hash, for the owner alone, bounded: the newest are kept. A version is trusted only when its bytes have the
//! hash that its name says, so a torn write is one that is not there. The store never stands in the way: who cannot
//! write it goes without.

use crate::disk::{Disk, Kind};
use crate::edit::{Hash, Tag};
use bstr::{BStr, BString, ByteSlice};
use std::io;

/// Bytes that are kept by default.
pub const MOST_KEPT: u64 = 64 * 1024 * 1024;

/// Versions of files in one folder of the state directory.
#[derive(Debug)]
pub struct Snapshots<D: Disk> {
    disk: D,
    dir: D::Dir,
    most: u64,
}

/// What the store knows of a tag.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Known {
    /// No version has it.
    Nothing,
    /// One version has it.
    Version(Vec<u8>),
    /// Several versions have it.
    Several,
}

impl<D: Disk> Snapshots<D> {
    /// The store in the folder `dir`, which holds at most `most` bytes.
    pub fn new(disk: D, dir: D::Dir, most: u64) -> Self {
        Self { disk, dir, most }
    }

    /// Keeps `bytes`, whose hash is `hash`, as the newest version; the oldest ones that the bound leaves no room for go. A
    /// version that is larger than the bound is not kept.
    ///
    /// # Errors
    /// Those of the disk. Nothing depends on the version being kept.
    pub fn remember(&self, hash: &Hash, bytes: &[u8]) -> io::Result<()> {
        let size = bytes.len() as u64;
        if size > self.most || self.most == 0 {
            return Ok(());
        }
        let name = BString::from(hash.to_string());
        let mut kept = self.versions()?;
        if kept.last().is_some_and(|last| last.name == name && last.size == size) {
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

    /// The version that `tag` names.
    ///
    /// # Errors
    /// Those of the disk.
    pub fn find(&self, tag: &Tag) -> io::Result<Known> {
        let mut known = Known::Nothing;
        let names = self.disk.list(&self.dir)?;
        for name in names.iter().filter(|name| name.starts_with(tag.as_str().as_bytes())) {
            let Some(bytes) = self.read(name.as_ref()) else { continue };
            match known {
                Known::Nothing => known = Known::Version(bytes),
                _ => return Ok(Known::Several),
            }
        }
        Ok(known)
    }

    /// A version whose bytes have the hash that its name says.
    fn read(&self, name: &BStr) -> Option<Vec<u8>> {
        let (bytes, _) = self.disk.read(&self.dir, name).ok()?;
        (Hash::of(&bytes).to_string().as_bytes() == name.as_bytes()).then_some(bytes)
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

    impl Folder {
        fn remember(&self, text: &str) {
            self.store.remember(&Hash::of(text.as_bytes()), text.as_bytes()).expect("kept");
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
    fn the_newest_stay() {
        let folder = folder(10);
        ["aaaa", "bbbb", "aaaa", "cccc"].iter().for_each(|text| folder.remember(text));
        assert_eq!(["aaaa", "bbbb", "cccc"].map(|text| folder.knows(text)), [true, false, true]);
        folder.remember("more than ten bytes");
        assert!(folder.knows("cccc") && !folder.knows("more than ten bytes"));
    }

    #[test]
    fn torn_versions_are_not_trusted_and_heal() {
        let folder = folder(100);
        let name = BString::from(Hash::of(b"whole").to_string());
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
        let name = BString::from(Hash::of(b"x").to_string());
        let stat = folder.store.disk.stat(&folder.store.dir, name.as_ref()).expect("asked").expect("there");
        assert_eq!(stat.mode, 0o600);
    }
}
