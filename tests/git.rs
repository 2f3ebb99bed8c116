//! `git/`, with the git program as the judge.

mod commit;
mod differential;
mod hooks;
mod killed;
mod reflog;
mod stash;
mod status;
