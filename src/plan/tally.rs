//! Counts the steps of a search, so that tests see how their number grows; in the program it is nothing.

#[cfg(test)]
use std::cell::Cell;

#[cfg(test)]
thread_local! {
    static STEPS: Cell<usize> = const { Cell::new(0) };
}

/// So many lines, places or bytes are looked at.
#[cfg(test)]
pub(super) fn count(steps: usize) {
    STEPS.with(|all| all.set(all.get() + steps));
}

/// So many lines, places or bytes are looked at.
#[cfg(not(test))]
pub(super) fn count(_steps: usize) {}

/// How many steps `run` takes.
#[cfg(test)]
pub(super) fn counted(run: impl FnOnce()) -> usize {
    STEPS.with(|all| all.set(0));
    run();
    STEPS.with(Cell::get)
}
