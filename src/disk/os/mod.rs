//! [`OsDisk`]: the disk of the operating system; on Unix by folder descriptors, elsewhere by paths.

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

#[cfg(test)]
mod tests;
