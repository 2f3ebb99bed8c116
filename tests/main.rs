//! All integration tests, in one binary.
#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

mod cli;
mod docs;
mod faults;
mod git;
mod history;
mod mutations;
mod properties;
mod scenarios;
mod support;
mod tidy;
