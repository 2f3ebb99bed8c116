//! What the tests share: repositories shut off from the machine, batches that land, numbers from a seed.

mod batch;
mod repo;
mod rng;

pub(crate) use batch::{Edit, commit, land, options, recorder};
pub(crate) use repo::TestRepo;
pub(crate) use rng::Rng;
