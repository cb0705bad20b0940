# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""tinygrad's kernels, by the driver: a product and a sum."""
from tinygrad import Tensor

(Tensor.ones(1000, device="CUDA").contiguous() * 2).sum().realize()
