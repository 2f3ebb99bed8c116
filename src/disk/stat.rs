//! The facts the file system keeps about one name.

/// What kind of object a name stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A regular file.
    File,
    /// A symbolic link.
    Link,
    /// A folder.
    Directory,
    /// A pipe, socket or device.
    Special,
}

/// Whose a file is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Owner {
    /// The user; 0 where there is no such thing.
    pub user: u32,
    /// The group; 0 where there is no such thing.
    pub group: u32,
}

/// Facts about one name, links not followed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stat {
    /// Its kind.
    pub kind: Kind,
    /// Permission bits (`0o7777`).
    pub mode: u32,
    /// Bytes.
    pub size: u64,
    /// Number of names of the file.
    pub links: u64,
    /// Whose it is.
    pub owner: Owner,
    /// Whether it is known to have no access list and no other extended attribute. Asked only by
    /// [`Disk::read`](super::Disk::read).
    pub bare: bool,
    /// What changes whenever somebody writes.
    pub stamp: Stamp,
    /// The mount the object lies on: names on one mount can be renamed to each other. Equal for all names where
    /// the system does not tell.
    pub mount: u64,
}

/// Tells cheaply whether a file is still the one that was read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stamp {
    /// Device and inode number; 0 where there is no such thing.
    pub file: (u64, u64),
    /// Bytes.
    pub size: u64,
    /// Last change of the bytes, in nanoseconds since 1970.
    pub modified: i128,
    /// Last change of bytes, names or permissions, in nanoseconds since 1970; 0 where there is no such thing.
    pub changed: i128,
}

/// The mode of a file whose bytes are replaced. Setuid, and setgid on executables, do not survive new bytes: neither would they survive a write.
pub fn kept_mode(mode: u32) -> u32 {
    let bits = mode & 0o7777 & !0o4000;
    if bits & 0o010 != 0 { bits & !0o2000 } else { bits }
}

#[cfg(test)]
mod tests {
    use super::kept_mode;

    #[test]
    fn new_bytes_drop_setuid() {
        assert_eq!(kept_mode(0o104755), 0o755);
        assert_eq!(kept_mode(0o102755), 0o755);
        assert_eq!(kept_mode(0o102644), 0o2644);
    }
}
