//! Merging in memory against `git merge-file`.

use crate::support::{Rng, TestRepo};
use patchmany::git;
use patchmany::plan::{Chunk, Sides};

/// A text of few different lines, changed here and there.
fn changed(rng: &mut Rng, base: &[String]) -> Vec<String> {
    let mut lines = base.to_vec();
    for _ in 0..rng.below(4) {
        let at = rng.below(lines.len() + 1);
        match rng.below(3) {
            0 => lines.insert(at, format!("new {}", rng.below(3))),
            1 if at < lines.len() => drop(lines.remove(at)),
            _ if at < lines.len() => lines[at] = format!("other {}", rng.below(3)),
            _ => {}
        }
    }
    lines
}

/// The whole text of a merge without conflicts.
fn whole(chunks: &[Chunk]) -> Option<Vec<u8>> {
    let clean = chunks.iter().map(|chunk| match chunk {
        Chunk::Clean(text) => Some(text.as_slice()),
        Chunk::Conflict { .. } => None,
    });
    Some(clean.collect::<Option<Vec<_>>>()?.concat())
}

#[test]
fn what_merges_cleanly_is_what_git_makes() {
    let repo = TestRepo::unborn();
    let (mut clean, mut conflicts) = (0, 0);
    for seed in 0..150 {
        let mut rng = Rng::new(seed);
        let base: Vec<String> = (0..rng.below(12)).map(|_| format!("line {}", rng.below(9))).collect();
        let texts = [&base, &changed(&mut rng, &base), &changed(&mut rng, &base)].map(|lines| {
            let end = if rng.one_in(8) { "" } else { "\n" };
            lines.join("\n") + if lines.is_empty() { "" } else { end }
        });
        for (name, text) in ["base", "ours", "theirs"].iter().zip(&texts) {
            repo.write(name, text);
        }
        let [base, ours, theirs] = texts.each_ref().map(|text| text.as_bytes());
        let merge =
            repo.command("git").args(["merge-file", "-p", "--diff3", "ours", "base", "theirs"]).output();
        let of_git = merge.unwrap();
        match whole(&git::merge(Sides { base, ours, theirs })) {
            Some(text) => {
                assert_eq!(of_git.status.code(), Some(0), "seed {seed}: a conflict for git");
                assert_eq!(text, of_git.stdout, "seed {seed}");
                clean += 1;
            }
            None => conflicts += 1,
        }
    }
    assert!(clean > 60 && conflicts > 20, "{clean} {conflicts}");
}
