//! What keeps a folder's files, and which start of the system this is, as Linux tells.

use super::super::Medium;
use rustix::fd::AsFd;
use std::io;

const TMPFS: i64 = 0x0102_1994;
const RAMFS: i64 = 0x8584_58f6;
const EXT: i64 = 0xef53;
const XFS: i64 = 0x5846_5342;
const BTRFS: i64 = 0x9123_683e;
const F2FS: i64 = 0xf2f5_2010;
const BCACHEFS: i64 = 0xca45_1a4e;
const ZFS: i64 = 0x2fc1_2fc1;
/// Overlay: its upper layer, which cannot be asked for from inside, is nearly always one of the journaled ones.
const OVERLAY: i64 = 0x794c_7630;

/// The medium of an open folder.
pub(super) fn of<Fd: AsFd>(dir: Fd) -> io::Result<Medium> {
    #[allow(clippy::unnecessary_cast)] // the width differs by processor
    let kind = rustix::fs::fstatfs(&dir)?.f_type as i64 & 0xffff_ffff;
    Ok(match kind {
        TMPFS | RAMFS => Medium::Memory,
        EXT if lacks_journal(&dir)? => Medium::Fragile,
        EXT | XFS | BTRFS | F2FS | BCACHEFS | ZFS | OVERLAY => Medium::Journaled,
        _ => Medium::Fragile,
    })
}

/// Whether an ext file system has no journal: ext2, or ext4 made without one.
fn lacks_journal<Fd: AsFd>(dir: Fd) -> io::Result<bool> {
    let device = rustix::fs::fstat(dir)?.st_dev;
    let (major, minor) = (rustix::fs::major(device), rustix::fs::minor(device));
    let Ok(link) = std::fs::read_link(format!("/sys/dev/block/{major}:{minor}")) else { return Ok(false) };
    let Some(name) = link.file_name() else { return Ok(false) };
    let task = std::path::Path::new("/sys/fs/ext4").join(name).join("journal_task");
    // Where the system does not tell, the usual holds: there is a journal.
    Ok(std::fs::read_to_string(task).is_ok_and(|task| task.trim() == "<none>"))
}

/// The id of this start of the system; zeros where it cannot be read.
pub(super) fn boot() -> [u8; 16] {
    let text = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let digits: String = text.chars().filter(char::is_ascii_hexdigit).collect();
    u128::from_str_radix(&digits, 16).unwrap_or(0).to_be_bytes()
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_start_has_one_id() {
        assert_eq!(super::boot(), super::boot());
        let told = std::path::Path::new("/proc/sys/kernel/random/boot_id").exists();
        assert_eq!(super::boot() != [0; 16], told);
    }
}
