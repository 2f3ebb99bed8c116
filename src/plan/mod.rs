//! From a change set to a plan: paths are resolved, hunks located, entries composed, files resolved in parallel.
//!
//! Pure but for reading through [`Source`]. A plan holds names, hashes and line numbers; contents go through the
//! bounded [`Sink`] as they are resolved. Every refusal of a batch is collected.

mod anchors;
mod applied;
mod base;
mod binary;
mod block;
mod choice;
mod compared;
mod compose;
mod counts;
mod document;
mod elsewhere;
mod equality;
mod evidence;
mod excerpt;
mod explain;
mod fold;
mod group;
mod indent;
mod ladder;
mod line_place;
mod line_script;
mod mode;
mod moves;
mod names;
mod narrow;
mod nearest;
mod numbered;
mod numbering;
mod outcome;
mod pass;
mod pattern;
mod places;
mod planner;
mod protect;
mod reason;
mod refusal;
mod replay;
mod retype;
mod rules;
mod saved;
mod search;
mod sections;
mod sink;
mod source;
mod stale;
mod step;
mod tally;
mod text_place;
mod text_script;
mod tree;
mod versions;
mod view;
mod work_tree;

#[cfg(test)]
mod cost_tests;
#[cfg(test)]
mod place_tests;
#[cfg(test)]
mod tests;

pub use applied::Applied;
pub use choice::{Choice, Chosen, Picks};
pub use compared::Compared;
pub(crate) use document::{BINARY_PROBE, is_binary};
pub use outcome::{FileAction, LineRange, PlacedHunk, Plan, PlannedFile, Twins};
pub use pass::Loosest;
pub use pattern::Pattern;
pub use planner::{NoPlan, Options, plan};
pub(crate) use protect::is_git_name;
pub use reason::Reason;
pub use refusal::{Candidate, Evidence, Nearest, Refusal, Retry};
pub use replay::replay;
pub use saved::SavedPlan;
pub use sink::{Metadata, Resolved, Sink, SinkFull};
pub use source::{LastLink, Source, Target};
pub use stale::Stale;
pub use versions::{Chunk, Known, NoVersions, Sides, VersionTag, Versions};
pub use work_tree::{NoRules, PathRules, Start, WorkTree};
