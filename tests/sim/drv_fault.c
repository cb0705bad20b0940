/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Driver: what is left of a context after a kernel's fault. */
#include "drv.h"

int drv_faults;

CUresult drv_told(void)
{
	CUcontext ctx = drv_current();

	return ctx && ctx->told ? ctx->fault : CUDA_SUCCESS;
}

CUresult drv_sync(void)
{
	CUcontext ctx = drv_current();

	if (unlikely(drv_faults) && ctx && ctx->fault)
		ctx->told = 1;
	return drv_check();
}

void drv_fault(CUresult fault)
{
	CUcontext ctx = drv_current();

	if (ctx->fault)
		return;
	ctx->fault = fault;
	__atomic_add_fetch(&drv_faults, 1, __ATOMIC_RELAXED);
}

void drv_fault_clear(CUcontext ctx)
{
	if (!ctx->fault)
		return;
	ctx->fault = CUDA_SUCCESS;
	ctx->told = 0;
	__atomic_sub_fetch(&drv_faults, 1, __ATOMIC_RELAXED);
}
