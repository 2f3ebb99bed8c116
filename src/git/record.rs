//! What the journal keeps of a prepared commit, or of what is to be staged, as JSON.
//!
//! Names are bytes: each byte is written as the character of that number, so that ASCII stays readable and every
//! name survives. A record of another version is refused, never guessed at.

use super::head::{Head, Step};
use super::{GitError, Recorded};
use crate::edit::RelPath;
use bstr::{BString, ByteVec};
use gix::ObjectId;
use gix::index::entry::{Mode, Stat};
use gix::refs::FullName;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

const VERSION: u32 = 1;

/// What is left to do once the files are in place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Record {
    pub(crate) operation: String,
    /// To a commit that exists as an object and that no reference names yet; none where the batch is only staged.
    pub(crate) step: Option<Step>,
    /// The index, where it is not the work tree's own.
    pub(crate) index: Option<PathBuf>,
    pub(crate) entries: Vec<Entry>,
}

/// What happens to one path of the index.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Entry {
    /// Relative to the work tree.
    pub(crate) path: RelPath,
    pub(crate) before: Option<Side>,
    pub(crate) after: Option<Side>,
    /// The file as it was when its bytes were read; `None` when they are not those of `after`.
    pub(crate) landed: Option<Landing>,
}

/// One version of a path, as git keeps it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Side {
    pub(crate) mode: Mode,
    pub(crate) id: ObjectId,
}

/// Tells whether a file was written since: bytes, last change in seconds and nanoseconds, inode.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Landing(u32, u32, u32, u32);

impl From<&Stat> for Landing {
    fn from(stat: &Stat) -> Self {
        Self(stat.size, stat.mtime.secs, stat.mtime.nsecs, stat.ino)
    }
}

impl Record {
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let side = |side: Side| WrittenSide { mode: side.mode.bits(), id: side.id.to_string() };
        let entries = self.entries.iter().map(|entry| WrittenEntry {
            path: written(entry.path.as_bstr()),
            before: entry.before.map(side),
            after: entry.after.map(side),
            landed: entry.landed,
        });
        let step = self.step.as_ref();
        let written = Written {
            version: VERSION,
            operation: self.operation.clone(),
            branch: step.and_then(|step| step.from.branch.as_ref()).map(|branch| written(branch.as_bstr())),
            old: step.and_then(|step| step.from.commit).map(|id| id.to_string()),
            new: step.map(|step| step.to.to_string()),
            reflog: step.map(|step| written(&step.reflog)),
            index: self.index.as_ref().map(|path| written(path.as_os_str().as_encoded_bytes())),
            entries: entries.collect(),
        };
        serde_json::to_vec(&written).expect("strings and numbers can be written as JSON")
    }

    pub(crate) fn recorded(&self) -> Recorded {
        match &self.step {
            Some(step) => Recorded::Commit {
                commit: step.to.to_string(),
                reference: step.from.branch.as_ref().map(|branch| branch.as_bstr().to_string()),
            },
            None => Recorded::Stage,
        }
    }

    /// # Errors
    /// Bytes that [`to_bytes`](Self::to_bytes) does not write.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Result<Self, GitError> {
        let written: Written = serde_json::from_slice(bytes).map_err(bad)?;
        if written.version != VERSION {
            return Err(GitError::BadRecord(format!("its version is {}", written.version)));
        }
        let step = written.step()?;
        let index = written.index.as_deref().map(read).transpose()?;
        let index = index.map(|path| Vec::from(path).into_path_buf().map_err(bad)).transpose()?;
        let entries = written.entries.into_iter().map(WrittenEntry::read).collect::<Result<_, _>>()?;
        Ok(Self { operation: written.operation, step, index, entries })
    }
}

/// What a participant's record tells of; nothing where it cannot be read.
pub fn recorded_in(record: &[u8]) -> Option<Recorded> {
    Some(Record::from_bytes(record).ok()?.recorded())
}

#[derive(Serialize, Deserialize)]
struct Written {
    version: u32,
    operation: String,
    branch: Option<String>,
    old: Option<String>,
    new: Option<String>,
    reflog: Option<String>,
    index: Option<String>,
    entries: Vec<WrittenEntry>,
}

impl Written {
    fn step(&self) -> Result<Option<Step>, GitError> {
        let Some(new) = &self.new else { return Ok(None) };
        let branch = self.branch.as_deref().map(read).transpose()?.map(FullName::try_from);
        let from = Head {
            branch: branch.transpose().map_err(|e| bad(e.to_string()))?,
            commit: self.old.as_deref().map(id).transpose()?,
        };
        let reflog = self.reflog.as_deref().map(read).transpose()?.unwrap_or_default();
        Ok(Some(Step { from, to: id(new)?, reflog }))
    }
}

#[derive(Serialize, Deserialize)]
struct WrittenEntry {
    path: String,
    before: Option<WrittenSide>,
    after: Option<WrittenSide>,
    landed: Option<Landing>,
}

#[derive(Serialize, Deserialize)]
struct WrittenSide {
    mode: u32,
    id: String,
}

impl WrittenEntry {
    fn read(self) -> Result<Entry, GitError> {
        Ok(Entry {
            path: RelPath::new(read(&self.path)?).map_err(bad)?,
            before: self.before.map(WrittenSide::read).transpose()?,
            after: self.after.map(WrittenSide::read).transpose()?,
            landed: self.landed,
        })
    }
}

impl WrittenSide {
    fn read(self) -> Result<Side, GitError> {
        let mode = Mode::from_bits(self.mode).ok_or_else(|| bad(format!("the mode {:o}", self.mode)))?;
        Ok(Side { mode, id: id(&self.id)? })
    }
}

fn written(bytes: &[u8]) -> String {
    bytes.iter().copied().map(char::from).collect()
}

fn read(text: &str) -> Result<BString, GitError> {
    let bytes: Result<Vec<u8>, _> = text.chars().map(|c| u8::try_from(u32::from(c))).collect();
    bytes.map(BString::from).map_err(bad)
}

fn id(hex: &str) -> Result<ObjectId, GitError> {
    ObjectId::from_hex(hex.as_bytes()).map_err(|e| bad(e.to_string()))
}

fn bad(error: impl ToString) -> GitError {
    GitError::BadRecord(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use bstr::ByteSlice;

    #[test]
    fn every_name_survives() {
        let path: Vec<u8> = (1..=255).filter(|b| *b != b'/').collect();
        let side = Side { mode: Mode::FILE_EXECUTABLE, id: ObjectId::null(gix::hash::Kind::Sha1) };
        let record = Record {
            operation: "op-1".into(),
            step: Some(Step {
                from: Head { branch: None, commit: Some(side.id) },
                to: side.id,
                reflog: b"commit: \xff".as_bstr().to_owned(),
            }),
            index: Some("/x/\u{e9}".into()),
            entries: vec![Entry {
                path: RelPath::new(path).expect("good names"),
                before: None,
                after: Some(side),
                landed: Some(Landing(1, 2, 3, 4)),
            }],
        };
        assert_eq!(Record::from_bytes(&record.to_bytes()).expect("readable"), record);
        let staged = Record { step: None, index: None, ..record };
        assert_eq!(Record::from_bytes(&staged.to_bytes()).expect("readable"), staged);
    }

    #[test]
    fn other_bytes_are_no_record() {
        for bytes in
            [&b""[..], b"{}", b"\xff", br#"{"version":2,"operation":"x","new":"","reflog":"","entries":[]}"#]
        {
            assert!(matches!(Record::from_bytes(bytes), Err(GitError::BadRecord(_))));
        }
    }
}
