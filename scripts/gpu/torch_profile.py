# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
# Launches kernels, all within PyTorch's profiler unless the argument is "without", and prints what it counted:
# "launches N" by the runtime and driver, "kernels N" that ran, and "graph N", the kernels that a CUDA graph replayed.
import os, sys
import torch

def work():
    a = torch.full((257, 257), 2.0, device="cuda")
    for _ in range(101):
        a = a * 1.01 + 0.5
    b = a @ a
    torch.cuda.synchronize()
    return b

def graph():
    x = torch.ones(1031, device="cuda")
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        x.mul_(2)
    torch.cuda.synchronize()
    captured = torch.cuda.CUDAGraph()
    with torch.cuda.graph(captured):
        for _ in range(7):
            x.add_(1)
    for _ in range(13):
        captured.replay()
    torch.cuda.synchronize()

if sys.argv[1] == "graph":
    graph()
elif sys.argv[1] == "without":
    work()
else:
    from torch.profiler import profile, ProfilerActivity
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as p:
        work()
    names = [e.name for e in p.events()]
    launches = [n for n in names if n.startswith(("cudaLaunchKernel", "cuLaunchKernel"))]
    kernels = [e for e in p.events() if e.device_type == torch.autograd.DeviceType.CUDA
               and not e.name.startswith(("Memcpy", "Memset"))]
    print("launches", len(launches))
    print("kernels", len(kernels))
sys.stdout.flush()
os._exit(0)
