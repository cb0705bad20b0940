/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Driver: the interpreter of kernels, what it asks of the driver, and the devices' time. */
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "drv_code.h"

const struct sim_kernels *drv_kernels;
bool drv_debug;
unsigned drv_sm = 90;

/* Grids of a device run one after the other, and the model's clock runs while they do. */
static struct device {
	pthread_mutex_t lock;
	struct interp_host host;
	uint64_t grids, clock;
} devices[MAX_DEVICES];

static bool mapped(void *ctx, uint64_t addr, uint64_t *low, uint64_t *high)
{
	(void)ctx;
	return drv_mapped(addr, low, high);
}

static bool texture(void *ctx, uint64_t handle, struct interp_texture *t)
{
	(void)ctx;
	return drv_texture(handle, t);
}

/* Memory that the program did not ask for is not taken from what it may ask for. */
static uint64_t allocate(struct device *d, size_t size, CUcontext owner)
{
	struct block *b;

	pthread_mutex_lock(&drv_lock);
	b = block_new(K_MODULE, (int)(d - devices), -1, size ? size : 1);
	if (b)
		b->ctx = owner;
	pthread_mutex_unlock(&drv_lock);
	return b ? b->addr : 0;
}

/* malloc() of a kernel: gone with the context */
static uint64_t heap(void *ctx, size_t size)
{
	return allocate(ctx, size, drv_current());
}

/* The device's, whatever context is current when it is loaded. */
static uint64_t variable(void *ctx, size_t size)
{
	uint64_t addr = allocate(ctx, size, NULL);

	if (addr)
		memset((void *)(uintptr_t)addr, 0, size);
	return addr;
}

static void release(void *ctx, uint64_t addr)
{
	struct block *b;

	(void)ctx;
	pthread_mutex_lock(&drv_lock);
	b = block_find(addr, K_MODULE);
	if (b)
		block_free(b);
	pthread_mutex_unlock(&drv_lock);
}

/* At once: the kernel has ended before the launch returns. */
static void print(void *ctx, const char *text, size_t size)
{
	(void)ctx;
	fwrite(text, 1, size, stdout);
}

const struct interp_host *drv_host(int dev)
{
	return &devices[dev].host;
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

uint64_t drv_clock(int dev)
{
	struct device *d = &devices[dev];
	uint64_t clock;

	pthread_mutex_lock(&d->lock);
	if (!d->clock)
		d->clock = now();
	clock = d->clock;
	pthread_mutex_unlock(&d->lock);
	return clock;
}

static CUresult error_of(enum interp_fault_kind kind)
{
	static const unsigned short errors[] = {
		[INTERP_OK] = 0, [INTERP_ADDRESS] = 700, [INTERP_MISALIGNED] = 716, [INTERP_TRAP] = 719,
		[INTERP_ASSERT] = 710, [INTERP_INSTRUCTION] = 715, [INTERP_PC] = 718, [INTERP_STUCK] = 702,
		[INTERP_RESOURCES] = 701, [INTERP_MEMORY] = 2,
	};

	return (CUresult)errors[kind];
}

CUresult drv_run(struct interp_kernel *kernel, struct interp_grid *grid, const void *params)
{
	struct device *d = &devices[drv_current()->dev];
	struct interp_fault fault = { 0 };
	enum interp_fault_kind kind;

	drv_clock(drv_current()->dev);
	pthread_mutex_lock(&d->lock);
	grid->id = ++d->grids;
	grid->start_ns = d->clock;
	kind = drv_kernels->launch(kernel, grid, params, &fault);
	if (grid->end_ns > d->clock)
		d->clock = grid->end_ns;
	pthread_mutex_unlock(&d->lock);
	if (kind == INTERP_ASSERT)
		fprintf(stderr, "%s\n", fault.text);	/* as CUDA's driver does */
	else if (kind && drv_debug)
		fprintf(stderr, "sim: %s\n", fault.text);
	if (kind == INTERP_RESOURCES || kind == INTERP_MEMORY)
		return error_of(kind);	/* it did not begin */
	if (kind)
		drv_fault(error_of(kind));
	return CUDA_SUCCESS;
}

static int is_set(const char *name)
{
	const char *env = getenv(name);

	return env && *env && strcmp(env, "0") != 0;
}

static void open_library(void)
{
	char path[PATH_MAX];
	const char *end;
	void *library;
	Dl_info info;

	if (!dladdr(&drv_kernels, &info))
		_exit(2);
	end = strrchr(info.dli_fname, '/');
	snprintf(path, sizeof(path), "%.*slibsimkernels.so", end ? (int)(end + 1 - info.dli_fname) : 0,
		 info.dli_fname);
	library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (library)
		drv_kernels = dlsym(library, SIM_KERNELS_TABLE);
	if (!drv_kernels) {
		fprintf(stderr, "sim: SIM_KERNELS: %s\n", dlerror());
		_exit(2);
	}
}

static void __attribute__((constructor)) setup(void)
{
	const char *sm = getenv("SIM_SM");
	int i;

	if (sm && atoi(sm) > 0)
		drv_sm = (unsigned)atoi(sm);
	if (!is_set("SIM_KERNELS"))
		return;
	drv_debug = is_set("SIM_KERNEL_DEBUG");
	for (i = 0; i < MAX_DEVICES; i++) {
		pthread_mutex_init(&devices[i].lock, NULL);
		devices[i].host = (struct interp_host) {
			.ctx = &devices[i], .mapped = mapped, .variable = variable, .variable_free = release,
			.texture = texture, .alloc = heap, .free = release, .print = print,
		};
	}
	open_library();
}
