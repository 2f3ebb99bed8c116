//! Undo that is killed, or fails, at any call: the tree is before or after it, and the log knows which.

use patchmany::disk::{
    Access, Clock, Disk, Fault, Faulty, Folders, Kind, Lasts, Node, SimDir, SimDisk, Tier, When,
};
use patchmany::edit::{Hash, RelPath};
use patchmany::history::{About, Command, Log, Reversal, Undone, Wanted};
use patchmany::plan::{Metadata, Resolved, Sink};
use patchmany::transaction::{
    Decide, Durability, Ground, Landed, Participant, ParticipantError, Staging, Stop, Store, Unrecorded,
    recover,
};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

const WORK: &str = "/work";
const STATE: &str = "/state/patchmany";

enum Nobody {}

impl Participant for Nobody {
    fn prepare(&mut self, _: &dyn Landed) -> Result<Vec<u8>, ParticipantError> {
        match *self {}
    }
    fn finish(&mut self, _: &[u8]) -> Result<(), Unrecorded> {
        match *self {}
    }
    fn abort(&mut self) {
        match *self {}
    }
}

fn path(path: &str) -> RelPath {
    RelPath::new(path).unwrap()
}

fn file(text: &str, mode: u32) -> Node {
    Node::File { hash: Hash::of(text.as_bytes()), mode, size: text.len() as u64 }
}

fn entry(at: &str, old: Option<&str>, new: Option<&str>) -> Resolved {
    let node = |text: Option<&str>| text.map_or(Node::Absent, |text| file(text, 0o640));
    Resolved {
        path: path(at),
        before: node(old),
        after: node(new),
        seen: None,
        old: old.map(|text| text.to_owned().into()),
        new: new.map(|text| text.as_bytes().to_vec().into()),
        metadata: old.map_or(Metadata::New, |_| Metadata::Of(path(at))),
    }
}

/// The tree after an edit, a deletion with its folder, a creation in a new one, and a file that became a folder.
fn applied(tier: Tier) -> (SimDisk, Tree, Tree) {
    let disk = SimDisk::new(tier, Clock::Fine);
    for name in ["work", "state"] {
        disk.create_dir(&SimDir::ROOT, name.into(), Access::Shared).unwrap();
    }
    let root = disk.open_root(Path::new(WORK)).unwrap();
    disk.create_dir(&root, "d".into(), Access::Shared).unwrap();
    disk.set_mode(&root, "d".into(), 0o2750).unwrap();
    let d = disk.open_dir(&root, &path("d")).unwrap();
    for (dir, name, text) in [(&root, "a", "one"), (&root, "f", "f"), (&d, "x", "x")] {
        disk.create(dir, name.into(), text.as_bytes(), 0o600).unwrap();
        disk.set_mode(dir, name.into(), 0o640).unwrap();
    }
    let old = tree(&disk);
    with(&disk, |ground| {
        let staging = Staging::begin(ground, Durability::Batch)?;
        for file in [
            entry("a", Some("one"), Some("two")),
            entry("d/x", Some("x"), None),
            entry("f", Some("f"), None),
            entry("f/g/h", None, Some("h")),
            entry("n/m", None, Some("m")),
        ] {
            staging.put(&file).unwrap();
        }
        land(staging)
    })
    .unwrap();
    let new = tree(&disk);
    (disk.settled(), old, new)
}

type Done = Result<(), Box<dyn std::error::Error>>;

fn with<D: Disk + Clone>(disk: &D, run: impl FnOnce(Ground<'_, D>) -> Done) -> Done {
    let folders = Folders::new(disk.clone(), disk.open_root(Path::new(WORK))?);
    let store = Store::open(disk.clone(), Path::new(STATE))?;
    let _lock = store.lock(Duration::ZERO)?;
    let ground = Ground { folders: &folders, store: &store, head: b"" };
    recover(ground, Decide::Carefully, |_| None::<Nobody>)?;
    run(ground)
}

fn land<D: Disk + Clone>(staging: Staging<'_, D>) -> Done {
    let prepared = staging.seal().map_err(|failure| failure.cause)?;
    let swapped = prepared.swap(&Stop::new(0)).map_err(|failure| failure.cause)?;
    let committed = swapped.commit(None::<&mut Nobody>).map_err(|failure| failure.cause)?;
    Ok(committed.finish(None::<&mut Nobody>).clean_up?)
}

fn undo<D: Disk + Clone>(disk: &D) -> Done {
    with(disk, |ground| {
        let log = Log::read(ground.store)?;
        let past = log.to_undo()?;
        let reversal = Reversal::new(ground.folders, past, &Wanted::All)?;
        let mut staging = Staging::reversing(ground, Durability::Batch, reversal.operation())?;
        for file in reversal.files() {
            staging.put_back(&file?)?;
        }
        let about = About { command: Command::Undo, undoes: Some(past.id().clone()), ..About::default() };
        staging.describe(&about.to_bytes())?;
        land(staging)
    })
}

type Tree = BTreeMap<String, (u32, Vec<u8>)>;

/// Every path with its mode and bytes.
fn tree(disk: &SimDisk) -> Tree {
    fn walk(disk: &SimDisk, dir: &SimDir, above: &str, all: &mut Tree) {
        for name in disk.list(dir).unwrap() {
            let stat = disk.stat(dir, name.as_ref()).unwrap().unwrap();
            let at = format!("{above}/{name}");
            if stat.kind == Kind::Directory {
                walk(disk, &disk.open_dir(dir, &RelPath::new(name).unwrap()).unwrap(), &at, all);
                all.insert(at, (stat.mode, Vec::new()));
            } else {
                all.insert(at, (stat.mode, disk.read(dir, name.as_ref()).unwrap().0));
            }
        }
    }
    let mut all = Tree::new();
    walk(disk, &disk.open_root(Path::new(WORK)).unwrap(), "", &mut all);
    all
}

/// Whether the folder that the undo empties must be gone.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Emptied {
    Goes,
    /// The system may have refused to remove it after the commit point.
    MayStay,
}

/// Recovery has run: the tree is `old` where the log has the undo, else `new`, and an undo can follow.
#[track_caller]
fn check(disk: &SimDisk, (old, new): (&Tree, &Tree), emptied: Emptied, what: &str) {
    let mut undone = Undone::No;
    with(disk, |ground| {
        undone = Log::read(ground.store)?.newest_first().last().unwrap().undone();
        Ok(())
    })
    .unwrap_or_else(|error| panic!("{what}: {error}"));
    let expected = if undone == Undone::Yes { old } else { new };
    let mut now = tree(disk);
    if emptied == Emptied::MayStay && undone == Undone::Yes {
        now.remove("/n");
    }
    assert_eq!(&now, expected, "{what}, undone: {undone:?}");
    if undone == Undone::No {
        undo(disk).unwrap_or_else(|error| panic!("{what}: {error}"));
        assert_eq!(&tree(disk), old, "{what}, undone again");
    }
}

#[test]
fn killed_anywhere() {
    for tier in [Tier::Exchange, Tier::NoReplace, Tier::Link] {
        let (disk, old, new) = applied(tier);
        undo(&disk).unwrap();
        assert_eq!(tree(&disk), old);
        let crash = disk.crash();
        for point in crash.points() {
            let what = format!("{tier:?}, killed at {point}");
            check(&crash.killed_at(point), (&old, &new), Emptied::Goes, &what);
        }
    }
}

#[test]
fn failing_anywhere() {
    let (disk, old, new) = applied(Tier::Exchange);
    let counted = Faulty::new(disk.settled());
    undo(&counted).unwrap();
    for call in 0..counted.calls().len() {
        for when in [When::Before, When::After] {
            let disk = disk.settled();
            let fault = Fault { call, when, lasts: Lasts::Once, error: || std::io::Error::other("EIO") };
            let ended = undo(&Faulty::failing(disk.clone(), fault));
            let what = format!("call {call} fails {when:?}: {ended:?}");
            check(&disk, (&old, &new), Emptied::MayStay, &what);
        }
    }
}
