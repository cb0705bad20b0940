# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""llama.cpp's CUDA backend, as llama-cpp-cffi has it, called by ctypes, without a model: a tensor of 1000 floats is
copied to the device twice, and added to the other seven times."""
import ctypes
import glob
import os
import sysconfig

packages = sysconfig.get_paths()['platlib']
ggml = ctypes.CDLL(glob.glob(os.path.join(packages, 'llama/_llama_cpp_cuda*.so'))[0])


class Params(ctypes.Structure):
    """struct ggml_init_params"""
    _fields_ = [('mem_size', ctypes.c_size_t), ('mem_buffer', ctypes.c_void_p), ('no_alloc', ctypes.c_bool)]


def call(name, *args):
    """A function that returns a pointer or a number"""
    function = getattr(ggml, name)
    function.restype = ctypes.c_void_p
    return function(*(ctypes.c_void_p(a) if isinstance(a, int) else a for a in args))


context = call('ggml_init', Params(1 << 24, None, True))
one, other = (call('ggml_new_tensor_1d', context, 0, 1000) for _ in range(2))
graph = call('ggml_new_graph', context)
call('ggml_build_forward_expand', graph, call('ggml_add', context, one, other))
backend = call('ggml_backend_cuda_init', 0)
call('ggml_backend_alloc_ctx_tensors', context, backend)
for tensor in one, other:
    call('ggml_backend_tensor_set', tensor, (ctypes.c_float * 1000)(), 0, 4000)
for _ in range(7):
    call('ggml_backend_graph_compute', backend, graph)
