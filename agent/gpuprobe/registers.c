/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include "agent/gpuprobe/registers.h"

/* An SM of sm_70 and later: registers are allocated in units of 8 per thread, in four parts of the SM. */
enum { SM_REGISTERS = 65536, WARP = 32, PARTS = 4, BLOCK_WARPS = 32, SM_WARPS = 64, GRANULE = 8, REGISTERS_MAX = 255 };

static int resident_warps(int registers)
{
	int each = (registers + GRANULE - 1) / GRANULE * GRANULE;
	int warps = each ? SM_REGISTERS / (each * WARP) / PARTS * PARTS : SM_WARPS;

	return warps < SM_WARPS ? warps : SM_WARPS;
}

/* Returns the most registers with which as many warps fit in an SM, up to those of the largest block. */
static int most_registers(int registers, int up_to)
{
	int warps = resident_warps(registers), most;

	if (warps > up_to)
		warps = up_to;
	most = SM_REGISTERS / (warps * WARP) / GRANULE * GRANULE;
	return most < REGISTERS_MAX ? most : REGISTERS_MAX;
}

/* Returns a kernel's handle, or NULL. */
static void *kernel_of(const struct registers *r, void *handle, const char *name)
{
	const struct driver *d = r->how->driver;
	void *f;

	if (r->how->kind == LIBRARY)
		return d->cuLibraryGetKernel && !d->cuLibraryGetKernel(&f, handle, name) ? f : NULL;
	return d->cuModuleGetFunction && !d->cuModuleGetFunction(&f, handle, name) ? f : NULL;
}

static bool attribute_of(const struct registers *r, void *kernel, int which, int *value)
{
	const struct driver *d = r->how->driver;

	if (r->how->kind == LIBRARY)
		return d->cuKernelGetAttribute && !d->cuKernelGetAttribute(value, which, kernel, r->device);
	return d->cuFuncGetAttribute && !d->cuFuncGetAttribute(value, which, kernel);
}

static bool attributes_of(const struct registers *r, void *kernel, struct original_kernel *k)
{
	for (int i = 0; i < KERNEL_ATTRIBUTES; i++)
		if (!attribute_of(r, kernel, i, &k->attributes[i]))
			return false;
	return attribute_of(r, kernel, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, &k->dynamic);
}

unsigned registers_limit(void *registers, const char *name, size_t n)
{
	struct registers *r = registers;
	struct original_kernel *k;
	void *kernel;
	int num;

	if (!r->how)
		return 0;
	if (!r->tried && loading_call(r->how, &r->handle, r->image))
		r->handle = NULL;
	r->tried = true;
	k = r->handle ? calloc(1, sizeof(*k) + n + 1) : NULL;
	if (!k)
		return 0;
	memcpy(k->name, name, n);
	kernel = kernel_of(r, r->handle, k->name);
	if (!kernel || !attributes_of(r, kernel, k)) {
		free(k);
		return 0;
	}
	k->next = r->kernels;
	r->kernels = k;
	num = k->attributes[CU_FUNC_ATTRIBUTE_NUM_REGS];
	return num > 0 && num <= REGISTERS_MAX ? (unsigned)most_registers(num, r->keep ? SM_WARPS : BLOCK_WARPS) : 0;
}

/* By default a kernel has 48 KiB of shared memory, static and dynamic, of which the probe takes a part. */
static void restore_shared(const struct registers *r, void *kernel, int dynamic)
{
	const int which = CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
	const struct driver *d = r->how->driver;
	int now;

	if (!attribute_of(r, kernel, which, &now) || now >= dynamic)
		return;
	if (r->how->kind == LIBRARY && d->cuKernelSetAttribute)
		d->cuKernelSetAttribute(which, dynamic, kernel, r->device);
	else if (r->how->kind == MODULE && d->cuFuncSetAttribute)
		d->cuFuncSetAttribute(kernel, which, dynamic);
}

unsigned registers_replaced(const struct registers *r, void *handle)
{
	unsigned fewer = 0;
	int now;

	for (struct original_kernel *k = r->kernels; k; k = k->next) {
		void *kernel = kernel_of(r, handle, k->name);

		if (!kernel)
			continue;
		k->handle = kernel;
		if (attribute_of(r, kernel, CU_FUNC_ATTRIBUTE_NUM_REGS, &now) &&
		    resident_warps(now) < resident_warps(k->attributes[CU_FUNC_ATTRIBUTE_NUM_REGS]))
			fewer++;
		restore_shared(r, kernel, k->dynamic);
	}
	return fewer;
}

void registers_remember(const struct registers *r, struct kernels *kernels, const struct module *module)
{
	struct kernel kernel = { .module = module, .gone = &module->gone, .device = r->device };

	if (module->context)
		kernel.context_gone = &module->context->gone;
	for (const struct original_kernel *k = r->kernels; k; k = k->next)
		if (k->handle) {
			kernel.handle = k->handle;
			memcpy(kernel.attributes, k->attributes, sizeof(kernel.attributes));
			kernels_add(kernels, &kernel);
		}
}

void registers_free(struct registers *r)
{
	struct original_kernel *k;

	while ((k = r->kernels)) {
		r->kernels = k->next;
		free(k);
	}
	if (r->handle)
		loading_unload(r->how, r->handle);
}
