# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""A kernel of Triton's, 7 launches: it is compiled when it is launched first, and loaded by the driver."""
import torch
import triton
import triton.language as tl


@triton.jit
def twice_in_triton(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i, mask=i < n) * 2, mask=i < n)


x = torch.ones(1000, device="cuda")
for _ in range(7):
    twice_in_triton[(4,)](x, torch.empty_like(x), 1000, BLOCK=256)
