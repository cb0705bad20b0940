#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""inject_ctypes.py LIB N: N calls of cudaMalloc by ctypes, half of them by a function that is looked up again and again,
and a call of cudaMemGetInfo, whose answer it prints if it is none."""
import ctypes
import sys


def allocate(cuda, pointer):
    return cuda["cudaMalloc"](ctypes.byref(pointer), ctypes.c_size_t(64))


def main():
    cuda = ctypes.CDLL(sys.argv[1])
    pointer = ctypes.c_void_p()
    count = int(sys.argv[2])
    for _ in range(count // 2):
        if cuda.cudaMalloc(ctypes.byref(pointer), ctypes.c_size_t(64)):
            sys.exit("cudaMalloc failed")
    for _ in range(count - count // 2):
        if allocate(cuda, pointer):
            sys.exit("cudaMalloc failed")
    free, total = ctypes.c_size_t(), ctypes.c_size_t()
    if cuda.cudaMemGetInfo(ctypes.byref(free), ctypes.byref(total)) or not 0 < free.value <= total.value:
        print("cudaMemGetInfo:", free.value, total.value)


main()
