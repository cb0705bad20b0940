# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""blocks.py TRUTH OUTPUT: are the tensors that cudaleak --tensors -aj shows those of PyTorch's memory snapshot?

By address: the bytes that were asked for, and the Python frames.  PyTorch names functions without their scopes.
Says how many were compared and what differs; status 1 if anything does.
"""
import json
import os
import sys


def last_line(path):
    with open(path) as lines:
        return json.loads(lines.read().splitlines()[-1])


def frames(stack):
    return [[os.path.basename(f["file"]), f["line"], f["sym"].split(".")[-1]] for f in stack if f["kind"] == "python"]


def main(truth, output):
    want = {}
    for b in last_line(truth)["blocks"]:
        want[b["address"]] = (b["requested"], [[f, n, name.split(".")[-1]] for f, n, name in b["frames"]])
    with open(output) as lines:
        rows = [json.loads(line) for line in lines]
    seen = {r["ptr"]: (r["bytes"], frames(r["stack"])) for r in rows if r.get("memory") == "tensor"}
    wrong = [a for a in want.keys() | seen.keys() if want.get(a) != seen.get(a)]
    for a in wrong[:3]:
        print(f"{a}: PyTorch has {want.get(a)}, the tool {seen.get(a)}")
    print(f"{len(want)} blocks, {len(wrong)} differ")
    return bool(wrong) or not want


sys.exit(main(*sys.argv[1:]))
