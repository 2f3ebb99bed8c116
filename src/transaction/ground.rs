//! Where a transaction stands: the tree, the state directory, and the staging folders between them.

use super::OperationId;
use super::entry::{Entry, StagePlace};
use super::store::{Store, make_folder};
use crate::disk::{Disk, Folders, Kind, Node};
use crate::edit::RelPath;
use bstr::{BStr, BString};
use std::collections::HashMap;
use std::io;
use std::sync::{Mutex, PoisonError};

/// The name of the file that lists staging folders outside the state directory before they are made.
pub(super) const INTENT: &str = "intent";

/// A tree and the state directory that guards it.
#[derive(Debug)]
pub struct Ground<'a, D: Disk> {
    /// The tree.
    pub folders: &'a Folders<D>,
    /// The state directory.
    pub store: &'a Store<D>,
    /// Where the history stands that the tree belongs to, as bytes that only the caller reads. When it has moved since
    /// an operation was interrupted, recovery does not undo that by itself.
    pub head: &'a [u8],
}

impl<D: Disk> Clone for Ground<'_, D> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<D: Disk> Copy for Ground<'_, D> {}

impl<D: Disk + Clone> Ground<'_, D> {
    pub(super) fn disk(&self) -> &D {
        &self.store.disk
    }

    /// What stands at `path` in the tree now; nothing where a parent is missing.
    pub(super) fn node(&self, path: &RelPath) -> io::Result<Node> {
        match self.folders.parent(path) {
            Ok(dir) => Node::at(self.disk(), &dir, path.name()),
            Err(e) if matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                Ok(Node::Absent)
            }
            Err(e) => Err(e),
        }
    }

    /// The same, but nothing where what stands there is spelled otherwise.
    pub(super) fn node_as_spelled(&self, path: &RelPath) -> io::Result<Node> {
        match self.node(path)? {
            node if node.is_absent() || self.folders.is_spelled(path)? => Ok(node),
            _ => Ok(Node::Absent),
        }
    }
}

/// An open staging folder.
#[derive(Clone, Debug)]
pub(super) struct Stage<D: Disk> {
    pub place: StagePlace,
    pub dir: D::Dir,
}

/// The name of a staging folder inside the tree.
pub(super) fn tree_stage_name(id: &OperationId) -> BString {
    format!(".patchmany-{id}").into()
}

/// Where new objects wait for the swap.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Room {
    /// In the state directory; in the tree only for what lies on other mounts.
    State,
    /// In the tree, on the same mount and device as their paths: some file systems refuse to move objects between
    /// folders of one mount (btrfs subvolumes, project quotas).
    Tree,
}

/// Chooses a staging folder for each path: on the mount of the folder that the path stands in.
pub(super) struct Stages<'a, D: Disk> {
    ground: Ground<'a, D>,
    id: OperationId,
    own: D::Dir,
    room: Room,
    found: Mutex<Found<D>>,
}

/// Between folders of one place objects can be moved: the mount and, where the tree itself has to hold them, the device.
type Place = (u64, u64);

struct Found<D: Disk> {
    stages: Vec<Stage<D>>,
    /// The stage of each place.
    by_place: HashMap<Place, usize>,
    /// The place of each folder, and of folders to come that of the nearest one that is there.
    places: HashMap<RelPath, Place>,
}

impl<'a, D: Disk + Clone> Stages<'a, D> {
    pub(super) fn new(ground: Ground<'a, D>, id: OperationId, own: D::Dir) -> io::Result<Self> {
        let first = Stage { place: StagePlace::State, dir: own.clone() };
        let by_place = HashMap::from([((ground.disk().stat_dir(&own)?.mount, 0), 0)]);
        let found = Found { stages: vec![first], by_place, places: HashMap::new() };
        Ok(Self { ground, id, own, room: Room::State, found: Mutex::new(found) })
    }

    /// Nothing has been staged yet.
    pub(super) fn in_room(mut self, room: Room) -> Self {
        if room == Room::Tree {
            self.locked().by_place.clear();
        }
        self.room = room;
        self
    }

    /// The number and folder of the stage for `path`.
    pub(super) fn stage_for(&self, path: &RelPath) -> io::Result<(usize, D::Dir)> {
        let folder = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
        let mut found = self.locked();
        let place = self.place(&mut found, &folder)?;
        let number = match found.by_place.get(&place) {
            Some(&number) => number,
            None => {
                let stage = self.make_in_tree(&mut found, &folder, place)?;
                found.stages.push(stage);
                let number = found.stages.len() - 1;
                found.by_place.insert(place, number);
                number
            }
        };
        Ok((number, found.stages[number].dir.clone()))
    }

    /// The folder that a new file at `path` inherits from: the nearest one above it that is there. Folders that come
    /// between hand on what they inherit themselves.
    pub(super) fn home(&self, path: &RelPath) -> io::Result<D::Dir> {
        let mut folder = path.parent();
        while let Some(at) = folder {
            match self.ground.folders.open(&at) {
                Err(e) if matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                    folder = at.parent();
                }
                opened => return opened,
            }
        }
        Err(io::ErrorKind::InvalidInput.into())
    }

    pub(super) fn open(&self) -> Vec<Stage<D>> {
        self.locked().stages.clone()
    }

    fn locked(&self) -> std::sync::MutexGuard<'_, Found<D>> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn place(&self, found: &mut Found<D>, folder: &RelPath) -> io::Result<Place> {
        if let Some(&place) = found.places.get(folder) {
            return Ok(place);
        }
        let place = match (self.ground.folders.open(folder), folder.parent()) {
            (Ok(dir), _) => {
                let stat = self.ground.disk().stat_dir(&dir)?;
                (stat.mount, if self.room == Room::Tree { stat.stamp.file.0 } else { 0 })
            }
            (Err(e), Some(above))
                if matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) =>
            {
                self.place(found, &above)?
            }
            (Err(e), _) => return Err(e),
        };
        found.places.insert(folder.clone(), place);
        Ok(place)
    }

    /// Makes a staging folder in the topmost folder of the tree that lies in `place`, named in the intent first.
    fn make_in_tree(&self, found: &mut Found<D>, folder: &RelPath, place: Place) -> io::Result<Stage<D>> {
        let mut top = folder.clone();
        while let Some(above) = top.parent() {
            if self.place(found, &above)? != place {
                break;
            }
            top = above;
        }
        let disk = self.ground.disk();
        let name: BString = format!("{INTENT}{}", found.stages.len()).into();
        disk.create(&self.own, name.as_ref(), top.as_bstr(), 0o600)?;
        disk.sync_file(&self.own, name.as_ref())?;
        disk.sync_dir(&self.own)?;
        disk.sync_dir(&self.ground.store.dir)?;
        let above = self.ground.folders.open(&top)?;
        let dir = make_folder(disk, &above, tree_stage_name(&self.id).as_ref())?;
        // Old objects will lie in it: its own name must not be lost.
        disk.sync_dir(&above)?;
        Ok(Stage { place: StagePlace::Tree(top), dir })
    }
}

/// Opens the staging folder that a journal names.
pub(super) fn open_stage<D: Disk + Clone>(
    ground: Ground<'_, D>,
    id: &OperationId,
    own: &D::Dir,
    place: &StagePlace,
) -> io::Result<Stage<D>> {
    let dir = match place {
        StagePlace::State => own.clone(),
        StagePlace::Tree(folder) => {
            let path = folder.join(tree_stage_name(id).as_ref()).map_err(io::Error::other)?;
            ground.folders.open(&path)?
        }
    };
    Ok(Stage { place: place.clone(), dir })
}

/// Removes the staging folders in the tree that the intents in `own` name, and waits until they are gone for good:
/// without `own` nobody would know of them.
pub(super) fn clear_tree_stages<D: Disk + Clone>(
    ground: Ground<'_, D>,
    id: &OperationId,
    own: &D::Dir,
) -> io::Result<()> {
    let disk = ground.disk();
    for name in disk.list(own)?.iter().filter(|n| n.starts_with(INTENT.as_bytes())) {
        let (folder, _) = disk.read(own, name.as_ref())?;
        let Ok(folder) = RelPath::new(folder) else { continue };
        match open_stage(ground, id, own, &StagePlace::Tree(folder)) {
            Ok(stage) => clear_stage(ground, id, &stage, &[])?,
            Err(e) if matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {}
            Err(e) => return Err(e),
        }
    }
    Ok(())
}

/// Removes a transaction's own folder.
pub(super) fn clear_own<D: Disk + Clone>(
    ground: Ground<'_, D>,
    id: &OperationId,
    own: &D::Dir,
) -> io::Result<()> {
    clear_stage(ground, id, &Stage { place: StagePlace::State, dir: own.clone() }, &[])?;
    ground.disk().remove_dir(&ground.store.dir, Store::<D>::running_name(id).as_ref())
}

/// Removes every object of a staging folder, and the folder itself where it stands in the tree.
pub(super) fn clear_stage<D: Disk + Clone>(
    ground: Ground<'_, D>,
    id: &OperationId,
    stage: &Stage<D>,
    keep: &[&BStr],
) -> io::Result<()> {
    let disk = ground.disk();
    for name in disk.list(&stage.dir)? {
        if keep.contains(&BStr::new(&name)) {
            continue;
        }
        let is_folder = disk.stat(&stage.dir, name.as_ref())?.is_some_and(|s| s.kind == Kind::Directory);
        if is_folder {
            remove_folders(disk, &stage.dir, name.as_ref())?;
        } else {
            disk.remove(&stage.dir, name.as_ref())?;
        }
    }
    if let StagePlace::Tree(folder) = &stage.place {
        ground.folders.forget();
        let above = ground.folders.open(folder)?;
        disk.remove_dir(&above, tree_stage_name(id).as_ref())?;
        // Gone for good: once the operation is over, nobody would look for it here.
        disk.sync_dir(&above)?;
    }
    Ok(())
}

/// Whether a folder holds folders at most, however deep.
pub(super) fn holds_no_file<D: Disk>(disk: &D, dir: &D::Dir) -> io::Result<bool> {
    for name in disk.list(dir)? {
        match disk.stat(dir, name.as_ref())?.map(|stat| stat.kind) {
            Some(Kind::Directory) if holds_no_file(disk, &open_inner(disk, dir, name.as_ref())?)? => {}
            None => {}
            Some(_) => return Ok(false),
        }
    }
    Ok(true)
}

/// Removes a folder and the folders in it; a file in any of them stops it.
pub(super) fn remove_folders<D: Disk>(disk: &D, dir: &D::Dir, name: &BStr) -> io::Result<()> {
    match disk.remove_dir(dir, name) {
        Err(e) if e.kind() == io::ErrorKind::DirectoryNotEmpty => {}
        done => return done,
    }
    let inner = open_inner(disk, dir, name)?;
    for below in disk.list(&inner)? {
        remove_folders(disk, &inner, below.as_ref())?;
    }
    disk.remove_dir(dir, name)
}

fn open_inner<D: Disk>(disk: &D, dir: &D::Dir, name: &BStr) -> io::Result<D::Dir> {
    disk.open_dir(dir, &RelPath::new(name).map_err(io::Error::other)?)
}

/// The staging folder of an entry.
pub(super) fn stage_of<'s, D: Disk>(stages: &'s [Stage<D>], entry: &Entry) -> &'s D::Dir {
    &stages[entry.stage].dir
}
