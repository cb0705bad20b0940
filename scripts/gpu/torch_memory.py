# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
# Allocates, frees, fails to allocate, and prints what PyTorch's allocator counted.
import os, sys
import torch
print("c10", os.path.join(os.path.dirname(torch.__file__), "lib", "libc10_cuda.so"))
print("version", torch.__version__, torch.version.cuda)
keep = [torch.empty(n << 20, dtype=torch.uint8, device="cuda") for n in (3, 5, 7, 11, 13, 17, 19, 23)]
del keep[::2]
torch.cuda.empty_cache()
try:
    torch.empty(1 << 50, dtype=torch.uint8, device="cuda")
except RuntimeError as e:
    print("refused", type(e).__name__)
s = torch.cuda.memory_stats()
print("stats", s.get("num_device_alloc", -1), s.get("num_device_free", -1),
      s["reserved_bytes.all.allocated"], s["num_ooms"])
sys.stdout.flush()
os._exit(0)
