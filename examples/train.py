#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""train.py [STEPS]: what train does, in Python.  Each step appends a loss, which stays on the device, to a list that
only grows, and asks for more memory than there is without looking at the result.

It calls CUDA by ctypes, on this machine's GPU or else on the simulated CUDA that 'make examples' builds."""
import ctypes
import os
import sys

MIB = 1024 * 1024
HOST_TO_DEVICE, DEVICE_TO_HOST = 1, 2

ADD = b"""//
.version 6.3
.target sm_75
.address_size 64
.visible .entry add(.param .u64 sum, .param .u64 values)
{
	.reg .u32 %i;
	.reg .u64 %s, %v, %at;
	.reg .f32 %a, %b;

	ld.param.u64 %s, [sum];
	ld.param.u64 %v, [values];
	mov.u32 %i, %tid.x;
	mul.wide.u32 %at, %i, 4;
	add.u64 %s, %s, %at;
	add.u64 %v, %v, %at;
	ld.global.f32 %a, [%s];
	ld.global.f32 %b, [%v];
	add.f32 %a, %a, %b;
	st.global.f32 [%s], %a;
	ret;
}
"""


def libraries():
    """The runtime and the driver: the machine's, if they find a device, or the simulated ones."""
    simulated = os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "tests", "lib", "")
    os.environ.setdefault("SIM_LATENCY_US", "cuCtxSynchronize=20000")
    for where, version in ("", 13), ("", 12), (simulated, 13):
        try:
            runtime = ctypes.CDLL(f"{where}libcudart.so.{version}")
            driver = ctypes.CDLL(f"{where}libcuda.so.1")
        except OSError:
            continue
        if runtime.cudaGetDeviceCount(ctypes.byref(ctypes.c_int())) == 0:
            return runtime, driver
    sys.exit("train.py: no CUDA here that has a device: run 'make examples'")


class Cuda:
    def __init__(self):
        self.runtime, self.driver = libraries()
        self.runtime.cudaMemcpy.argtypes = ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int
        self.runtime.cudaMemset.argtypes = ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t
        self.runtime.cudaMalloc.argtypes = ctypes.c_void_p, ctypes.c_size_t
        self.runtime.cudaFree.argtypes = [ctypes.c_void_p]

    def malloc(self, size):
        memory = ctypes.c_void_p()
        self.runtime.cudaMalloc(ctypes.byref(memory), size)
        return memory

    def kernel(self, image, name):
        """A kernel of PTX, as Triton, CuPy and NVRTC load theirs."""
        module, function = ctypes.c_void_p(), ctypes.c_void_p()
        self.driver.cuModuleLoadData(ctypes.byref(module), image)
        self.driver.cuModuleGetFunction(ctypes.byref(function), module, name)
        return function

    def launch(self, function, grid, block, *args):
        pointers = (ctypes.c_void_p * len(args))(*(ctypes.addressof(a) for a in args))
        self.driver.cuLaunchKernel(function, *grid, *block, 0, None, pointers, None)


class Model:
    def __init__(self, cuda):
        self.cuda = cuda
        self.weights = cuda.malloc(64 * MIB)
        self.staging = ctypes.create_string_buffer(MIB)
        self.add = cuda.kernel(ADD, b"add")

    def load_batch(self, batch):
        self.cuda.runtime.cudaMemcpy(batch, self.staging, MIB, HOST_TO_DEVICE)

    def forward(self):
        batch = self.cuda.malloc(MIB)
        self.cuda.runtime.cudaMemset(batch, 0, MIB)
        self.load_batch(batch)
        for _ in range(3):
            self.cuda.launch(self.add, (1, 1, 1), (1024, 1, 1), batch, self.weights)
        loss = self.cuda.malloc(4096)
        self.cuda.runtime.cudaFree(batch)
        return loss


class Trainer:
    def __init__(self):
        self.cuda = Cuda()
        self.model = Model(self.cuda)
        self.losses = []

    def grow_batch(self):
        self.cuda.malloc(MIB << 30)

    def step(self):
        self.losses.append(self.model.forward())
        self.grow_batch()
        self.cuda.runtime.cudaDeviceSynchronize()

    def run(self, steps):
        for _ in range(steps):
            self.step()
        self.cuda.runtime.cudaFree(self.model.weights)


if __name__ == "__main__":
    Trainer().run(int(sys.argv[1]) if len(sys.argv) > 1 else 10)
