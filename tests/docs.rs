//! The README is true: its examples run and print what it shows.
//!
//! A fence of `sh` is run in the example project, one after another; a fence of `text` right behind it is what it
//! prints. A fence of `console` builds the program itself, which a test cannot do.

use crate::support::{Ran, TestRepo};
use std::path::Path;
use std::process::Command;

/// A fence and what stands in it.
struct Fence {
    word: String,
    body: String,
    /// Whether only blank lines stand between it and the fence before.
    follows: bool,
}

fn fences(text: &str) -> Vec<Fence> {
    let mut found: Vec<Fence> = Vec::new();
    let (mut open, mut follows) = (false, false);
    for line in text.lines() {
        match (line.strip_prefix("```"), open) {
            (Some(word), false) => {
                found.push(Fence { word: word.to_owned(), body: String::new(), follows });
                open = true;
            }
            (Some(_), true) => (open, follows) = (false, true),
            (None, true) => found.last_mut().unwrap().body += &format!("{line}\n"),
            (None, false) => follows &= line.is_empty(),
        }
    }
    found
}

/// The example project as a repository of its own, with the batches beside it.
fn project() -> TestRepo {
    let repo = TestRepo::unborn();
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/example");
    let copy = |from: &Path, to: &Path| {
        assert!(Command::new("cp").arg("-R").args([from, to]).status().unwrap().success());
    };
    copy(&example.join("project/."), repo.root());
    copy(&example.join("batch.json"), repo.temp());
    copy(&example.join("answer.md"), repo.temp());
    repo.commit_all(&[]);
    repo
}

/// Ids differ from run to run.
fn without_ids(text: &str) -> String {
    let mut out = String::new();
    for line in text.lines() {
        let end = line.find("; commit ").map_or(line.len(), |at| at + "; commit ".len());
        out += &line[..end];
        out.push('\n');
    }
    out
}

#[test]
fn the_examples_of_the_readme_run() {
    let readme = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")).unwrap();
    let fences = fences(&readme);
    let repo = project();
    let folder = Path::new(env!("CARGO_BIN_EXE_patchmany")).parent().unwrap();
    let mut path = vec![folder.to_owned()];
    path.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap()));
    let mut examples = 0;
    for (at, fence) in fences.iter().enumerate().filter(|(_, fence)| fence.word == "sh") {
        let mut shell = repo.command("sh");
        shell.args(["-eu", "-c", &fence.body]).env("PATH", std::env::join_paths(&path).unwrap());
        let ran = Ran::of(&shell.output().unwrap());
        assert_eq!(ran.code, 0, "{}: {ran:?}", fence.body);
        if let Some(shown) = fences.get(at + 1).filter(|next| next.follows && next.word == "text") {
            assert_eq!(without_ids(&ran.out), without_ids(&shown.body), "{}", fence.body);
        }
        examples += 1;
    }
    assert_eq!(examples, 4);
    assert_eq!(repo.git(&["log", "--format=%s", "-1"]), "Listen on port 9090");
    assert!(repo.path("docs/rain.md").exists());
}

#[test]
fn the_block_of_the_readme_is_one() {
    let readme = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")).unwrap();
    let block = fences(&readme).into_iter().find(|fence| fence.body.starts_with("<<<<<<< ORIGINAL")).unwrap();
    let repo = TestRepo::new(&[("f", "old text\n")]);
    let ran = repo.run(&["apply", "--path", "f"], &block.body);
    assert_eq!((ran.code, repo.read("f")), (0, "new text\n".to_owned()), "{ran:?}");
}

#[test]
fn the_commands_for_newcomers_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let readme = std::fs::read_to_string(root.join("README.md")).unwrap();
    let commands: Vec<String> =
        fences(&readme).into_iter().filter(|f| f.word == "console").map(|f| f.body).collect();
    assert_eq!(commands, ["sh scripts/demo\n", "cargo test\n", "cargo install --path .\n"]);
    assert!(root.join("scripts/demo").exists());
}

/// Markers of a block in a page are easily taken for those of a merge, and cut.
#[test]
fn the_blocks_of_the_readme_are_whole() {
    let readme = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")).unwrap();
    let block = format!(
        "{} ORIGINAL\nold text\n{}\nnew text\n{} UPDATED\n",
        "<".repeat(7),
        "=".repeat(7),
        ">".repeat(7)
    );
    assert!(fences(&readme).iter().any(|fence| fence.word == "text" && fence.body == block));
    let row = format!(
        "| `blocks` | `{} SEARCH` / `{}` / `{} REPLACE`",
        "<".repeat(7),
        "=".repeat(7),
        ">".repeat(7)
    );
    assert!(readme.lines().any(|line| line.starts_with(&row)));
}
