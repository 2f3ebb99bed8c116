//! placeholder
pub mod disk;
pub mod edit;
pub mod input;
pub mod plan;
pub mod transaction;
