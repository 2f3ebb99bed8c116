"""The tests in memory: what `cargo test faults` tells of the states it has judged."""
import collections
import subprocess
import sys


def states(here):
    """(runs, different, bad, seconds) by test and case, and the exit code."""
    done = subprocess.run(["cargo", "test", "--test", "tests", "faults::", "--", "--include-ignored", "--nocapture"],
                          cwd=here, capture_output=True, text=True)
    found = collections.OrderedDict()
    for line in done.stderr.splitlines():
        if line.startswith("faults|"):
            test, case, runs, different, bad, seconds = [part.strip() for part in line.split("|")[1:]]
            found[test, case] = (int(runs), int(different), int(bad), float(seconds))
    for (test, case), counts in found.items():
        print(f"{test} {case}: {counts[0]} runs, {counts[1]} different, {counts[2]} bad", file=sys.stderr)
    if done.returncode != 0:
        print(done.stdout[-3000:], file=sys.stderr)
    return found, done.returncode
