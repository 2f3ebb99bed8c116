//! `git/`, with the git program as the judge.

mod commit;
mod differential;
mod hooks;
mod killed;
mod merge;
mod reflog;
mod shown;
mod stash;
mod status;
mod unrecorded;
