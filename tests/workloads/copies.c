/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* copies N: calls every copying function of the simulation N times, and those that it has not,
 * which are defined here, and then every memset.  Prints what that makes, a line a direction:
 * direction, async, count, bytes.
 * copies 0 PIECES: one batch of so many pieces of one byte.
 */
#include <stdio.h>
#include <stdlib.h>

#ifndef SIM_OWN_HEADERS
#define SIM_OWN_HEADERS
#endif
#include "cuda_api.h"

/* noipa: the caller is not to know that they read nothing */
#define KEPT __attribute__((noipa, visibility("default")))

enum { HTOD, DTOH, DTOD, HTOH, PTOP, DEFAULT, SET };
static const char *const names[] = { "HtoD", "DtoH", "DtoD", "HtoH", "PtoP", "default", "memset" };
static unsigned long count[7][2], bytes[7][2];
static int n;

#define COPY(dir, async, size, name, ...) do {						\
	for (int i_ = 0; i_ < n; i_++)							\
		if ((int)name(__VA_ARGS__))						\
			fprintf(stderr, "copies: " #name " fails\n");			\
	count[dir][async] += n;								\
	bytes[dir][async] += n * (size);						\
} while (0)
#define SYNC(dir, size, name, ...) do {							\
	extern __typeof__(name) name##_ptds;						\
	COPY(dir, 0, size, name, __VA_ARGS__);						\
	COPY(dir, 0, size, name##_ptds, __VA_ARGS__);					\
} while (0)
#define ASYNC(dir, size, name, ...) do {						\
	extern __typeof__(name) name##_ptsz;						\
	COPY(dir, 1, size, name, __VA_ARGS__);						\
	COPY(dir, 1, size, name##_ptsz, __VA_ARGS__);					\
} while (0)

/* As CUDA 13 has them. */
struct op { char src[40], dst[40]; size_t width, height, depth; unsigned order, flags; };

KEPT int cudaMemcpyBatchAsync(void *const *dst, const void *const *src, const size_t *sizes,
			      size_t pieces, void *attrs, size_t *idxs, size_t nattrs,
			      cudaStream_t s)
{
	(void)dst, (void)src, (void)sizes, (void)pieces, (void)attrs, (void)idxs, (void)nattrs;
	(void)s;
	return 0;
}

KEPT int cudaMemcpy3DBatchAsync(size_t pieces, struct op *ops, unsigned long long flags,
				cudaStream_t s)
{
	(void)pieces, (void)ops, (void)flags, (void)s;
	return 0;
}

/* The driver's call tells the direction. */
KEPT int cudaMemcpyWithAttributesAsync(void *dst, const void *src, size_t size, void *attr,
				       cudaStream_t s)
{
	(void)attr;
	return cuMemcpyHtoDAsync_v2((CUdeviceptr)dst, src, size, s);
}

KEPT int cuMemcpyBatchAsync_v2(CUdeviceptr *dst, CUdeviceptr *src, size_t *sizes, size_t pieces,
			       void *attrs, size_t *idxs, size_t nattrs, CUstream s)
{
	(void)dst, (void)src, (void)sizes, (void)pieces, (void)attrs, (void)idxs, (void)nattrs;
	(void)s;
	return 0;
}

static char shadow[64], host[1 << 16], host2[1 << 16];

static void register_symbol(void)
{
	extern void **__cudaRegisterFatBinary(void *);
	extern void __cudaRegisterFatBinaryEnd(void **);
	extern void __cudaRegisterVar(void **, char *, char *, const char *, int, size_t, int, int);
	static const unsigned long long image[8] = { 0xba55ed50 };
	static struct { int magic, version; const void *data; void *name; } wrapper = {
		0x466243b1, 1, image, NULL };
	void **h = __cudaRegisterFatBinary(&wrapper);

	__cudaRegisterVar(h, shadow, (char *)"shadow", "shadow", 0, sizeof(shadow), 0, 0);
	__cudaRegisterFatBinaryEnd(h);
}

static void runtime(void *d, void *d2, cudaArray_t a, cudaArray_t b)
{
	struct cudaMemcpy3DParms box = {
		.srcPtr = { host, 64, 64, 8 }, .dstPtr = { d, 64, 64, 8 },
		.extent = { 50, 5, 3 }, .kind = cudaMemcpyHostToDevice,
	}, boxa = {
		.srcPtr = { host, 256, 256, 8 }, .dstArray = a, .extent = { 50, 5, 1 },
		.kind = cudaMemcpyHostToDevice,
	}, boxd = box;
	struct cudaMemcpy3DPeerParms peers = {
		.srcPtr = { d2, 64, 64, 8 }, .dstPtr = { d, 64, 64, 8 }, .extent = { 7, 5, 3 },
		.dstDevice = 1,
	};

	boxd.kind = cudaMemcpyDefault;
	SYNC(HTOD, 101ul, cudaMemcpy, d, host, 101, cudaMemcpyHostToDevice);
	SYNC(DTOH, 102ul, cudaMemcpy, host, d, 102, cudaMemcpyDeviceToHost);
	SYNC(DTOD, 103ul, cudaMemcpy, d2, d, 103, cudaMemcpyDeviceToDevice);
	SYNC(HTOH, 104ul, cudaMemcpy, host2, host, 104, cudaMemcpyHostToHost);
	SYNC(DEFAULT, 105ul, cudaMemcpy, host, d, 105, cudaMemcpyDefault);
	ASYNC(HTOD, 101ul, cudaMemcpyAsync, d, host, 101, cudaMemcpyHostToDevice, NULL);
	ASYNC(DTOH, 102ul, cudaMemcpyAsync, host, d, 102, cudaMemcpyDeviceToHost, NULL);
	ASYNC(DTOD, 103ul, cudaMemcpyAsync, d2, d, 103, cudaMemcpyDeviceToDevice, NULL);
	ASYNC(HTOH, 104ul, cudaMemcpyAsync, host2, host, 104, cudaMemcpyHostToHost, NULL);
	ASYNC(DEFAULT, 105ul, cudaMemcpyAsync, host, d, 105, cudaMemcpyDefault, NULL);
	COPY(PTOP, 0, 106ul, cudaMemcpyPeer, d, 1, d2, 0, 106);
	COPY(PTOP, 1, 106ul, cudaMemcpyPeerAsync, d, 1, d2, 0, 106, NULL);
	SYNC(HTOD, 31ul, cudaMemcpyToSymbol, shadow, host, 31, 0, cudaMemcpyHostToDevice);
	SYNC(DTOH, 32ul, cudaMemcpyFromSymbol, host, shadow, 32, 0, cudaMemcpyDeviceToHost);
	ASYNC(HTOD, 31ul, cudaMemcpyToSymbolAsync, shadow, host, 31, 0, cudaMemcpyHostToDevice, NULL);
	ASYNC(DTOH, 32ul, cudaMemcpyFromSymbolAsync, host, shadow, 32, 0, cudaMemcpyDeviceToHost,
	      NULL);
	SYNC(HTOD, 107ul, cudaMemcpyToArray, a, 0, 0, host, 107, cudaMemcpyHostToDevice);
	SYNC(DTOH, 108ul, cudaMemcpyFromArray, host, a, 0, 0, 108, cudaMemcpyDeviceToHost);
	ASYNC(HTOD, 107ul, cudaMemcpyToArrayAsync, a, 0, 0, host, 107, cudaMemcpyHostToDevice, NULL);
	ASYNC(DTOH, 108ul, cudaMemcpyFromArrayAsync, host, a, 0, 0, 108, cudaMemcpyDeviceToHost, NULL);
	SYNC(DTOD, 109ul, cudaMemcpyArrayToArray, b, 0, 0, a, 0, 0, 109, cudaMemcpyDeviceToDevice);
	SYNC(HTOD, 60ul * 11, cudaMemcpy2D, d, 64, host, 64, 60, 11, cudaMemcpyHostToDevice);
	ASYNC(DTOH, 60ul * 11, cudaMemcpy2DAsync, host, 64, d, 64, 60, 11, cudaMemcpyDeviceToHost,
	      NULL);
	SYNC(HTOD, 60ul * 7, cudaMemcpy2DToArray, a, 0, 0, host, 64, 60, 7, cudaMemcpyHostToDevice);
	SYNC(DTOH, 60ul * 7, cudaMemcpy2DFromArray, host, 64, a, 0, 0, 60, 7, cudaMemcpyDeviceToHost);
	ASYNC(HTOD, 60ul * 7, cudaMemcpy2DToArrayAsync, a, 0, 0, host, 64, 60, 7,
	      cudaMemcpyHostToDevice, NULL);
	ASYNC(DTOH, 60ul * 7, cudaMemcpy2DFromArrayAsync, host, 64, a, 0, 0, 60, 7,
	      cudaMemcpyDeviceToHost, NULL);
	SYNC(DTOD, 60ul * 7, cudaMemcpy2DArrayToArray, b, 0, 0, a, 0, 0, 60, 7,
	     cudaMemcpyDeviceToDevice);
	SYNC(HTOD, 50ul * 5 * 3, cudaMemcpy3D, &box);
	ASYNC(HTOD, 50ul * 5 * 3, cudaMemcpy3DAsync, &box, NULL);
	/* in elements of 4 bytes, as an array takes part: the driver's call has bytes */
	SYNC(HTOD, 4ul * 50 * 5, cudaMemcpy3D, &boxa);
	ASYNC(HTOD, 4ul * 50 * 5, cudaMemcpy3DAsync, &boxa, NULL);
	ASYNC(DEFAULT, 50ul * 5 * 3, cudaMemcpy3DAsync, &boxd, NULL);
	SYNC(PTOP, 7ul * 5 * 3, cudaMemcpy3DPeer, &peers);
	ASYNC(PTOP, 7ul * 5 * 3, cudaMemcpy3DPeerAsync, &peers, NULL);
}

static void batches(void *d)
{
	void *to[3] = { d, d, d };
	const void *from[3] = { host, host, host };
	size_t sizes[3] = { 1000, 200, 30 };
	struct op ops[3] = { { .width = 100, .height = 10, .depth = 1 },
			     { .width = 50, .height = 2, .depth = 2 },
			     { .width = 7, .height = 1, .depth = 1 } };

	COPY(DEFAULT, 1, 1230ul, cudaMemcpyBatchAsync, to, from, sizes, 3, NULL, NULL, 0, NULL);
	COPY(DEFAULT, 1, 1207ul, cudaMemcpy3DBatchAsync, 3, ops, 0, NULL);
	COPY(HTOD, 1, 211ul, cudaMemcpyWithAttributesAsync, d, host, 211, NULL, NULL);
	COPY(DEFAULT, 1, 1230ul, cuMemcpyBatchAsync_v2, (CUdeviceptr *)to, (CUdeviceptr *)from, sizes,
	     3, NULL, NULL, 0, NULL);
}

static void driver(CUdeviceptr d, CUdeviceptr d2, CUarray a, CUarray b)
{
	CUDA_MEMCPY2D rect = {
		.srcMemoryType = CU_MEMORYTYPE_DEVICE, .srcDevice = d, .srcPitch = 64,
		.dstMemoryType = CU_MEMORYTYPE_HOST, .dstHost = host, .dstPitch = 64,
		.WidthInBytes = 61, .Height = 13,
	};
	CUDA_MEMCPY3D box = {
		.srcMemoryType = CU_MEMORYTYPE_HOST, .srcHost = host, .srcPitch = 64, .srcHeight = 8,
		.dstMemoryType = CU_MEMORYTYPE_DEVICE, .dstDevice = d, .dstPitch = 64, .dstHeight = 8,
		.WidthInBytes = 17, .Height = 5, .Depth = 3,
	};
	CUDA_MEMCPY3D_PEER peers = {
		.srcMemoryType = CU_MEMORYTYPE_DEVICE, .srcDevice = d, .srcPitch = 64, .srcHeight = 8,
		.dstMemoryType = CU_MEMORYTYPE_DEVICE, .dstDevice = d2, .dstPitch = 64, .dstHeight = 8,
		.WidthInBytes = 19, .Height = 5, .Depth = 3,
	};
	CUcontext ctx = NULL;

	cuCtxGetCurrent(&ctx);
	peers.srcContext = peers.dstContext = ctx;
	SYNC(DEFAULT, 201ul, cuMemcpy, d, d2, 201);
	ASYNC(DEFAULT, 201ul, cuMemcpyAsync, d, d2, 201, NULL);
	SYNC(PTOP, 202ul, cuMemcpyPeer, d, ctx, d2, ctx, 202);
	ASYNC(PTOP, 202ul, cuMemcpyPeerAsync, d, ctx, d2, ctx, 202, NULL);
	SYNC(HTOD, 203ul, cuMemcpyHtoD_v2, d, host, 203);
	ASYNC(HTOD, 203ul, cuMemcpyHtoDAsync_v2, d, host, 203, NULL);
	SYNC(DTOH, 204ul, cuMemcpyDtoH_v2, host, d, 204);
	ASYNC(DTOH, 204ul, cuMemcpyDtoHAsync_v2, host, d, 204, NULL);
	SYNC(DTOD, 205ul, cuMemcpyDtoD_v2, d, d2, 205);
	ASYNC(DTOD, 205ul, cuMemcpyDtoDAsync_v2, d, d2, 205, NULL);
	SYNC(DTOD, 206ul, cuMemcpyDtoA_v2, a, 0, d, 206);
	SYNC(DTOD, 206ul, cuMemcpyAtoD_v2, d, a, 0, 206);
	SYNC(HTOD, 207ul, cuMemcpyHtoA_v2, a, 0, host, 207);
	ASYNC(HTOD, 207ul, cuMemcpyHtoAAsync_v2, a, 0, host, 207, NULL);
	SYNC(DTOH, 208ul, cuMemcpyAtoH_v2, host, a, 0, 208);
	ASYNC(DTOH, 208ul, cuMemcpyAtoHAsync_v2, host, a, 0, 208, NULL);
	SYNC(DTOD, 209ul, cuMemcpyAtoA_v2, a, 0, b, 0, 209);
	SYNC(DTOH, 61ul * 13, cuMemcpy2D_v2, &rect);
	SYNC(DTOH, 61ul * 13, cuMemcpy2DUnaligned_v2, &rect);
	ASYNC(DTOH, 61ul * 13, cuMemcpy2DAsync_v2, &rect, NULL);
	SYNC(HTOD, 17ul * 5 * 3, cuMemcpy3D_v2, &box);
	ASYNC(HTOD, 17ul * 5 * 3, cuMemcpy3DAsync_v2, &box, NULL);
	SYNC(PTOP, 19ul * 5 * 3, cuMemcpy3DPeer, &peers);
	ASYNC(PTOP, 19ul * 5 * 3, cuMemcpy3DPeerAsync, &peers, NULL);
}

static void sets(void *p)
{
	struct cudaPitchedPtr box = { p, 64, 64, 8 };
	struct cudaExtent extent = { 33, 5, 3 };
	CUdeviceptr d = (CUdeviceptr)p;

	SYNC(SET, 301ul, cudaMemset, p, 1, 301);
	ASYNC(SET, 301ul, cudaMemsetAsync, p, 1, 301, NULL);
	SYNC(SET, 31ul * 7, cudaMemset2D, p, 64, 1, 31, 7);
	ASYNC(SET, 31ul * 7, cudaMemset2DAsync, p, 64, 1, 31, 7, NULL);
	SYNC(SET, 33ul * 5 * 3, cudaMemset3D, box, 1, extent);
	ASYNC(SET, 33ul * 5 * 3, cudaMemset3DAsync, box, 1, extent, NULL);
	SYNC(SET, 302ul, cuMemsetD8_v2, d, 1, 302);
	ASYNC(SET, 302ul, cuMemsetD8Async, d, 1, 302, NULL);
	SYNC(SET, 2ul * 303, cuMemsetD16_v2, d, 1, 303);
	ASYNC(SET, 2ul * 303, cuMemsetD16Async, d, 1, 303, NULL);
	SYNC(SET, 4ul * 304, cuMemsetD32_v2, d, 1, 304);
	ASYNC(SET, 4ul * 304, cuMemsetD32Async, d, 1, 304, NULL);
	SYNC(SET, 15ul * 7, cuMemsetD2D8_v2, d, 64, 1, 15, 7);
	ASYNC(SET, 15ul * 7, cuMemsetD2D8Async, d, 64, 1, 15, 7, NULL);
	SYNC(SET, 2ul * 15 * 7, cuMemsetD2D16_v2, d, 64, 1, 15, 7);
	ASYNC(SET, 2ul * 15 * 7, cuMemsetD2D16Async, d, 64, 1, 15, 7, NULL);
	SYNC(SET, 4ul * 15 * 7, cuMemsetD2D32_v2, d, 64, 1, 15, 7);
	ASYNC(SET, 4ul * 15 * 7, cuMemsetD2D32Async, d, 64, 1, 15, 7, NULL);
}

static int batch(size_t pieces)
{
	size_t *sizes = calloc(pieces, sizeof(*sizes));
	void **at = calloc(pieces, sizeof(*at));

	for (size_t i = 0; i < pieces; i++)
		sizes[i] = 1;
	cudaFree(NULL);
	return cudaMemcpyBatchAsync(at, (const void *const *)at, sizes, pieces, NULL, NULL, 0, NULL);
}

int main(int argc, char **argv)
{
	const struct cudaChannelFormatDesc desc = { 32, 0, 0, 0, cudaChannelFormatKindFloat };
	cudaArray_t a, b;
	void *d, *d2;

	n = argc > 1 ? atoi(argv[1]) : 1;
	if (argc > 2)
		return batch(atoi(argv[2]));
	register_symbol();
	if (cudaMalloc(&d, 1 << 16) || cudaMalloc(&d2, 1 << 16) ||
	    cudaMallocArray(&a, &desc, 128, 64, 0) || cudaMallocArray(&b, &desc, 128, 64, 0))
		return 1;
	runtime(d, d2, a, b);
	batches(d);
	driver((CUdeviceptr)d, (CUdeviceptr)d2, (CUarray)a, (CUarray)b);
	sets(d);
	for (int dir = 0; dir <= SET; dir++)
		for (int async = 0; async < 2; async++)
			printf("%s %s %lu %lu\n", names[dir], async ? "true" : "false",
			       count[dir][async], bytes[dir][async]);
	return 0;
}
