/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* A matrix transposed by tiles in shared memory, whose sides are no multiples of a tile's. */
#include "gpu.h"

enum { TILE = 16 };

__global__ void transpose(const int *in, int *out, int width, int height)
{
	__shared__ int tile[TILE][TILE + 1];
	int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;

	if (x < width && y < height)
		tile[threadIdx.y][threadIdx.x] = in[y * width + x];
	__syncthreads();
	x = blockIdx.y * TILE + threadIdx.x;
	y = blockIdx.x * TILE + threadIdx.y;
	if (x < height && y < width)
		out[y * height + x] = tile[threadIdx.x][threadIdx.y];
}

void gpu_transpose(struct results *r)
{
	enum { W = 67, H = 53 };
	static int in[H][W], out[W][H];

	for (int i = 0; i < H * W; i++)
		in[i / W][i % W] = i * 31;
	int *din = device(in[0], W * H), *dout = device<int>(NULL, W * H);
	dim3 grid((W + TILE - 1) / TILE, (H + TILE - 1) / TILE), block(TILE, TILE);
	transpose<<<grid, block>>>(din, dout, W, H);
	fetch(out[0], dout, W * H);
	TRY(cudaFree(din));
	for (int y = 0; y < H; y++)
		for (int x = 0; x < W; x++)
			r->add(out[x][y] == in[y][x]);
}
