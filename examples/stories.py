#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""stories.py STORY [STEPS]: trains or serves in PyTorch as programs do that are slow, or run out of memory.

STORY is leak, graphs, starve, tiny, item or fragments: docs/pytorch.md tells them.
"""
import sys
import threading
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Layer(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.bias = nn.Parameter(torch.zeros(width))

    def forward(self, x):
        return torch.relu(x * self.weight + self.bias)


class Model(nn.Sequential):
    def __init__(self, width=1024, depth=3):
        super().__init__(*[Layer(width) for _ in range(depth)])
        self.width = width


def train_step(model, optimizer, x):
    loss = (model(x) - x).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    return loss.detach()


def leak(steps):
    """Validates without no_grad(): each loss that is kept has its step's graph, with all activations."""
    model = Model().cuda()
    x = torch.rand(256, model.width, device="cuda")
    losses = []
    for _ in range(steps):
        loss = (model(x) - x).square().mean()
        losses.append(loss)
        time.sleep(0.1)  # the rest of the epoch


class Server:
    """A graph of the model, which each request replays."""

    def __init__(self):
        self.model = Model().cuda().eval()
        self.request = torch.zeros(32, self.model.width, device="cuda")
        self.graph = torch.cuda.CUDAGraph()
        self.lock = threading.Lock()
        with torch.no_grad(), torch.cuda.graph(self.graph):
            self.answer = self.model(self.request)

    def serve(self, request):
        with self.lock:
            self.request.copy_(request)
            self.graph.replay()
            return self.answer.cpu()


def graphs(steps, threads=4):
    server = Server()

    def client():
        for _ in range(steps):
            server.serve(torch.rand(32, server.model.width))

    clients = [threading.Thread(target=client) for _ in range(threads)]
    for thread in clients:
        thread.start()
    for thread in clients:
        thread.join()


class Images(Dataset):
    def __len__(self):
        return 1 << 30

    def __getitem__(self, i):
        return self.decode(i)

    def decode(self, _):
        time.sleep(0.005)  # a picture from a slow disk
        return torch.rand(1024)


def starve(steps):
    model = Model().cuda()
    optimizer = torch.optim.AdamW(model.parameters())
    for _, batch in zip(range(steps), DataLoader(Images(), batch_size=16)):
        train_step(model, optimizer, batch.cuda())


def tiny(steps, length=512):
    """A recurrence in Python: some kernels for each element of the sequence."""
    sequence = torch.rand(length, 64, device="cuda")
    for _ in range(steps):
        state = torch.zeros(64, device="cuda")
        for x in sequence:
            state = torch.tanh(0.9 * state + x)


def item(steps):
    model = Model().cuda()
    optimizer = torch.optim.AdamW(model.parameters())
    x = torch.rand(256, model.width, device="cuda")
    total = 0.0
    for _ in range(steps):
        loss = train_step(model, optimizer, x)
        total += loss.item()


def fragments(steps):
    """A cache that grows by concatenation: no block that it has left is large enough for the next one."""
    cache = torch.empty(0, 1024, device="cuda")
    for _ in range(steps):
        entry = torch.rand(256, 1024, device="cuda")
        cache = torch.cat([cache, entry])
        time.sleep(0.1)


if __name__ == "__main__":
    story = {f.__name__: f for f in (leak, graphs, starve, tiny, item, fragments)}[sys.argv[1]]
    story(int(sys.argv[2]) if len(sys.argv) > 2 else 1000000)
