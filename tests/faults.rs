//! Every write path under every fault (transaction.md, section 3): the tree is before or after, never a mix.
//!
//! Each test names the invariants of `src/transaction/mod.rs` that it guards, and prints a line
//! `faults| test | case | runs | different | bad | seconds` that `scripts/faults` collects.
#![allow(clippy::print_stderr, reason = "counts are what these tests are about")]

mod batch;
mod controls;
mod crash;
mod doubts;
mod drive;
mod flawed;
mod late;
mod mounts;
mod nested;
mod processes;
mod rooms;
mod single;
mod soak;
mod spelling;
mod strace;
mod tally;
mod tree;
mod visitors;
