/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Textures of an array, nearest and linear, and of plain memory; a surface that is written. */
#include "gpu.h"

/* the older copies, of several whole rows */
#pragma nv_diag_suppress 1444
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

enum { W = 23, H = 17 };

__global__ void texture_read(cudaTextureObject_t nearest, cudaTextureObject_t linear, cudaTextureObject_t memory,
			     float *out, float *between, int *ints)
{
	int x = threadIdx.x, y = blockIdx.x;

	out[y * W + x] = tex2D<float>(nearest, x + .5f, y + .5f);
	between[y * W + x] = tex2D<float>(linear, x + 1.f, y + .5f);
	ints[y * W + x] = tex1Dfetch<int>(memory, y * W + x);
}

__global__ void surface_write(cudaSurfaceObject_t surface)
{
	int x = threadIdx.x, y = blockIdx.x;

	surf2Dwrite(x * 1000.f + y, surface, x * (int)sizeof(float), y);
}

static cudaTextureObject_t object(const cudaResourceDesc *from, cudaTextureFilterMode filter)
{
	cudaTextureObject_t t;
	cudaTextureDesc how = {};

	how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
	how.filterMode = filter;
	TRY(cudaCreateTextureObject(&t, from, &how, NULL));
	return t;
}

void gpu_texture(struct results *r)
{
	static float texels[H][W], out[H][W], between[H][W];
	static int ints[H][W], got[H][W];
	cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
	cudaResourceDesc from = {}, plain = {};
	cudaSurfaceObject_t surface;
	cudaArray_t array;

	for (int i = 0; i < W * H; i++) {
		texels[i / W][i % W] = i * 2.f;
		ints[i / W][i % W] = -i * 3;
	}
	TRY(cudaMallocArray(&array, &format, W, H, cudaArraySurfaceLoadStore));
	TRY(cudaMemcpy2DToArray(array, 0, 0, texels, sizeof(texels[0]), sizeof(texels[0]), H,
				cudaMemcpyHostToDevice));
	int *dints = device(ints[0], W * H), *dgot = device<int>(NULL, W * H);
	float *dout = device<float>(NULL, W * H), *dbetween = device<float>(NULL, W * H);
	from.resType = cudaResourceTypeArray;
	from.res.array.array = array;
	plain.resType = cudaResourceTypeLinear;
	plain.res.linear.devPtr = dints;
	plain.res.linear.desc = cudaCreateChannelDesc<int>();
	plain.res.linear.sizeInBytes = sizeof(ints);
	cudaTextureObject_t nearest = object(&from, cudaFilterModePoint);
	cudaTextureObject_t linear = object(&from, cudaFilterModeLinear);
	cudaTextureObject_t memory = object(&plain, cudaFilterModePoint);
	texture_read<<<H, W>>>(nearest, linear, memory, dout, dbetween, dgot);
	fetch(out[0], dout, W * H);
	fetch(between[0], dbetween, W * H);
	fetch(got[0], dgot, W * H);
	for (int y = 0; y < H; y++)
		for (int x = 0; x < W; x++) {
			float next = texels[y][x + 1 < W ? x + 1 : x];

			r->add(out[y][x] == texels[y][x]);
			r->add(between[y][x] == (texels[y][x] + next) / 2);
			r->add(got[y][x] == ints[y][x]);
		}
	TRY(cudaCreateSurfaceObject(&surface, &from));
	surface_write<<<H, W>>>(surface);
	TRY(cudaMemcpyFromArray(out, array, 0, 0, sizeof(out), cudaMemcpyDeviceToHost));
	for (int y = 0; y < H; y++)
		for (int x = 0; x < W; x++)
			r->add(out[y][x] == x * 1000.f + y);
	for (cudaTextureObject_t t : { nearest, linear, memory })
		TRY(cudaDestroyTextureObject(t));
	TRY(cudaDestroySurfaceObject(surface));
	TRY(cudaFreeArray(array));
	TRY(cudaFree(dints));
}
