//! Where a run works: roots, sub-folders, folders without git, the state directory; and where the batch comes from.

use crate::support::{TestRepo, identity, patches, tree};

fn repo() -> TestRepo {
    TestRepo::new(&[("a.txt", "one\n"), ("src/a.txt", "one\n"), ("src/deep/b.txt", "two\n")])
}

/// Runs with `arguments` in the folder `inside`, and says which paths changed.
#[track_caller]
fn check(inside: &str, arguments: &[&str], batch: &str, code: i32, changed: &[&str]) {
    let repo = repo();
    let before = tree(repo.root());
    let mut command = repo.program(&[&["apply", "--json"], arguments].concat());
    std::fs::write(repo.temp().join("batch.json"), batch).unwrap();
    let output = command.arg(repo.temp().join("batch.json")).current_dir(repo.path(inside)).output().unwrap();
    assert_eq!(output.status.code(), Some(code), "{output:?}");
    let after = tree(repo.root());
    let differ: Vec<_> = after.iter().filter(|(path, text)| before.get(*path) != Some(text)).collect();
    assert_eq!(differ.iter().map(|(path, _)| &***path).collect::<Vec<_>>(), changed);
}

#[test]
fn relative_paths_start_where_people_stand() {
    let one = patches(&[("a.txt", "one", "1")]);
    check("", &[], &one, 0, &["a.txt"]);
    check("src", &[], &one, 0, &["src/a.txt"]);
    check("src/deep", &[], &patches(&[("../a.txt", "one", "1")]), 0, &["src/a.txt"]);
    check("src/deep", &[], &patches(&[("../../../a.txt", "one", "1")]), 1, &[]);
}

#[test]
fn the_root_option_says_where_paths_start_and_end() {
    let one = patches(&[("a.txt", "one", "1")]);
    check("", &["--root", "src"], &one, 0, &["src/a.txt"]);
    check("", &["-C", "src"], &one, 0, &["src/a.txt"]);
    check("src/deep", &["-C", ".."], &one, 0, &["src/a.txt"]);
    check("", &["-C", "src"], &patches(&[("../a.txt", "one", "1")]), 1, &[]);
    check("", &["-C", "nowhere"], &one, 2, &[]);
    check("", &["-C", "a.txt/x"], &one, 2, &[]);
}

#[test]
fn absolute_paths_inside_the_root_are_fine() {
    let repo = repo();
    let path = repo.path("src/a.txt");
    let ran = repo.run(&["apply"], patches(&[(path.to_str().unwrap(), "one", "1")]));
    assert_eq!((ran.code, &*repo.read("src/a.txt")), (0, "1\n"), "{ran:?}");
}

#[test]
fn a_file_and_standard_input_are_one() {
    let batch = patches(&[("a.txt", "one", "1")]);
    for arguments in [&["apply"][..], &["apply", "-"], &["apply", "../batch.json"]] {
        let repo = repo();
        std::fs::write(repo.temp().join("batch.json"), &batch).unwrap();
        let input = if arguments.last() == Some(&"../batch.json") { "" } else { &*batch };
        assert_eq!(repo.run(arguments, input).code, 0);
        assert_eq!(repo.read("a.txt"), "1\n", "{arguments:?}");
    }
}

#[test]
fn a_check_writes_nothing_anywhere() {
    let repo = repo();
    let all = || (identity(repo.temp()), identity(&repo.path(".git")));
    let before = all();
    for (arguments, input) in [
        (&["check"][..], patches(&[("a.txt", "one", "1")])),
        (&["check", "--json"], patches(&[("a.txt", "none", "1")])),
        (&["apply", "--dry-run"], patches(&[("a.txt", "one", "1")])),
        (&["apply", "-n", "--commit"], patches(&[("a.txt", "one", "1")])),
        (&["check", "--stash"], "[".to_owned()),
        (&["recover", "--list"], String::new()),
    ] {
        repo.run(arguments, input);
        assert_eq!(all(), before, "{arguments:?}");
    }
}

#[test]
fn a_check_of_a_plain_folder_writes_nothing_anywhere() {
    let folder = TestRepo::folder(&[("a.txt", "one\n")]);
    let before = identity(folder.temp());
    assert_eq!(folder.run(&["check"], patches(&[("a.txt", "one", "1")])).code, 0);
    assert_eq!(identity(folder.temp()), before);
}

#[test]
fn without_git_the_state_lives_with_the_user() {
    let folder = TestRepo::folder(&[("a.txt", "one\n")]);
    let ran = folder.run(&["apply"], patches(&[("a.txt", "one", "1")]));
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(tree(folder.root()).into_iter().collect::<Vec<_>>(), [("a.txt".into(), "644 1\\n".into())]);
    assert!(folder.temp().join("state/patchmany").is_dir());
    assert!(!folder.temp().join(".local").exists());
    assert_eq!(folder.run(&["recover"], "").out, "nothing to recover\n");
}

#[test]
fn without_git_nothing_can_be_recorded() {
    for option in ["--commit", "--stash"] {
        let folder = TestRepo::folder(&[("a.txt", "one\n")]);
        let before = identity(folder.temp());
        let ran = folder.run(&["apply", "--json", option], patches(&[("a.txt", "one", "1")]));
        assert_eq!((ran.code, &ran.codes()[..]), (2, &["usage".to_owned()][..]), "{ran:?}");
        assert_eq!(identity(folder.temp()), before);
    }
}

#[test]
fn with_git_the_state_lives_in_the_git_directory() {
    let repo = repo();
    assert_eq!(repo.run(&["apply"], patches(&[("a.txt", "one", "1")])).code, 0);
    assert!(repo.path(".git/patchmany").is_dir());
    assert!(!repo.temp().join("state").exists());
    assert_eq!(repo.git(&["status", "--porcelain"]), " M a.txt".trim_start_matches('\n'));
}
