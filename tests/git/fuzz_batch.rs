//! Random batches for the rounds against git: as a diff for the program, and as plain writes for git.

use crate::support::{Rng, TestRepo};
use std::path::Path;

/// What happens to a file.
#[derive(Clone, Debug)]
pub(super) enum Op {
    /// One line of the text becomes another.
    Edit { path: String, old: String, line: usize, new: String },
    /// A new file.
    Create { path: String, new: String },
    /// The file goes.
    Delete { path: String, old: String, mode: u32 },
    /// The file moves, and one line of it may change.
    Move { from: String, to: String, edit: Option<(String, usize, String)> },
    /// The executable bit changes.
    Mode { path: String, old: u32, new: u32 },
    /// A new link.
    Link { path: String, target: String },
}

impl Op {
    fn paths(&self) -> Vec<&str> {
        match self {
            Self::Edit { path, .. } | Self::Create { path, .. } | Self::Delete { path, .. } => vec![path],
            Self::Mode { path, .. } | Self::Link { path, .. } => vec![path],
            Self::Move { from, to, .. } => vec![from, to],
        }
    }
}

#[derive(Debug)]
pub(super) struct Batch(Vec<Op>);

impl Batch {
    /// Up to seven operations; takes the files that they change out of `files`.
    pub(super) fn random(repo: &TestRepo, rng: &mut Rng, files: &mut Vec<String>) -> Self {
        let mut ops = vec![];
        for n in 0..1 + rng.below(7) {
            let path = match rng.below(8) {
                0 => {
                    ops.push(Op::Create {
                        path: format!("new/folder{n}/x.dos"),
                        new: "new\r\nfile\r\n".into(),
                    });
                    continue;
                }
                1 => {
                    ops.push(Op::Link { path: format!("a/link{n}"), target: "f0.txt".into() });
                    continue;
                }
                _ => rng.take(files),
            };
            let Some(path) = path.filter(|path| !repo.path(path).is_symlink()) else { continue };
            let old = repo.read(&path);
            let mode = mode(&repo.path(&path));
            let edit = |rng: &mut Rng| {
                let line = rng.below(old.matches('\n').count());
                (old.clone(), line, format!("batch {n}{}", if old.contains('\r') { "\r" } else { "" }))
            };
            match rng.below(8) {
                0 => ops.push(Op::Delete { path, old, mode }),
                1 => {
                    ops.push(Op::Create {
                        path: format!("{path}/inside/new.txt"),
                        new: "a folder now\n".into(),
                    });
                    ops.push(Op::Delete { path, old, mode });
                }
                2 => {
                    let edit = rng.one_in(2).then(|| edit(rng));
                    ops.push(Op::Move { from: path, to: format!("to/m{n}.txt"), edit });
                }
                3 => ops.push(Op::Mode { path, old: mode, new: mode ^ 0o111 }),
                _ => {
                    let (old, line, new) = edit(rng);
                    ops.push(Op::Edit { path, old, line, new });
                }
            }
        }
        ops.push(Op::Create { path: "always.txt".into(), new: "always\n".into() });
        Self(ops)
    }

    /// Without what makes new paths, which is nothing that git would stash.
    pub(super) fn of_old_paths(mut self) -> Self {
        self.0.retain(|op| matches!(op, Op::Edit { .. } | Op::Mode { .. } | Op::Delete { .. }));
        self
    }

    pub(super) fn ops(&self) -> &[Op] {
        &self.0
    }

    /// Every path that changes.
    pub(super) fn paths(&self) -> Vec<&str> {
        self.0.iter().flat_map(Op::paths).collect()
    }

    /// The batch as a diff of git's.
    pub(super) fn diff(&self) -> String {
        self.0.iter().map(section).collect()
    }

    /// Does it by plain writes, removals first.
    pub(super) fn land(&self, repo: &TestRepo) {
        for op in &self.0 {
            if let Op::Delete { path, .. } = op {
                remove(repo, path);
            }
        }
        for op in &self.0 {
            match op {
                Op::Delete { .. } => {}
                Op::Edit { path, old, line, new } => {
                    let mode = mode(&repo.path(path));
                    replace(repo, path, edited(old, *line, new), mode);
                }
                Op::Create { path, new } => repo.write(path, new),
                Op::Move { from, to, edit } => {
                    let mode = mode(&repo.path(from));
                    let text = match edit {
                        Some((old, line, new)) => edited(old, *line, new),
                        None => repo.read(from),
                    };
                    remove(repo, from);
                    replace(repo, to, text, mode);
                }
                Op::Mode { path, new, .. } => repo.chmod(path, *new),
                Op::Link { path, target } => {
                    std::fs::create_dir_all(repo.path(path).parent().unwrap()).unwrap();
                    std::os::unix::fs::symlink(target, repo.path(path)).unwrap();
                }
            }
        }
    }
}

fn section(op: &Op) -> String {
    let head = |from: &str, to: &str| format!("diff --git a/{from} b/{to}\n");
    let octal = |mode: &u32| if mode & 0o100 == 0 { "100644" } else { "100755" };
    let whole = |sign: char, text: &str| {
        text.split_inclusive('\n').map(|line| format!("{sign}{line}")).collect::<String>()
    };
    match op {
        Op::Edit { path, old, line, new } => {
            format!("{}--- a/{path}\n+++ b/{path}\n{}", head(path, path), hunk(old, *line, new))
        }
        Op::Create { path, new } => format!(
            "{}new file mode 100644\n--- /dev/null\n+++ b/{path}\n@@ -0,0 +1,{} @@\n{}",
            head(path, path),
            new.lines().count(),
            whole('+', new)
        ),
        Op::Delete { path, old, mode } => format!(
            "{}deleted file mode {}\n--- a/{path}\n+++ /dev/null\n@@ -1,{} +0,0 @@\n{}",
            head(path, path),
            octal(mode),
            old.lines().count(),
            whole('-', old)
        ),
        Op::Move { from, to, edit } => {
            let moved = format!("{}rename from {from}\nrename to {to}\n", head(from, to));
            let hunk = edit.as_ref().map(|(old, line, new)| hunk(old, *line, new));
            moved + &hunk.map_or_else(String::new, |hunk| format!("--- a/{from}\n+++ b/{to}\n{hunk}"))
        }
        Op::Mode { path, old, new } => {
            format!("{}old mode {}\nnew mode {}\n", head(path, path), octal(old), octal(new))
        }
        Op::Link { path, target } => format!(
            "{}new file mode 120000\n--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n+{target}\n\\ No newline at end of file\n",
            head(path, path)
        ),
    }
}

fn hunk(text: &str, line: usize, new: &str) -> String {
    let old = text.split('\n').nth(line).unwrap();
    format!("@@ -{0} +{0} @@\n-{old}\n+{new}\n", line + 1)
}

fn edited(text: &str, line: usize, new: &str) -> String {
    let mut lines: Vec<_> = text.split('\n').collect();
    lines[line] = new;
    lines.join("\n")
}

/// A new file, as the program makes one.
fn replace(repo: &TestRepo, path: &str, text: String, mode: u32) {
    let _ = std::fs::remove_file(repo.path(path));
    repo.write(path, text);
    repo.chmod(path, mode);
}

fn mode(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().unwrap().permissions().mode() & 0o777
}

/// Removes the file and the folders that are empty then.
fn remove(repo: &TestRepo, path: &str) {
    std::fs::remove_file(repo.path(path)).unwrap();
    let mut folder = Path::new(path).parent();
    while let Some(empty) = folder.filter(|folder| !folder.as_os_str().is_empty()) {
        if std::fs::remove_dir(repo.root().join(empty)).is_err() {
            break;
        }
        folder = empty.parent();
    }
}
