#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""ranks.py [RANKS [STEPS]]: as many processes, each a rank of one communicator of NCCL.  In each step they add up 4 MiB of
gradients, and the last rank sends the first one a loss.

It calls CUDA and NCCL by ctypes, on this machine's GPUs or else on the simulated ones that 'make examples' builds."""
import ctypes
import os
import sys

MIB = 1024 * 1024
FLOAT32, SUM = 7, 0


class UniqueId(ctypes.Structure):
    _fields_ = [("internal", ctypes.c_char * 128)]


def libraries():
    """The runtime and NCCL: the machine's, if there is a device, or the simulated ones."""
    simulated = os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "tests", "lib", "")
    for where, version in ("", 13), ("", 12), (simulated, 13):
        try:
            cuda = ctypes.CDLL(f"{where}libcudart.so.{version}")
            if cuda.cudaGetDeviceCount(ctypes.byref(ctypes.c_int())) == 0:
                return cuda, ctypes.CDLL(f"{where}libnccl.so.2")
        except OSError:
            continue
    sys.exit("ranks.py: no CUDA here that has a device and NCCL: run 'make examples'")


def check(result):
    if result:
        sys.exit(f"ranks.py: NCCL returned {result}")


class Rank:
    def __init__(self, rank, ranks, unique):
        self.cuda, self.nccl = libraries()
        devices = ctypes.c_int()
        self.cuda.cudaGetDeviceCount(ctypes.byref(devices))
        self.cuda.cudaSetDevice(rank % devices.value)
        self.gradients, self.loss, self.comm = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
        self.cuda.cudaMalloc(ctypes.byref(self.gradients), ctypes.c_size_t(4 * MIB))
        self.cuda.cudaMalloc(ctypes.byref(self.loss), ctypes.c_size_t(4))
        check(self.nccl.ncclCommInitRank(ctypes.byref(self.comm), ranks, unique, rank))
        self.rank, self.ranks = rank, ranks

    def step(self):
        count = ctypes.c_size_t(MIB)
        check(self.nccl.ncclAllReduce(self.gradients, self.gradients, count, FLOAT32, SUM, self.comm, None))
        if self.rank == self.ranks - 1:
            check(self.nccl.ncclSend(self.loss, ctypes.c_size_t(1), FLOAT32, 0, self.comm, None))
        if self.rank == 0:
            check(self.nccl.ncclRecv(self.loss, ctypes.c_size_t(1), FLOAT32, self.ranks - 1, self.comm, None))
        self.cuda.cudaStreamSynchronize(None)

    def run(self, steps):
        for _ in range(steps):
            self.step()
        check(self.nccl.ncclCommDestroy(self.comm))


def main():
    ranks, steps = [int(word) for word in sys.argv[1:]] + [2, 3][len(sys.argv) - 1:]
    unique = UniqueId()
    check(libraries()[1].ncclGetUniqueId(ctypes.byref(unique)))
    children = []
    for rank in range(ranks):
        child = os.fork()
        if child == 0:
            Rank(rank, ranks, unique).run(steps)
            os._exit(0)
        children.append(child)
    sys.exit(max(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children))


main()
