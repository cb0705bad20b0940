#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""The stacks at each cudaMalloc as `perf record --call-graph dwarf` has them, for compare.py reference:

	perf_stacks.py FILE LIBRARY PROGRAM ARGUMENT...

LIBRARY has cudaMalloc.  The format is that of gdb_stacks.py, with "by":"perf": an address is that of the
last byte of the call.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import elf

FUNCTION = "cudaMalloc"
MMAP = re.compile(r"PERF_RECORD_MMAP2? (\d+)/\d+: \[0x([0-9a-f]+)\(0x([0-9a-f]+)\) @ (0x[0-9a-f]+|0) [^]]*\]: \S+ (.*)$")
EVENT = re.compile(r"^\S.*?(\d+)/(\d+) .*size=0x([0-9a-f]+)")
FRAME = re.compile(r"^\s+([0-9a-f]+) (.*) \((.*)\)$")


def stacks(lines):
    maps, record = {}, None
    for line in lines:
        m = MMAP.search(line)
        if m:
            pid, start, length, offset, path = m.groups()
            maps.setdefault(int(pid), []).append((int(start, 16), int(length, 16), int(offset, 16), path))
            continue
        m = EVENT.match(line)
        if m:
            record = {"by": "perf", "pid": int(m[1]), "func": FUNCTION, "size": int(m[3], 16), "stack": []}
            continue
        m = FRAME.match(line)
        if m and record:
            record["stack"].append(frame(int(m[1], 16), m[2], m[3], maps.get(record["pid"], [])))
        elif not line.strip() and record:
            del record["stack"][0]	# the function itself
            yield record
            record = None


def frame(ip, name, file, maps):
    for start, length, offset, path in reversed(maps):
        if start <= ip < start + length:
            addr = ip if elf.load(path).fixed else ip - start + offset
            return {"sym": None if name == "[unknown]" else name, "addr": addr, "file": path.removesuffix(" (deleted)")}
    return {"sym": name, "addr": ip, "file": file}


def main(out, library, *command):
    name = "stacks_%d" % os.getpid()
    with tempfile.TemporaryDirectory() as tmp:
        data = tmp + "/perf.data"
        subprocess.run(["perf", "probe", "-q", "-x", library, "%s:%s=%s size=%%si:x64" % (name, FUNCTION, FUNCTION)], check=True)
        try:
            subprocess.run(["perf", "record", "-q", "-o", data, "-e", name + ":" + FUNCTION, "--call-graph", "dwarf,65528",
                            "--", *command], check=True)
        finally:
            subprocess.run(["perf", "probe", "-q", "-d", name + ":*"])
        script = subprocess.run(["perf", "script", "-i", data, "--show-mmap-events", "--no-inline", "--max-stack", "127",
                                 "-F", "comm,pid,tid,time,event,ip,sym,symoff,dso,trace"],
                                check=True, capture_output=True, text=True, errors="replace").stdout
    if os.environ.get("PERF_SCRIPT"):
        with open(os.environ["PERF_SCRIPT"], "w") as f:
            f.write(script)
    with open(out, "w") as f:
        for record in stacks(script.split("\n")):
            f.write(json.dumps(record) + "\n")


main(*sys.argv[1:])
