"""T1: SIGKILL at the calls of a run, of its recovery and of its rollback; then `patchmany recover`."""
import collections
import os
import shutil
import tempfile

from bench import CHANGING, OLD_HEAD, Bench, Row, each, thinned
from tiers import NAMES

LEVELS = ("batch", "full", "none")


def rows(bench, options, tier):
    """All three at all levels: at every call where names are exchanged (recovery and rollback at level batch only),
    elsewhere at those that change something."""
    made = []
    for level in LEVELS[:1] if options.quick else LEVELS:
        where = f"tier {tier} ({NAMES[tier]}), level {level}"
        some = options.quick or tier != 1
        made.append(of_apply(bench, options, where, level, CHANGING if some else None))
        some = some or level != "batch"
        made.append(of_recovery(bench, options, where, level, CHANGING if some else None))
        made.append(of_rollback(bench, options, where, level, CHANGING if some else None))
    if tier == 1:
        made.append(without_git(bench, options))
    return made


def which(names):
    return "every call" if names is None else "every changing call"


def of_apply(bench, options, where, level, names):
    row = Row("T1", f"SIGKILL at {which(names)} of apply, {where}, then recover")
    with bench.copy() as copy:
        calls = bench.calls(copy, bench.apply(copy, level), names)

    def judge(call):
        with bench.copy() as copy:
            bench.run(copy, bench.apply(copy, level), call.killed())
            was = bench.side(copy)
            _, wrong = bench.settle(copy)
            return wrong and f"{call}: {wrong}", "mixed before recovery" if was == "mixed" else None

    return each(options, row, thinned(options, calls, 60), judge)


def of_recovery(bench, options, where, level, names):
    row = Row("T1", f"SIGKILL at {which(names)} of recover, {where}, then recover again")
    with bench.copy() as copy:
        moves = [call for call in bench.calls(copy, bench.apply(copy, level), CHANGING) if call.name == "renameat2"]
    # In the swap, and at the very end of a run that has COMMIT.
    firsts = [(moves[len(moves) * part // 8], "old") for part in (2, 4, 6)] + [(moves[-1], "new")]
    cases = []
    for number, (first, side) in enumerate(firsts):
        with bench.copy() as copy:
            bench.run(copy, bench.apply(copy, level), first.killed())
            # One way back and the way on at every call.
            calls = bench.calls(copy, [bench.bin, "recover"], names if number % 2 else CHANGING)
        cases += [(first, side, call) for call in calls]

    def judge(case):
        first, wanted, call = case
        with bench.copy() as copy:
            bench.run(copy, bench.apply(copy, level), first.killed())
            bench.run(copy, [bench.bin, "recover"], call.killed())
            side, wrong = bench.settle(copy)
            if not wrong and side != wanted:
                wrong = f"{side} where {wanted} was decided"
            return wrong and f"first {first}, then {call}: {wrong}", f"back to {side}" if side == "old" else f"on to {side}"

    return each(options, row, thinned(options, cases, 20), judge)


def of_rollback(bench, options, where, level, names):
    """A hook says no when every path is swapped: all of it goes back."""
    row = Row("T1", f"SIGKILL at {which(names)} of a rollback, {where}, then recover")
    command = lambda copy: bench.apply(copy, level, "--commit=refused")
    with refusing(bench.copy()) as copy:
        lines = list(bench.lines(copy, command(copy)))
        side = bench.side(copy)
    main = lines[0][0]
    hook = next((at for at, (_, call) in enumerate(lines) if call.name == "execve" and "pre-commit" in call.text), None)
    if hook is None or side != "old":
        row.count(f"no rollback: the hook ran at {hook}, the tree is {side}")
        return row.done()
    looks = lambda call: names and (call.name not in names or call.name == "openat" and "O_CREAT" not in call.text)
    calls = [call for thread, call in lines[hook:] if thread == main and not looks(call)]

    def judge(call):
        with refusing(bench.copy()) as copy:
            before = (copy / "work" / OLD_HEAD).read_bytes()
            bench.run(copy, command(copy), call.killed())
            was = bench.side(copy)
            side, wrong = bench.settle(copy)
            if not wrong and (side != "old" or (copy / "work" / OLD_HEAD).read_bytes() != before):
                wrong = f"the tree is {side}, or the branch has moved"
            return wrong and f"{call}: {wrong}", "mixed before recovery" if was == "mixed" else None

    return each(options, row, thinned(options, calls, 20), judge)


class refusing:
    """A copy with a hook that refuses every commit."""

    def __init__(self, copy):
        self.copy = copy

    def __enter__(self):
        path = self.copy.__enter__()
        hook = path / "work/.git/hooks/pre-commit"
        hook.parent.mkdir(exist_ok=True)
        hook.write_text("#!/bin/sh\nexit 1\n")
        hook.chmod(0o755)
        return path

    def __exit__(self, *what):
        return self.copy.__exit__(*what)


class WithoutGit(Bench):
    """A tree without git whose state lies on another mount, so that staged files stand in the tree itself."""

    def __init__(self, bench, elsewhere):
        vars(self).update(vars(bench))
        self.elsewhere = elsewhere

    def copy(self, where=None):
        copy = super().copy(where)
        shutil.rmtree(copy.path / "work/.git")
        return copy

    def state(self, copy):
        return os.path.join(self.elsewhere, copy.name)

    def env(self, copy):
        return {**super().env(copy), "XDG_STATE_HOME": self.state(copy)}

    def strays(self, copy):
        found = collections.Counter(name[:2] for _, names, _ in os.walk(self.state(copy)) for name in names)
        return [f"{found['t-']} running"] if found["t-"] else []

    def settle(self, copy, emptied=False):
        done = super().settle(copy, emptied)
        shutil.rmtree(self.state(copy), ignore_errors=True)
        return done


def without_git(bench, options):
    where = "tier 1, level batch, no git, state on another mount"
    elsewhere = next((folder for folder in ("/dev/shm", "/var/tmp") if os.path.isdir(folder)
                      and os.stat(folder).st_dev != os.stat(bench.folder).st_dev), None)
    if elsewhere is None:
        return Row("T1", f"SIGKILL at every changing call of apply, {where}, then recover").skip("no other mount to write to")
    with tempfile.TemporaryDirectory(dir=elsewhere) as state:
        return of_apply(WithoutGit(bench, state), options, where, "batch", CHANGING)
