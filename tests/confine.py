#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""confine.py UNIT COMMAND...: runs the command under the unit's SystemCallFilter=, MemoryDenyWriteExecute= and
RestrictNamespaces=, as systemd would: a filter of libseccomp, with which other calls fail with EPERM.
confine.py --calls UNIT prints the calls that are allowed.  Needs libseccomp.so.2 and systemd-analyze."""
import ctypes
import os
import subprocess
import sys

ALLOW, EPERM, ENOSYS = 0x7FFF0000, 0x00050001, 0x00050026
NEWNS_BITS = 0x7E020000 | 0x02000000 | 0x80  # CLONE_NEW*
CLONE_FLAGS = {"clone": 0, "unshare": 0, "setns": 1}


class Compare(ctypes.Structure):
    _fields_ = [("arg", ctypes.c_uint), ("op", ctypes.c_int), ("mask", ctypes.c_uint64), ("value", ctypes.c_uint64)]


MASKED_EQUAL = 7


def settings(unit, key):
    with open(unit) as lines:
        return " ".join(line.split("=", 1)[1].strip() for line in lines if line.startswith(key + "="))


def members(group):
    """The calls in a group of systemd's, and in those that it consists of."""
    said = subprocess.run(["systemd-analyze", "syscall-filter", group], capture_output=True, text=True, check=True)
    for word in (line.strip() for line in said.stdout.splitlines()[1:]):
        if word.startswith("@"):
            yield from members(word)
        elif word and not word.startswith("#"):
            yield word


def allowed(unit):
    calls = set(members("@default"))
    for word in settings(unit, "SystemCallFilter").split():
        assert not word.startswith("~"), word
        calls |= set(members(word)) if word.startswith("@") else {word}
    return calls


def confine(unit):
    lib = ctypes.CDLL("libseccomp.so.2", use_errno=True)
    lib.seccomp_init.restype = ctypes.c_void_p
    lib.seccomp_rule_add_array.argtypes = [ctypes.c_void_p, ctypes.c_uint32, ctypes.c_int, ctypes.c_uint, ctypes.c_void_p]
    context = lib.seccomp_init(EPERM)

    def rule(name, *compares, action=ALLOW):
        number = lib.seccomp_syscall_resolve_name(name.encode())
        if number >= 0:
            assert lib.seccomp_rule_add_array(context, action, number, len(compares),
                                              (Compare * len(compares))(*compares)) == 0, name

    for name in allowed(unit):
        if name in CLONE_FLAGS and settings(unit, "RestrictNamespaces") == "yes":
            rule(name, Compare(CLONE_FLAGS[name], MASKED_EQUAL, NEWNS_BITS, 0))
        elif name == "clone3":  # its flags cannot be seen
            rule(name, action=ENOSYS)
        elif name in ("mmap", "mprotect", "pkey_mprotect") and settings(unit, "MemoryDenyWriteExecute") == "yes":
            rule(name, Compare(2, MASKED_EQUAL, 4, 0))
            if name == "mmap":
                rule(name, Compare(2, MASKED_EQUAL, 2, 0))
        else:
            rule(name)
    libc = ctypes.CDLL(None, use_errno=True)
    assert libc.prctl(38, 1, 0, 0, 0) == 0  # PR_SET_NO_NEW_PRIVS
    assert lib.seccomp_load(ctypes.c_void_p(context)) == 0


if sys.argv[1] == "--calls":
    print("\n".join(sorted(allowed(sys.argv[2]))))
else:
    confine(sys.argv[1])
    os.execvp(sys.argv[2], sys.argv[2:])
