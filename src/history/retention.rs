//! How much of the past is kept: so many operations, for so long, of so many bytes. The newest always stays.

use super::{About, HistoryError};
use crate::disk::Disk;
use crate::git::Repo;
use crate::transaction::{OperationId, Store};
use std::io;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

const DAY: u64 = 24 * 60 * 60;

/// What is kept in the undo store.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Retention {
    /// So many operations at most.
    pub count: u64,
    /// No operation that is older, in seconds.
    pub age: u64,
    /// So many bytes at most.
    pub bytes: u64,
}

impl Default for Retention {
    fn default() -> Self {
        Self { count: 50, age: 14 * DAY, bytes: 1 << 30 }
    }
}

impl Retention {
    /// As `patchmany.undoCount`, `.undoAge` (days) and `.undoSize` (bytes, or with `k`, `m`, `g`) say; what is not set,
    /// or makes no sense, is as by default.
    pub fn configured(repo: Option<&Repo>) -> Self {
        let default = Self::default();
        let number = |key| repo.and_then(|repo| repo.config_number(key));
        Self {
            count: number("patchmany.undoCount").unwrap_or(default.count),
            age: number("patchmany.undoAge").map_or(default.age, |days| days.saturating_mul(DAY)),
            bytes: number("patchmany.undoSize").unwrap_or(default.bytes),
        }
    }

    /// Removes what is not to be kept, oldest first. The caller holds the lock. Returns how many operations went.
    ///
    /// # Errors
    /// An undo store that cannot be read, or an operation that cannot be removed.
    pub fn prune<D: Disk + Clone>(&self, store: &Store<D>) -> Result<usize, HistoryError> {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
        let ids = store.finished().map_err(HistoryError::io("list the operations"))?;
        let mut sized = Vec::with_capacity(ids.len());
        for id in ids.into_iter().rev() {
            let bytes = taken(store, &id).map_err(HistoryError::io(format!("look at {id}")))?;
            sized.push((id, bytes));
        }
        let kept = self.kept(&sized, since.as_secs());
        for (id, _) in sized[kept..].iter().rev() {
            store.forget(id).map_err(HistoryError::io(format!("remove the old operation {id}")))?;
        }
        Ok(sized.len() - kept)
    }

    /// How many of the newest to keep; `sized` has the newest first.
    fn kept(&self, sized: &[(OperationId, u64)], now: u64) -> usize {
        let mut total = 0_u64;
        let fits = |(number, (id, bytes)): &(u64, &(OperationId, u64))| {
            total = total.saturating_add(*bytes);
            let young = now.saturating_sub(id.seconds()) <= self.age;
            *number == 0 || (*number < self.count && young && total <= self.bytes)
        };
        (0..).zip(sized).take_while(fits).count()
    }
}

/// What an operation takes: as it says itself, since looking at each of its files is slow.
fn taken<D: Disk + Clone>(store: &Store<D>, id: &OperationId) -> io::Result<u64> {
    let said = store.described(id)?.and_then(|bytes| About::from_bytes(&bytes).bytes);
    said.map_or_else(|| store.stored_bytes(id), Ok)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_limit_counts_and_the_newest_stays() {
        let id = |hour: u32| {
            OperationId::parse(&format!("20261130T{hour:02}0000-0000000000000001")).expect("good")
        };
        let sized: Vec<_> = (0..5).rev().map(|hour| (id(hour), 100)).collect();
        let now = id(4).seconds();
        let kept = |count, age, bytes| Retention { count, age, bytes }.kept(&sized, now);
        assert_eq!(kept(50, DAY, 1000), 5);
        assert_eq!(kept(3, DAY, 1000), 3);
        assert_eq!(kept(50, 2 * 3600, 1000), 3);
        assert_eq!(kept(50, DAY, 250), 2);
        assert_eq!(kept(0, 0, 0), 1);
        assert_eq!(Retention::default().kept(&[], now), 0);
    }
}
