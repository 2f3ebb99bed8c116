//! placeholder
pub mod disk;
pub mod edit;
pub mod plan;
pub mod transaction;
