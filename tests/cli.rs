//! The command line as programs and people meet it, over a [`crate::support::TestRepo`].

mod clean;
mod contract;
mod convert;
#[cfg(feature = "search")]
mod find;
mod input;
mod interrupt;
mod look;
mod matching;
mod metadata;
mod nested;
mod output;
mod place;
mod plan;
mod record;
#[cfg(feature = "schema")]
mod schema;
mod stale;
mod trial;
