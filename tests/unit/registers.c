/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* registers: "N KEEP BLOCK" for each number of registers that a kernel can have: the .maxnreg that libcudagpuprobe.so gives
 * the rewritten kernel with --keep-registers, and without.  The driver is simulated. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "agent/gpuprobe/registers.h"

static int num_registers;

static CUresult load_data(CUmodule *handle, const void *image)
{
	*handle = (void *)image;
	return CUDA_SUCCESS;
}

static CUresult get_function(CUfunction *f, CUmodule module, const char *name)
{
	*f = module;
	return strcmp(name, "kernel") ? CUDA_ERROR_NOT_FOUND : CUDA_SUCCESS;
}

static CUresult get_attribute(int *value, int which, CUfunction f)
{
	(void)f;
	*value = which == CU_FUNC_ATTRIBUTE_NUM_REGS ? num_registers : 0;
	return CUDA_SUCCESS;
}

static CUresult unload(CUmodule module)
{
	(void)module;
	return CUDA_SUCCESS;
}

static unsigned limit(bool keep, const char *name)
{
	static const struct driver driver = {
		.cuModuleGetFunction = get_function, .cuFuncGetAttribute = get_attribute, .cuModuleUnload = unload,
		.cuModuleLoadData = load_data,
	};
	const struct loading how = { .driver = &driver, .kind = MODULE };
	struct registers r = { .how = &how, .image = "image", .keep = keep };
	unsigned n = registers_limit(&r, name, strlen("kernel"));

	registers_free(&r);
	return n;
}

int main(void)
{
	for (num_registers = 0; num_registers <= 256; num_registers++)
		printf("%d %u %u\n", num_registers, limit(true, "kernel"), limit(false, "kernel"));
	printf("unknown %u\n", limit(true, "others"));
	return 0;
}
