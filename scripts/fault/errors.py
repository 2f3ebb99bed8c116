"""T2 and T3: a call on files fails, once or from there on; what the run says of the tree must be true."""
import json

from bench import ON_FILES, Row, each, thinned

# What a run may say, with the exit codes that go with it.
SIDES = {"applied": "new", "untouched": "old", "rolled-back": "old", "needs-recovery": None}
CODES = {"applied": {0}, "untouched": {1, 2, 3, 5}, "rolled-back": {3}, "needs-recovery": {4}}


def told(done):
    """The tree that the run says it leaves, and what is wrong with how it says so. Where its result could not be
    written the exit code must do."""
    try:
        tree = json.loads(done.stdout)["tree"]
    except (ValueError, KeyError):
        tree = {0: "applied", 4: "needs-recovery"}.get(done.returncode)
        return tree, None
    if done.returncode not in CODES.get(tree, ()):
        return tree, f"exit {done.returncode} with the tree {tree}"
    return tree, None


def judged(bench, copy, done):
    """What is wrong with a run that was not killed, and whether it left a mixed tree."""
    tree, wrong = told(done)
    was = bench.side(copy, emptied=True)
    promised = SIDES.get(tree)
    if wrong:
        return wrong, was, promised
    if was == "mixed" and tree != "needs-recovery":
        return f"exit {done.returncode}, {tree}: the tree is mixed", was, promised
    if promised and was != promised:
        return f"exit {done.returncode} says {tree}, the tree is {was}", was, promised
    return None, was, promised


def settled(bench, copy, promised):
    side, wrong = bench.settle(copy, emptied=True)
    if not wrong and promised and side != promised:
        wrong = f"after recovery {side} where {promised} was promised"
    return wrong


def of(bench, options, errno, lasts, tier):
    test, when = ("T3", "from there on") if lasts else ("T2", "once")
    row = Row(test, f"{errno} at every call on files, {when}, tier {tier}, level batch")
    with bench.copy() as copy:
        calls = bench.calls(copy, bench.apply(copy), ON_FILES)

    def judge(call):
        with bench.copy() as copy:
            strace = ["-e", f"trace={call.name}", "-e", f"inject={call.name}:error={errno}:when={call.n}{lasts}"]
            done = bench.run(copy, bench.apply(copy), strace)
            wrong, was, promised = judged(bench, copy, done)
            wrong = wrong or settled(bench, copy, promised)
            return wrong and f"{call}: {wrong}", "needed recovery" if was == "mixed" else f"{was}"

    return each(options, row, thinned(options, calls, 25), judge)


def rows(bench, options, tests, tier):
    """All errors at tier 1; at the others EIO, since all errors take the same way."""
    found = []
    for test, lasts in (("T2", ""), ("T3", "+")):
        for errno in ("ENOSPC", "EIO", "EACCES") if tier == 1 else ("EIO",):
            if test in tests:
                found.append(of(bench, options, errno, lasts, tier))
    return found
