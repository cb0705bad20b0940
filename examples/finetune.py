#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""finetune.py [STEPS]: trains a model in PyTorch, with the mistakes that docs/pytorch.md finds.

It keeps each step's predictions, copies each sample by itself, waits for each loss, and asks in vain for a buffer
that does not fit.
"""
import sys

import torch
from torch import nn


class Layer(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.bias = nn.Parameter(torch.zeros(width))

    def forward(self, x):
        return torch.relu(x * self.weight + self.bias)


class Trainer:
    def __init__(self, width=1024):
        self.model = nn.Sequential(*[Layer(width) for _ in range(3)]).cuda()
        self.optimizer = torch.optim.AdamW(self.model.parameters())
        self.width = width
        self.predictions = []

    def load(self, samples):
        rows = []
        for sample in samples:
            rows.append(sample.to("cuda"))
        return torch.stack(rows)

    def buffer(self):
        try:
            return torch.empty(1 << 40, dtype=torch.uint8, device="cuda")
        except torch.cuda.OutOfMemoryError:
            return None

    def step(self, samples):
        x = self.load(samples)
        predicted = self.model(x)
        self.predictions.append(predicted.detach())
        loss = (predicted - x).square().mean()
        loss.backward()
        self.optimizer.step()
        self.optimizer.zero_grad()
        return loss.item()

    def run(self, steps):
        self.buffer()
        for _ in range(steps):
            self.step(torch.rand(61, self.width))


if __name__ == "__main__":
    Trainer().run(int(sys.argv[1]) if len(sys.argv) > 1 else 10)
