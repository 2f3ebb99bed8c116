//! Runs of the program, shut off from the machine like everything else of a [`TestRepo`].

use super::TestRepo;
use serde_json::Value;
use std::io::Write;
use std::process::{Child, Command, Output, Stdio};

/// How a run ended.
#[derive(Debug)]
pub(crate) struct Ran {
    /// The exit code; of a run that a signal ended, 128 and the signal.
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ran {
    pub(crate) fn of(output: &Output) -> Self {
        use std::os::unix::process::ExitStatusExt;
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        let signal = || 128 + output.status.signal().unwrap();
        let code = output.status.code().unwrap_or_else(signal);
        Self { code, out: text(&output.stdout), err: text(&output.stderr) }
    }

    /// The JSON object, which must be all of standard output.
    pub(crate) fn json(&self) -> Value {
        assert_eq!(self.out.lines().count(), 1, "one object and nothing else: {self:?}");
        serde_json::from_str(&self.out).unwrap()
    }

    /// The first line on standard error.
    pub(crate) fn first_line(&self) -> &str {
        self.err.lines().next().unwrap_or_default()
    }

    /// The codes of all errors, in order.
    pub(crate) fn codes(&self) -> Vec<String> {
        let json = self.json();
        let errors = json["errors"].as_array().unwrap();
        errors.iter().map(|error| error["code"].as_str().unwrap().to_owned()).collect()
    }
}

impl TestRepo {
    /// The program, about to run in the root with no user and no terminal.
    pub(crate) fn program(&self, arguments: &[&str]) -> Command {
        let mut command = self.command(env!("CARGO_BIN_EXE_patchmany"));
        for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "TERM", "XDG_CONFIG_HOME"] {
            command.env_remove(name);
        }
        command
            .env("XDG_STATE_HOME", self.temp().join("state"))
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Starts the program and hands it `input`.
    pub(crate) fn start(&self, arguments: &[&str], input: impl AsRef<[u8]>) -> Child {
        start(&mut self.program(arguments), input.as_ref())
    }

    /// Runs the program with `input`.
    pub(crate) fn run(&self, arguments: &[&str], input: impl AsRef<[u8]>) -> Ran {
        Ran::of(&self.start(arguments, input).wait_with_output().unwrap())
    }
}

/// Runs `command`, which [`TestRepo::program`] has made, with `input`.
pub(crate) fn feed(command: &mut Command, input: &str) -> Ran {
    Ran::of(&start(command, input.as_bytes()).wait_with_output().unwrap())
}

fn start(command: &mut Command, input: &[u8]) -> Child {
    let mut child = command.spawn().unwrap();
    // The program may end before it has read everything, for example at a wrong option.
    let _ = child.stdin.take().unwrap().write_all(input);
    child
}

/// One ORIGINAL/UPDATED block.
pub(crate) fn block(old: &str, new: &str) -> String {
    format!("<<<<<<< ORIGINAL\n{old}\n=======\n{new}\n>>>>>>> UPDATED\n")
}

/// A batch in the patch-many form: path, old text, new text.
pub(crate) fn patches(edits: &[(&str, &str, &str)]) -> String {
    let entry =
        |(path, old, new): &(&str, &str, &str)| serde_json::json!({"path": path, "patch": block(old, new)});
    Value::from_iter(edits.iter().map(entry)).to_string()
}

/// Whether system calls can be traced here; where not, the run says so.
#[allow(clippy::print_stderr, reason = ".ci/run looks for this line: there nothing is ignored")]
pub(crate) fn can_trace() -> bool {
    let can = Command::new("strace").args(["-qq", "-e", "trace=none", "true"]).output();
    let can = can.is_ok_and(|output| output.status.success());
    if !can {
        eprintln!("ignored: strace is missing or may not trace");
    }
    can
}
