"""What all rows of the table use: the batch, copies of the tree before it, runs under strace, judging, counting."""
import collections
import concurrent.futures
import dataclasses
import hashlib
import json
import os
import pathlib
import re
import shutil
import stat
import subprocess
import sys
import tempfile
import time

# Calls that can change what others see. strace acts before a call is made: a kill at one that only looks is a kill at
# the next of these.
CHANGING = set(
    "openat write pwrite64 renameat2 renameat rename unlinkat unlink rmdir mkdirat mkdir linkat link symlinkat symlink"
    " fchmod fchmodat chmod fchown fsetxattr ftruncate utimensat fsync fdatasync syncfs flock".split())
ON_FILES = CHANGING | set(
    "openat2 read pread64 statx newfstatat fstat readlinkat readlink getdents64 close fcntl faccessat2 fstatfs statfs"
    " lseek fgetxattr flistxattr copy_file_range".split())
GIT = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1", "GIT_AUTHOR_NAME": "t", "GIT_AUTHOR_EMAIL": "t@t",
       "GIT_COMMITTER_NAME": "t", "GIT_COMMITTER_EMAIL": "t@t"}
OLD_HEAD = ".git/refs/heads/main"


def big(word, size):
    line = f"{word} {'x' * 60}\n"
    return (line * (size // len(line) + 1)).encode()


# The 14 entries: CRLF, executable, a file in new folders, a deleted one, two that change places, a file that becomes a
# folder and a folder that becomes a file (two each), a link, a file that becomes empty, a read-only and a large one.
OLD = {
    "crlf.txt": b"one\r\ntwo\r\nthree\r\n", "bin/run.sh": b"#!/bin/sh\n" + big("# old", 9_000),
    "lone/gone.txt": b"goes\n", "left/a": b"the left one\n", "right/a": b"the right one, which can be run\n",
    "grows": b"a file that becomes a folder\n", "shrinks/inner.txt": b"goes with its folder\n",
    "src/emptied.txt": b"not empty\n", "src/readonly.txt": b"do not touch\n", "src/big.txt": big("old", 100_000),
    "keep.txt": b"stays\n", "link": "crlf.txt",
}
NEW = {
    "crlf.txt": b"one\r\nTWO\r\nthree\r\n", "bin/run.sh": b"#!/bin/sh\n" + big("# new", 9_100),
    "fresh/deep/new.txt": b"new\n", "left/a": OLD["right/a"], "right/a": OLD["left/a"],
    "grows/inner.txt": b"in the new folder\n", "shrinks": b"a folder that became a file\n", "src/emptied.txt": b"",
    "src/readonly.txt": b"touched\n", "src/big.txt": big("new", 100_000), "keep.txt": b"stays\n", "link": "bin/run.sh",
}
CYCLE = "".join(f"diff --git a/{a} b/{b}\nsimilarity index 100%\nrename from {a}\nrename to {b}\n"
                for a, b in (("left/a", "right/a"), ("right/a", "left/a"))).encode()


def git(folder, *arguments):
    done = subprocess.run(["git", *arguments], cwd=folder, env={**os.environ, **GIT}, stdout=subprocess.PIPE, check=True)
    return done.stdout


def fill(folder, tree, executable):
    for name in list(os.listdir(folder)):
        if name != ".git":
            path = folder / name
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
    for name, content in tree.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.symlink_to(content) if isinstance(content, str) else path.write_bytes(content)
    for name in executable:
        (folder / name).chmod(0o755)


def repository(work, tree, executable=()):
    work.mkdir(parents=True)
    git(work, "init", "-q", "--template=", "-b", "main")
    git(work, "config", "core.autocrlf", "false")
    git(work, "config", "gc.auto", "0")
    fill(work, tree, executable)
    git(work, "add", "-A")
    git(work, "commit", "-q", "-m", "base")


def template(folder):
    """A repository with the old tree, and the batch beside it: for us, and as git itself writes it."""
    work = folder / "work"
    repository(work, OLD, ["bin/run.sh", "right/a"])
    fill(work, NEW, ["bin/run.sh", "left/a"])
    git(work, "add", "-A")
    parts = [git(work, "diff", "--cached", "--no-renames", f"--diff-filter={f}", "--", ".", ":!left", ":!right") for f in "Dd"]
    # What goes comes first, and the lines of the batch end in LF whatever the file's own do.
    (folder / "batch.diff").write_bytes(CYCLE + b"".join(parts).replace(b"\r", b""))
    (folder / "git.diff").write_bytes(CYCLE + git(work, "diff", "--cached", "--binary", "--no-renames", "--", ".", ":!left", ":!right"))
    git(work, "reset", "-q", "--hard")
    (work / "src/readonly.txt").chmod(0o444)
    return folder


def listing(root):
    """Kind, mode and content of every path but the git directory."""
    found, waiting = {}, [""]
    while waiting:
        above = waiting.pop()
        for entry in os.scandir(os.path.join(root, above)):
            name = os.path.join(above, entry.name)
            if name == ".git":
                continue
            mode = entry.stat(follow_symlinks=False).st_mode
            if stat.S_ISDIR(mode):
                waiting.append(name)
                what = "folder"
            elif stat.S_ISLNK(mode):
                what = os.readlink(entry.path)
            else:
                what = hashlib.sha256(pathlib.Path(entry.path).read_bytes()).hexdigest()
            found[name] = (what, mode)
    return found


@dataclasses.dataclass(frozen=True)
class Call:
    """A call of a run: its name, which of that name it is in its thread, and how strace showed it."""
    name: str
    n: int
    text: str = dataclasses.field(default="", compare=False)

    def __str__(self):
        return f"{self.name} {self.n}"

    def injected(self, fault):
        """Options for strace."""
        return ["-e", f"trace={self.name}", "-e", f"inject={self.name}:{fault}:when={self.n}"]

    def killed(self):
        return self.injected("signal=SIGKILL")


class Bench:
    """The program, a template to copy, and what its tree is like before and after."""

    def __init__(self, options, folder):
        self.bin, self.folder, self.options = options.bin, folder, options
        self.template = template(folder / "template")
        self.old = listing(self.template / "work")
        with self.copy() as copy:
            done = self.run(copy, self.apply(copy))
            if done.returncode != 0:
                sys.exit(f"a run that nobody disturbs fails: {done.stdout.decode()}")
            self.new = listing(copy / "work")
        expected = {path: content for path, content in NEW.items()}
        if {path for path, (what, _) in self.new.items() if what != "folder"} != set(expected):
            sys.exit("the batch does not make the tree that it should")

    def env(self, copy):
        return {**os.environ, **GIT, "HOME": str(copy), "XDG_STATE_HOME": str(copy / "state")}

    def copy(self, where=None):
        return Copy(self.template, where or self.folder)

    def copy_of(self, source):
        return Copy(source, self.folder)

    def apply(self, copy, level="batch", *more):
        return [self.bin, "apply", "--json", "--jobs", "1", "--durability", level, "--force-read-only",
                "--allow-symlinks", *more, str(copy / "batch.diff")]

    def run(self, copy, command, strace=()):
        if strace:
            command = ["strace", "-f", "-qq", "-o", "/dev/null", *strace, *command]
        return subprocess.run(command, cwd=copy / "work", env=self.env(copy), stdin=subprocess.DEVNULL,
                              capture_output=True)

    def lines(self, copy, command):
        """What strace shows of a run: (thread, call)."""
        log, made = copy / "log", collections.Counter()
        subprocess.run(["strace", "-f", "-qq", "-s", "200", "-o", str(log), *command], cwd=copy / "work",
                       env=self.env(copy), stdin=subprocess.DEVNULL, capture_output=True)
        for line in log.read_text(errors="replace").splitlines():
            match = re.match(r"(\d+) +(\w+)\((.*)", line)
            if match:
                thread, name, text = match.groups()
                made[thread, name] += 1
                yield thread, Call(name, made[thread, name], text)

    def calls(self, copy, command, names=None):
        """The calls of a run. Opening counts as changing where it creates."""
        looks = lambda call: names is CHANGING and call.name == "openat" and "O_CREAT" not in call.text
        found = [call for _, call in self.lines(copy, command)
                 if (names is None or call.name in names) and not looks(call) and call.name != "execve"]
        return list(dict.fromkeys(found))

    def recover(self, copy, *more):
        return self.run(copy, [self.bin, "recover", "--json", *more])

    def side(self, copy, emptied=False):
        now = listing(copy / "work")
        if now == self.old:
            return "old"
        if emptied:
            # A folder that the system would not remove after the commit point.
            now = {path: what for path, what in now.items() if path != "lone" or now.get("lone/gone.txt")}
        return "new" if now == self.new else "mixed"

    def strays(self, copy):
        state = copy / "work/.git/patchmany"
        left = [name for name in (os.listdir(state) if state.is_dir() else []) if name not in ("lock", "undo")]
        return left + (["index.lock"] if os.path.lexists(copy / "work/.git/index.lock") else [])

    def settle(self, copy, emptied=False):
        """Recovers; returns the side, and what is wrong."""
        done = self.recover(copy)
        if done.returncode != 0:
            return "mixed", f"recovery ends with {done.returncode}: {done.stdout.decode()[:300]}"
        side, strays = self.side(copy, emptied), self.strays(copy)
        if side == "mixed":
            return side, f"mixed after recovery; neither old nor new: {self.odd(copy)}"
        return side, f"left behind: {strays}" if strays else None

    def odd(self, copy):
        now = listing(copy / "work")
        return [path for path in {*now, *self.old, *self.new} if now.get(path) not in (self.old.get(path), self.new.get(path))]


class Copy:
    def __init__(self, source, where):
        self.path = pathlib.Path(tempfile.mkdtemp(dir=where))
        lay(source, self.path)

    def __enter__(self):
        return self.path

    def __exit__(self, *_):
        shutil.rmtree(self.path, ignore_errors=True)


def lay(source, folder):
    """Copies a template."""
    for entry in os.scandir(source):
        if entry.is_dir():
            shutil.copytree(entry.path, folder / entry.name, symlinks=True)
        else:
            shutil.copyfile(entry.path, folder / entry.name)


class Row:
    """One line of the table. `control` rows are bad on purpose, or other tools'."""

    def __init__(self, test, case, control=False):
        self.test, self.case, self.control = test, case, control
        self.runs = self.bad = self.seconds = 0
        self.notes, self.begun, self.ignored = collections.Counter(), time.time(), None
        self.why = []

    def count(self, wrong, note=None):
        self.runs += 1
        if note:
            self.notes[note] += 1
        if wrong:
            self.bad += 1
            self.why.append(str(wrong))

    def skip(self, why):
        self.ignored = f"ignored: {why}"
        return self.done()

    def done(self):
        self.seconds = time.time() - self.begun
        shown = self.ignored or f"{self.runs} runs, {self.bad} bad, {self.seconds:.0f} s"
        print(f"{self.test} {self.case}: {shown}", file=sys.stderr, flush=True)
        for wrong in self.why[:5]:
            print(f"    {wrong[:400]}", file=sys.stderr, flush=True)
        return self

    def to_json(self):
        return json.dumps({name: value for name, value in vars(self).items() if name != "begun"})

    @staticmethod
    def from_json(text):
        row, told = Row("", ""), json.loads(text)
        vars(row).update(told)
        row.notes = collections.Counter(told["notes"])
        return row


def each(options, row, cases, judge):
    """Judges cases side by side; each has its own copy."""
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for wrong, note in pool.map(judge, cases):
            row.count(wrong, note)
    return row.done()


def thinned(options, cases, quick):
    """All cases, or with --quick about `quick` of them, spread evenly."""
    return spread(cases, quick) if options.quick else cases


def spread(cases, about):
    return cases[::-(-len(cases) // about)] if cases else cases
