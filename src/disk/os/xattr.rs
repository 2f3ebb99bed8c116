//! Extended attributes of a file, POSIX access lists and security labels among them.

use rustix::fd::AsFd;
use std::io;

#[cfg(any(target_os = "linux", target_vendor = "apple"))]
mod imp {
    use rustix::fd::AsFd;
    use rustix::fs::XattrFlags;
    use rustix::io::Errno;
    use std::io;

    #[cfg(target_os = "linux")]
    const DEFAULT_LIST: &[u8] = b"system.posix_acl_default";
    /// Capabilities belong to the bytes they were granted to: a write drops them, and so does a replacement.
    const DROPPED: &[u8] = b"security.capability";

    fn names<Fd: AsFd>(file: Fd) -> rustix::io::Result<Vec<Vec<u8>>> {
        let mut list = vec![0u8; rustix::fs::flistxattr_query(&file)?];
        if list.is_empty() {
            return Ok(Vec::new());
        }
        let used = rustix::fs::flistxattr(&file, &mut list[..])?;
        Ok(list[..used].split(|b| *b == 0).filter(|n| !n.is_empty()).map(<[u8]>::to_vec).collect())
    }

    fn value<Fd: AsFd>(file: Fd, name: &[u8]) -> rustix::io::Result<Vec<u8>> {
        let mut value = vec![0u8; rustix::fs::fgetxattr_query(&file, name)?];
        if !value.is_empty() {
            let used = rustix::fs::fgetxattr(&file, name, &mut value[..])?;
            value.truncate(used);
        }
        Ok(value)
    }

    pub(super) fn copy<Fd: AsFd>(from: &Fd, to: &Fd) -> io::Result<()> {
        let names = match names(from) {
            Err(Errno::NOTSUP | Errno::NOSYS) => return Ok(()),
            found => found?,
        };
        for name in names.iter().filter(|n| n.as_slice() != DROPPED) {
            let wanted = value(from, name)?;
            // A label that the system has already given the new file need not be set again, which may take rights.
            if value(to, name).is_ok_and(|have| have == wanted) {
                continue;
            }
            rustix::fs::fsetxattr(to, name.as_slice(), &wanted, XattrFlags::empty())?;
        }
        Ok(())
    }

    #[cfg(target_os = "linux")]
    pub(super) fn drop_default_list<Fd: AsFd>(folder: &Fd) -> io::Result<()> {
        match rustix::fs::fremovexattr(folder, DEFAULT_LIST) {
            Err(Errno::NODATA | Errno::NOTSUP | Errno::NOSYS) => Ok(()),
            done => Ok(done?),
        }
    }

    #[cfg(target_os = "linux")]
    pub(super) fn has_default_list<Fd: AsFd>(folder: &Fd) -> bool {
        rustix::fs::fgetxattr_query(folder, DEFAULT_LIST).is_ok()
    }

    pub(super) fn has_none<Fd: AsFd>(file: &Fd) -> bool {
        matches!(rustix::fs::flistxattr_query(file), Ok(0) | Err(Errno::NOTSUP | Errno::NOSYS))
    }
}

#[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
mod imp {
    use rustix::fd::AsFd;
    use std::io;

    pub(super) fn copy<Fd: AsFd>(_from: &Fd, _to: &Fd) -> io::Result<()> {
        Ok(())
    }

    pub(super) fn has_none<Fd: AsFd>(_file: &Fd) -> bool {
        true
    }
}

/// Gives `to` the attributes of `from`, but for capabilities.
pub(super) fn copy<Fd: AsFd>(from: &Fd, to: &Fd) -> io::Result<()> {
    imp::copy(from, to)
}

/// Whether the file is known to have no attribute, and so no access list beyond its permission bits.
pub(super) fn has_none<Fd: AsFd>(file: &Fd) -> bool {
    imp::has_none(file)
}

/// Lets files in the folder inherit no access list.
#[cfg(target_os = "linux")]
pub(super) fn drop_default_list<Fd: AsFd>(folder: &Fd) -> io::Result<()> {
    imp::drop_default_list(folder)
}

/// Whether files in the folder inherit an access list.
#[cfg(target_os = "linux")]
pub(super) fn has_default_list<Fd: AsFd>(folder: &Fd) -> bool {
    imp::has_default_list(folder)
}
