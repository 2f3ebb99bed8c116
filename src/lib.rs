//! placeholder
pub mod edit;
