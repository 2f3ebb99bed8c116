"""docs/faults.md."""
import datetime
import os
import platform
import re
import shutil
import subprocess

HEAD = """# What faults leave

Written by `scripts/faults`; what each test does stands there and in `tests/faults.rs`.

Bad means: a tree that is neither wholly old nor wholly new after recovery, in kinds, bytes and modes; success over an old
tree, a clean failure over a changed one; an exit code or a `tree` that is not true; something left behind; bytes of
another program lost. strace acts before a call is made, so a kill at a call that only looks is a kill at the next that
changes something: where only those are counted, the others would leave the same.
"""
CONTROL = "Rows in *italics* are there to be bad: other programs, and a level that promises nothing after power loss.\n"
IN_MEMORY = """States of a simulated disk, each recovered and judged. Lines named `control` are protocols that lack a step:
there bad is what must not be 0.
"""


def first_line(*command):
    if not shutil.which(command[0]):
        return None
    done = subprocess.run(command, capture_output=True, text=True)
    line = (done.stdout + done.stderr).strip().splitlines()
    return re.search(r"\d+(\.\d+)+", line[0]).group() if line and re.search(r"\d+(\.\d+)+", line[0]) else None


def file_system(folder):
    found = subprocess.run(["stat", "-f", "-c", "%T", folder], capture_output=True, text=True).stdout.strip()
    if found != "ext2/ext3":
        return found
    device = os.stat(folder).st_dev
    link = f"/sys/dev/block/{os.major(device)}:{os.minor(device)}"
    try:
        task = open(f"/sys/fs/ext4/{os.path.basename(os.readlink(link))}/journal_task").read().strip()
    except OSError:
        return "ext4"
    return "ext4 without a journal" if task == "<none>" else "ext4"


def conditions(folder, peers):
    kernel = re.match(r"[\d.]+", platform.release()).group()
    tools = [("git", "git"), ("strace", "strace"), ("GNU patch", "patch"), ("mpatch", "mpatch"), ("patchloom", "patchloom")]
    path = os.pathsep.join(filter(None, [peers, os.environ.get("PATH", "")]))
    versions = [(name, first_line(shutil.which(program, path=path) or "-", "-V" if program == "strace" else "--version"))
                for name, program in tools]
    known = ", ".join(f"{name} {version}" for name, version in versions if version)
    today = datetime.date.today().isoformat()
    return (f"{today}; {platform.system()} {kernel}, {platform.machine()}, {os.cpu_count()} processors; work on"
            f" {file_system(folder)} where no other is named; {known}.")


def line(row):
    notes = "; ".join(f"{n:,} {note}" for note, n in sorted(row.notes.items()))
    case = f"*{row.case}*" if row.control else row.case
    bad = row.ignored or f"{row.bad:,}"
    return f"| {row.test} | {case} | {row.runs:,} | {bad} | {notes} | {row.seconds:.0f} |"


def write(path, rows, states, options, folder):
    lines = [HEAD, conditions(folder, options.peers), ""]
    if options.quick:
        lines += ["A quick run: a sample of the calls.", ""]
    lines += ["## The real program", "", CONTROL, "| test | what | runs | bad | what came of it | seconds |",
              "|---|---|---|---|---|---|", *[line(row) for row in rows], ""]
    ours = [row for row in rows if not row.control]
    lines.append(f"{sum(row.runs for row in ours):,} runs of ours, {sum(row.bad for row in ours):,} bad.")
    if states:
        lines += ["", "## In memory", "", IN_MEMORY, "| test | case | runs | different | bad | seconds |", "|---|---|---|---|---|---|"]
        total = [0, 0, 0]
        for (test, case), (runs, different, bad, seconds) in sorted(states.items()):
            lines.append(f"| {test} | {case} | {runs:,} | {different:,} | {bad} | {seconds:.1f} |")
            if test != "control":
                total = [total[0] + runs, total[1] + different, total[2] + bad]
        lines += ["", f"{total[0]:,} states without the controls, {total[1]:,} of them different, {total[2]:,} bad."]
    path.write_text("\n".join(lines) + "\n")
