//! A repository in a temporary folder, driven by a git that knows nothing of this machine's configuration.

use patchmany::git::{Environment, Repo};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

pub(crate) struct TestRepo {
    temp: tempfile::TempDir,
    root: PathBuf,
}

impl TestRepo {
    /// An empty repository on branch `main`.
    pub(crate) fn unborn() -> Self {
        Self::with(&[])
    }

    /// An empty repository made with more arguments for `git init`.
    pub(crate) fn with(arguments: &[&str]) -> Self {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().canonicalize().unwrap().join("work");
        std::fs::create_dir(&root).unwrap();
        let repo = Self { temp, root };
        repo.git(&[&["init", "-q", "-b", "main"], arguments].concat());
        repo.configure();
        repo
    }

    /// A repository with one commit of these files.
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let repo = Self::unborn();
        repo.commit_all(files);
        repo
    }

    /// A folder without git.
    pub(crate) fn folder(files: &[(&str, &str)]) -> Self {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().canonicalize().unwrap().join("work");
        std::fs::create_dir(&root).unwrap();
        let folder = Self { temp, root };
        files.iter().for_each(|(path, text)| folder.write(path, text));
        folder
    }

    /// A copy: the same bytes and times.
    pub(crate) fn twin(&self) -> Self {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().canonicalize().unwrap().join("work");
        assert!(Command::new("cp").arg("-a").arg(&self.root).arg(&root).status().unwrap().success());
        Self { temp, root }
    }

    /// The same repository, seen from another work tree.
    pub(crate) fn at(self, root: PathBuf) -> Self {
        Self { root, ..self }
    }

    pub(crate) fn commit_all(&self, files: &[(&str, &str)]) {
        for (path, text) in files {
            self.write(path, text);
        }
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--no-verify", "-m", "base"]);
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) fn temp(&self) -> &Path {
        self.temp.path()
    }

    pub(crate) fn open(&self) -> Repo {
        let found = Repo::discover_with(&self.root, Environment::Ignore).unwrap();
        found.into_repo().unwrap()
    }

    /// A command with the environment shut out.
    pub(crate) fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("GIT_") {
                command.env_remove(name);
            }
        }
        command
            .current_dir(&self.root)
            .env("HOME", self.temp.path())
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_AUTHOR_DATE", "1700000000 +0000")
            .env("GIT_COMMITTER_DATE", "1700000000 +0000")
            .env("LC_ALL", "C");
        command
    }

    pub(crate) fn try_git(&self, arguments: &[&str]) -> Output {
        self.command("git").args(arguments).output().unwrap()
    }

    /// What git printed, without the end of the last line.
    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        let output = self.try_git(arguments);
        let shown = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "git {arguments:?}: {shown}");
        String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    pub(crate) fn write(&self, path: &str, bytes: impl AsRef<[u8]>) {
        let path = self.path(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }

    pub(crate) fn read(&self, path: &str) -> String {
        String::from_utf8(std::fs::read(self.path(path)).unwrap()).unwrap()
    }

    pub(crate) fn chmod(&self, path: &str, mode: u32) {
        std::fs::set_permissions(self.path(path), PermissionsExt::from_mode(mode)).unwrap();
    }

    /// Writes an executable hook.
    pub(crate) fn hook(&self, name: &str, script: &str) {
        let path = format!(".git/hooks/{name}");
        self.write(&path, format!("#!/bin/sh\n{script}\n"));
        self.chmod(&path, 0o755);
    }

    /// Everything that a failed recording must leave alone.
    pub(crate) fn state(&self) -> String {
        let index = std::fs::read(self.path(".git/index")).unwrap_or_default();
        let mut state = format!("{index:?}\n");
        for arguments in [
            &["for-each-ref"][..],
            &["rev-parse", "-q", "--verify", "HEAD"],
            &["reflog", "show", "-q", "HEAD"],
            &["reflog", "show", "-q", "main"],
            &["stash", "list"],
            &["--no-optional-locks", "status", "--porcelain=v2", "--branch", "-uall", "--ignored"],
        ] {
            state += &String::from_utf8_lossy(&self.try_git(arguments).stdout);
        }
        state
    }

    fn configure(&self) {
        for (key, value) in [
            ("user.name", "Test"),
            ("user.email", "test@example.com"),
            ("core.autocrlf", "false"),
            ("gc.auto", "0"),
        ] {
            self.git(&["config", key, value]);
        }
    }
}
