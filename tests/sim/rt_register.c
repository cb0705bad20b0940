/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Runtime: fat binaries, kernels and variables as nvcc's code registers them.
 * Nothing is loaded before it is used. CUDA 13's runtime loads libraries and has
 * kernel handles, CUDA 12's (here) modules. Tables only grow: readers take no lock.
 */
#include <pthread.h>
#include <stdlib.h>

#include "rt.h"
#include "rt_register.h"

struct binary {
	const void *image;
	CUlibrary library;
	CUmodule modules[RT_DEVICES];
	void *cookie;			/* what the program's handle points to */
};

struct kernel {
	struct kernel *next_stub, *next_handle;
	const void *stub;
	const char *name;
	struct binary *binary;
	CUkernel handle;
	CUfunction functions[RT_DEVICES];
};

struct variable {
	struct variable *next;
	const void *shadow;
	void **managed;			/* where a managed variable's address is kept */
	const char *name;
	size_t size;
	struct binary *binary;
};

enum { BUCKETS = 256 };
static struct kernel *by_stub[BUCKETS];
static struct kernel *by_handle[BUCKETS];
static struct variable *variables;
pthread_mutex_t rt_register_lock = PTHREAD_MUTEX_INITIALIZER;

#define LOAD(p) __atomic_load_n(&(p), __ATOMIC_ACQUIRE)
#define STORE(p, v) __atomic_store_n(&(p), v, __ATOMIC_RELEASE)

static unsigned bucket(const void *p)
{
	return (unsigned)((uintptr_t)p * 0x9e3779b97f4a7c15ULL >> 56) % BUCKETS;
}

static struct kernel *find_stub(const void *stub)
{
	struct kernel *k = LOAD(by_stub[bucket(stub)]);

	while (k && k->stub != stub)
		k = k->next_stub;
	return k;
}

static struct kernel *find_handle(const void *handle)
{
	struct kernel *k = LOAD(by_handle[bucket(handle)]);

	while (k && (const void *)k->handle != handle)
		k = k->next_handle;
	return k;
}

/* With the lock held, as the next three. */
static CUresult load_library(struct binary *b)
{
	pt_none;

	return b->library ? CUDA_SUCCESS :
		D->cuLibraryLoadData(&b->library, b->image, NULL, NULL, 0, NULL, NULL, 0);
}

static CUresult load_module(struct binary *b, int dev)
{
	pt_none;

	return b->modules[dev] ? CUDA_SUCCESS : D->cuModuleLoadData(&b->modules[dev], b->image);
}

static CUresult make_handle(struct kernel *k)
{
	pt_none;
	CUkernel handle;
	CUresult r;

	if (k->handle)
		return CUDA_SUCCESS;
	r = load_library(k->binary);
	if (!r)
		r = D->cuLibraryGetKernel(&handle, k->binary->library, k->name);
	if (r)
		return r;
	k->next_handle = by_handle[bucket(handle)];
	STORE(k->handle, handle);
	STORE(by_handle[bucket(handle)], k);
	return CUDA_SUCCESS;
}

static CUresult make_function(struct kernel *k, int dev)
{
	pt_none;
	CUfunction f;
	CUresult r;

	if (k->functions[dev])
		return CUDA_SUCCESS;
	if (SIM_CUDART >= 13) {
		r = make_handle(k);
		if (!r)
			r = D->cuKernelGetFunction(&f, k->handle);
	} else {
		r = load_module(k->binary, dev);
		if (!r)
			r = D->cuModuleGetFunction(&f, k->binary->modules[dev], k->name);
	}
	if (!r)
		STORE(k->functions[dev], f);
	return r;
}

cudaError_t rt_function(const void *stub_or_handle, CUfunction *function)
{
	pt_none;
	struct kernel *k = find_handle(stub_or_handle);
	CUresult r;
	int dev;

	if (!k)
		k = find_stub(stub_or_handle);
	if (!k || D->cuCtxGetDevice(&dev) || dev >= RT_DEVICES)
		return cudaErrorInvalidDeviceFunction;
	*function = LOAD(k->functions[dev]);
	if (*function)
		return cudaSuccess;
	pthread_mutex_lock(&rt_register_lock);
	r = make_function(k, dev);
	*function = k->functions[dev];
	pthread_mutex_unlock(&rt_register_lock);
	return (cudaError_t)r;
}

#if SIM_CUDART >= 13
cudaError_t rt_handle(const void *stub, cudaKernel_t *handle)
{
	struct kernel *k = find_stub(stub);
	CUresult r;

	if (!k)
		return cudaErrorInvalidDeviceFunction;
	pthread_mutex_lock(&rt_register_lock);
	r = make_handle(k);
	if (!r)
		*handle = (cudaKernel_t)k->handle;
	pthread_mutex_unlock(&rt_register_lock);
	return (cudaError_t)r;
}
#endif

static struct variable *find_variable(const void *shadow)
{
	struct variable *v = LOAD(variables);

	while (v && v->shadow != shadow)
		v = v->next;
	return v;
}

RT(cudaGetSymbolSize, (size_t *size, const void *symbol), (size, symbol), "0x%lx", P(symbol))
{
	struct variable *v = find_variable(symbol);

	RT_ENTER();
	if (!size)
		return cudaErrorInvalidValue;
	if (!v)
		return cudaErrorInvalidSymbol;
	*size = v->size;
	return cudaSuccess;
}

cudaError_t rt_symbol(const void *symbol, size_t size, size_t offset, CUdeviceptr *addr)
{
	pt_none;
	struct variable *v = find_variable(symbol);
	CUresult r;
	int dev;

	if (!v || D->cuCtxGetDevice(&dev) || dev >= RT_DEVICES)
		return cudaErrorInvalidSymbol;
	if (offset > v->size || size > v->size - offset)
		return cudaErrorInvalidValue;
	pthread_mutex_lock(&rt_register_lock);
	if (SIM_CUDART >= 13) {
		r = load_library(v->binary);
		if (!r)
			r = D->cuLibraryGetGlobal(addr, NULL, v->binary->library, v->name);
	} else {
		r = load_module(v->binary, dev);
		if (!r)
			r = D->cuModuleGetGlobal_v2(addr, NULL, v->binary->modules[dev], v->name);
	}
	pthread_mutex_unlock(&rt_register_lock);
	*addr += offset;
	return (cudaError_t)r;
}

/* A managed variable is where the driver has it, if it has any; otherwise it stays in memory of the program's. */
static void place_managed(struct variable *v)
{
	pt_none;
	CUdeviceptr addr;

	if (SIM_CUDART >= 13) {
		if (!load_library(v->binary) &&
		    !D->cuLibraryGetManaged(&addr, NULL, v->binary->library, v->name))
			*v->managed = (void *)(uintptr_t)addr;
	} else if (!load_module(v->binary, rt_device) &&
		   !D->cuModuleGetGlobal_v2(&addr, NULL, v->binary->modules[rt_device], v->name)) {
		*v->managed = (void *)(uintptr_t)addr;
	}
}

/* nvcc's wrapper around a fat binary. */
struct wrapper {
	int magic, version;
	const void *data;
	void *filename;
};

static struct binary *binary_of(void **handle)
{
	return (struct binary *)((char *)handle - offsetof(struct binary, cookie));
}

RT_EXPORTED void **__cudaRegisterFatBinary(void *wrapper)
{
	struct binary *b = calloc(1, sizeof(*b));

	if (!b)
		abort();
	b->image = ((struct wrapper *)wrapper)->data;
	return &b->cookie;
}

RT_EXPORTED void __cudaRegisterFatBinaryEnd(void **handle)
{
	(void)handle;
	RT_FRAME();
}

/* Called at exit, when other threads may still launch: nothing goes. */
RT_EXPORTED void __cudaUnregisterFatBinary(void **handle)
{
	(void)handle;
	RT_FRAME();
}

/* nvcc's code calls it before it uses a managed variable. */
RT_EXPORTED char __cudaInitModule(void **handle)
{
	struct variable *v;
	int found = 0;

	if (rt_driver_load() != cudaSuccess)
		return 0;
	for (v = LOAD(variables); v && !found; v = v->next)
		found = v->managed && v->binary == binary_of(handle);
	if (!found || rt_enter() != cudaSuccess)
		return 1;
	pthread_mutex_lock(&rt_register_lock);
	for (v = variables; v; v = v->next)
		if (v->managed && v->binary == binary_of(handle))
			place_managed(v);
	pthread_mutex_unlock(&rt_register_lock);
	return 1;
}

RT_EXPORTED void __cudaRegisterFunction(void **handle, const char *stub, char *device_fun,
					const char *name, int thread_limit, void *tid, void *bid,
					void *block, void *grid, int *warp)
{
	struct kernel *k = calloc(1, sizeof(*k));

	(void)device_fun, (void)thread_limit, (void)tid, (void)bid;
	(void)block, (void)grid, (void)warp;
	if (!k)
		abort();
	k->stub = stub;
	k->name = name;
	k->binary = binary_of(handle);
	pthread_mutex_lock(&rt_register_lock);
	k->next_stub = by_stub[bucket(stub)];
	STORE(by_stub[bucket(stub)], k);
	pthread_mutex_unlock(&rt_register_lock);
}

RT_EXPORTED void __cudaRegisterVar(void **handle, char *shadow, char *device_address,
				   const char *name, int ext, size_t size, int constant,
				   int global)
{
	struct variable *v = calloc(1, sizeof(*v));

	(void)device_address, (void)ext, (void)constant, (void)global;
	if (!v)
		abort();
	v->shadow = shadow;
	v->name = name;
	v->size = size;
	v->binary = binary_of(handle);
	pthread_mutex_lock(&rt_register_lock);
	v->next = variables;
	STORE(variables, v);
	pthread_mutex_unlock(&rt_register_lock);
}

RT_EXPORTED void __cudaRegisterManagedVar(void **handle, void **shadow, char *device_address,
					  const char *name, int ext, size_t size, int constant,
					  int global)
{
	*shadow = calloc(1, size);
	__cudaRegisterVar(handle, (char *)shadow, device_address, name, ext, size, constant, global);
	pthread_mutex_lock(&rt_register_lock);
	variables->managed = shadow;
	pthread_mutex_unlock(&rt_register_lock);
}

/* <<<...>>> pushes, the stub pops. */
static __thread struct configuration {
	dim3 grid, block;
	size_t shared;
	void *stream;
} pushed[16];
static __thread unsigned depth;

RT_EXPORTED unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared,
						 struct CUstream_st *stream)
{
	if (depth == sizeof(pushed) / sizeof(*pushed))
		return 1;
	pushed[depth++] = (struct configuration) { grid, block, shared, stream };
	return 0;
}

RT_EXPORTED cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared,
						   void *stream)
{
	if (!depth)
		return cudaErrorUnknown;
	depth--;
	*grid = pushed[depth].grid;
	*block = pushed[depth].block;
	*shared = pushed[depth].shared;
	*(void **)stream = pushed[depth].stream;
	return cudaSuccess;
}
