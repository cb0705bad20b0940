#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""Compare the stacks of `cudamallocsnoop -jk` with the truth, frame by frame.

compare.py python TRUTH OUT [--stack all|python|native] [--may-stop CASE,...] [--may-lose]
	with what tests/workloads/python told; --may-stop: cases whose stack may end early if it says so; --may-lose:
	native frames may be lost for lack of room, if the stack says so
compare.py hung TRUTH OUT [--stack all|python|native]
	the same of calls in flight: each is the last one of its thread that the programs told of; some may be missing
compare.py native TRUTH OUT [--may-stop CASE,...]
	with what nofp told
compare.py reference OTHER OUT
	with another unwinder's, of gdb_stacks.py or perf_stacks.py

An allocation's size, with its process where the truth has that, says which stack is whose.  Prints a line
for each stack that is not right, the first 20, and the counts; status 1 if one was not right, or none was
compared.
"""
import argparse
import json
import os
import re
import sys

import elf


def read(path):
    with open(path, encoding="utf-8", errors="surrogateescape") as f:
        return [json.loads(line) for line in f if line.startswith("{")]


def base(path):
    return os.path.basename((path or "?").removesuffix(" (deleted)"))


def kind(frame):
    return frame.get("kind", "native")


def notes(stack):
    return [f["sym"] for f in stack if kind(f) == "note"]


def text(frame):
    if kind(frame) == "native":
        return "%s+%s (%s)" % (frame["sym"], frame.get("off", "?"), base(frame["file"]))
    if kind(frame) == "python":
        return "%s:%s %s" % (frame["file"], frame["line"], frame["sym"])
    return "%s %s" % (kind(frame), frame["sym"])


class Wrong(Exception):
    pass


def at_address(frame, address, file, slack=0):
    """Whether a native frame is at that address, or just before it."""
    if base(file).startswith("linux-vdso"):     # where arm64's signal handlers return to
        return not frame["file"]
    if not frame["file"]:
        return False
    got = elf.addresses(frame)
    return base(frame["file"]) == base(file) and (got is None or any(0 <= a - address <= slack for a in got))


# ---- Python

def check_pure(told, stack, args):
    """The frames of Python, in their order."""
    got = [{k: f[k] for k in ("sym", "file", "line")} for f in stack if kind(f) == "python" and
           not f["file"].endswith("/concurrent/interpreters/__init__.py")]     # between truth's and outer's
    want = told["frames"]
    for g, w in zip(got, want):
        for key, least in (("sym", 200), ("file", 300)):
            if g[key] and g[key].endswith("…") and len(g[key]) > least and w[key].startswith(g[key][:-1]):
                g[key] = w[key]     # the tools cut what is longer, and say so
    if got in (want, want + told["outer"]):
        return
    if told["case"] in args.may_stop and notes(stack) and len(got) > 20 and got == want[:len(got)]:
        return
    for i, (g, w) in enumerate(zip(got, want)):
        if g != w:
            raise Wrong("Python frame %d is %s:%s %s, not %s:%s %s" %
                        (i, g["file"], g["line"], g["sym"], w["file"], w["line"], w["sym"]))
    raise Wrong("%d Python frames, not %d%s" % (len(got), len(want), "".join("; " + n for n in notes(stack))))


def check_merged(told, stack):
    """The native frames among them: C where there is some, and the interpreter's own nowhere."""
    first = next(i for i, f in enumerate(stack) if kind(f) == "python")
    last = max(i for i, f in enumerate(stack) if kind(f) == "python")
    if not any(base(f["file"]).startswith("libffi") for f in stack[:first] if kind(f) == "native"):
        raise Wrong("no libffi between the call and Python")
    for f in stack[first:last]:
        if kind(f) == "native" and base(f["file"]).startswith(("python", "libpython")):
            raise Wrong("the interpreter's own frame %s among Python's" % text(f))
    for name, library in told["native"].items():
        # the frame of that name which has C inside: any of them will do; "": behind the outermost
        places = [i for i, f in enumerate(stack) if kind(f) == "python" and f["sym"] == name]
        if not name:
            places = [len(stack)]
        if name and not places:
            places = [i + 1 for i, f in enumerate(stack) if kind(f) == "native" and f["sym"] == name]
        for i in places:
            native = []
            while i and kind(stack[i - 1]) == "native":
                native.append(stack[i - 1])
                i -= 1
            if any(base(f["file"]).startswith(library) for f in native):
                break
        else:
            raise Wrong("nothing of %s inside %s" % (library, name or "the outermost"))


def check_python(told, stack, args):
    python = [f for f in stack if kind(f) == "python"]
    if args.stack == "native":
        if python:
            raise Wrong("Python frames with --stack native")
        if not any(base(f["file"]).startswith(("python", "libpython")) for f in stack if kind(f) == "native"):
            raise Wrong("nothing of the interpreter with --stack native")
        return
    check_pure(told, stack, args)
    if args.stack == "all":
        if not (args.may_lose and any("no room" in n for n in notes(stack))):
            check_merged(told, stack)
    elif [f for f in stack if kind(f) not in ("python", "note")]:
        raise Wrong("native frames with --stack python")


# ---- native

def same_function(frame, level):
    # a part of a function: cold_part.cold or, demangled, cold_part [clone .cold]
    return frame["sym"] is None or re.match(r"\w*", frame["sym"])[0] == level["sym"]


def stops(told, stack, args):
    """Whether it ends early, may, and says so."""
    said = notes(stack)
    if said and (told["case"] in args.may_stop or told["ends"] not in ("main", "thread", "context")):
        return True
    return False


def check_levels(told, stack, args):
    frames = [f for f in stack if kind(f) == "native"]
    levels, at = told["levels"], 0
    for n, level in enumerate(levels):
        if at >= len(frames):
            if stops(told, stack, args):
                return False
            raise Wrong("ends in %s%s" % (text(stack[-1]) if stack else "nothing", "".join("; " + s for s in notes(stack))))
        if not same_function(frames[at], level):
            raise Wrong("frame %d is %s, not %s" % (at, text(frames[at]), level["sym"]))
        after = frames[at + 1] if at + 1 < len(frames) else None
        if after and "ret" in level and not at_address(after, int(level["ret"], 16), level["file"]):
            raise Wrong("frame %d, %s, returns to %s of %s, not to %s" %
                        (at, level["sym"], level["ret"], base(level["file"]), text(after)))
        if n + 1 < len(levels):
            at = following(frames, at + 1, levels[n + 1], base(levels[0].get("file"))) if "ret" in level else at + 1
    return at + 1 < len(frames) or not stops(told, stack, args)


def following(frames, at, level, program):
    """The next frame of that function: others may stand before it, that keep no chain."""
    for i in range(at, min(at + 4, len(frames))):
        if frames[i]["sym"] is not None and same_function(frames[i], level):
            return i
    for i in range(at, len(frames)):
        if frames[i]["sym"] is not None:
            if same_function(frames[i], level):
                return i
        elif "ret" not in level:
            if base(frames[i]["file"]) == program:
                return i
        elif i + 1 < len(frames) and at_address(frames[i + 1], int(level["ret"], 16), level["file"]):
            return i
    return len(frames)


# __GI_: as libc's debug file has it
ENDS = {"main": ("_start",), "thread": ("clone3", "__clone3", "__GI___clone3", "clone", "__clone", "__GI___clone"),
        "context": ("__start_context",)}


def check_native(told, stack, args):
    if not check_levels(told, stack, args):
        return
    said, last = notes(stack), stack[-1]
    if said:
        if stops(told, stack, args):
            return
        raise Wrong("; ".join(said))
    ends = ENDS.get(told["ends"], ("_start",))
    if kind(last) != "native" or (last["sym"] is not None and last["sym"] not in ends):
        raise Wrong("ends in %s, not in %s" % (text(last), ends[0]))
    if told["ends"] == "main" and base(last["file"]) != base(told["levels"][0].get("file")) and told["levels"][-1]["sym"] == "main":
        raise Wrong("ends in %s, not in the program" % text(last))


def check_reference(told, stack, args):
    frames = [f for f in stack if kind(f) == "native"]
    for i, (got, want) in enumerate(zip(frames, told["stack"])):
        # perf looks a caller up by the byte before its return address
        if not at_address(got, want["addr"], want["file"], 1 if told.get("by") == "perf" else 0):
            raise Wrong("frame %d is %s, not %s at 0x%x (%s)" %
                        (i, text(got), want["sym"], want["addr"], base(want["file"])))
    if len(frames) != len(told["stack"]):
        raise Wrong("%d frames, not %d%s" % (len(frames), len(told["stack"]), "".join("; " + n for n in notes(stack))))


CHECKS = {"python": check_python, "hung": check_python, "native": check_native, "reference": check_reference}


def key_of(record, how):
    """What a record and its truth have in common; a child's sizes are its parent's too."""
    if how == "hung":
        return record["pid"], record["tid"]
    return record["pid"] if how == "python" else 0, record["size"]


def is_compared(record, how):
    if how == "hung":
        return record.get("running", False)
    return record.get("op") == "alloc" or str(record.get("func", "")).startswith("cudaMalloc")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("how", choices=CHECKS)
    parser.add_argument("truth")
    parser.add_argument("out")
    parser.add_argument("--stack", choices=("all", "python", "native"), default="all")
    parser.add_argument("--may-stop", default="", type=lambda s: s.split(","))
    parser.add_argument("--may-lose", action="store_true")
    args = parser.parse_args()

    truth = read(args.truth)
    told = {key_of(t, args.how): t for t in truth}
    seen, wrong, said, compared = set(), 0, 0, 0
    for record in read(args.out):
        if not is_compared(record, args.how):
            continue
        key = key_of(record, args.how)
        if key not in told:
            continue
        seen.add(key)
        compared += 1
        stack = record.get("stack") or []
        said += bool(notes(stack))
        try:
            CHECKS[args.how](told[key], stack, args)
        except (Wrong, StopIteration) as e:
            wrong += 1
            if wrong <= 20:
                print("%s, size %d: %s" % (told[key].get("case", "?"), told[key]["size"], e or "no Python frame"))
    missing = told.keys() - seen if args.how != "hung" else set()
    for key in sorted(missing)[:20]:
        print("%s, size %d: no such allocation was seen" % (told[key].get("case", "?"), key[1]))
    wrong += len(missing)
    print("%d stacks compared, %d wrong, %d with a note" % (compared, wrong, said))
    return 1 if wrong or not compared else 0


if __name__ == "__main__":
    sys.exit(main())
