//! patchmany applies a batch of edits to many files: all of it, or nothing.
//!
//! A batch flows one way, through one type a step:
//!
//! ```text
//! bytes ──input::parse──▶ ChangeSet ──plan::plan──▶ Plan + Sink ──seal──▶ Prepared ──swap──▶ Swapped
//!                                                                                              │ commit
//!                               Report ◀──list── Finished ◀──────────────finish────────── Committed
//! ```
//!
//! - [`edit`] is the model: paths, texts, hashes, hunks, change sets. Pure.
//! - [`disk`] is the only place that touches files.
//! - [`input`] reads a batch in any of its forms. Pure.
//! - [`output`] writes a change set in any of the forms. Pure.
//! - [`plan`] resolves paths, places hunks, composes entries and hands every resolved file to a bounded sink. It reads
//!   through a [`plan::Source`] and writes nothing.
//! - [`transaction`] stages, journals, swaps, undoes and recovers.
//! - [`git`] is all of gix: it joins the commit point as a [`transaction::Participant`].
//! - [`history`] is the log of operations and what takes one back.
//! - [`search`] shows lines under a tag, and finds files by path and by line.
//! - [`report`] is the result as data; [`diff`] shows a plan; [`error`] is the union of what can go wrong.
//! - [`workspace`], [`apply`], [`convert`], [`undo`] and [`look`] wire them. The library never prints and never exits.
//!
//! A module imports only from those before it in this list; a test checks it.

pub mod edit;

pub mod disk;

pub mod input;

pub mod output;

pub mod plan;

pub mod transaction;

pub mod git;

pub mod history;

pub mod search;

pub mod report;

pub mod diff;

pub mod error;

pub mod workspace;

pub mod apply;

pub mod convert;

pub mod undo;

pub mod look;
