# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""A kernel compiled by NVRTC and launched 11 times by cuda-python's driver functions."""
import ctypes

from cuda.bindings import driver, nvrtc

SOURCE = b'extern "C" __global__ void from_nvrtc(float *x, int n) { x[threadIdx.x] = n; }'


def done(result):
    assert int(result[0]) == 0, result
    return result[1] if len(result) > 1 else None


program = done(nvrtc.nvrtcCreateProgram(SOURCE, b"source.cu", 0, [], []))
done(nvrtc.nvrtcCompileProgram(program, 1, [b"--gpu-architecture=compute_90"]))
ptx = b" " * done(nvrtc.nvrtcGetPTXSize(program))
done(nvrtc.nvrtcGetPTX(program, ptx))
done(driver.cuInit(0))
done(driver.cuCtxSetCurrent(done(driver.cuDevicePrimaryCtxRetain(0))))
function = done(driver.cuModuleGetFunction(done(driver.cuModuleLoadData(ptx)), b"from_nvrtc"))
memory = done(driver.cuMemAlloc(4096))
for _ in range(11):
    done(driver.cuLaunchKernel(function, 4, 1, 1, 256, 1, 1, 0, 0, ((memory, 1000), (None, ctypes.c_int)), 0))
