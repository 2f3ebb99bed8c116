"""Kernels that refuse flags of renameat2: what a file system without exchange, or without both, looks like to a program.

A filter of this process and all that it starts answers EINVAL where the flags are given, as the file system itself
would. It needs no rights, and nothing of it is in the program under test.
"""
import ctypes
import platform
import struct

NAMES = {1: "exchange", 2: "no exchange", 3: "neither flag"}
# What each tier lacks: RENAME_NOREPLACE is 1, RENAME_EXCHANGE 2.
LACKING = {2: 2, 3: 3}
# Number of renameat2, and the name of the architecture in filters.
MACHINES = {"x86_64": (316, 0xC000003E), "aarch64": (276, 0xC00000B7)}
LOAD, EQUAL, ANY_BIT, RETURN = 0x20, 0x15, 0x45, 0x06
NUMBER, MACHINE, FLAGS = 0, 4, 48
ALLOW, REFUSE = 0x7FFF0000, 0x00050000 | 22


def known():
    return platform.machine() in MACHINES


def restrict(tier):
    """From here on no program of ours finds a file system of a higher tier. There is no way back."""
    if tier == 1:
        return
    number, machine = MACHINES[platform.machine()]
    steps = [(LOAD, 0, 0, MACHINE), (EQUAL, 0, 4, machine), (LOAD, 0, 0, NUMBER), (EQUAL, 0, 2, number),
             (LOAD, 0, 0, FLAGS), (ANY_BIT, 1, 0, LACKING[tier]), (RETURN, 0, 0, ALLOW), (RETURN, 0, 0, REFUSE)]
    code = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *step) for step in steps))
    program = struct.pack("@HP", len(steps), ctypes.addressof(code))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, program, 0, 0):
        raise OSError(ctypes.get_errno(), "no filter may be set here")
