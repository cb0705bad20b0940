# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""reported.py CASE: goes on as programs of public reports did that had a problem; each comment names it.  Prints "ready"."""
import ctypes
import os
import sys
import time


def pinned():
    """The pool of pinned memory keeps the blocks of the largest burst (pytorch#97432)."""
    import torch

    def decode():
        return torch.full((1 << 20,), 1, dtype=torch.uint8).pin_memory()

    kept = []
    while True:
        kept.append(decode())
        kept[-1].cuda(non_blocking=True)
        torch.cuda.synchronize()
        yield 0.1


def empty_cache():
    """The allocator takes all of its memory anew in each step (transformers#31372)."""
    import torch

    def free_memory():
        torch.cuda.empty_cache()

    w = torch.ones(1 << 22, device="cuda")
    while True:
        x = w * 2
        del x
        free_memory()
        yield 0


def rejit():
    """A kernel that is defined in the function is compiled and loaded at each call (cuml#1517)."""
    import numpy
    from numba import cuda

    def convert(x):
        @cuda.jit
        def to_row_major(src, dst):
            i = cuda.grid(1)
            if i < src.size:
                dst[i] = src[i]

        to_row_major[4, 256](x, cuda.device_array_like(x))

    x = cuda.to_device(numpy.ones(1000, dtype=numpy.float32))
    while True:
        convert(x)
        yield 0


def constexpr():
    """Each new length of a constexpr is compiled while the step waits (Liger-Kernel#146)."""
    global tl
    import torch
    import triton
    import triton.language as tl

    @triton.jit
    def rope_kernel(x, SEQ: tl.constexpr):
        i = tl.arange(0, 256)
        tl.store(x + i, tl.load(x + i, mask=i < SEQ) * 2, mask=i < SEQ)

    def rope(x):
        rope_kernel[(1,)](x, x.numel())

    n = 1000
    while True:
        n += 1
        rope(torch.ones(n, device="cuda"))
        yield 0


def fork():
    """cuInit() before a fork: the child cannot use CUDA (vllm#32611); SIM_FAIL=cuInit:2=3, as a driver answers there."""
    cuda = ctypes.CDLL("libcuda.so.1")

    def worker():
        os._exit(cuda.cuInit(0) != 0)

    cuda.cuInit(0)
    if os.fork() == 0:
        worker()
    os.wait()
    yield 0


def contexts():
    """A rank's helper takes device 0: each rank has a tensor and a context there (pytorch#135279); ends."""
    import torch

    def positions():
        return torch.arange(1 << 20, device="cuda:0")

    torch.cuda.set_device(int(sys.argv[2]))
    x = torch.ones(1 << 20, device="cuda")
    kept = positions()
    (x + kept.sum().item()).sum().item()
    yield 0


def reload():
    """A model that is unloaded keeps its buffer (llama-cpp-python#223)."""
    import glob
    import sysconfig

    ggml = ctypes.CDLL(glob.glob(os.path.join(sysconfig.get_paths()["platlib"], "llama/_llama_cpp_cuda*.so"))[0])

    class Params(ctypes.Structure):
        _fields_ = [("size", ctypes.c_size_t), ("buffer", ctypes.c_void_p), ("no_alloc", ctypes.c_bool)]

    def call(name, *args):
        function = getattr(ggml, name)
        function.restype = ctypes.c_void_p
        return function(*(ctypes.c_void_p(a) if isinstance(a, int) else a for a in args))

    backend = call("ggml_backend_cuda_init", 0)
    while True:
        context = call("ggml_init", Params(1 << 24, None, True))
        call("ggml_new_tensor_1d", context, 0, 1000000)
        call("ggml_backend_alloc_ctx_tensors", context, backend)
        yield 0.1
        call("ggml_free", context)


def train(last):
    """What a rank does in a group of all, and `last` after it."""
    import torch
    import torch.distributed as dist

    rank = int(os.environ["RANK"])
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl", device_id=torch.device("cuda", rank))
    x = torch.ones(1000, device="cuda")
    dist.all_reduce(x)
    torch.cuda.synchronize()
    print("ready", flush=True)
    last(dist, x, rank)
    torch.cuda.synchronize()


def uneven():
    """The last rank has a batch less, and goes on to the barrier (PyMarlin#80)."""

    def save_checkpoint(dist):
        dist.barrier()

    def last(dist, x, rank):
        if rank < int(os.environ["WORLD_SIZE"]) - 1:
            dist.all_reduce(x)
            x.sum().item()
        save_checkpoint(dist)

    train(last)


def messages():
    """Both send first and receive then (nccl#479)."""

    def exchange(dist, x, peer):
        import torch

        dist.send(x, peer)
        torch.cuda.synchronize()
        dist.recv(x, peer)

    train(lambda dist, x, rank: exchange(dist, x, 1 - rank))


ready = False
for pause in globals()[sys.argv[1]]() or ():
    if not ready:
        print("ready", flush=True)
    ready = True
    time.sleep(pause)
