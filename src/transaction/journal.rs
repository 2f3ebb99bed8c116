//! The journal, format 1: what a transaction will do, written before it does it (transaction.md, 1.5).
//!
//! A header and a body with checksums, then sectors of 512 bytes that are there from the start, so that writing COMMIT
//! or ABORT needs no space. A torn record does not verify and counts as not written; the last valid one decides.

use super::OperationId;
use super::entry::{Entry, Folder, StagePlace};
use crate::disk::Node;
use crate::edit::{Hash, RelPath};
use bstr::{BString, ByteSlice};

const MAGIC: &[u8; 8] = b"PMTXN\r\n\x1a";
const VERSION: u32 = 1;
const HEADER: usize = 128;
pub(super) const SECTOR: usize = 512;
/// COMMIT, ABORT, and room for a later version.
const SECTORS: usize = 4;

/// What a journal says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Journal {
    pub id: OperationId,
    /// When it was written, in nanoseconds since 1970.
    pub created: u64,
    /// The start of the system in which it was written.
    pub boot: [u8; 16],
    /// Where the caller's history stood, as bytes that only the caller reads.
    pub head: BString,
    pub stages: Vec<StagePlace>,
    /// Sorted by path.
    pub entries: Vec<Entry>,
    /// Folders that the transaction makes, shallow first.
    pub folders: Vec<Folder>,
    /// Folders that go after COMMIT when nothing is left in them, as they were before.
    pub emptied: Vec<Folder>,
}

/// The last word of a transaction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Verdict {
    /// None yet: it is to be undone.
    Open,
    /// Everything is swapped and stays; a participant's record may have to be finished.
    Commit,
    /// It was undone.
    Abort,
}

/// Why bytes are no journal.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub(super) enum BadJournal {
    #[error("the journal is damaged: {0}")]
    Damaged(&'static str),
    #[error("the journal has version {0}; this program knows version {VERSION}")]
    Version(u32),
}

impl Journal {
    /// The bytes of the journal with empty sectors at its end.
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut body = Vec::new();
        put_bytes(&mut body, self.id.as_str().as_bytes());
        put_bytes(&mut body, &self.head);
        put_count(&mut body, self.stages.len());
        for stage in &self.stages {
            match stage {
                StagePlace::State => body.push(0),
                StagePlace::Tree(folder) => {
                    body.push(1);
                    put_bytes(&mut body, folder.as_bstr());
                }
            }
        }
        for folders in [&self.folders, &self.emptied] {
            put_count(&mut body, folders.len());
            folders.iter().for_each(|folder| put_folder(&mut body, folder));
        }
        put_count(&mut body, self.entries.len());
        for entry in &self.entries {
            put_bytes(&mut body, entry.path.as_bstr());
            put_count(&mut body, entry.stage);
            body.extend_from_slice(&entry.slot.to_le_bytes());
            body.extend_from_slice(&entry.inode.to_le_bytes());
            put_node(&mut body, &entry.before);
            put_node(&mut body, &entry.after);
        }
        let mut bytes = self.header(&body).to_vec();
        bytes.append(&mut body);
        bytes.resize(bytes.len().next_multiple_of(SECTOR) + SECTORS * SECTOR, 0);
        bytes
    }

    fn header(&self, body: &[u8]) -> [u8; HEADER] {
        let mut head = [0; HEADER];
        head[..8].copy_from_slice(MAGIC);
        head[8..12].copy_from_slice(&VERSION.to_le_bytes());
        head[32..40].copy_from_slice(&self.created.to_le_bytes());
        head[40..48].copy_from_slice(&(body.len() as u64).to_le_bytes());
        head[48..80].copy_from_slice(Hash::of(body).as_bytes());
        head[80..96].copy_from_slice(&self.boot);
        let sum = Hash::of(&head[..96]);
        head[96..128].copy_from_slice(sum.as_bytes());
        head
    }

    /// Reads a journal and its last word.
    pub(super) fn decode(bytes: &[u8]) -> Result<(Self, Verdict), BadJournal> {
        let damaged = BadJournal::Damaged;
        let head = bytes.get(..HEADER).ok_or(damaged("it is too short"))?;
        if &head[..8] != MAGIC {
            return Err(damaged("it does not start as a journal"));
        }
        if Hash::of(&head[..96]).as_bytes() != &head[96..128] {
            return Err(damaged("its header does not verify"));
        }
        let version = u32::from_le_bytes(head[8..12].try_into().expect("4 bytes"));
        if version != VERSION {
            return Err(BadJournal::Version(version));
        }
        let length = u64::from_le_bytes(head[40..48].try_into().expect("8 bytes"));
        let length = usize::try_from(length).map_err(|_| damaged("its length is absurd"))?;
        let end = HEADER.checked_add(length).ok_or(damaged("its length is absurd"))?;
        let body = bytes.get(HEADER..end).ok_or(damaged("its body is cut"))?;
        if Hash::of(body).as_bytes() != &head[48..80] {
            return Err(damaged("its body does not verify"));
        }
        let mut journal = Reader(body).journal().ok_or(damaged("its body makes no sense"))?;
        journal.created = u64::from_le_bytes(head[32..40].try_into().expect("8 bytes"));
        journal.boot = head[80..96].try_into().expect("16 bytes");
        let sectors = bytes.get(end.next_multiple_of(SECTOR)..).unwrap_or_default();
        let verdict = sectors.chunks(SECTOR).filter_map(|s| read_record(head, s)).next_back();
        Ok((journal, verdict.unwrap_or(Verdict::Open)))
    }
}

/// Where in the journal `bytes` the record of a verdict goes, and its bytes (one sector).
pub(super) fn record(bytes: &[u8], verdict: &Verdict) -> (u64, Vec<u8>) {
    let first = bytes.len() - SECTORS * SECTOR;
    let (sector, tag): (usize, &[u8; 8]) = match verdict {
        Verdict::Commit => (0, b"COMMIT\0\0"),
        Verdict::Abort | Verdict::Open => (1, b"ABORT\0\0\0"),
    };
    let mut record = tag.to_vec();
    let sum = record_sum(&bytes[..HEADER], &record);
    record.extend_from_slice(sum.as_bytes());
    record.resize(SECTOR, 0);
    ((first + sector * SECTOR) as u64, record)
}

fn record_sum(head: &[u8], tag: &[u8]) -> Hash {
    Hash::of(&[&head[96..128], tag].concat())
}

fn read_record(head: &[u8], sector: &[u8]) -> Option<Verdict> {
    let (tag, sum) = (sector.get(..8)?, sector.get(8..40)?);
    if record_sum(head, tag).as_bytes() != sum {
        return None;
    }
    match tag {
        b"COMMIT\0\0" => Some(Verdict::Commit),
        b"ABORT\0\0\0" => Some(Verdict::Abort),
        _ => None,
    }
}

fn put_count(out: &mut Vec<u8>, count: usize) {
    out.extend_from_slice(&(count as u64).to_le_bytes());
}

fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put_count(out, bytes.len());
    out.extend_from_slice(bytes);
}

fn put_folder(out: &mut Vec<u8>, folder: &Folder) {
    put_bytes(out, folder.path.as_bstr());
    match folder.mode {
        None => out.push(0),
        Some(mode) => {
            out.push(1);
            out.extend_from_slice(&mode.to_le_bytes());
        }
    }
}

fn put_node(out: &mut Vec<u8>, node: &Node) {
    match node {
        Node::Absent => out.push(0),
        Node::File { hash, mode, size } => {
            out.push(1);
            out.extend_from_slice(hash.as_bytes());
            out.extend_from_slice(&mode.to_le_bytes());
            out.extend_from_slice(&size.to_le_bytes());
        }
        Node::Link { target } => {
            out.push(2);
            put_bytes(out, target);
        }
        Node::Directory => out.push(3),
        Node::Special => out.push(4),
    }
}

/// Reads a body piece by piece; `None` when it ends too early or says something impossible.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, n: usize) -> Option<&'a [u8]> {
        let (head, rest) = self.0.split_at_checked(n)?;
        self.0 = rest;
        Some(head)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }

    fn count(&mut self) -> Option<usize> {
        usize::try_from(u64::from_le_bytes(self.array()?)).ok()
    }

    fn bytes(&mut self) -> Option<BString> {
        let n = self.count()?;
        self.take(n).map(BString::from)
    }

    fn path(&mut self) -> Option<RelPath> {
        RelPath::new(self.bytes()?).ok()
    }

    /// A list; its length is checked against what is left, so that a wrong one cannot take memory.
    fn list<T>(&mut self, mut item: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let n = self.count().filter(|n| *n <= self.0.len())?;
        (0..n).map(|_| item(self)).collect()
    }

    fn folder(&mut self) -> Option<Folder> {
        let path = self.path()?;
        let mode = match self.array::<1>()?[0] {
            0 => None,
            1 => Some(u32::from_le_bytes(self.array()?)),
            _ => return None,
        };
        Some(Folder { path, mode })
    }

    fn node(&mut self) -> Option<Node> {
        Some(match self.array::<1>()?[0] {
            0 => Node::Absent,
            1 => Node::File {
                hash: Hash::from_bytes(self.array()?),
                mode: u32::from_le_bytes(self.array()?),
                size: u64::from_le_bytes(self.array()?),
            },
            2 => Node::Link { target: self.bytes()? },
            3 => Node::Directory,
            4 => Node::Special,
            _ => return None,
        })
    }

    /// What the body says; the header says the rest.
    fn journal(mut self) -> Option<Journal> {
        let id = OperationId::parse(self.bytes()?.to_str().ok()?)?;
        let head = self.bytes()?;
        let stages = self.list(|r| match r.array::<1>()?[0] {
            0 => Some(StagePlace::State),
            1 => r.path().map(StagePlace::Tree),
            _ => None,
        })?;
        let folders = self.list(Self::folder)?;
        let emptied = self.list(Self::folder)?;
        let entries = self.list(|r| {
            let (path, stage) = (r.path()?, r.count().filter(|s| *s < stages.len())?);
            let slot = u32::from_le_bytes(r.array()?);
            let inode = u64::from_le_bytes(r.array()?);
            let (before, after) = (r.node()?, r.node()?);
            Some(Entry { path, before, after, seen: None, stage, slot, inode })
        })?;
        let (created, boot) = (0, [0; 16]);
        self.0.is_empty().then_some(Journal { id, created, boot, head, stages, entries, folders, emptied })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn journal() -> Journal {
        let file = |text: &[u8]| Node::File { hash: Hash::of(text), mode: 0o644, size: text.len() as u64 };
        let path = |p: &str| RelPath::new(p).expect("good");
        let folder = |p: &str, mode| Folder { path: path(p), mode };
        let entry = |p: &str, before, after, slot| Entry {
            path: path(p),
            before,
            after,
            seen: None,
            stage: 1,
            slot,
            inode: 9,
        };
        Journal {
            id: OperationId::now(),
            created: 1_796_051_045_000_000_007,
            boot: [3; 16],
            head: "refs/heads/main".into(),
            stages: vec![StagePlace::State, StagePlace::Tree(path("mnt/x"))],
            entries: vec![
                entry("a", file(b"1"), file(b"2"), 0),
                entry("b", Node::Link { target: "t".into() }, Node::Absent, 7),
                entry("d", Node::Directory, file(b""), 8),
            ],
            folders: vec![folder("n", None), folder("n/m", Some(0o2750))],
            emptied: vec![folder("e", Some(0o755))],
        }
    }

    #[test]
    fn what_is_written_is_read() {
        let journal = journal();
        let mut bytes = journal.encode();
        assert_eq!(Journal::decode(&bytes), Ok((journal.clone(), Verdict::Open)));
        for verdict in [Verdict::Commit, Verdict::Abort] {
            let (at, record) = record(&bytes, &verdict);
            let at = usize::try_from(at).expect("small");
            bytes[at..at + record.len()].copy_from_slice(&record);
            assert_eq!(Journal::decode(&bytes), Ok((journal.clone(), verdict)));
        }
    }

    #[test]
    fn any_damaged_byte_is_noticed() {
        let whole = journal().encode();
        let body_end = whole.len() - SECTORS * SECTOR;
        for at in 0..body_end {
            let mut bytes = whole.clone();
            bytes[at] ^= 0x40;
            let padding = Journal::decode(&bytes) == Journal::decode(&whole);
            assert!(padding || Journal::decode(&bytes).is_err(), "byte {at}");
        }
        for cut in [0, 7, HEADER, HEADER + 1] {
            assert!(Journal::decode(&whole[..cut]).is_err(), "cut at {cut}");
        }
    }

    #[test]
    fn a_torn_record_is_not_there() {
        let mut bytes = journal().encode();
        let (at, record) = record(&bytes, &Verdict::Commit);
        let at = usize::try_from(at).expect("small");
        bytes[at..at + 20].copy_from_slice(&record[..20]);
        assert_eq!(Journal::decode(&bytes).map(|(_, v)| v), Ok(Verdict::Open));
    }
}
