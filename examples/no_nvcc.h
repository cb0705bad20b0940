/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What nvcc makes of kernels, for a compiler that is not nvcc: functions that are registered with the runtime when
 * the program starts, with an image that is PTX text.  Only the simulated CUDA can be linked so; its kernels do nothing
 * but with SIM_KERNELS=1. */
#ifndef EXAMPLES_NO_NVCC_H
#define EXAMPLES_NO_NVCC_H

#include "../tests/sim/sim_cuda.h"

/* that header is C */
#define dim3(x, y, z) (dim3 { x, y, z })
#define __global__
static const struct dim3 blockIdx = {}, threadIdx = {}, blockDim = { 1, 1, 1 };

struct kernel {
	const void *function;
	const char *name;
};

extern "C" {
void **__cudaRegisterFatBinary(void *);
void __cudaRegisterFatBinaryEnd(void **);
void __cudaRegisterFunction(void **, const char *, char *, const char *, int, void *, void *, void *, void *, int *);
}

struct registration {
	registration(const kernel *k, int count, const char *image)
	{
		static struct { int magic, version; const void *data; void *name; } binary = {
			0x466243b1, 1, image, nullptr
		};
		void **handle = __cudaRegisterFatBinary(&binary);

		for (; count--; k++)
			__cudaRegisterFunction(handle, (const char *)k->function, nullptr, k->name, -1, nullptr,
					       nullptr, nullptr, nullptr, nullptr);
		__cudaRegisterFatBinaryEnd(handle);
	}
};

#endif
