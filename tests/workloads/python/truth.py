# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""CUDA through ctypes, and what Python knows of its own stack at each call.

	malloc(p, here())

allocates a size that no other call has, and prints before, on that very line of the program, the frames
that Python has, the innermost first:

	{"case":"plain","pid":1,"tid":1,"version":"3.11","size":2000003,
	 "frames":[{"sym":"f.<locals>.g","file":"/w/cases.py","line":7},...],
	 "native":{"f":"libmiddle.so"},"outer":[]}

native: C code of that library stands between this function and what it called; outer: what may follow,
frames of the interpreter that runs this one.  CUDA_LIB is the folder of the libraries (default /cuda).
"""
import ctypes
import itertools
import json
import os
import sys
import threading
import traceback

folder = os.environ.get("CUDA_LIB", "/cuda")
cudart = ctypes.CDLL(folder + "/libcudart.so.13")
malloc, free = cudart.cudaMalloc, cudart.cudaFree
malloc.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
free.argtypes = [ctypes.c_void_p]
pointer = ctypes.c_void_p()
p = ctypes.byref(pointer)
middle = ctypes.CDLL(folder + "/libmiddle.so")
CALLBACK = ctypes.CFUNCTYPE(ctypes.c_int)

sizes = itertools.count(2000003)
case = ""
version = "%d.%d" % sys.version_info[:2] + sys.abiflags
outer = []


def frames(frame):
    """All of them, from this one on; checked against traceback's."""
    got = []
    for f, line in traceback.walk_stack(frame):
        code = f.f_code
        got.append({"sym": getattr(code, "co_qualname", code.co_name), "file": code.co_filename, "line": line})
    want = traceback.StackSummary.extract(traceback.walk_stack(frame), lookup_lines=False)
    assert [(f.filename, f.lineno) for f in want] == [(g["file"], g["line"]) for g in got]
    return got


def tell(frame, size, native):
    truth = {"case": case, "pid": os.getpid(), "tid": threading.get_native_id(), "version": version, "size": size,
             "frames": frames(frame), "native": native, "outer": outer}
    os.write(1, (json.dumps(truth) + "\n").encode())
    return size


def here(native={}):
    """The size for a call on the same line, whose truth is told now."""
    return tell(sys._getframe(1), next(sizes), native)


def malloc_in_c(size=None, native={}):
    """Arguments of middle.middle_malloc(), which calls back for the truth: the line is that of the call even
    where here() would stand on another."""
    size = next(sizes)
    callback = CALLBACK(lambda: tell(sys._getframe(1), size, native) and 0)
    return callback, p, ctypes.c_size_t(size)
