//! `git/`, with the git program as the judge.

mod commit;
mod differential;
mod hooks;
mod stash;
mod status;
