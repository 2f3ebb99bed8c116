//! Power loss: what the medium may hold at some point of a log (transaction.md, 3, T5).

use super::image::{Content, Image, Ino};
use super::log::{Assignment, Item, Log, apply, apply_name, put};
use super::{Clock, SimDisk, Tier};
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::ops::RangeInclusive;
use std::sync::Arc;

/// Points of a log at which power may be lost.
pub type Points = RangeInclusive<usize>;

/// What becomes of changes that were not synced. What was synced always stays.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Loss {
    /// Names and modes reach the medium in their order, as through the journal of a file system: some first ones are
    /// there, the others not. Whatever syncs one syncs all before it.
    Ordered,
    /// Any of them are there; a rename is there or not.
    AnyOrder,
    /// As any order, and a rename may be half there: one of its two names has changed. Renames that move a folder stay
    /// whole: a folder has one name, which a check of the file system would restore.
    Torn,
}

/// What becomes of the bytes of a file that was not synced.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Data {
    /// They are there.
    Kept,
    /// They are not.
    Gone,
    /// The first half is there.
    Half,
    /// The length is there and zeros.
    Zeros,
}

const DATA: [Data; 4] = [Data::Kept, Data::Gone, Data::Half, Data::Zeros];

/// All that power loss could have left on a disk.
#[derive(Clone, Debug)]
pub struct Crash {
    base: Image,
    log: Log,
    tier: Tier,
    clock: Clock,
}

/// A piece of a log that is there or not as a whole: an item, or one name of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Unit {
    Whole(usize),
    Name(usize, usize),
}

/// What was not synced at a point.
#[derive(Default, Debug)]
struct Open {
    units: Vec<Unit>,
    data: Vec<usize>,
}

/// One thing that the medium may hold.
struct Choice {
    /// For each open unit whether it is there.
    units: Vec<bool>,
    /// For each open piece of data what is there.
    data: Vec<Data>,
}

impl Crash {
    pub(super) fn new(base: Image, log: Log, tier: Tier, clock: Clock) -> Self {
        Self { base, log, tier, clock }
    }

    /// All points.
    pub fn points(&self) -> Points {
        0..=self.log.len()
    }

    /// What the running system saw at a point: nothing is lost when a process is killed.
    pub fn killed_at(&self, point: usize) -> SimDisk {
        let mut image = self.with_inodes();
        for (step, item) in self.log.items[..point].iter().enumerate() {
            apply(&mut image, item, step, self.time(step));
        }
        self.disk(image)
    }

    /// Disks that power loss at a point may leave: at most about `most`, all of them where there are no more. The first
    /// value tells different disks of one log apart.
    pub fn lost_at(
        &self,
        point: usize,
        loss: Loss,
        most: usize,
        seed: u64,
    ) -> impl Iterator<Item = (u64, SimDisk)> + '_ {
        let open = self.open(point, loss);
        let choices = match loss {
            Loss::Ordered => ordered(&open, seed),
            Loss::AnyOrder | Loss::Torn => any(&open, most, seed),
        };
        choices.into_iter().map(move |choice| {
            let image = self.play(point, loss, &open, &choice);
            let hash = BuildHasherDefault::<DefaultHasher>::default().hash_one(&image);
            (hash, self.disk(image))
        })
    }

    fn disk(&self, image: Image) -> SimDisk {
        SimDisk::holding(image, self.tier, self.clock)
    }

    fn time(&self, step: usize) -> i128 {
        match self.clock {
            Clock::Fine => 1_000 + step as i128,
            Clock::Coarse => 1_000,
        }
    }

    /// The disk at the beginning, with the inodes that were made since and have no name yet.
    fn with_inodes(&self) -> Image {
        let mut image = self.base.clone();
        for (content, mode, mount) in self.log.made.iter() {
            image.add(content.clone(), *mode, *mount, 1_000);
        }
        image
    }

    /// What is not synced at a point: an item is when a sync that covers it came between.
    fn open(&self, point: usize, loss: Loss) -> Open {
        let mut open = Open::default();
        let (mut files, mut dirs): (Vec<Ino>, Vec<Ino>) = (Vec::new(), Vec::new());
        for (step, item) in self.log.items[..point].iter().enumerate().rev() {
            match item {
                Item::SyncAll => break,
                Item::SyncFile(ino) => files.push(*ino),
                Item::SyncDir(dir) => dirs.push(*dir),
                Item::Bytes { ino, .. } | Item::Cut { ino } if !files.contains(ino) => open.data.push(step),
                Item::Mode { ino, .. } if !files.contains(ino) => open.units.push(Unit::Whole(step)),
                Item::Names(names) if loss == Loss::Torn && self.can_tear(names) => {
                    let lost = names.iter().enumerate().filter(|(_, name)| !dirs.contains(&name.0));
                    open.units.extend(lost.map(|(at, _)| Unit::Name(step, at)));
                }
                Item::Names(names) if !names.iter().any(|name| dirs.contains(&name.0)) => {
                    open.units.push(Unit::Whole(step));
                }
                Item::Bytes { .. } | Item::Cut { .. } | Item::Mode { .. } | Item::Names(_) => {}
            }
        }
        open.units.reverse();
        open.data.reverse();
        if loss == Loss::Ordered {
            let synced = self.last_synced_name(point);
            open.units.retain(|unit| matches!(unit, Unit::Whole(step) if Some(*step) > synced));
        }
        open
    }

    /// The last change of a name or mode that a sync of its file or folder covers.
    fn last_synced_name(&self, point: usize) -> Option<usize> {
        let items = &self.log.items[..point];
        let covers = |sync: &Item, item: &Item| match (sync, item) {
            (Item::SyncAll, _) => true,
            (Item::SyncDir(dir), Item::Names(names)) => names.iter().any(|name| name.0 == *dir),
            (Item::SyncFile(file), Item::Mode { ino, .. }) => ino == file,
            _ => false,
        };
        let last = |(at, sync): (usize, &Item)| items[..at].iter().rposition(|item| covers(sync, item));
        items.iter().enumerate().filter_map(last).max()
    }

    fn can_tear(&self, names: &[Assignment]) -> bool {
        let old = self.base.count();
        let is_dir = |ino: Ino| match ino.checked_sub(old) {
            Some(made) => matches!(self.log.made[made].0, Content::Dir(_)),
            None => self.base.is_dir(ino),
        };
        names.len() > 1 && !names.iter().any(|(_, _, ino)| ino.is_some_and(is_dir))
    }

    fn play(&self, point: usize, loss: Loss, open: &Open, choice: &Choice) -> Image {
        let mut image = self.with_inodes();
        let (mut units, mut data) =
            (open.units.iter().zip(&choice.units).peekable(), open.data.iter().zip(&choice.data).peekable());
        for (step, item) in self.log.items[..point].iter().enumerate() {
            let time = self.time(step);
            match item {
                Item::Names(names) if loss == Loss::Torn && self.can_tear(names) => {
                    for (at, (dir, name, ino)) in names.iter().enumerate() {
                        let lost = units.next_if(|(unit, _)| **unit == Unit::Name(step, at));
                        if lost.is_none_or(|(_, there)| *there) {
                            apply_name(&mut image, *dir, name, *ino, time);
                        }
                    }
                }
                Item::Names(_) | Item::Mode { .. } => {
                    let lost = units.next_if(|(unit, _)| **unit == Unit::Whole(step));
                    if lost.is_none_or(|(_, there)| *there) {
                        apply(&mut image, item, step, time);
                    }
                }
                Item::Bytes { .. } | Item::Cut { .. } => {
                    let lost = data.next_if(|(open, _)| **open == step);
                    put_some(&mut image, item, step, lost.map_or(Data::Kept, |(_, data)| *data), time);
                }
                Item::SyncFile(_) | Item::SyncDir(_) | Item::SyncAll => {}
            }
        }
        image
    }
}

fn put_some(image: &mut Image, item: &Item, step: usize, data: Data, time: i128) {
    match (item, data) {
        (_, Data::Kept) => apply(image, item, step, time),
        (Item::Bytes { ino, offset, bytes }, Data::Half) => {
            put(image, *ino, *offset, &Arc::new(bytes[..bytes.len() / 2].to_vec()), (step, 2), time);
        }
        (Item::Bytes { ino, offset, bytes }, Data::Zeros) => {
            put(image, *ino, *offset, &Arc::new(vec![0; bytes.len()]), (step, 3), time);
        }
        _ => {}
    }
}

/// Every beginning of the open units, each with every fate of all data alike and one mixed.
fn ordered(open: &Open, seed: u64) -> Vec<Choice> {
    let mut random = Random(seed);
    let mut choices = Vec::new();
    for there in 0..=open.units.len() {
        let units: Vec<bool> = (0..open.units.len()).map(|at| at < there).collect();
        let fates = if open.data.is_empty() { &DATA[..1] } else { &DATA[..] };
        for fate in fates {
            choices.push(Choice { units: units.clone(), data: vec![*fate; open.data.len()] });
        }
        if open.data.len() > 1 {
            choices.push(Choice { units, data: random.data(open.data.len()) });
        }
    }
    choices
}

/// Every subset of the open units where there are few; else those with one unit, those without one, and a sample.
fn any(open: &Open, most: usize, seed: u64) -> Vec<Choice> {
    let mut random = Random(seed);
    let n = open.units.len();
    let subsets: Vec<Vec<bool>> = match 1usize.checked_shl(u32::try_from(n).unwrap_or(u32::MAX)) {
        Some(all) if all <= most => {
            (0..all).map(|mask| (0..n).map(|at| mask >> at & 1 == 1).collect()).collect()
        }
        _ => {
            let alone =
                (0..n).flat_map(|one| [true, false].map(|v| (0..n).map(|at| (at == one) == v).collect()));
            let mut subsets: Vec<Vec<bool>> = alone.take(most / 2).collect();
            subsets.extend([vec![true; n], vec![false; n]]);
            while subsets.len() < most {
                let often = [2, 8, 14][random.below(3)];
                subsets.push((0..n).map(|_| random.below(16) < often).collect());
            }
            subsets
        }
    };
    let mut choices = Vec::with_capacity(subsets.len());
    for units in subsets {
        let data = match random.below(4) {
            0 => vec![Data::Kept; open.data.len()],
            1 => vec![Data::Gone; open.data.len()],
            _ => random.data(open.data.len()),
        };
        choices.push(Choice { units, data });
    }
    choices
}

/// Numbers from a seed (splitmix64), so that a state can be made again.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) >> 8) as usize % end
    }

    fn data(&mut self, n: usize) -> Vec<Data> {
        (0..n).map(|_| DATA[self.below(DATA.len())]).collect()
    }
}
