//! T9: real processes. Another program writes to a path of the batch at a random moment, and SIGKILL comes at another.
//!
//! Guards invariants 4, 5 and 7: whatever the other program wrote is somewhere, all other paths are old or new.

use super::strace::{Listing, arguments, fresh, listing, repository};
use super::tally::Tally;
use crate::support::{Ran, Rng, TestRepo};
use bstr::ByteSlice;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const ROUNDS: usize = 200;
const THEIRS: &[u8] = b"written by somebody else\n";
/// Without those that change places: what is written to one of them first moves to the other.
const PATHS: [&str; 7] = [
    "crlf.txt",
    "bin/run.sh",
    "lone/gone.txt",
    "grows",
    "shrinks/inner.txt",
    "src/emptied.txt",
    "src/big.txt",
];

/// How the other program writes.
#[derive(Clone, Copy, Debug)]
enum Act {
    InPlace,
    Over,
    Append,
}

const ACTS: [Act; 3] = [Act::InPlace, Act::Over, Act::Append];

/// Whether it could.
fn act(copy: &TestRepo, path: &str, act: Act, mut held: &File) -> bool {
    let (full, draft) = (copy.path(path), copy.temp().join("theirs"));
    let done = match act {
        Act::InPlace => std::fs::write(full, THEIRS),
        Act::Over => std::fs::write(&draft, THEIRS).and_then(|()| std::fs::rename(&draft, full)),
        Act::Append => held.write_all(THEIRS),
    };
    done.is_ok()
}

fn program(copy: &TestRepo, arguments: &[String]) -> Command {
    let mut command = copy.command(env!("CARGO_BIN_EXE_patchmany"));
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    command
}

fn recover(copy: &TestRepo, how: &str) -> Ran {
    let arguments: Vec<String> =
        ["recover", "--json", how].iter().filter(|a| !a.is_empty()).map(ToString::to_string).collect();
    Ran::of(&program(copy, &arguments).output().unwrap())
}

/// Whether their bytes are in any file below `folder`.
fn survives(folder: &Path) -> bool {
    let mut waiting: Vec<PathBuf> = vec![folder.to_owned()];
    while let Some(path) = waiting.pop() {
        if path.is_symlink() {
            continue;
        }
        if path.is_dir() {
            waiting.extend(std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        } else if std::fs::read(&path).unwrap().find(THEIRS).is_some() {
            return true;
        }
    }
    false
}

/// A tree without a path, what is below it, and the folders above it: there the other program decides.
fn rest(tree: &Listing, path: &str) -> Listing {
    let theirs = |line: &&String| {
        let name = line[1..].split(' ').next().unwrap();
        name == path || name.starts_with(&format!("{path}/")) || path.starts_with(&format!("{name}/"))
    };
    tree.iter().filter(|line| !theirs(line)).cloned().collect()
}

/// One run; moments are parts of the time that an undisturbed run takes.
fn round(
    repo: &TestRepo,
    sides: &[Listing; 2],
    (path, how): (&str, Act),
    [write_at, kill_at]: [Duration; 2],
) -> Result<(), String> {
    let copy = fresh(repo);
    let held = File::options().append(true).open(copy.path(path)).unwrap();
    let begun = Instant::now();
    let mut child = program(&copy, &arguments(&copy)).spawn().unwrap();
    let until = |at: Duration| std::thread::sleep(at.saturating_sub(begun.elapsed()));
    let mut wrote = false;
    if write_at <= kill_at {
        until(write_at);
        wrote = act(&copy, path, how, &held);
    }
    until(kill_at);
    child.kill().unwrap();
    child.wait().unwrap();
    if write_at > kill_at {
        until(write_at);
        wrote = act(&copy, path, how, &held);
    }
    let mut ran = recover(&copy, "");
    if ran.code == 4 {
        ran = recover(&copy, "--back");
    }
    if ran.code != 0 {
        return Err(format!("recovery: {ran:?}"));
    }
    if wrote && !survives(copy.temp()) {
        return Err("their bytes are lost".to_owned());
    }
    let now = rest(&listing(copy.root()), path);
    if sides.iter().any(|side| rest(side, path) == now) {
        Ok(())
    } else {
        Err("the other paths are mixed".to_owned())
    }
}

#[test]
#[ignore = "starts some hundred processes; .ci/run runs it"]
fn invariants_4_5_7_others_write_while_runs_are_killed() {
    let repo = repository();
    let whole = fresh(&repo);
    let begun = Instant::now();
    let ran = Ran::of(&program(&whole, &arguments(&whole)).output().unwrap());
    assert_eq!(ran.code, 0, "{ran:?}");
    let takes = begun.elapsed();
    let sides = [listing(repo.root()), listing(whole.root())];
    let mut rng = Rng::new(9);
    let mut tally = Tally::new("T9", "another program writes and SIGKILL comes, at random moments");
    for _ in 0..ROUNDS {
        let (path, how) = (PATHS[rng.below(PATHS.len())], ACTS[rng.below(ACTS.len())]);
        let mut moment = || takes.mul_f64(rng.below(1_200) as f64 / 1_000.0);
        let moments = [moment(), moment()];
        let judged = round(&repo, &sides, (path, how), moments);
        tally.count(judged.map_err(|why| format!("{path} {how:?} {moments:?}: {why}")));
    }
    tally.sound();
}
