//! `git/`, with the git program as the judge.

mod beside;
mod commit;
mod failing;
mod fuzz;
mod fuzz_batch;
mod hooks;
mod hunks;
mod killed;
mod merge;
mod reflog;
mod shown;
mod staged;
mod stash;
mod status;
mod unrecorded;

use crate::support::TestRepo;

/// What is left of runs in our folder of the git directory, but for the undo store and the lock file.
fn left(repo: &TestRepo) -> Vec<String> {
    let Ok(found) = std::fs::read_dir(repo.path(".git/patchmany")) else { return Vec::new() };
    let names = found.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| !["undo", "lock"].contains(&name.as_str())).collect()
}
