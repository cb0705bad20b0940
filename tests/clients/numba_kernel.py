# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""A kernel of Numba's, 13 launches, between arrays of 8,000 bytes."""
import numpy
from numba import cuda


@cuda.jit
def add_in_numba(x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = x[i] + 1


x = cuda.to_device(numpy.ones(1000))
y = cuda.device_array_like(x)
for _ in range(13):
    add_in_numba[4, 256](x, y)
cuda.synchronize()
