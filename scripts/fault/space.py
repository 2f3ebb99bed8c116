"""T12: real limits on space: small tmpfs in a namespace of its own, and a limit on the size of files."""
import json
import resource
import shutil
import subprocess

import errors
from bench import Row, each


def judged(bench, copy, **more):
    done = subprocess.run(bench.apply(copy), cwd=copy / "work", env=bench.env(copy), stdin=subprocess.DEVNULL,
                          capture_output=True, **more)
    wrong, _, promised = errors.judged(bench, copy, done)
    return wrong, promised, f"exit {done.returncode}"


def fsize_row(bench, options):
    row = Row("T12", "a limit on the size of files, 0 to 110 KB")

    def judge(limit):
        with bench.copy() as copy:
            cap = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
            wrong, promised, note = judged(bench, copy, preexec_fn=cap)
            wrong = wrong or errors.settled(bench, copy, promised)
            return wrong and f"{limit} bytes: {wrong}", note

    return each(options, row, list(range(0, 110_001, 22_000 if options.quick else 1_500)), judge)


def inside(bench, options):
    """In a namespace: file systems that fill up, in size and in inodes. One row."""
    row = Row("T12", "tmpfs with 0 to 400 KB and 0 to 48 inodes to spare")
    place = bench.folder / "small"
    place.mkdir()
    with bench.copy() as copy:
        used = sum(-(-f.lstat().st_size // 4096) * 4 for f in copy.rglob("*") if f.is_file()) + 8
        inodes = sum(1 for _ in copy.rglob("*")) + 4
    step = 5 if options.quick else 1
    cases = [f"size={used + more}k" for more in range(0, 400, 4 * step)]
    cases += [f"size=8m,nr_inodes={inodes + more}" for more in range(0, 48, step)]
    for case in cases:
        subprocess.run(["mount", "-t", "tmpfs", "-o", case, "small", str(place)], check=True)
        try:
            with bench.copy(place) as copy:
                wrong, promised, note = judged(bench, copy)
                # Room again, for recovery.
                subprocess.run(["mount", "-o", "remount,size=32m,nr_inodes=9999", str(place)], check=True)
                wrong = wrong or errors.settled(bench, copy, promised)
                row.count(wrong and f"{case}: {wrong}", note)
        except (OSError, shutil.Error):
            # The tree itself does not fit.
            pass
        finally:
            subprocess.run(["umount", "-l", str(place)], check=True)
    return [row.done()]
