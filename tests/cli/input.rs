//! Input that cannot be applied: what the program says, and that nothing moves.

use crate::support::{TestRepo, block, identity, patches};

/// How a bad batch must end.
struct Expected<'a> {
    code: i32,
    errors: &'a [&'a str],
}

/// Applies a bad batch twice, for people and as JSON. The tree and git stay as they are in bytes, inodes and times.
#[track_caller]
fn check(batch: impl AsRef<[u8]>, expected: &Expected<'_>) {
    let repo = TestRepo::new(&[("a.txt", "one\n"), ("src/b.txt", "two\n"), ("x.bin", "one\0\n")]);
    let batch = batch.as_ref();
    let (tree, state) = (identity(repo.root()), repo.state());
    let ran = repo.run(&["apply"], batch);
    assert_eq!(ran.code, expected.code, "{ran:?}");
    assert!(ran.first_line().starts_with("nothing was written"), "{ran:?}");
    assert!(ran.out.is_empty(), "{ran:?}");
    for code in expected.errors {
        assert!(ran.err.contains(&format!("{code}: ")), "{code}: {ran:?}");
    }
    let ran = repo.run(&["apply", "--json"], batch);
    assert_eq!(
        (ran.code, ran.codes()),
        (expected.code, expected.errors.iter().map(|c| (*c).to_owned()).collect())
    );
    assert_eq!((identity(repo.root()), repo.state()), (tree, state));
}

fn parse<'a>() -> Expected<'a> {
    Expected { code: 2, errors: &["parse"] }
}

fn refused<'a>(errors: &'a [&'a str]) -> Expected<'a> {
    Expected { code: 1, errors }
}

#[test]
fn no_batch_at_all() {
    check("", &parse());
    check("[]", &parse());
    check("{\"patches\": []}", &parse());
    check("I would rename it.\n", &parse());
}

#[test]
fn broken_batches() {
    let good = patches(&[("a.txt", "one", "1")]);
    check(&good[..good.len() - 4], &parse());
    check("{\"patches\": \"[\"}", &parse());
    check(b"\xff\xfe[", &parse());
    check(serde_json::json!([{"path": "a.txt", "text": "1"}]).to_string(), &parse());
    check(serde_json::json!([{"file": "a.txt", "patch": block("one", "1")}]).to_string(), &parse());
    check("[1]", &parse());
    check("[1, null]", &Expected { code: 2, errors: &["parse", "parse"] });
    check("[1.5, [], true]\n", &Expected { code: 2, errors: &["parse", "parse"] });
}

#[test]
fn paths_that_are_not_ours() {
    check(patches(&[("../a.txt", "one", "1")]), &refused(&["outside-root"]));
    check(patches(&[("/etc/hostname", "one", "1")]), &refused(&["outside-root"]));
    check(patches(&[("src/../../a.txt", "one", "1")]), &refused(&["outside-root"]));
    check(patches(&[(".git/config", "bare", "1")]), &refused(&["protected-path"]));
    check(patches(&[("src/.GIT/config", "bare", "1")]), &refused(&["protected-path"]));
}

/// Refused with the path as the batch writes it, and with words that name what stands in the way.
#[track_caller]
fn names(path: &str, code: &str, message: &str) {
    let repo = TestRepo::new(&[("sub/a.txt", "one\n")]);
    for (link, target) in [("in", "sub/../.git"), ("out", "/etc"), ("loop", "loop"), ("gone", "nowhere")] {
        std::os::unix::fs::symlink(target, repo.path(link)).unwrap();
    }
    let error = &repo.run(&["apply", "--json"], patches(&[(path, "one", "1")])).json()["errors"][0];
    assert_eq!((&error["path"], &error["code"]), (&path.into(), &code.into()), "{error}");
    assert!(error["message"].as_str().unwrap().contains(message), "{error}");
}

#[test]
fn refused_paths_are_told_as_the_batch_writes_them() {
    names("./.git/config", "protected-path", ".git belongs to git");
    names("sub//.GIT/config", "protected-path", "sub/.GIT belongs to git");
    names("in/config", "protected-path", ".git belongs to git");
    names("./../a.txt", "outside-root", "outside the root");
    names("./out/hostname", "outside-root", "out of the root");
    names("./loop", "not-regular", "loop leads in a loop");
    names("./gone", "not-regular", "gone leads to nowhere");
}

#[test]
fn targets_that_are_no_text() {
    check(patches(&[("src", "one", "1")]), &refused(&["not-regular"]));
    check(patches(&[("gone.txt", "one", "1")]), &refused(&["missing"]));
    check(patches(&[("x.bin", "one", "1")]), &refused(&["not-text"]));
}

#[test]
fn every_fault_is_told() {
    let batch =
        patches(&[("a.txt", "one", "1"), ("gone", "g", ""), ("src", "s", ""), ("src/b.txt", "three", "")]);
    check(batch, &refused(&["missing", "not-regular", "no-match"]));
}

/// The only error of a plain apply: code and message; git and the tree stay.
#[track_caller]
fn only_error(repo: &TestRepo, batch: &str) -> (String, String) {
    let (tree, state) = (identity(repo.root()), repo.state());
    let error = repo.run(&["apply", "--json"], batch).json()["errors"][0].clone();
    assert_eq!((identity(repo.root()), repo.state()), (tree, state));
    let text = |key: &str| error[key].as_str().unwrap().to_owned();
    (text("code"), text("message"))
}

#[test]
fn a_file_that_sparse_checkout_leaves_out_is_told_as_such() {
    for cone in ["--cone", "--no-cone"] {
        let repo = TestRepo::new(&[("in/a", "1\n"), ("out/b", "1\n")]);
        repo.git(&["sparse-checkout", "set", cone, "in"]);
        let (code, message) = only_error(&repo, &patches(&[("out/b", "1", "2")]));
        assert_eq!((&*code, &*message), ("missing", "out/b is left out of the work tree by sparse-checkout"));
        assert_eq!(only_error(&repo, &patches(&[("out/c", "1", "2")])).1, "out/c does not exist");
    }
}

#[test]
fn a_pointer_of_lfs_is_no_text() {
    let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 12345\n";
    let repo = TestRepo::new(&[("f.bin", pointer), ("f.txt", pointer)]);
    repo.write(".gitattributes", "*.bin filter=lfs -text\n");
    let (code, message) = only_error(&repo, &patches(&[("f.bin", "12345", "9")]));
    assert_eq!(
        (&*code, &*message),
        ("not-text", "the file is a Git LFS pointer, and its content is not here")
    );
    assert_eq!(repo.run(&["apply"], patches(&[("f.txt", "12345", "9")])).code, 0);
    let whole = r#"[{"path": "f.bin", "content": "whole\\n"}]"#.replace("\\\\", "\\");
    assert_eq!((repo.run(&["apply"], whole).code, &*repo.read("f.bin")), (0, "whole\n"));
}
