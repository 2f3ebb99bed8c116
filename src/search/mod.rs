//! Looking at files as agents' tools do: numbered lines under a tag, paths that fit a pattern, lines that fit a regular
//! expression. Only the walk over folders
//! and the snapshot store touch the disk; of files, bytes come in and rows go out.

mod excerpt;
#[cfg(feature = "search")]
mod glob;
#[cfg(feature = "search")]
mod grep;
#[cfg(feature = "search")]
mod page;
mod range;
mod reading;
mod snapshot;
#[cfg(feature = "search")]
mod walk;

pub use excerpt::{Encoding, Excerpt, LineEnding, MOST_BYTES, MOST_LINES, Row, TOP_LINES, cut};
#[cfg(feature = "search")]
pub use glob::glob;
#[cfg(feature = "search")]
pub use grep::{Case, Depth, Grep, HitRow, Hits, Query, Span, Worker};
#[cfg(feature = "search")]
pub use page::Page;
pub use range::{Range, split_ranges};
pub use reading::Reading;
pub use snapshot::{MOST_KEPT, Snapshots};
#[cfg(feature = "search")]
pub use walk::{Filter, Ground, Surroundings, walk};
