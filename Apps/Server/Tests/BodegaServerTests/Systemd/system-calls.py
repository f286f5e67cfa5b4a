"""Runs a program with the filter of system calls of a systemd unit. A call that the unit refuses ends the program.

Usage: system-calls.py UNIT PROGRAM [ARGUMENT ...]

The sets of calls are those of systemd-analyze, and their numbers those of the kernel's header for x86-64.
"""
import ctypes, os, re, struct, subprocess, sys

HEADER = "/usr/include/x86_64-linux-gnu/asm/unistd_64.h"
X86_64 = 0xC000003E
ALLOW, END = 0x7FFF0000, 0x80000000
LOAD, IS_EQUAL, RETURN = 0x20, 0x15, 0x06
NO_NEW_PRIVILEGES, SET_FILTER, FILTER = 38, 22, 2


def members(name):
    """The names of the calls of a set, or the name of a call."""
    if not name.startswith("@"):
        return {name}
    lines = subprocess.check_output(["systemd-analyze", "syscall-filter", name], text=True).splitlines()
    entries = [line.strip() for line in lines[1:] if line.strip() and not line.strip().startswith("#")]
    return set().union(*(members(entry) for entry in entries))


def allowed(unit):
    """The names of the calls that a unit allows. Its first line has no tilde."""
    calls = set()
    for line in re.findall(r"^SystemCallFilter=(.*)$", open(unit).read(), re.MULTILINE):
        names = set().union(*(members(name) for name in line.lstrip("~").split()))
        calls = calls - names if line.startswith("~") else calls | names
    # systemd allows these, because a program can't begin or end without them.
    calls |= members("@default") | {"execve", "exit", "exit_group", "rt_sigreturn"}
    # As root, which the unit's user is not, SQLite sets the owner of its files.
    return calls | {"fchown"} if os.geteuid() == 0 else calls


def install(numbers):
    steps = [(LOAD, 0, 0, 4), (IS_EQUAL, 1, 0, X86_64), (RETURN, 0, 0, END), (LOAD, 0, 0, 0)]
    for number in numbers:
        steps += [(IS_EQUAL, 0, 1, number), (RETURN, 0, 0, ALLOW)]
    steps += [(RETURN, 0, 0, END)]
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
    program = struct.pack("HxxxxxxP", len(steps), ctypes.addressof(code))
    library = ctypes.CDLL(None, use_errno=True)
    if library.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0) != 0 or library.prctl(SET_FILTER, FILTER, program) != 0:
        sys.exit("The filter can't be set: " + os.strerror(ctypes.get_errno()))


header = dict(re.findall(r"#define __NR_(\w+) (\d+)", open(HEADER).read()))
install(int(header[name]) for name in sorted(allowed(sys.argv[1])) if name in header)
os.execv(sys.argv[2], sys.argv[2:])
