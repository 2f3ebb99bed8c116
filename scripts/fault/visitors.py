"""T9: another program writes to a path of the batch at a random moment, and SIGKILL comes at another."""
import os
import random
import signal
import stat
import subprocess
import time

from bench import Row, each, listing

THEIRS = b"written by somebody else\n"


def write(full, how, held, spare):
    """Whether the other program could."""
    try:
        if how == "append":
            held.write(THEIRS)
        elif how == "in place":
            full.write_bytes(THEIRS)
        else:
            spare.write_bytes(THEIRS)
            os.rename(spare, full)
    except OSError:
        return False
    return True


def visited(bench, copy, case, takes):
    """A run with both; whether the other program has written."""
    path, how, write_at, kill_at = case
    full, wrote = copy / "work" / path, False
    held = open(full, "ab", buffering=0) if how == "append" else None
    child = subprocess.Popen(bench.apply(copy), cwd=copy / "work", env=bench.env(copy), stdin=subprocess.DEVNULL,
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    begun = time.monotonic()
    for at, what in sorted([(write_at, "write"), (kill_at, "kill")]):
        time.sleep(max(0, at * takes - (time.monotonic() - begun)))
        if what == "write":
            wrote = write(full, how, held, copy / "theirs")
        else:
            child.send_signal(signal.SIGKILL)
            child.wait()
    if held:
        held.close()
    return wrote


def rest(tree, path):
    """A tree without a path, what is below it and the folders above: there the other program decides."""
    return {p: w for p, w in tree.items() if not (p == path or p.startswith(path + "/") or path.startswith(p + "/"))}


def recovered(bench, copy):
    done, note = bench.recover(copy), None
    if done.returncode == 4:
        note, done = "recovery asked", bench.recover(copy, "--back")
    wrong = f"recovery ends with {done.returncode}: {done.stdout.decode()[:200]}" if done.returncode else None
    return wrong, note


def row(bench, options):
    row = Row("T9", "another program writes and SIGKILL comes, at random moments")
    chance = random.Random(9)
    with bench.copy() as copy:
        begun = time.monotonic()
        bench.run(copy, bench.apply(copy))
        takes = time.monotonic() - begun
    # Without those that change places: what is written to one of them first moves to the other.
    paths = sorted(path for path, (_, mode) in bench.old.items() if stat.S_ISREG(mode) and not path.endswith("/a"))

    def judge(case):
        path = case[0]
        with bench.copy() as copy:
            wrote = visited(bench, copy, case, takes)
            wrong, note = recovered(bench, copy)
            if wrong:
                return f"{case}: {wrong}", note
            if wrote and not any(THEIRS in found.read_bytes() for found in copy.rglob("*") if found.is_file()):
                return f"{case}: bytes are lost", note
            if rest(listing(copy / "work"), path) not in (rest(bench.old, path), rest(bench.new, path)):
                return f"{case}: the other paths are mixed", note
            return None, note

    cases = [(chance.choice(paths), chance.choice(["append", "in place", "over"]), chance.random() * 1.2, chance.random() * 1.2)
             for _ in range(60 if options.quick else 600)]
    return each(options, row, cases, judge)
