//! What an operation put in the place of old texts, beside their old versions: from both, the new version can be told
//! after somebody has edited it.
//!
//! It is written without a sync and read leniently: whoever uses it compares the hash of what it makes.

use crate::edit::{Pieces, RelPath};
use crate::plan::{Resolved, Sink, SinkFull};
use bstr::ByteSlice;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// More than this, in bytes, is not kept of one operation.
const MOST: usize = 64 << 20;
const MAGIC: &[u8] = b"PMDELTA1";

/// The changed middles of files. As a [`Sink`] it takes them as they come.
#[derive(Debug, Default)]
pub struct Deltas {
    files: Mutex<(BTreeMap<RelPath, Delta>, usize)>,
}

/// One changed middle.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Delta {
    /// Bytes of the old version.
    old: Range<usize>,
    /// What stands there in the new one.
    new: Vec<u8>,
}

impl Sink for Deltas {
    fn put(&self, file: &Resolved) -> Result<(), SinkFull> {
        // A file that was not there cannot be merged with nothing, unless it was moved there.
        let has_old = file.old.is_some() || file.metadata.from().is_some();
        let Some(new) = file.new.as_ref().filter(|_| has_old) else { return Ok(()) };
        let delta = Delta::between(file.old.as_deref().unwrap_or_default(), new);
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        if files.1 + delta.new.len() <= MOST {
            files.1 += delta.new.len();
            files.0.insert(file.path.clone(), delta);
        }
        Ok(())
    }
}

impl Delta {
    fn between(old: &[u8], new: &Pieces) -> Self {
        let (old, new) = new.difference(old);
        Self { old, new }
    }

    fn apply(&self, old: &[u8]) -> Option<Vec<u8>> {
        Some([old.get(..self.old.start)?, &self.new, old.get(self.old.end..)?].concat())
    }
}

impl Deltas {
    /// The bytes to keep.
    pub fn to_bytes(&self) -> Vec<u8> {
        let files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        let mut out = MAGIC.to_vec();
        let number = |out: &mut Vec<u8>, n: usize| out.extend_from_slice(&(n as u64).to_le_bytes());
        for (path, delta) in &files.0 {
            for part in [path.as_bstr().as_bytes(), &delta.new] {
                number(&mut out, part.len());
                out.extend_from_slice(part);
            }
            number(&mut out, delta.old.start);
            number(&mut out, delta.old.end);
        }
        out
    }

    /// What `bytes` say, as far as they can be read.
    pub fn from_bytes(bytes: &[u8]) -> Self {
        let mut files = BTreeMap::new();
        let mut rest = bytes.strip_prefix(MAGIC).unwrap_or_default();
        while let Some((path, delta)) = read(&mut rest) {
            files.insert(path, delta);
        }
        Self { files: Mutex::new((files, 0)) }
    }

    /// The new version of `path` whose old one is `old`, if it is known. Its hash may be another.
    pub fn new_version(&self, path: &RelPath, old: &[u8]) -> Option<Vec<u8>> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner).0.get(path)?.apply(old)
    }
}

fn read(rest: &mut &[u8]) -> Option<(RelPath, Delta)> {
    let path = RelPath::new(part(rest)?).ok()?;
    let new = part(rest)?.to_vec();
    let (start, end) = (number(rest)?, number(rest)?);
    (start <= end).then_some((path, Delta { old: start..end, new }))
}

fn number(rest: &mut &[u8]) -> Option<usize> {
    let (first, others) = rest.split_first_chunk::<8>()?;
    *rest = others;
    usize::try_from(u64::from_le_bytes(*first)).ok()
}

fn part<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let length = number(rest)?;
    let (part, others) = rest.split_at_checked(length)?;
    *rest = others;
    Some(part)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::Node;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_new_version_is_found_again(old in "[ab\n]{0,12}", new in "[ab\n]{0,12}", cut in 0usize..200) {
            let path = RelPath::new("d/a").expect("good");
            let deltas = Deltas::default();
            let file = Resolved {
                path: path.clone(),
                before: Node::Absent,
                after: Node::Absent,
                seen: None,
                old: Some(old.as_bytes().to_vec().into()),
                new: Some(new.as_bytes().to_vec().into()),
                metadata: crate::plan::Metadata::Of(path.clone()),
            };
            prop_assert_eq!(deltas.put(&file), Ok(()));
            let bytes = deltas.to_bytes();
            let found = Deltas::from_bytes(&bytes).new_version(&path, old.as_bytes());
            prop_assert_eq!(found, Some(new.into_bytes()));
            // Half of it is nothing.
            let cut = cut.min(bytes.len() - 1);
            prop_assert_eq!(Deltas::from_bytes(&bytes[..cut]).new_version(&path, old.as_bytes()), None);
            // Another old version is no reason to panic.
            let _ = Deltas::from_bytes(&bytes).new_version(&path, b"");
        }
    }
}
