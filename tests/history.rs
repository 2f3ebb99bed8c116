//! The past: undo, redo, log and show, as people and programs meet them.

mod faults;
mod log;
mod merge;
mod undo;
