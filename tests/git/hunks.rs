//! Two hundred random files with hunks of the user's, staged and not, beside those of a batch: the commit, or the index,
//! gets the batch's hunks only, and the user's stay where they were, byte for byte.

use super::fuzz::rounds;
use crate::support::{Rng, TestRepo};

const FILES: usize = 200;
/// A file is that many stretches of lines; each stretch is changed by nobody, or by one.
const STRETCHES: usize = 6;

/// Who changes a stretch.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Who {
    Nobody,
    Staged,
    Unstaged,
    Batch,
}

/// How a stretch is changed in its middle.
#[derive(Clone, Copy, Debug)]
enum How {
    Replace,
    Insert,
    Remove,
}

struct File {
    path: String,
    stretches: Vec<(Who, How)>,
    /// What lines end with on disk.
    end: &'static str,
    /// What they end with in git.
    stored: &'static str,
    last: bool,
}

impl File {
    fn random(n: usize, rng: &mut Rng) -> Self {
        let kind = ["txt", "dos", "raw", "id"][rng.below(4)];
        let mut stretches: Vec<_> = (0..STRETCHES)
            .map(|_| {
                let who = [Who::Nobody, Who::Nobody, Who::Staged, Who::Unstaged, Who::Batch][rng.below(5)];
                (who, [How::Replace, How::Insert, How::Remove][rng.below(3)])
            })
            .collect();
        stretches[rng.below(STRETCHES)].0 = Who::Batch;
        let user = rng.below(STRETCHES);
        if stretches[user].0 != Who::Batch {
            stretches[user].0 = [Who::Staged, Who::Unstaged][rng.below(2)];
        }
        let end = if ["dos", "raw"].contains(&kind) { "\r\n" } else { "\n" };
        let stored = if kind == "raw" { "\r\n" } else { "\n" };
        Self { path: format!("d{}/f{n}.{kind}", n % 7), stretches, end, stored, last: rng.one_in(4) }
    }

    /// The text with the changes of `who`. Where `last`, the last line has no end.
    fn text(&self, who: &[Who], end: &str) -> String {
        let mut text = String::new();
        for (s, (whose, how)) in self.stretches.iter().enumerate() {
            for k in 0..7 {
                let line = format!("{} {s}.{k}{end}", self.path);
                match how {
                    _ if k != 3 || !who.contains(whose) => text += &line,
                    How::Replace => text += &format!("{whose:?} {s}{end}"),
                    How::Insert => text += &format!("{line}{whose:?} {s}{end}{whose:?} {s} more{end}"),
                    How::Remove => {}
                }
            }
        }
        let whole = text.len() - if self.last { end.len() } else { 0 };
        text[..whole].to_owned()
    }

    fn changed_by(&self, who: Who) -> bool {
        self.stretches.iter().any(|(whose, _)| *whose == who)
    }

    /// The batch's hunks, each as it stands in the file on disk.
    fn entry(&self) -> serde_json::Value {
        let hunks = self.stretches.iter().enumerate().filter(|(_, (who, _))| *who == Who::Batch);
        let edits = hunks.map(|(s, (_, how))| {
            let line = |k: usize| format!("{} {s}.{k}\n", self.path);
            let new = match how {
                How::Replace => format!("{}Batch {s}\n{}", line(2), line(4)),
                How::Insert => format!("{}{}Batch {s}\nBatch {s} more\n{}", line(2), line(3), line(4)),
                How::Remove => line(2) + &line(4),
            };
            serde_json::json!({"old_string": line(2) + &line(3) + &line(4), "new_string": new})
        });
        serde_json::json!({"path": self.path, "edits": edits.collect::<Vec<_>>()})
    }
}

/// What each file has in HEAD (`git cat-file` names it `HEAD`) or in the index (an empty name).
fn blobs(repo: &TestRepo, name: &str, files: &[File]) -> Vec<String> {
    use std::io::Write;
    let mut command = repo.command("git");
    command.args(["cat-file", "--batch=%(objectsize)"]);
    let mut child =
        command.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped()).spawn().unwrap();
    let asked: String = files.iter().map(|file| format!("{name}:{}\n", file.path)).collect();
    let mut stdin = child.stdin.take().unwrap();
    let ask = std::thread::spawn(move || stdin.write_all(asked.as_bytes()).unwrap());
    let output = child.wait_with_output().unwrap().stdout;
    ask.join().unwrap();
    let mut rest = output.as_slice();
    let mut next = || {
        let end = rest.iter().position(|b| *b == b'\n').unwrap();
        let size: usize = std::str::from_utf8(&rest[..end]).unwrap().parse().unwrap();
        let text = rest[end + 1..end + 1 + size].to_vec();
        rest = &rest[end + size + 2..];
        String::from_utf8(text).unwrap()
    };
    files.iter().map(|_| next()).collect()
}

fn round(seed: u64, option: &str) {
    use Who::{Batch, Staged, Unstaged};
    let mut rng = Rng::new(seed);
    let repo = TestRepo::unborn();
    let files: Vec<_> = (0..FILES).map(|n| File::random(n, &mut rng)).collect();
    let write = |who: &[Who]| files.iter().for_each(|file| repo.write(&file.path, file.text(who, file.end)));
    repo.write(".gitattributes", "*.dos text eol=crlf\n*.raw -text\n*.id ident\n");
    write(&[]);
    repo.git(&["add", "-A"]);
    repo.git(&["commit", "-qm", "base"]);
    write(&[Staged]);
    repo.git(&["add", "-A"]);
    write(&[Staged, Unstaged]);

    let batch = serde_json::Value::from_iter(files.iter().map(File::entry)).to_string();
    let ran = repo.run(&["apply", "--json", "--durability", "none", option], batch);
    assert_eq!(ran.code, 0, "seed {seed}: {ran:?}");
    let head: &[Who] = if option == "--stage" { &[] } else { &[Batch] };
    let (in_head, in_index) = (blobs(&repo, "HEAD", &files), blobs(&repo, "", &files));
    let mut expected = Vec::new();
    for ((file, in_head), in_index) in files.iter().zip(in_head).zip(in_index) {
        let path = &file.path;
        assert_eq!(in_head, file.text(head, file.stored), "seed {seed} {option}: {path} in HEAD");
        assert_eq!(
            in_index,
            file.text(&[Staged, Batch], file.stored),
            "seed {seed} {option}: {path} in the index"
        );
        let on_disk = file.text(&[Staged, Unstaged, Batch], file.end);
        assert_eq!(repo.read(path), on_disk, "seed {seed} {option}: {path} on disk");
        let staged = option == "--stage" || file.changed_by(Staged);
        let mark = |changed: bool| if changed { 'M' } else { ' ' };
        let status = format!("{}{} {path}", mark(staged), mark(file.changed_by(Unstaged)));
        expected.extend(Some(status).filter(|status| !status.starts_with("  ")));
    }
    let status = repo.try_git(&["--no-optional-locks", "status", "--porcelain"]).stdout;
    let mut status: Vec<_> = String::from_utf8(status).unwrap().lines().map(str::to_owned).collect();
    status.sort();
    expected.sort();
    assert_eq!(status, expected, "seed {seed} {option}");
    // The trees that the index remembers are those of its entries.
    let anew = "git ls-files -s | GIT_INDEX_FILE=../anew git update-index --index-info; GIT_INDEX_FILE=../anew git write-tree";
    let anew = repo.command("sh").args(["-c", anew]).output().unwrap().stdout;
    assert_eq!(
        repo.git(&["write-tree"]),
        String::from_utf8(anew).unwrap().trim_end(),
        "seed {seed} {option}"
    );
    repo.git(&["fsck", "--strict", "--no-dangling"]);
}

#[test]
fn of_two_hundred_files_are_committed_without_the_users() {
    rounds(1).for_each(|seed| round(seed, "--commit"));
}

#[test]
fn of_two_hundred_files_are_staged_without_the_users() {
    rounds(1).for_each(|seed| round(seed, "--stage"));
}
