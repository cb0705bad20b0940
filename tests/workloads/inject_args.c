/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* inject: functions with arguments on the stack.  What the simulated CUDA got is in SIM_TRACE. */
#include <stdio.h>
#include <string.h>

#include "inject.h"
#include "cuda_api.h"

enum { W = 7, H = 5, PITCH = 512 };

static void kernel(void)
{
	__asm__ volatile("");
}

/* 8 words, the last of them on the stack */
static void copy_2d(char *device)
{
	char there[H * 16], back[H * W];
	int i;

	for (i = 0; i < H * 16; i++)
		there[i] = (char)i;
	memset(back, 0, sizeof(back));
	inject_must(!cudaMemcpy2DAsync(device, PITCH, there, 16, W, H, cudaMemcpyHostToDevice, NULL), "to the device");
	inject_must(!cudaMemcpy2DAsync(back, W, device, PITCH, W, H, cudaMemcpyDeviceToHost, NULL), "from the device");
	cudaDeviceSynchronize();
	for (i = 0; i < H; i++)
		inject_must(!memcmp(back + i * W, there + i * 16, W), "what was copied is not what is there");
}

/* 32 and 24 bytes by value */
static void set_3d(char *device)
{
	const struct cudaPitchedPtr where = { device, PITCH, W, H };
	const struct cudaExtent extent = { W, H, 1 };
	char back[H * W];
	int i;

	inject_must(!cudaMemset3D(where, 0x5a, extent), "cudaMemset3D failed");
	inject_must(!cudaMemcpy2D(back, W, device, PITCH, W, H, cudaMemcpyDeviceToHost), "from the device");
	for (i = 0; i < W * H; i++)
		inject_must(back[i] == 0x5a, "what was set is not what is there");
}

static void copy_3d(char *device)
{
	char there[H * W], back[H * W];
	struct cudaMemcpy3DParms p = {
		.srcPtr = { there, W, W, H }, .dstPtr = { device, PITCH, W, H },
		.extent = { W, H, 1 }, .kind = cudaMemcpyHostToDevice,
	};
	unsigned i;

	for (i = 0; i < sizeof(there); i++)
		there[i] = (char)(i * 3);
	inject_must(!cudaMemcpy3D(&p), "cudaMemcpy3D failed");
	inject_must(!cudaMemcpy2D(back, W, device, PITCH, W, H, cudaMemcpyDeviceToHost), "from the device");
	inject_must(!memcmp(there, back, sizeof(back)), "what was copied is not what is there");
}

int part_args(int argc, char **argv)
{
	const dim3 grid = { 3, 5, 7 }, block = { 11, 13, 2 };
	void *args[] = { NULL }, *device = NULL;
	int n = inject_count(argc, argv), i;
	size_t pitch;

	for (i = 0; i < n; i++) {
		inject_must(!cudaMallocPitch(&device, &pitch, W, H) && pitch == PITCH, "cudaMallocPitch failed");
		copy_2d(device);
		set_3d(device);
		copy_3d(device);
		/* no kernel that was registered, which is what it must say */
		inject_must(cudaLaunchKernel((const void *)kernel, grid, block, args, 17, NULL) == cudaErrorInvalidDeviceFunction,
			   "cudaLaunchKernel of nothing");
		/* 11 words */
		inject_must(cuLaunchKernel(NULL, 3, 5, 7, 11, 13, 2, 19, NULL, args, NULL) != CUDA_SUCCESS,
			   "cuLaunchKernel of nothing");
	}
	puts("right");
	return 0;
}
