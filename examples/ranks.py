#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""ranks.py [RANKS [STEPS [LATE]]]: as many processes, each a rank of one communicator of NCCL.  In each step they add up 4 MiB
of gradients, and the last rank sends the first one a loss.  Rank LATE loads data for 4 seconds before the last step.

It calls CUDA and NCCL by ctypes, on this machine's GPUs or else on the simulated ones that 'make examples' builds."""
import ctypes
import os
import sys
import time

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


def check(what, result):
    if result:
        sys.exit(f"ranks.py: {what} returned {result}")


class Rank:
    def __init__(self, rank, ranks, ids):
        """ids: the pipes from rank 0 to the others, for the id of the communicator."""
        self.cuda, self.nccl = libraries()
        self.rank, self.ranks = rank, ranks
        devices = ctypes.c_int()
        check("cudaGetDeviceCount", self.cuda.cudaGetDeviceCount(ctypes.byref(devices)))
        check("cudaSetDevice", self.cuda.cudaSetDevice(rank % devices.value))
        self.gradients, self.loss, self.comm = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
        check("cudaMalloc", self.cuda.cudaMalloc(ctypes.byref(self.gradients), ctypes.c_size_t(4 * MIB)))
        check("cudaMalloc", self.cuda.cudaMalloc(ctypes.byref(self.loss), ctypes.c_size_t(4)))
        check("ncclCommInitRank", self.nccl.ncclCommInitRank(ctypes.byref(self.comm), ranks, self.unique(ids), rank))

    def unique(self, ids):
        unique = UniqueId()
        if self.rank:
            return UniqueId.from_buffer_copy(os.read(ids[self.rank][0], 128))
        check("ncclGetUniqueId", self.nccl.ncclGetUniqueId(ctypes.byref(unique)))
        for _, end in ids[1:]:
            os.write(end, bytes(unique))
        return unique

    def step(self):
        count = ctypes.c_size_t(MIB)
        check("ncclAllReduce", self.nccl.ncclAllReduce(self.gradients, self.gradients, count, FLOAT32, SUM, self.comm, None))
        if self.rank == self.ranks - 1:
            check("ncclSend", self.nccl.ncclSend(self.loss, ctypes.c_size_t(1), FLOAT32, 0, self.comm, None))
        if self.rank == 0:
            check("ncclRecv", self.nccl.ncclRecv(self.loss, ctypes.c_size_t(1), FLOAT32, self.ranks - 1, self.comm, None))
        check("cudaStreamSynchronize", self.cuda.cudaStreamSynchronize(None))

    def load_batch(self):
        time.sleep(4)

    def run(self, steps, late):
        for step in range(steps):
            if self.rank == late and step == steps - 1:
                self.load_batch()
            self.step()
        check("ncclCommDestroy", self.nccl.ncclCommDestroy(self.comm))


def main():
    ranks, steps, late = [int(word) for word in sys.argv[1:]] + [2, 3, -1][len(sys.argv) - 1:]
    ids = [os.pipe() for _ in range(ranks)]
    children = []
    for rank in range(ranks):    # what has called CUDA must not be forked
        child = os.fork()
        if child == 0:
            Rank(rank, ranks, ids).run(steps, late)
            os._exit(0)
        children.append(child)
    sys.exit(max(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children))


main()
