/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* mem's words for the driver; see mem.c. */
#include <stdlib.h>
#include <string.h>

#include "mem.h"

#define TIMES(n) for (unsigned long long left_ = number(n); left_; left_--)
#define SIZE(text) ((size_t)number(text))
#define KEEP(kind, call, p) do { if (!did((int)(call))) keep(kind, (uintptr_t)(p)); } while (0)

enum { CHUNK = 2 << 20 };

/* The current context, else device 0's primary one, as the runtime would have. */
static void context(void)
{
	CUcontext ctx = NULL;

	DRV(cuInit)(0);
	if (DRV(cuCtxGetCurrent)(&ctx) == CUDA_SUCCESS && ctx)
		return;
	if (DRV(cuDevicePrimaryCtxRetain)(&ctx, 0) == CUDA_SUCCESS)
		DRV(cuCtxSetCurrent)(ctx);
}

static void do_malloc(char **a)
{
	CUdeviceptr p;

	context();
	TIMES(a[0])
		KEEP(DRV_DEVICE, DRV(cuMemAlloc_v2)(&p, SIZE(a[1])), p);
}

static void do_managed(char **a)
{
	CUdeviceptr p;

	context();
	TIMES(a[0])
		KEEP(DRV_DEVICE, DRV(cuMemAllocManaged)(&p, SIZE(a[1]), CU_MEM_ATTACH_GLOBAL), p);
}

static void do_prefetch(char **a)
{
	const CUdeviceptr p = last(DRV_DEVICE);
	CUmemLocation to;

	to.type = CU_MEM_LOCATION_TYPE_DEVICE;
	to.id = (int)number(a[1]);
	TIMES(a[0])
		did((int)DRV(cuMemPrefetchAsync_v2)(p, 4096, to, 0, NULL));
	keep(DRV_DEVICE, p);
}

static void do_pitch(char **a)
{
	CUdeviceptr p;
	size_t pitch;

	context();
	TIMES(a[0])
		KEEP(DRV_DEVICE,
		     DRV(cuMemAllocPitch_v2)(&p, &pitch, SIZE(a[1]), SIZE(a[2]), 4), p);
}

static void do_host(char **a)
{
	void *p;

	context();
	TIMES(a[0])
		KEEP(DRV_HOST, DRV(cuMemHostAlloc)(&p, SIZE(a[1]), 0), p);
}

static void do_array(char **a)
{
	CUDA_ARRAY_DESCRIPTOR desc;
	CUarray p;

	memset(&desc, 0, sizeof(desc));
	desc.Width = SIZE(a[1]);
	desc.Height = SIZE(a[2]);
	desc.Format = CU_AD_FORMAT_FLOAT;
	desc.NumChannels = 1;
	context();
	TIMES(a[0])
		KEEP(DRV_ARRAYS, DRV(cuArrayCreate_v2)(&p, &desc), p);
}

static void do_async(char **a)
{
	CUdeviceptr p;

	context();
	TIMES(a[0])
		KEEP(DRV_STREAM_ORDERED, DRV(cuMemAllocAsync)(&p, SIZE(a[1]), NULL), p);
}

#define FREE(name, kind, call) \
	static void name(char **a) \
	{ \
		context(); \
		TIMES(a[0]) { \
			uintptr_t p = last(kind); \
			\
			if (!p) \
				return; \
			did((int)(call)); \
		} \
	}

FREE(do_free, DRV_DEVICE, DRV(cuMemFree_v2)(p))
FREE(do_hostfree, DRV_HOST, DRV(cuMemFreeHost)((void *)p))
FREE(do_arrayfree, DRV_ARRAYS, DRV(cuArrayDestroy)((CUarray)p))
FREE(do_mipfree, DRV_MIPMAPS, DRV(cuMipmappedArrayDestroy)((CUmipmappedArray)p))
FREE(do_release, HANDLES, DRV(cuMemRelease)(p))
FREE(do_asyncfree, DRV_STREAM_ORDERED, DRV(cuMemFreeAsync)(p, NULL))

static CUmemGenericAllocationHandle *handles;
static size_t num_handles;

static void do_vmm(char **a)
{
	CUmemAllocationProp prop;
	CUmemAccessDesc access;
	CUmemGenericAllocationHandle handle;
	CUdeviceptr p;

	memset(&prop, 0, sizeof(prop));
	memset(&access, 0, sizeof(access));
	prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
	prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
	access.location = prop.location;
	access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
	context();
	TIMES(a[0]) {
		if (did((int)DRV(cuMemAddressReserve)(&p, CHUNK, 0, 0, 0)))
			continue;
		if (did((int)DRV(cuMemCreate)(&handle, CHUNK, &prop, 0)))
			continue;
		if (did((int)DRV(cuMemMap)(p, CHUNK, 0, handle, 0)))
			continue;
		did((int)DRV(cuMemSetAccess)(p, CHUNK, &access, 1));
		keep(MAPPED, p);
		handles = realloc(handles, (num_handles + 1) * sizeof(*handles));
		handles[num_handles++] = handle;
	}
}

static void do_vmmfree(char **a)
{
	context();
	TIMES(a[0]) {
		CUdeviceptr p = last(MAPPED);

		if (!p)
			return;
		did((int)DRV(cuMemUnmap)(p, CHUNK));
		did((int)DRV(cuMemRelease)(handles[--num_handles]));
		did((int)DRV(cuMemAddressFree)(p, CHUNK));
	}
}

static void do_retain(char **a)
{
	CUdeviceptr p = last(MAPPED);
	CUmemGenericAllocationHandle handle;

	if (!p)
		return;
	keep(MAPPED, p);
	TIMES(a[0])
		KEEP(HANDLES, DRV(cuMemRetainAllocationHandle)(&handle, (void *)(uintptr_t)p), handle);
}

static void do_multicast(char **a)
{
	CUmulticastObjectProp prop;
	CUmemGenericAllocationHandle handle;

	memset(&prop, 0, sizeof(prop));
	prop.numDevices = 1;
	prop.size = CHUNK;
	context();
	TIMES(a[0])
		KEEP(HANDLES, DRV(cuMulticastCreate)(&handle, &prop), handle);
}

static void do_drvformat(char **a)
{
	unsigned levels = (unsigned)number(a[7]);
	CUDA_ARRAY3D_DESCRIPTOR desc;
	CUmipmappedArray mipmap;
	CUarray array;

	memset(&desc, 0, sizeof(desc));
	desc.Format = (CUarray_format)number(a[1]);
	desc.NumChannels = (unsigned)number(a[2]);
	desc.Width = SIZE(a[3]);
	desc.Height = SIZE(a[4]);
	desc.Depth = SIZE(a[5]);
	desc.Flags = (unsigned)number(a[6]);
	context();
	TIMES(a[0]) {
		if (levels)
			KEEP(DRV_MIPMAPS, DRV(cuMipmappedArrayCreate)(&mipmap, &desc, levels), mipmap);
		else
			KEEP(DRV_ARRAYS, DRV(cuArray3DCreate_v2)(&array, &desc), array);
	}
}

static CUcontext primary_of(const char *device)
{
	CUcontext ctx = NULL;

	DRV(cuInit)(0);
	did((int)DRV(cuDevicePrimaryCtxRetain)(&ctx, (int)number(device)));
	return ctx;
}

static void do_drvdevice(char **a) { did((int)DRV(cuCtxSetCurrent)(primary_of(a[0]))); }
static void do_ctxpush(char **a) { did((int)DRV(cuCtxPushCurrent_v2)(primary_of(a[0]))); }
static void do_ctxnone(char **a) { (void)a; did((int)DRV(cuCtxSetCurrent)(NULL)); }

static void do_ctxpop(char **a)
{
	CUcontext ctx;

	(void)a;
	did((int)DRV(cuCtxPopCurrent_v2)(&ctx));
}

static void do_ctxon(char **a)
{
	CUcontext ctx;

	DRV(cuInit)(0);
	KEEP(DRV_CONTEXTS, DRV(cuCtxCreate_v4)(&ctx, NULL, 0, (int)number(a[0])), ctx);
}

static void do_drvpeer(char **a)
{
	CUcontext from = primary_of(a[2]), to = primary_of(a[3]);
	CUdeviceptr p[2] = { 0, 0 };
	int i;

	context();
	for (i = 0; i < 2; i++)
		did((int)DRV(cuMemAlloc_v2)(&p[i], SIZE(a[1])));
	TIMES(a[0])
		did((int)DRV(cuMemcpyPeer)(p[0], to, p[1], from, SIZE(a[1])));
	for (i = 0; i < 2; i++)
		did((int)DRV(cuMemFree_v2)(p[i]));
}

static void do_ctxcreate(char **a)
{
	CUcontext ctx;

	(void)a;
	DRV(cuInit)(0);
	KEEP(DRV_CONTEXTS, DRV(cuCtxCreate_v4)(&ctx, NULL, 0, 0), ctx);
}

static void do_ctxdestroy(char **a)
{
	uintptr_t ctx = last(DRV_CONTEXTS);

	(void)a;
	if (ctx)
		did((int)DRV(cuCtxDestroy_v2)((CUcontext)ctx));
}

static void do_reset(char **a)
{
	DRV(cuInit)(0);
	did((int)DRV(cuDevicePrimaryCtxReset_v2)((int)number(a[0])));
}

static void do_sync(char **a)
{
	context();
	TIMES(a[0])
		did((int)DRV(cuCtxSynchronize)());
}

static void do_launch(char **a)
{
	static const char image[] = "//\n.version 9.0\n.target sm_90\n.address_size 64\n"
				    ".visible .entry drv_kernel() { ret; }\n";
	CUmodule module;
	CUfunction f = NULL;

	context();
	if (did((int)DRV(cuModuleLoadData)(&module, image)))
		return;
	if (did((int)DRV(cuModuleGetFunction)(&f, module, "drv_kernel")))
		return;
	TIMES(a[0])
		did((int)DRV(cuLaunchKernel)(f, 7, 1, 1, 64, 1, 1, 0, NULL, NULL, NULL));
}

/* Buffers of its own, made and freed by each word. */
static void do_copy(char **a)
{
	size_t size = SIZE(a[1]);
	char *host = calloc(1, size);
	CUdeviceptr p[2] = { 0, 0 };
	int i;

	context();
	for (i = 0; i < 2; i++)
		did((int)DRV(cuMemAlloc_v2)(&p[i], size));
	TIMES(a[0]) {
		if (!strcmp(a[2], "h2d"))
			did((int)DRV(cuMemcpyHtoD_v2)(p[0], host, size));
		else if (!strcmp(a[2], "d2h"))
			did((int)DRV(cuMemcpyDtoH_v2)(host, p[0], size));
		else
			did((int)DRV(cuMemcpyDtoD_v2)(p[0], p[1], size));
	}
	for (i = 0; i < 2; i++)
		did((int)DRV(cuMemFree_v2)(p[i]));
	free(host);
}

static void do_memset(char **a)
{
	CUdeviceptr p = 0;

	context();
	did((int)DRV(cuMemAlloc_v2)(&p, SIZE(a[1])));
	TIMES(a[0])
		did((int)DRV(cuMemsetD8_v2)(p, 42, SIZE(a[1])));
	did((int)DRV(cuMemFree_v2)(p));
}

#ifdef NO_RUNTIME
const struct word runtime_words[] = { { NULL, 0, NULL } };
const struct word copy_words[] = { { NULL, 0, NULL } };
#endif

const struct word driver_words[] = {
	{ "drvmalloc", 2, do_malloc }, { "drvmanaged", 2, do_managed }, { "drvprefetch", 2, do_prefetch },
	{ "drvpitch", 3, do_pitch }, { "drvfree", 1, do_free },
	{ "drvhost", 2, do_host }, { "drvhostfree", 1, do_hostfree },
	{ "drvarray", 3, do_array }, { "drvarrayfree", 1, do_arrayfree },
	{ "drvasync", 2, do_async }, { "drvasyncfree", 1, do_asyncfree },
	{ "vmm", 1, do_vmm }, { "vmmfree", 1, do_vmmfree },
	{ "retain", 1, do_retain }, { "multicast", 1, do_multicast }, { "release", 1, do_release },
	{ "drvformat", 8, do_drvformat }, { "drvmipfree", 1, do_mipfree },
	{ "drvcopy", 3, do_copy }, { "drvmemset", 2, do_memset },
	{ "drvlaunch", 1, do_launch }, { "drvsync", 1, do_sync },
	{ "drvpeer", 4, do_drvpeer }, { "drvdevice", 1, do_drvdevice }, { "ctxon", 1, do_ctxon },
	{ "ctxpush", 1, do_ctxpush }, { "ctxpop", 0, do_ctxpop }, { "ctxnone", 0, do_ctxnone },
	{ "ctxcreate", 0, do_ctxcreate }, { "ctxdestroy", 0, do_ctxdestroy },
	{ "drvreset", 1, do_reset }, { NULL, 0, NULL },
};
