/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* mem's words for the runtime; see mem.c. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mem.h"

#define TIMES(n) for (unsigned long long left_ = number(n); left_; left_--)
#define SIZE(text) ((size_t)number(text))
#define KEEP(kind, call, p) do { if (!did((int)(call))) keep(kind, (uintptr_t)(p)); } while (0)

/* A kernel as nvcc's code (12 and older) has it: a stub, and its registration. */
__attribute__((noinline)) void mem_kernel(float *data, int n)
{
	__asm__ volatile("" : : "r"(data), "r"(n));
}

static char symbol_shadow[64];
static const unsigned long long fake_image[8] = { 0xba55ed50 };
static struct {
	int magic, version;
	const void *data;
	void *filename;
} wrapper = { 0x466243b1, 1, fake_image, NULL };
static void **registered;

extern void **__cudaRegisterFatBinary(void *);
extern void __cudaRegisterFatBinaryEnd(void **);
extern void __cudaRegisterFunction(void **, const char *, char *, const char *, int, void *,
				   void *, void *, void *, int *);
extern void __cudaRegisterVar(void **, char *, char *, const char *, int, size_t, int, int);

static void register_kernel(void)
{
	registered = RT(__cudaRegisterFatBinary)(&wrapper);
	RT(__cudaRegisterFunction)(registered, (const char *)(uintptr_t)mem_kernel,
				   (char *)"_Z10mem_kernelPfi", "_Z10mem_kernelPfi", -1,
				   NULL, NULL, NULL, NULL, NULL);
	RT(__cudaRegisterVar)(registered, symbol_shadow, (char *)"mem_symbol", "mem_symbol", 0,
			      sizeof(symbol_shadow), 0, 0);
	RT(__cudaRegisterFatBinaryEnd)(registered);
}

#ifdef RUNTIME_DLOPEN
static void *runtime;

void *runtime_symbol(const char *name)
{
	void *p = runtime ? dlsym(runtime, name) : NULL;

	if (!p) {
		fprintf(stderr, "mem: %s: %s\n", name, runtime ? "not there" : "no load before");
		exit(2);
	}
	return p;
}

static void do_load(char **arg)
{
	(void)arg;
	if (runtime)
		return;
	runtime = dlopen("libcudart.so.13", RTLD_NOW);
	if (!runtime) {
		fprintf(stderr, "mem: %s\n", dlerror());
		exit(2);
	}
	register_kernel();
}
#elif !defined(NO_FAKE_KERNEL)	/* NVIDIA's runtime would fail at its image */
static void __attribute__((constructor)) register_at_start(void)
{
	register_kernel();
}
#endif

static void do_malloc(char **a)
{
	void *p;

	TIMES(a[0])
		KEEP(DEVICE, RT(cudaMalloc)(&p, SIZE(a[1])), p);
}

static void do_managed(char **a)
{
	void *p;

	TIMES(a[0])
		KEEP(DEVICE, RT(cudaMallocManaged)(&p, SIZE(a[1]), cudaMemAttachGlobal), p);
}

static void do_pitch(char **a)
{
	size_t pitch;
	void *p;

	TIMES(a[0])
		KEEP(DEVICE, RT(cudaMallocPitch)(&p, &pitch, SIZE(a[1]), SIZE(a[2])), p);
}

static void do_malloc3d(char **a)
{
	struct cudaExtent e = { SIZE(a[1]), SIZE(a[2]), SIZE(a[3]) };
	struct cudaPitchedPtr p;

	TIMES(a[0])
		KEEP(DEVICE, RT(cudaMalloc3D)(&p, e), p.ptr);
}

static void do_fail(char **a)
{
	void *p;

	TIMES(a[0])
		KEEP(DEVICE, RT(cudaMalloc)(&p, 1ULL << 50), p);
}

static int unregister(void *p)
{
	int ret = RT(cudaHostUnregister)(p);

	free(p);
	return ret;
}

#define FREE(name, kind, call) \
	static void name(char **a) \
	{ \
		TIMES(a[0]) { \
			void *p = (void *)last(kind); \
			\
			if (!p) \
				return; \
			did((int)(call)); \
		} \
	}

FREE(do_free, DEVICE, RT(cudaFree)(p))
FREE(do_hostfree, HOST, RT(cudaFreeHost)(p))
FREE(do_arrayfree, ARRAYS, RT(cudaFreeArray)(p))
FREE(do_mipfree, MIPMAPS, RT(cudaFreeMipmappedArray)(p))
FREE(do_asyncfree, STREAM_ORDERED, RT(cudaFreeAsync)(p, stream_now))
FREE(do_streamfree, STREAMS, RT(cudaStreamDestroy)((cudaStream_t)p))
FREE(do_poolfree, POOLED, RT(cudaFreeAsync)(p, NULL))
FREE(do_unregister, REGISTERED, unregister(p))
FREE(do_extfree, EXTERNAL, RT(cudaDestroyExternalMemory)((cudaExternalMemory_t)p))
FREE(do_ipcclose, IPC, RT(cudaIpcCloseMemHandle)(p))

static void *free_in_thread(void *a)
{
	do_free(a);
	return NULL;
}

static void do_otherfree(char **a)
{
	pthread_t thread;

	if (!pthread_create(&thread, NULL, free_in_thread, a))
		pthread_join(thread, NULL);
}

static void do_freeall(char **a)
{
	char many[] = "1000000000", *arg[] = { many };

	(void)a;
	do_free(arg);
}

static void do_freenull(char **a)
{
	TIMES(a[0])
		did((int)RT(cudaFree)(NULL));
}

static void do_badfree(char **a)
{
	TIMES(a[0])
		did((int)RT(cudaFree)((void *)0xdead0000));
}

static void do_host(char **a)
{
	void *p;

	TIMES(a[0])
		KEEP(HOST, RT(cudaMallocHost)(&p, SIZE(a[1])), p);
}

static void do_hostalloc(char **a)
{
	void *p;

	TIMES(a[0])
		KEEP(HOST, RT(cudaHostAlloc)(&p, SIZE(a[1]), cudaHostAllocDefault), p);
}

static void do_register(char **a)
{
	TIMES(a[0]) {
		void *p = aligned_alloc(4096, (SIZE(a[1]) + 4095) / 4096 * 4096);

		KEEP(REGISTERED, RT(cudaHostRegister)(p, SIZE(a[1]), 0), p);
	}
}

static const struct cudaChannelFormatDesc floats = {
	32, 0, 0, 0, cudaChannelFormatKindFloat
};

static void do_array(char **a)
{
	cudaArray_t p;

	TIMES(a[0])
		KEEP(ARRAYS, RT(cudaMallocArray)(&p, &floats, SIZE(a[1]), SIZE(a[2]), 0), p);
}

static void do_array3d(char **a)
{
	struct cudaExtent e = { SIZE(a[1]), SIZE(a[2]), SIZE(a[3]) };
	cudaArray_t p;

	TIMES(a[0])
		KEEP(ARRAYS, RT(cudaMalloc3DArray)(&p, &floats, e, 0), p);
}

static void do_mip(char **a)
{
	struct cudaExtent e = { SIZE(a[1]), SIZE(a[2]), SIZE(a[3]) };
	cudaMipmappedArray_t p;
	unsigned levels = (unsigned)number(a[4]);

	TIMES(a[0])
		KEEP(MIPMAPS, RT(cudaMallocMipmappedArray)(&p, &floats, e, levels, 0), p);
}

static void do_async(char **a)
{
	void *p;

	TIMES(a[0])
		KEEP(STREAM_ORDERED, RT(cudaMallocAsync)(&p, SIZE(a[1]), stream_now), p);
}

static cudaMemPool_t pool;

static void do_pool(char **a)
{
	struct cudaMemPoolProps props;
	void *p;

	memset(&props, 0, sizeof(props));
	props.allocType = cudaMemAllocationTypePinned;
	props.location.type = cudaMemLocationTypeDevice;
	if (!pool)
		did((int)RT(cudaMemPoolCreate)(&pool, &props));
	TIMES(a[0])
		KEEP(POOLED, RT(cudaMallocFromPoolAsync)(&p, SIZE(a[1]), pool, NULL), p);
}

static void do_pooldestroy(char **a)
{
	(void)a;
	did((int)RT(cudaMemPoolDestroy)(pool));
	pool = NULL;
}

/* One allocation, exported once, opened N times. */
static void do_ipc(char **a)
{
	cudaIpcMemHandle_t handle;
	void *p;

	if (did((int)RT(cudaMalloc)(&p, SIZE(a[1]))))
		return;
	keep(DEVICE, (uintptr_t)p);
	if (did((int)RT(cudaIpcGetMemHandle)(&handle, p)))
		return;
	TIMES(a[0])
		KEEP(IPC, RT(cudaIpcOpenMemHandle)(&p, handle, cudaIpcMemLazyEnablePeerAccess), p);
}

/* External memory, imported once, and N mipmapped arrays in it. */
static void do_extmip(char **a)
{
	struct cudaExternalMemoryHandleDesc memory;
	struct cudaExternalMemoryMipmappedArrayDesc desc;
	cudaExternalMemory_t external;
	cudaMipmappedArray_t p;

	memset(&memory, 0, sizeof(memory));
	memory.type = cudaExternalMemoryHandleTypeOpaqueFd;
	memory.size = SIZE(a[1]);
	if (did((int)RT(cudaImportExternalMemory)(&external, &memory)))
		return;
	keep(EXTERNAL, (uintptr_t)external);
	memset(&desc, 0, sizeof(desc));
	desc.formatDesc = floats;
	desc.extent.width = desc.extent.height = 16;
	desc.numLevels = 3;
	TIMES(a[0])
		KEEP(MIPMAPS, RT(cudaExternalMemoryGetMappedMipmappedArray)(&p, external, &desc), p);
}

/* Of a format: the kind, the bits of each channel, then the size, flags and levels (0: no mipmap). */
static void do_format(char **a)
{
	struct cudaExtent e = { SIZE(a[6]), SIZE(a[7]), SIZE(a[8]) };
	unsigned flags = (unsigned)number(a[9]), levels = (unsigned)number(a[10]);
	struct cudaChannelFormatDesc desc;
	cudaMipmappedArray_t mipmap;
	cudaArray_t array;

	desc.f = (enum cudaChannelFormatKind)number(a[1]);
	desc.x = (int)number(a[2]);
	desc.y = (int)number(a[3]);
	desc.z = (int)number(a[4]);
	desc.w = (int)number(a[5]);
	TIMES(a[0]) {
		if (levels)
			KEEP(MIPMAPS, RT(cudaMallocMipmappedArray)(&mipmap, &desc, e, levels, flags),
			     mipmap);
		else if (e.depth)
			KEEP(ARRAYS, RT(cudaMalloc3DArray)(&array, &desc, e, flags), array);
		else
			KEEP(ARRAYS, RT(cudaMallocArray)(&array, &desc, e.width, e.height, flags),
			     array);
	}
}

static void do_setdevice(char **a)
{
	did((int)RT(cudaSetDevice)((int)number(a[0])));
}

static void do_streams(char **a)
{
	cudaStream_t p;

	TIMES(a[0])
		KEEP(STREAMS, RT(cudaStreamCreate)(&p), p);
}

static void do_use(char **a)
{
	size_t i = SIZE(a[0]);

	stream_now = (cudaStream_t)(i < 3 ? i : kept(STREAMS, i - 3));
}

static void do_reset(char **a)
{
	(void)a;
	did((int)RT(cudaDeviceReset)());
}

static void do_limit(char **a)
{
	did((int)RT(cudaDeviceSetLimit)((enum cudaLimit)number(a[0]), SIZE(a[1])));
}

static void do_sync(char **a)
{
	TIMES(a[0])
		did((int)RT(cudaDeviceSynchronize)());
}

const void *const mem_symbol = symbol_shadow;

const struct word runtime_words[] = {
	{ "malloc", 2, do_malloc }, { "managed", 2, do_managed }, { "pitch", 3, do_pitch },
	{ "malloc3d", 4, do_malloc3d }, { "free", 1, do_free }, { "freenull", 1, do_freenull },
	{ "badfree", 1, do_badfree }, { "fail", 1, do_fail }, { "otherfree", 1, do_otherfree },
	{ "freeall", 0, do_freeall },
	{ "host", 2, do_host }, { "hostalloc", 2, do_hostalloc }, { "hostfree", 1, do_hostfree },
	{ "register", 2, do_register }, { "unregister", 1, do_unregister },
	{ "array", 3, do_array }, { "array3d", 4, do_array3d }, { "arrayfree", 1, do_arrayfree },
	{ "mip", 5, do_mip }, { "mipfree", 1, do_mipfree },
	{ "async", 2, do_async }, { "asyncfree", 1, do_asyncfree },
	{ "pool", 2, do_pool }, { "poolfree", 1, do_poolfree },
	{ "pooldestroy", 0, do_pooldestroy },
	{ "ipc", 2, do_ipc }, { "ipcclose", 1, do_ipcclose },
	{ "extmip", 2, do_extmip }, { "extfree", 1, do_extfree }, { "format", 11, do_format },
	{ "streams", 1, do_streams }, { "streamfree", 1, do_streamfree }, { "use", 1, do_use },
	{ "setdevice", 1, do_setdevice }, { "reset", 0, do_reset }, { "limit", 2, do_limit }, { "sync", 1, do_sync },
#ifdef RUNTIME_DLOPEN
	{ "load", 0, do_load },
#endif
	{ NULL, 0, NULL },
};
