//! Looking at files as agents' tools do: numbered lines under a tag. Pure: bytes come in, rows go out.

mod excerpt;
mod range;

pub use excerpt::{Encoding, Excerpt, LineEnding, MOST_BYTES, MOST_LINES, Row, TOP_LINES, cut};
pub use range::{Range, split_ranges};
