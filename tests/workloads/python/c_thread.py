# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""A thread made in C frees NULL: Python has no frames there."""
import ctypes
import os

cudart = ctypes.CDLL(os.environ.get("CUDA_LIB", "/cuda") + "/libcudart.so.13")
c = ctypes.CDLL(None)
thread = ctypes.c_ulong()
c.pthread_create(ctypes.byref(thread), None, cudart.cudaFree, None)
c.pthread_join(thread, None)
