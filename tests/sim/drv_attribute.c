/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Driver: the attributes of a device. They are those of compute capability 9.0 (SIM_SM has another), with 4
 * multiprocessors.
 */
#include "drv_module.h"

static const struct {
	CUdevice_attribute attribute;
	int value;
} values[] = {
	{ CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1024 },
	{ CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, 1024 },
	{ CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, 1024 },
	{ CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, 64 },
	{ CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, 0x7fffffff },
	{ CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, 65535 },
	{ CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, 65535 },
	{ CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, BLOCK_SHARED },
	{ CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY, 64 << 10 },
	{ CU_DEVICE_ATTRIBUTE_WARP_SIZE, 32 },
	{ CU_DEVICE_ATTRIBUTE_CLOCK_RATE, 1500000 },	/* the interpreter's: 3 cycles in 2 ns */
	{ CU_DEVICE_ATTRIBUTE_MAX_PITCH, 0x7fffffff },
	{ CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK, SM_REGISTERS },
	{ CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT, 512 },
	{ CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, SMS },
	{ CU_DEVICE_ATTRIBUTE_INTEGRATED, 0 },
	{ CU_DEVICE_ATTRIBUTE_COMPUTE_MODE, 0 },
	{ CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, 5120 },
	{ CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, 50 << 20 },
	{ CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, SM_THREADS },
	{ CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, SM_SHARED },
	{ CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR, SM_REGISTERS },
	{ CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, BLOCK_SHARED_MOST },
	{ CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR, SM_BLOCKS },
	{ CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK, BLOCK_SHARED_RESERVED },
};

/* The others are mostly of what a device can do. */
DRV_QUIET(cuDeviceGetAttribute)(int *value, CUdevice_attribute attribute, CUdevice dev)
{
	unsigned i;

	if (!value)
		return CUDA_ERROR_INVALID_VALUE;
	if (dev < 0 || dev >= drv_devices)
		return CUDA_ERROR_INVALID_DEVICE;
	*value = 1;
	for (i = 0; i < sizeof(values) / sizeof(*values); i++)
		if (values[i].attribute == attribute)
			*value = values[i].value;
	if (attribute == CU_DEVICE_ATTRIBUTE_PCI_BUS_ID)
		*value = dev + 1;
	else if (attribute == CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS && drv_kernels)
		*value = 0;	/* malloc()'s memory: kernels fault there */
	else if (attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)
		*value = (int)drv_sm / 10;
	else if (attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)
		*value = (int)drv_sm % 10;
	return CUDA_SUCCESS;
}
