# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""The stacks at each cudaMalloc as gdb unwinds them, for compare.py reference:

	gdb -nx -batch -ex 'python out = "FILE"' -x gdb_stacks.py --args PROGRAM ARGUMENT...

A line for each, as `cudamallocsnoop -jk` has it, with the addresses in the file instead of offsets:
{"pid":1,"func":"cudaMalloc","size":1000003,"stack":[{"sym":"three","addr":4672,"file":"/.../nofp"},...]}
"""
import json
import os
import sys

import gdb

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import elf

FUNCTION = "cudaMalloc"


def mappings():
    with open("/proc/%d/maps" % gdb.selected_inferior().pid) as f:
        for line in f:
            words = line.split(None, 5)
            start, end = (int(x, 16) for x in words[0].split("-"))
            yield start, end, int(words[2], 16), words[5].rstrip("\n") if len(words) > 5 else ""


def locate(pc, maps):
    for start, end, offset, path in maps:
        if start <= pc < end:
            first = min(s for s, _, _, p in maps if p == path)
            path = path.removesuffix(" (deleted)")
            return path, pc if elf.load(path).fixed else pc - first
    return "?", pc


def stack():
    maps, frames = list(mappings()), []
    frame = gdb.newest_frame().older()
    while frame:
        # neither is on the stack: gdb knows them from debug information
        if frame.type() not in (gdb.INLINE_FRAME, gdb.TAILCALL_FRAME):
            file, addr = locate(frame.pc(), maps)
            frames.append({"sym": frame.name(), "addr": addr, "file": file})
        frame = frame.older()
    return frames


class Call(gdb.Breakpoint):
    def stop(self):
        frame = gdb.newest_frame()
        if not frame.older() or frame.older().name() == FUNCTION:
            return False
        size = int(frame.read_register("rsi")) & (1 << 64) - 1
        told.write(json.dumps({"pid": gdb.selected_inferior().pid, "func": FUNCTION, "size": size,
                               "stack": stack()}) + "\n")
        return False


told = open(out, "w")	# noqa: from the command line
for setting in "pagination off", "confirm off", "breakpoint pending on", "debuginfod enabled off", \
		"backtrace past-main on", "backtrace past-entry on", "print thread-events off", "startup-with-shell off":
    try:
        gdb.execute("set " + setting)
    except gdb.error:
        pass
gdb.execute("handle SIGUSR1 SIGILL nostop noprint pass")
Call("-qualified " + FUNCTION)
gdb.execute("run")
told.close()
