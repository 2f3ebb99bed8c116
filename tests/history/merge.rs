//! `undo --merge`: what was edited since stays, the rest goes back; git's own merge is the judge.

use crate::support::{Ran, Rng, TestRepo, patches, tree};
use serde_json::{Value, json};

#[track_caller]
fn ok(ran: Ran) -> Value {
    assert_eq!(ran.code, 0, "{ran:?}");
    ran.json()
}

fn undo(repo: &TestRepo, arguments: &[&str]) -> Ran {
    repo.run(&[&["undo", "--json", "--merge"], arguments].concat(), "")
}

/// The paths and messages of a refusal that touched nothing.
#[track_caller]
fn refused(repo: &TestRepo) -> Vec<(String, String)> {
    let before = tree(repo.root());
    let ran = undo(repo, &[]);
    assert_eq!((ran.code, tree(repo.root())), (1, before), "{ran:?}");
    let errors = ran.json()["errors"].as_array().unwrap().clone();
    let one = |e: &Value| {
        assert_eq!(e["code"], "changed-during");
        let message = e["message"].as_str().unwrap();
        (e["path"].as_str().unwrap().to_owned(), message.rsplit_once(": ").unwrap().1.to_owned())
    };
    errors.iter().map(one).collect()
}

fn lines(range: std::ops::RangeInclusive<usize>) -> String {
    range.map(|n| format!("line {n}\n")).collect()
}

#[test]
fn an_edit_elsewhere_in_the_file_stays() {
    for repo in [
        TestRepo::new(&[("a", &lines(1..=9)), ("b", "b\n")]),
        TestRepo::folder(&[("a", &lines(1..=9)), ("b", "b\n")]),
    ] {
        repo.chmod("a", 0o640);
        ok(repo.run(
            &["apply", "--json"],
            patches(&[("a", "line 2", "two"), ("a", "line 5", "five"), ("b", "b", "B")]),
        ));
        repo.write("a", repo.read("a").replace("line 8\n", "eight\nmine\n"));
        repo.chmod("a", 0o755);
        assert_eq!(repo.run(&["undo", "--json"], "").codes(), ["changed-during"]);
        let undone = ok(undo(&repo, &[]));
        assert_eq!(
            (&undone["warnings"][0]["code"], &undone["warnings"][0]["path"]),
            (&"merged".into(), &"a".into())
        );
        assert_eq!(repo.read("a"), lines(1..=9).replace("line 8\n", "eight\nmine\n"));
        assert_eq!(repo.read("b"), "b\n");
        assert!(tree(repo.root())["a"].starts_with("755 "));
        // The redo brings back what stood there, edit included; with another edit in between it merges too.
        repo.write("a", repo.read("a").replace("line 9", "nine"));
        ok(repo.run(&["redo", "--json", "--merge"], ""));
        let all = lines(1..=9).replace("line 2", "two").replace("line 5", "five");
        assert_eq!(repo.read("a"), all.replace("line 8\n", "eight\nmine\n").replace("line 9", "nine"));
        assert_eq!(repo.read("b"), "B\n");
    }
}

#[test]
fn what_cannot_be_merged_is_named_and_nothing_happens() {
    let repo = TestRepo::new(&[
        ("lines", "1\n2\n"),
        ("gone", "g\n"),
        ("back", "1\n"),
        ("link", "1\n"),
        ("good", &lines(1..=9)),
    ]);
    let edit = |path: &str, old: &str| json!({"path": path, "old_string": old, "new_string": "new"});
    let batch = json!([edit("lines", "1"), edit("back", "1"), edit("link", "1"), edit("good", "line 1\n"), {"path": "gone", "operation": "delete"}, {"path": "made", "content": "m\n"}]);
    ok(repo.run(&["apply", "--json"], batch.to_string()));
    repo.write("lines", "mine\n2\n");
    repo.write("made", "m\nmine\n");
    repo.write("gone", "mine\n");
    std::fs::remove_file(repo.path("back")).unwrap();
    std::fs::remove_file(repo.path("link")).unwrap();
    std::os::unix::fs::symlink("good", repo.path("link")).unwrap();
    repo.write("good", repo.read("good") + "mine\n");
    let no_file = "it was removed, made, or replaced by something else";
    let expected = [
        ("back", no_file),
        ("gone", no_file),
        ("lines", "both change the same lines"),
        ("link", no_file),
        ("made", no_file),
    ];
    assert_eq!(refused(&repo), expected.map(|(path, why)| (path.to_owned(), why.to_owned())));
    ok(undo(&repo, &["--path", "good"]));
    assert_eq!(repo.read("good"), lines(1..=9) + "mine\n");
}

#[test]
fn binary_files_and_modes_are_not_merged() {
    let repo = TestRepo::new(&[("mode", "1\n2\n3\n4\n5\n")]);
    repo.write("bin", b"one\0\n\n\n\n\nend\n");
    repo.commit_all(&[]);
    let copy = repo.twin();
    copy.write("bin", b"two\0\n\n\n\n\nend\n");
    copy.chmod("mode", 0o755);
    let diff = copy.git(&["diff", "--binary"]) + "\n";
    ok(repo.run(&["apply", "--json"], &diff));
    repo.write("bin", b"two\0\n\n\n\n\nEND\n");
    repo.chmod("mode", 0o700);
    let expected = [("bin", "it is binary"), ("mode", "both change its mode")];
    assert_eq!(refused(&repo), expected.map(|(path, why)| (path.to_owned(), why.to_owned())));
    // The text alone was edited: the mode goes back.
    repo.chmod("mode", 0o755);
    repo.write("mode", "1\n2\n3\n4\nfive\n");
    ok(undo(&repo, &["--path", "mode"]));
    assert_eq!(tree(repo.root())["mode"], "644 1\\n2\\n3\\n4\\nfive\\n");
}

#[test]
fn a_moved_file_goes_back_with_its_edits() {
    let repo = TestRepo::new(&[("a", &lines(1..=9)), ("pure", &lines(1..=9))]);
    let batch = json!([{"path": "a", "moveTo": "d/b", "diff": "@@\n-line 2\n+two\n"}, {"path": "pure", "moveTo": "d/pure"}]);
    ok(repo.run(&["apply", "--json"], batch.to_string()));
    for path in ["d/b", "d/pure"] {
        repo.write(path, repo.read(path).replace("line 9", "mine"));
    }
    ok(undo(&repo, &[]));
    let mine = lines(1..=9).replace("line 9", "mine");
    assert_eq!((repo.read("a"), repo.read("pure"), repo.path("d").exists()), (mine.clone(), mine, false));
    ok(repo.run(&["redo", "--json"], ""));
    assert_eq!(
        (repo.read("d/b"), repo.path("a").exists()),
        (lines(1..=9).replace("line 2", "two").replace("line 9", "mine"), false)
    );
}

#[test]
fn what_was_put_back_by_hand_counts_as_undone() {
    let repo = TestRepo::new(&[("a", "1\n"), ("b", "2\n")]);
    ok(repo.run(&["apply", "--json"], patches(&[("a", "1", "one"), ("b", "2", "two")])));
    repo.write("a", "1\n");
    ok(undo(&repo, &[]));
    assert_eq!((repo.read("a"), repo.read("b")), ("1\n".to_owned(), "2\n".to_owned()));
    assert_eq!(repo.run(&["undo", "--json"], "").codes(), ["missing"], "nothing is left to undo");
}

#[test]
fn the_new_version_is_shown_after_an_edit() {
    let repo = TestRepo::new(&[("a", "1\n2\n")]);
    let id = ok(repo.run(&["apply", "--json"], patches(&[("a", "1", "one")])))["transaction"]
        .as_str()
        .unwrap()
        .to_owned();
    repo.write("a", "mine\n");
    let shown = ok(repo.run(&["show", "--diff", "--json", &id], ""));
    assert_eq!(shown["not_shown"], json!([]));
    assert!(shown["diff"].as_str().unwrap().contains("-1\n+one\n 2\n"), "{shown}");
}

#[test]
fn without_what_was_noted_nothing_is_guessed() {
    let repo = TestRepo::new(&[("a", "1\n2\n")]);
    ok(repo.run(&["apply", "--json"], patches(&[("a", "1", "one")])));
    repo.write("a", "one\n2\nmine\n");
    let operation =
        std::fs::read_dir(repo.path(".git/patchmany/undo")).unwrap().next().unwrap().unwrap().path();
    for torn in
        [&b""[..], b"PMDELTA1\x01\0\0\0\0\0\0\0a\x03\0\0\0\0\0\0\0two\0\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\0"]
    {
        std::fs::write(operation.join("deltas"), torn).unwrap();
        assert_eq!(
            refused(&repo),
            [("a".to_owned(), "the version that the operation left is not known any more".to_owned())]
        );
    }
}

/// Random texts: what git's merge calls clean is undone to the same bytes, and everything else is refused.
#[test]
fn git_merges_the_same() {
    let mut rng = Rng::new(7);
    let (mut clean, mut conflicts) = (0, 0);
    for round in 0..60 {
        let word = |rng: &mut Rng| format!("{}\n", ["alpha", "beta", "gamma", "delta"][rng.below(4)]);
        let old: Vec<String> = (0..4 + rng.below(12)).map(|n| format!("{n} {}", word(&mut rng))).collect();
        let edited = |rng: &mut Rng, lines: &[String]| {
            let mut lines = lines.to_vec();
            for _ in 0..1 + rng.below(2) {
                let at = rng.below(lines.len().max(1));
                match rng.below(3) {
                    0 if lines.len() > 1 => drop(lines.remove(at)),
                    1 => lines.insert(at, word(rng)),
                    _ => lines[at] = word(rng),
                }
            }
            lines
        };
        let new = edited(&mut rng, &old);
        let mine = edited(&mut rng, &new);
        if new == old || mine == new {
            continue;
        }
        let repo = TestRepo::new(&[("a", &old.concat())]);
        ok(repo.run(&["apply", "--json"], json!([{"path": "a", "content": new.concat()}]).to_string()));
        repo.write("a", mine.concat());
        for (name, text) in [("old", &old), ("new", &new), ("mine", &mine)] {
            std::fs::write(repo.temp().join(name), text.concat()).unwrap();
        }
        let merged =
            repo.try_git(&["merge-file", "-p", "--diff-algorithm=histogram", "../mine", "../new", "../old"]);
        let ran = undo(&repo, &[]);
        if merged.status.success() {
            clean += 1;
            assert_eq!((ran.code, repo.read("a").into_bytes()), (0, merged.stdout), "round {round}");
        } else {
            conflicts += 1;
            assert_eq!((ran.code, repo.read("a")), (1, mine.concat()), "round {round}");
        }
    }
    assert!(clean > 10 && conflicts > 10, "{clean} clean, {conflicts} not");
}
