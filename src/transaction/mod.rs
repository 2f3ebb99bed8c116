//! transaction
mod participant;
pub use participant::{Change, Landed, Participant, ParticipantError};
