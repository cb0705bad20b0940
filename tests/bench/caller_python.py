# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""caller_python.py DIR: as caller.c, in Python: words stack10, stack50 and stack100, one thread."""
import ctypes
import sys
import time

lib = ctypes.CDLL(f'{sys.argv[1]}/libcudart.so.13')
p = ctypes.c_void_p()
at, size = ctypes.byref(p), ctypes.c_size_t(256)
BATCH = 64


def frame(n):
    if n:
        return frame(n - 1)
    return lib.cudaMalloc(at, size) or lib.cudaFree(p)


def run(depth, ms, rate):
    cpu, start = time.thread_time_ns(), time.monotonic_ns()
    now, stop, n = start, start + ms * 1000000, 0
    while now < stop and 2 * n < rate * ms / 1e3:
        for _ in range(BATCH):
            frame(depth)
        n += BATCH
        if rate < 1e9:
            time.sleep(max(0, (start + 2 * n * 1e9 / rate - time.monotonic_ns()) / 1e9))
        now = time.monotonic_ns()
    return 2 * n, time.thread_time_ns() - cpu, now - start


lib.cudaFree(None)
print('ready', flush=True)
for line in sys.stdin:
    word, _, ms, *rate = line.split()
    # the frames of this file's functions around are three
    print(*run(int(word[5:]) - 4, int(ms), float(rate[0]) if rate else 1e9), flush=True)
