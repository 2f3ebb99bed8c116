//! Two and ten processes on the same 30 files: whoever exits with 0 has its edits in them, the others say why not.
//!
//! Guards invariants 4, 5 and 8 with real processes and the real lock.

use super::tally::Tally;
use crate::support::{Ran, TestRepo, patches};
use std::process::{Child, Command, Stdio};

const FILES: usize = 30;
const ROUNDS: usize = 200;

fn path(n: usize) -> String {
    format!("dir{}/file{n}.txt", n % 4)
}

/// A line of a file that process `p` changes.
fn line(p: usize, state: &str) -> String {
    format!("value of {p}: {state}")
}

/// What the processes want: each its own lines, or all the same one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Aim {
    Own,
    Same,
}

impl Aim {
    fn change(self, p: usize) -> (String, String) {
        match self {
            Self::Own => (line(p, "before"), line(p, "after")),
            Self::Same => (line(0, "before"), line(0, &format!("by {p}"))),
        }
    }
}

fn start(repo: &TestRepo, batch: &str, timeout: &str) -> Child {
    let mut command: Command = repo.command(env!("CARGO_BIN_EXE_patchmany"));
    command.args(["apply", "--json", "--durability", "none", "--lock-timeout", timeout, batch]);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Whether a process that did not win says so: `locked`, `changed-during`, or, where another has changed the very same
/// lines before it looked, that its text is not there.
fn lost_well(ran: &Ran, aim: Aim) -> bool {
    let codes = ran.codes();
    let all = |wanted: &[&str]| !codes.is_empty() && codes.iter().all(|code| wanted.contains(&code.as_str()));
    match ran.code {
        5 => all(&["locked"]),
        3 => all(&["changed-during"]),
        1 => all(&["changed-during"]) || aim == Aim::Same && all(&["no-match", "already-applied"]),
        _ => false,
    }
}

/// One race.
fn race(repo: &TestRepo, processes: usize, aim: Aim, timeout: &str) -> Result<(), String> {
    let text: String = (0..=processes).map(|p| line(p, "before") + "\n").collect();
    for n in 0..FILES {
        repo.write(&path(n), &text);
    }
    let batch = |p: usize| repo.temp().join(format!("batch{p}.json")).to_str().unwrap().to_owned();
    for p in 1..=processes {
        let (old, new) = aim.change(p);
        let edits: Vec<(String, &str, &str)> =
            (0..FILES).map(|n| (path(n), old.as_str(), new.as_str())).collect();
        let edits: Vec<_> = edits.iter().map(|(path, old, new)| (path.as_str(), *old, *new)).collect();
        std::fs::write(batch(p), patches(&edits)).unwrap();
    }
    let running: Vec<Child> = (1..=processes).map(|p| start(repo, &batch(p), timeout)).collect();
    let ended: Vec<Ran> =
        running.into_iter().map(|child| Ran::of(&child.wait_with_output().unwrap())).collect();
    let mut wanted = text;
    for (p, ran) in (1..).zip(&ended) {
        let (old, new) = aim.change(p);
        match ran.code {
            0 if wanted.contains(&old) => wanted = wanted.replace(&old, &new),
            0 => return Err(format!("{p} says that it has won over another")),
            _ if lost_well(ran, aim) => {}
            _ => return Err(format!("{p} ends with {ran:?}")),
        }
    }
    let won = ended.iter().filter(|ran| ran.code == 0).count();
    if won == 0 || aim == Aim::Own && timeout != "0" && won < processes {
        return Err(format!("only {won} have won: {ended:?}"));
    }
    let wrong: Vec<_> = (0..FILES).map(path).filter(|path| repo.read(path) != wanted).collect();
    if wrong.is_empty() { Ok(()) } else { Err(format!("the edits of {won} that won are not in {wrong:?}")) }
}

fn races(processes: usize) {
    let repo = TestRepo::unborn();
    let mut tally = Tally::new("processes", format!("{processes} on {FILES} files"));
    for round in 0..ROUNDS {
        let aim = if round % 4 < 2 { Aim::Own } else { Aim::Same };
        let timeout = if round % 2 == 0 { "0" } else { "60" };
        tally.count(
            race(&repo, processes, aim, timeout).map_err(|why| format!("round {round}, {aim:?}: {why}")),
        );
        let status = repo.git(&["status", "--porcelain", "--ignored", "-uall"]);
        let strays: Vec<_> = status.lines().filter(|line| !line.contains("dir")).map(str::to_owned).collect();
        tally.count(if strays.is_empty() { Ok(()) } else { Err(format!("left behind: {strays:?}")) });
    }
    tally.sound();
}

#[test]
#[ignore = "starts some hundred processes; .ci/run runs it"]
fn invariants_4_5_two_processes_on_the_same_files() {
    races(2);
}

#[test]
#[ignore = "starts some thousand processes; .ci/run runs it"]
fn invariants_4_5_ten_processes_on_the_same_files() {
    races(10);
}
