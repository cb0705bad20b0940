# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""program_torch.py DIR FIFO: as program.cpp, with PyTorch on a simulated CUDA that is preloaded: words launch (x.add_(1) on 16
elements), module (the same as forward() of a module in another,
with 20 frames), item (x.item()) and alloc (torch.empty, with PYTORCH_NO_CUDA_MEMORY_CACHING a cudaMalloc and a cudaFree)."""
import sys
import time

import torch

BATCH = 500
x, one = torch.ones(16, device='cuda'), torch.ones(1, device='cuda')


def launch():
    for _ in range(BATCH):
        x.add_(1)


def item():
    for _ in range(BATCH):
        one.item()


def alloc():
    for _ in range(BATCH):
        torch.empty(1 << 18, device='cuda')


class Add(torch.nn.Module):
    def forward(self, to):
        return to.add_(1)


class Around(torch.nn.Module):
    def __init__(self, inside):
        super().__init__()
        self.inside = inside

    def forward(self, to):
        return self.inside(to)


nested = Around(Add())


def step():
    nested(x)


def module():
    with torch.no_grad():
        for _ in range(BATCH):
            step()


WORDS = {'launch': launch, 'module': module, 'item': item, 'alloc': alloc}
with open(sys.argv[2], 'w', encoding='ascii') as to:
    print('ready', file=to, flush=True)
    for line in sys.stdin:
        word, ms = line.split()
        work, n = WORDS[word], 0
        cpu, end = time.thread_time_ns(), time.monotonic() + int(ms) / 1e3
        while time.monotonic() < end:
            work()
            n += BATCH
        print(n, time.thread_time_ns() - cpu, file=to, flush=True)
