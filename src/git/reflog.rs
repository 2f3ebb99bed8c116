//! Lines of reflogs, as git writes them, and only where git would write one.
//!
//! A line is one write, so that a kill leaves all of it or nothing, and it is not written twice: after a kill the same
//! step makes the same line.

use super::GitError;
use super::reference::Place;
use bstr::{BStr, BString};
use gix::ObjectId;
use gix::refs::store::WriteReflog;
use std::io::{ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::Path;

/// What to do where there is no log yet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Missing {
    /// As `core.logAllRefUpdates` says.
    AsConfigured,
    /// Make it: for the stash, whose entries are the lines.
    Create,
}

/// One line.
#[derive(Debug)]
pub(crate) struct Line(Vec<u8>);

impl Line {
    /// The step to the commit `to`, by its committer and at its time, which are also git's.
    pub(crate) fn new(
        repo: &gix::Repository,
        from: Option<ObjectId>,
        to: ObjectId,
        message: &BStr,
    ) -> Result<Self, GitError> {
        let failed = "read the new commit";
        let commit = repo.find_commit(to).map_err(GitError::gix(failed))?;
        let from = from.unwrap_or_else(|| ObjectId::null(to.kind()));
        let mut line = format!("{from} {to} ").into_bytes();
        commit.committer().map_err(GitError::gix(failed))?.write_to(&mut line)?;
        let message = on_one_line(message);
        if !message.is_empty() {
            line.push(b'\t');
            line.extend_from_slice(&message);
        }
        line.push(b'\n');
        Ok(Self(line))
    }

    /// Appends it to the log of `reference`, unless it is the last line there.
    pub(crate) fn append(
        &self,
        repo: &gix::Repository,
        reference: &BStr,
        missing: Missing,
    ) -> Result<(), GitError> {
        let place = Place::of(repo, reference)?;
        let log = place.log();
        let create = missing == Missing::Create || is_logged(repo.refs.write_reflog, reference);
        if create {
            place.make_folders(&log)?;
        }
        if log.is_dir() {
            // What is left of branches below this name.
            let _ = gix::fs::dir::remove::empty_depth_first(log.clone());
        }
        let mut file = match open(&log, create) {
            Err(error) if error.kind() == ErrorKind::NotFound && !create => return Ok(()),
            opened => opened?,
        };
        if !self.ends(&mut file)? {
            file.write_all(&self.0)?;
        }
        place.share(&log)
    }

    fn ends(&self, log: &mut fs_err::File) -> Result<bool, GitError> {
        let size = log.metadata()?.len();
        let mut last = Vec::new();
        log.seek(SeekFrom::Start(size.saturating_sub(self.0.len() as u64)))?;
        log.read_to_end(&mut last)?;
        Ok(last == self.0)
    }
}

fn open(log: &Path, create: bool) -> std::io::Result<fs_err::File> {
    fs_err::OpenOptions::new().read(true).append(true).create(create).open(log)
}

/// Whether a log is made for `reference` where there is none.
fn is_logged(configured: WriteReflog, reference: &BStr) -> bool {
    let usual = [&b"refs/heads/"[..], b"refs/remotes/", b"refs/notes/"];
    match configured {
        WriteReflog::Always => true,
        WriteReflog::Normal => reference == "HEAD" || usual.iter().any(|f| reference.starts_with(f)),
        WriteReflog::Disable => false,
    }
}

/// Git's way: every run of its white space is one blank.
fn on_one_line(message: &BStr) -> BString {
    let words = message.split(|b| matches!(b, b' ' | b'\t' | b'\n' | b'\r')).filter(|word| !word.is_empty());
    bstr::join(" ", words).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use bstr::ByteSlice;

    #[test]
    fn white_space_is_one_blank() {
        assert_eq!(on_one_line(b" commit:\t a\r\n\xa0b \n".as_bstr()), b"commit: a \xa0b".as_bstr());
    }
}
