# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""storm.py [THREADS [CALLS [DEPTH [RATE]]]]: allocates and frees as fast as it can, or RATE calls a second
in each thread; every thread's allocations have a size of its own, and all of them one stack, DEPTH deep.

Prints the truth of each thread once, with "calls", and at the end the seconds to standard error.
"""
import os
import sys
import threading
import time

import truth
from truth import free, here, malloc, p, pointer

truth.case = "storm"
threads, calls, depth, rate = [int(a) for a in sys.argv[1:]] + [2, 50000, 10, 0][len(sys.argv) - 1:]
start = threading.Barrier(threads + 1)


def work(pointer, p, size):
    begin = time.monotonic()
    for i in range(calls):
        # the first call's truth is every call's: one line
        malloc(p, size or (size := here()))
        free(pointer)
        if rate and not i & 63:
            time.sleep(max(0, begin + i / rate - time.monotonic()))


def down(n, *args):
    if n:
        down(n - 1, *args)
    else:
        work(*args)


def thread():
    pointer = truth.ctypes.c_void_p()
    start.wait()
    down(depth, pointer, truth.ctypes.byref(pointer), 0)


all_ = [threading.Thread(target=thread) for _ in range(threads)]
for t in all_:
    t.start()
start.wait()
began = time.monotonic()
for t in all_:
    t.join()
print("%.3f s, %d calls each" % (time.monotonic() - began, calls), file=sys.stderr)
