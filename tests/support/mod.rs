//! What the tests share: repositories shut off from the machine, runs of the program in them, batches that land,
//! numbers from a seed, runs that die.

mod batch;
mod program;
mod repo;
mod rng;
mod staged;
mod tree;

pub(crate) use batch::{Edit, commit, land, options, recorder};
pub(crate) use program::{Ran, block, can_trace, feed, patches};
pub(crate) use repo::TestRepo;
pub(crate) use rng::Rng;
pub(crate) use staged::{die, resolved};
pub(crate) use tree::{identity, tree, tree_and_folders};
