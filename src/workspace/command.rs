//! Runs a command of the user in a folder, with all that it writes kept, until it ends or the run is to stop.

use crate::transaction::Stop;
use bstr::ByteSlice;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// The end of the output that is shown, in bytes.
const SHOWN: u64 = 16 * 1024;
/// How long a command may take to end when it is asked to.
const PATIENCE: Duration = Duration::from_secs(5);
/// Variables by which git is told where to work: those of `git rev-parse --local-env-vars`, and `GIT_NAMESPACE`.
const OF_GIT: [&str; 16] = [
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_CONFIG",
    "GIT_CONFIG_PARAMETERS",
    "GIT_CONFIG_COUNT",
    "GIT_OBJECT_DIRECTORY",
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_GRAFT_FILE",
    "GIT_INDEX_FILE",
    "GIT_NO_REPLACE_OBJECTS",
    "GIT_REPLACE_REF_BASE",
    "GIT_PREFIX",
    "GIT_SHALLOW_FILE",
    "GIT_COMMON_DIR",
    "GIT_NAMESPACE",
];

/// How a command ended.
#[derive(Debug)]
pub(crate) enum Ended {
    /// By itself, with this status and this end of its output.
    Itself(ExitStatus, String),
    /// It was stopped, since the run was.
    Stopped,
}

/// Where a command runs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Site<'a> {
    /// Its current folder.
    pub(crate) folder: &'a Path,
    /// Nothing above this folder is for it: git looks for no repository there. Its output is kept here too.
    pub(crate) ceiling: &'a Path,
    /// The real root.
    pub(crate) root: &'a Path,
}

/// Runs `line` with the system's shell.
pub(crate) fn run(line: &str, site: Site<'_>, stop: &Stop) -> io::Result<Ended> {
    let mut output = tempfile::tempfile_in(site.ceiling)?;
    let mut command = shell(line);
    OF_GIT.iter().for_each(|name| _ = command.env_remove(name));
    command
        .current_dir(site.folder)
        .env("GIT_CEILING_DIRECTORIES", site.ceiling)
        .env("PATCHMANY_ROOT", site.root)
        .stdin(Stdio::null())
        .stdout(output.try_clone()?)
        .stderr(output.try_clone()?);
    let mut child = command.spawn()?;
    let ended = wait(&mut child, stop);
    // Whatever it has started ends with it: the folder is about to go.
    signal(&child, Sent::Kill);
    match ended? {
        Some(status) => Ok(Ended::Itself(status, tail(&mut output)?)),
        None => Ok(Ended::Stopped),
    }
}

/// The status; nothing where the run was asked to stop.
fn wait(child: &mut Child, stop: &Stop) -> io::Result<Option<ExitStatus>> {
    let mut pause = Duration::from_millis(1);
    let mut deadline: Option<Instant> = None;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(deadline.is_none().then_some(status).filter(|_| stop.load(Ordering::Relaxed) == 0));
        }
        match deadline {
            None if stop.load(Ordering::Relaxed) != 0 => {
                signal(child, Sent::End);
                deadline = Some(Instant::now() + PATIENCE);
            }
            Some(late) if Instant::now() > late => {
                signal(child, Sent::Kill);
                child.kill()?;
            }
            _ => {}
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(50));
    }
}

fn tail(output: &mut std::fs::File) -> io::Result<String> {
    let all = output.seek(SeekFrom::End(0))?;
    output.seek(SeekFrom::Start(all.saturating_sub(SHOWN)))?;
    let mut bytes = Vec::new();
    output.take(SHOWN).read_to_end(&mut bytes)?;
    let text = bytes.to_str_lossy().into_owned();
    Ok(if all > SHOWN { format!("… the last {SHOWN} of {all} bytes:\n{text}") } else { text })
}

/// What is asked of a command and all that it has started.
#[derive(Clone, Copy)]
enum Sent {
    End,
    Kill,
}

#[cfg(unix)]
fn shell(line: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", line]);
    // A group of its own: what is typed at the terminal reaches us alone, and we pass it on.
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    command
}

#[cfg(not(unix))]
fn shell(line: &str) -> Command {
    let mut command = Command::new("cmd");
    command.args(["/C", line]);
    command
}

#[cfg(unix)]
fn signal(child: &Child, what: Sent) {
    use rustix::process::{Pid, Signal, kill_process_group};
    let signal = match what {
        Sent::End => Signal::TERM,
        Sent::Kill => Signal::KILL,
    };
    let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    // Nobody is left in it, as a rule.
    let _ = group.map(|group| kill_process_group(group, signal));
}

#[cfg(not(unix))]
fn signal(_child: &Child, _what: Sent) {}
