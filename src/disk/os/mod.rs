//! [`OsDisk`]: the disk of the operating system; on Unix by folder descriptors, elsewhere by paths.

#[cfg(target_os = "linux")]
mod medium;
#[cfg(any(not(unix), test))]
mod portable;
#[cfg(unix)]
mod unix;
#[cfg(unix)]
mod xattr;

#[cfg(not(unix))]
pub use portable::PortableDisk as OsDisk;
#[cfg(unix)]
pub use unix::OsDisk;

use std::fs::{File, TryLockError};
use std::io;

/// Locks an open file for this process alone; `None` while another holds it.
fn try_lock(file: File) -> io::Result<Option<File>> {
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(e)) => Err(e),
    }
}

#[cfg(test)]
pub(super) mod tests;
