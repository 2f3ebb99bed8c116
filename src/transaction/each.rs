//! The same step for many entries: in their order where they are few, else by several threads at once.
//!
//! Only for steps of which none depends on another's having been done.

use super::TransactionError;
use rayon::prelude::*;

/// From so many entries on several threads are worth it. Below, the order of the calls is fixed: fault tests count them.
const MANY: usize = 64;

/// What `act` gives for every entry, in their order.
///
/// # Errors
/// The failure of the first entry, in their order, that has one.
pub(super) fn each<E: Sync, T: Send>(
    entries: &[E],
    act: impl Fn(&E) -> Result<T, TransactionError> + Sync + Send,
) -> Result<Vec<T>, TransactionError> {
    if entries.len() < MANY {
        return entries.iter().map(act).collect();
    }
    let all: Vec<_> = entries.par_iter().map(act).collect();
    all.into_iter().collect()
}
