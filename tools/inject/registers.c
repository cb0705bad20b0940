/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include "inject/registers.h"

/* Of an SM, of sm_70 and later: warps get registers by 8 for each thread, in four parts of the SM. */
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

static bool registers_of(const struct registers *r, void *handle, const char *name, int *registers)
{
	const struct driver *d = r->how->driver;
	CUfunction f;

	if (r->how->kind == LIBRARY)
		return d->cuLibraryGetKernel && d->cuKernelGetAttribute && !d->cuLibraryGetKernel(&f, handle, name) &&
		       !d->cuKernelGetAttribute(registers, CU_FUNC_ATTRIBUTE_NUM_REGS, f, r->device);
	return d->cuModuleGetFunction && d->cuFuncGetAttribute && !d->cuModuleGetFunction(&f, handle, name) &&
	       !d->cuFuncGetAttribute(registers, CU_FUNC_ATTRIBUTE_NUM_REGS, f);
}

unsigned registers_limit(void *registers, const char *name, size_t n)
{
	struct registers *r = registers;
	struct kernel_registers *k;

	if (!r->how)
		return 0;
	if (!r->tried && loading_call(r->how, &r->handle, r->image))
		r->handle = NULL;
	r->tried = true;
	k = r->handle ? calloc(1, sizeof(*k) + n + 1) : NULL;
	if (!k)
		return 0;
	memcpy(k->name, name, n);
	if (!registers_of(r, r->handle, k->name, &k->registers) || k->registers <= 0 || k->registers > REGISTERS_MAX) {
		free(k);
		return 0;
	}
	k->next = r->kernels;
	r->kernels = k;
	return (unsigned)most_registers(k->registers, r->keep ? SM_WARPS : BLOCK_WARPS);
}

unsigned registers_fewer_warps(const struct registers *r, void *handle)
{
	unsigned fewer = 0;
	int now;

	for (const struct kernel_registers *k = r->kernels; k; k = k->next)
		if (registers_of(r, handle, k->name, &now) && resident_warps(now) < resident_warps(k->registers))
			fewer++;
	return fewer;
}

void registers_free(struct registers *r)
{
	struct kernel_registers *k;

	while ((k = r->kernels)) {
		r->kernels = k->next;
		free(k);
	}
	if (r->handle)
		loading_unload(r->how, r->handle);
}
