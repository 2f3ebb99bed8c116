"""T10, T11, T13, T14: real file systems on loop devices that lose power or fail. All of it needs root."""
import fcntl
import os
import pathlib
import shutil
import struct
import subprocess
import tempfile
import time

import errors
import kills
from bench import CHANGING, Row, each, lay, spread

FS_IOC_SHUTDOWN = 0x8004587D
# How the power goes: everything but what is on the medium is lost; the log is written first; or a copy of the medium.
CUTS = {"no flush": 2, "log flushed": 1}
SIZES = {"ext4": "64M", "xfs": "320M", "btrfs": "256M"}
OPTIONS = {"ext4": "loop", "xfs": "loop,nouuid", "btrfs": "loop"}


def run(*command):
    subprocess.run([str(part) for part in command], check=True, capture_output=True)


def unmount(place):
    """The processes of a killed run may still be on their way out."""
    for _ in range(100):
        if subprocess.run(["umount", str(place)], capture_output=True).returncode == 0:
            return
        time.sleep(0.1)
    run("umount", "-l", place)


def can(kind):
    """Why a file system cannot be mounted here."""
    if os.geteuid() != 0:
        return "needs root"
    if not shutil.which(f"mkfs.{kind}"):
        return f"mkfs.{kind} is not installed"
    if subprocess.run(["losetup", "-f"], capture_output=True).returncode != 0:
        return "no loop devices"
    return None


class Mount:
    """A file system image, mounted."""

    def __init__(self, image, kind, where):
        self.image, self.kind, self.where = image, kind, pathlib.Path(where)

    def __enter__(self):
        self.where.mkdir(exist_ok=True)
        run("mount", "-o", OPTIONS[self.kind], self.image, self.where)
        return self.where

    def __exit__(self, *_):
        unmount(self.where)


def image_of(bench, kind, folder):
    """A clean file system that holds the template."""
    image = folder / f"{kind}.img"
    run("truncate", "-s", SIZES[kind], image)
    run(f"mkfs.{kind}", "-q", image)
    with Mount(image, kind, folder / "making") as where:
        (where / "copy").mkdir()
        lay(bench.template, where / "copy")
    return image


def cut(kind, how, place, image, spare):
    """Power goes; the image that is left."""
    if how == "copied":
        run("cp", "--sparse=always", image, spare)
        unmount(place)
        return spare
    folder = os.open(place, os.O_RDONLY)
    try:
        fcntl.ioctl(folder, FS_IOC_SHUTDOWN, struct.pack("I", CUTS[how]))
    finally:
        os.close(folder)
    unmount(place)
    return image


def committed(lines):
    """The calls that come when COMMIT is on the medium."""
    at = next((n for n, (_, call) in enumerate(lines) if call.name == "pwrite64" and '"COMMIT' in call.text), len(lines))
    sync = next((n for n in range(at, len(lines)) if lines[n][1].name in ("fdatasync", "fsync")), len(lines))
    # A call is met where its thread first makes it.
    return {call for _, call in lines[sync + 1:]} - {call for _, call in lines[:sync + 1]}


def lose(bench, options, kind, level, hows, about):
    test = "T11" if hows == ["copied"] else "T10"
    what = "a copy of the medium" if test == "T11" else "shut down"
    row = Row(test, f"SIGKILL and power loss ({what}), {kind}, level {level}, then recover", control=level == "none")
    if why := can(kind):
        return row.skip(why)
    with tempfile.TemporaryDirectory(dir=bench.folder) as folder:
        folder = pathlib.Path(folder)
        clean = image_of(bench, kind, folder)
        with bench.copy() as copy:
            lines = [(t, c) for t, c in bench.lines(copy, bench.apply(copy, level)) if c.name != "execve"]
        looks = lambda call: call.name not in CHANGING or call.name == "openat" and "O_CREAT" not in call.text
        calls = list(dict.fromkeys(call for _, call in lines if not looks(call)))
        lasting = committed(lines)
        cases = [(call, how) for call in spread(calls, about // 5 if options.quick else about) for how in hows]

        def judge(case):
            call, how = case
            with tempfile.TemporaryDirectory(dir=folder) as own:
                own = pathlib.Path(own)
                run("cp", "--sparse=always", clean, own / "image")
                (own / "place").mkdir()
                run("mount", "-o", OPTIONS[kind], own / "image", own / "place")
                copy = own / "place/copy"
                bench.run(copy, bench.apply(copy, level), call.killed())
                left = cut(kind, how, own / "place", own / "image", own / "spare")
                with Mount(left, kind, own / "place"):
                    wrong, note = judged(bench, copy, level, call in lasting)
                return wrong and f"{call}, {how}: {wrong}", note

        if kind == "btrfs":
            # Two mounts of copies of one file system would be taken for one.
            for case in cases:
                row.count(*judge(case))
            return row.done()
        return each(options, row, cases, judge)


def judged(bench, copy, level, committed):
    was = bench.side(copy)
    done = bench.recover(copy)
    if done.returncode != 0:
        asked = "recovery gives no answer and says so" if done.returncode == 4 else f"recovery ends with {done.returncode}"
        return (f"{asked}: {done.stdout.decode()[:200]}", asked)
    side = bench.side(copy)
    if side == "mixed":
        empty = any((copy / "work" / path).is_file() and not (copy / "work" / path).stat().st_size for path in bench.odd(copy))
        return f"mixed after recovery: {bench.odd(copy)}", "mixed, with empty files" if empty else "mixed"
    if committed and side == "old":
        return "old after the commit point", "old after the commit point"
    if left := bench.strays(copy):
        return f"left behind: {left}", "left behind"
    return None, f"{was} before recovery" if was == "mixed" else side


def broken_media(bench, options):
    """T13: a sparse image on a tmpfs that is full: what is written back has nowhere to go."""
    row = Row("T13", "the medium of an ext4 fails at write-back, level batch, then recover")
    if why := can("ext4"):
        return row.skip(why)
    with tempfile.TemporaryDirectory(dir=bench.folder) as folder:
        folder = pathlib.Path(folder)
        clean = image_of(bench, "ext4", folder)
        small = folder / "small"
        small.mkdir()
        used = clean.stat().st_blocks // 2
        for spare in range(0, 400, 80 if options.quick else 20):
            run("mount", "-t", "tmpfs", "-o", f"size={used + spare + 64}k", "small", small)
            try:
                run("cp", "--sparse=always", clean, small / "image")
                row.count(*fails(bench, small / "image", folder / "place", small, spare))
            finally:
                run("umount", "-l", small)
    return row.done()


def fails(bench, image, place, small, spare):
    filler = image.parent / "filler"
    place.mkdir(exist_ok=True)
    run("mount", "-o", "loop", image, place)
    free = os.statvfs(small).f_bavail * os.statvfs(small).f_frsize
    filler.write_bytes(bytes(max(0, free - spare * 1024)))
    copy = place / "copy"
    done = bench.run(copy, bench.apply(copy))
    tree, wrong = errors.told(done)
    promised = errors.SIDES.get(tree)
    unmount(place)
    run("mount", "-o", "remount,size=96m", small)
    with Mount(image, "ext4", place):
        recovered = bench.recover(copy)
        side = bench.side(copy, emptied=True)
    if recovered.returncode != 0:
        wrong = wrong or f"recovery ends with {recovered.returncode}: {recovered.stdout.decode()[:200]}"
    elif side == "mixed" or promised == "new" and side != "new":
        wrong = wrong or f"exit {done.returncode}, {tree}: then {side}"
    return wrong and f"{spare} KiB to spare: {wrong}", f"exit {done.returncode}"


class Elsewhere:
    """The same program on copies in another folder."""

    def __init__(self, bench, where):
        self.bench, self.where = bench, where

    def __getattr__(self, name):
        return getattr(self.bench, name)

    def copy(self, where=None):
        return self.bench.copy(where or self.where)


def on_others(bench, options):
    """T14: kills on other file systems; the program chooses the level."""
    rows = []
    for kind in ("ext4", "xfs", "btrfs", "tmpfs", "overlay", "fuse2fs"):
        case = f"SIGKILL at every call that changes something, {kind}, level chosen by the program, then recover"
        if why := can("ext4" if kind in ("tmpfs", "overlay", "fuse2fs") else kind):
            rows.append(Row("T14", case).skip(why))
        elif kind == "fuse2fs" and not (shutil.which(kind) and os.path.exists("/dev/fuse")):
            rows.append(Row("T14", case).skip("fuse2fs is not installed"))
        else:
            with tempfile.TemporaryDirectory(dir=bench.folder) as folder:
                rows.append(on(bench, options, kind, case, pathlib.Path(folder)))
    return rows


def mounted(kind, folder, place):
    if kind == "tmpfs":
        run("mount", "-t", "tmpfs", "-o", "size=64m", "small", place)
    elif kind == "overlay":
        for name in ("lower", "upper", "work"):
            (folder / name).mkdir()
        layers = f"lowerdir={folder}/lower,upperdir={folder}/upper,workdir={folder}/work"
        run("mount", "-t", "overlay", "-o", layers, "overlay", place)
    elif kind == "fuse2fs":
        run("truncate", "-s", "64M", folder / "image")
        run("mkfs.ext4", "-q", folder / "image")
        run("fuse2fs", folder / "image", place, "-o", "fakeroot")
    else:
        run("truncate", "-s", SIZES[kind], folder / "image")
        run(f"mkfs.{kind}", "-q", folder / "image")
        run("mount", "-o", "loop", folder / "image", place)


def on(bench, options, kind, case, folder):
    place = folder / "place"
    place.mkdir()
    mounted(kind, folder, place)
    try:
        there = Elsewhere(bench, place)
        row = Row("T14", case)
        command = lambda copy: [part for part in bench.apply(copy) if part not in ("--durability", "batch")]
        with there.copy() as copy:
            calls = bench.calls(copy, command(copy), CHANGING)
            if bench.side(copy) != "new":
                row.count(f"a run that nobody disturbs leaves {bench.odd(copy)}")

        def judge(call):
            with there.copy() as copy:
                bench.run(copy, command(copy), call.killed())
                was = bench.side(copy)
                _, wrong = bench.settle(copy)
                return wrong and f"{call}: {wrong}", "mixed before recovery" if was == "mixed" else None

        return each(options, row, spread(calls, 15 if options.quick else 80), judge)
    finally:
        unmount(place)


def rows(bench, options):
    found = []
    levels = kills.LEVELS[:1] if options.quick else kills.LEVELS
    if "T10" in options.only:
        found += [lose(bench, options, kind, level, list(CUTS), 60) for kind in ("ext4", "xfs") for level in levels]
    if "T11" in options.only:
        found += [lose(bench, options, kind, "batch", ["copied"], 40) for kind in ("ext4", "xfs", "btrfs")]
    if "T13" in options.only:
        found.append(broken_media(bench, options))
    if "T14" in options.only:
        found += on_others(bench, options)
    return found
