"""The same kills against other programs. Nothing recovers there: what the kill leaves is what there is.

The batch is one that all of them can say: 20 edited files. `git apply` gets the mixed batch too, and our own program
the plain one.
"""
import json
import os
import shutil

from bench import CHANGING, Row, big, each, fill, git, lay, listing, repository, thinned

FILES = 20


def plain(folder):
    """A repository with 20 files, and the batch that edits each, in the forms that the programs read."""
    text = lambda n, word: big(f"{word} {n}", 3_000) + b"end\n"
    old = {f"dir{n % 4}/file{n}.txt": b"first line of %d\n" % n + text(n, "same") for n in range(FILES)}
    new = {path: content.replace(b"first line", b"changed line") for path, content in old.items()}
    work = folder / "work"
    repository(work, old)
    fill(work, new, [])
    (folder / "plain.diff").write_bytes(git(work, "diff"))
    git(work, "checkout", "-q", ".")
    steps = [{"op": "replace", "path": path, "old": content.decode().splitlines()[0], "new": new[path].decode().splitlines()[0]}
             for path, content in old.items()]
    (folder / "loom.json").write_text(json.dumps({"version": 1, "operations": steps}))
    return folder


def programs(bench, options):
    """(name, command) of each; the command is none where the program is not installed."""
    path = os.pathsep.join(filter(None, [options.peers, os.environ.get("PATH", "")]))
    find = lambda name: shutil.which(name, path=path)
    with_bin = lambda name, *arguments: [find(name), *arguments] if find(name) else None
    return [
        ("git apply", with_bin("git", "apply", "--whitespace=nowarn", "{}/plain.diff")),
        ("GNU patch", with_bin("patch", "-p1", "-s", "-i", "{}/plain.diff")),
        ("mpatch --atomic", with_bin("mpatch", "--atomic", "{}/plain.diff", ".")),
        ("patchloom tx --apply", with_bin("patchloom", "tx", "{}/loom.json", "--apply")),
    ]


def told(now, old, new):
    """What a tree is that was left alone: a word, and what is odd in it."""
    if now == old or now == new:
        return "old" if now == old else "new", []
    odd = []
    empty = lambda path: now[path] == EMPTY
    torn = [path for path in now if path in old and now[path] not in (old[path], new.get(path))]
    if any(empty(path) for path in torn):
        odd.append("an empty file")
    if any(not empty(path) for path in torn):
        odd.append("a half-written file")
    if [path for path in old if path in new and path not in now]:
        odd.append("a file missing")
    if [path for path in now if path not in old and path not in new]:
        odd.append("a stray file")
    mixed = len({now[path] == new[path] for path in now if path in old and path in new and old[path] != new[path] and path not in torn}) > 1
    if not mixed and not odd:
        odd.append("folders or kinds of both")
    return "mixed", (["old and new files"] if mixed else []) + odd


EMPTY = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


def contents(root):
    return {path: what for path, (what, _) in listing(root).items()}


def killed(bench, options, name, case, source, command):
    row = Row("peers", f"SIGKILL at every call of `{name}` that changes something, {case}; nothing recovers", control=True)
    filled = lambda copy: [part.replace("{}", str(copy)) for part in command]
    old = contents(source / "work")
    with bench.copy_of(source) as copy:
        calls = bench.calls(copy, filled(copy), CHANGING)
        new = contents(copy / "work")
    if old == new:
        return row.skip("it does not apply the batch")

    def judge(call):
        with bench.copy_of(source) as copy:
            bench.run(copy, filled(copy), call.killed())
            side, odd = told(contents(copy / "work"), old, new)
            return (f"{call}: {odd}" if side == "mixed" else None), f"{side}{': ' + ', '.join(odd) if odd else ''}"

    return each(options, row, thinned(options, calls, 40), judge)


def ours(bench, options, source):
    """Our own program with the plain batch; recovery runs."""
    row = Row("peers", "SIGKILL at every call of `patchmany apply` that changes something, 20 edited files, then recover")
    command = lambda copy: [bench.bin, "apply", "--json", "--jobs", "1", str(copy / "plain.diff")]
    old = contents(source / "work")
    with bench.copy_of(source) as copy:
        calls = bench.calls(copy, command(copy), CHANGING)
        new = contents(copy / "work")

    def judge(call):
        with bench.copy_of(source) as copy:
            bench.run(copy, command(copy), call.killed())
            done = bench.recover(copy)
            side, odd = told(contents(copy / "work"), old, new)
            wrong = f"{call}: {side} {odd}, recovery {done.returncode}" if side == "mixed" or done.returncode else None
            return wrong, side

    return each(options, row, thinned(options, calls, 40), judge)


def rows(bench, options):
    source = plain(bench.folder / "plain")
    found = [ours(bench, options, source)]
    for name, command in programs(bench, options):
        if command is None:
            row = Row("peers", f"SIGKILL at every call of `{name}`, 20 edited files", control=True)
            found.append(row.skip(f"{name.split()[0]} is not installed"))
            continue
        found.append(killed(bench, options, name, "20 edited files", source, command))
    mixed = ["git", "apply", "--whitespace=nowarn", "{}/git.diff"]
    found.append(killed(bench, options, "git apply", "the batch of T1", bench.template, mixed))
    return found
