/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Driver: what is known of kernels: attributes, parameters, how many blocks an SM holds. Without SIM_KERNELS a
 * kernel has one thread's registers and nothing else.
 */
#include "drv_module.h"

DRV_QUIET(cuFuncGetName)(const char **name, CUfunction function)
{
	if (!name || !function)
		return CUDA_ERROR_INVALID_VALUE;
	*name = function->kernel->name;
	return CUDA_SUCCESS;
}

DRV_QUIET(cuKernelGetName)(const char **name, CUkernel kernel)
{
	if (!name || !kernel)
		return CUDA_ERROR_INVALID_VALUE;
	*name = kernel->name;
	return CUDA_SUCCESS;
}

DRV_QUIET(cuFuncGetModule)(CUmodule *module, CUfunction function)
{
	if (!module || !function)
		return CUDA_ERROR_INVALID_VALUE;
	*module = (CUmodule)function->kernel->image;
	return CUDA_SUCCESS;
}

static CUresult info_of(struct CUkern_st *kernel, struct interp_info *info)
{
	struct interp_kernel *code;
	CUresult r;

	*info = (struct interp_info) { .name = kernel->name, .registers = 16, .max_threads = 1024 };
	if (!kernel->image->code)
		return CUDA_SUCCESS;
	r = kernel_code(kernel, &code);
	if (!r)
		drv_kernels->info(code, info);
	return r;
}

static unsigned up(unsigned n, unsigned unit)
{
	return (n + unit - 1) / unit * unit;
}

static unsigned least(unsigned a, size_t b)
{
	return b < a ? (unsigned)b : a;
}

unsigned most_threads(const struct interp_info *info)
{
	return least(info->max_threads, SM_REGISTERS / up(info->registers ? info->registers : 1, 8) / 32 * 32);
}

unsigned occupancy(const struct interp_info *info, unsigned threads, size_t shared)
{
	unsigned n = SM_BLOCKS, warps = up(threads, 32);

	if (!threads || threads > most_threads(info) || info->shared + shared > BLOCK_SHARED_MOST)
		return 0;
	n = least(n, SM_THREADS / warps);
	n = least(n, SM_REGISTERS / (up(info->registers ? info->registers : 1, 8) * warps));
	return least(n, SM_SHARED / (info->shared + shared + BLOCK_SHARED_RESERVED));
}

static int dynamic_most(const struct CUkern_st *kernel, const struct interp_info *info)
{
	return kernel->dynamic_shared ? kernel->dynamic_shared : BLOCK_SHARED - (int)info->shared;
}

static CUresult attribute(int *value, int which, struct CUkern_st *kernel)
{
	struct interp_info info;
	CUresult r;

	if (!value || !kernel)
		return value ? CUDA_ERROR_INVALID_HANDLE : CUDA_ERROR_INVALID_VALUE;
	r = info_of(kernel, &info);
	if (r)
		return r;
	switch (which) {
	case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: *value = (int)most_threads(&info); break;
	case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES: *value = (int)info.shared; break;
	case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES: *value = (int)info.local; break;
	case CU_FUNC_ATTRIBUTE_NUM_REGS: *value = (int)info.registers; break;
	case CU_FUNC_ATTRIBUTE_PTX_VERSION:
		*value = (int)(kernel->image->code ? kernel->image->code->sm : drv_sm);
		break;
	case CU_FUNC_ATTRIBUTE_BINARY_VERSION: *value = (int)drv_sm; break;
	case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES: *value = dynamic_most(kernel, &info); break;
	case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT: *value = -1; break;
	case CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET: *value = info.cluster[0] > 0; break;
	case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH: *value = (int)info.cluster[0]; break;
	case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT: *value = (int)info.cluster[1]; break;
	case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH: *value = (int)info.cluster[2]; break;
	case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
	case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA:
	case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
	case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
		*value = 0;
		break;
	default:
		return CUDA_ERROR_INVALID_VALUE;
	}
	return CUDA_SUCCESS;
}

DRV_QUIET(cuFuncGetAttribute)(int *value, CUfunction_attribute which, CUfunction function)
{
	return attribute(value, (int)which, function ? function->kernel : NULL);
}

DRV_QUIET(cuKernelGetAttribute)(int *value, CUfunction_attribute which, CUkernel kernel, CUdevice dev)
{
	return dev < 0 || dev >= drv_devices ? CUDA_ERROR_INVALID_DEVICE : attribute(value, (int)which, kernel);
}

static CUresult set_attribute(struct CUkern_st *kernel, int which, int value)
{
	struct interp_info info;
	CUresult r;

	if (!kernel)
		return CUDA_ERROR_INVALID_HANDLE;
	if (!kernel->image->code || which != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)
		return CUDA_SUCCESS;
	r = info_of(kernel, &info);
	if (r)
		return r;
	if (value < 0 || (size_t)value + info.shared > BLOCK_SHARED_MOST)
		return CUDA_ERROR_INVALID_VALUE;
	kernel->dynamic_shared = value;
	return CUDA_SUCCESS;
}

DRV_QUIET(cuFuncSetAttribute)(CUfunction function, CUfunction_attribute which, int value)
{
	return set_attribute(function ? function->kernel : NULL, (int)which, value);
}

DRV_QUIET(cuKernelSetAttribute)(CUfunction_attribute which, int value, CUkernel kernel, CUdevice dev)
{
	return dev < 0 || dev >= drv_devices ? CUDA_ERROR_INVALID_DEVICE :
		set_attribute(kernel, (int)which, value);
}

static CUresult param_info(struct CUkern_st *kernel, size_t i, size_t *offset, size_t *size)
{
	struct interp_info info;
	CUresult r;

	if (!kernel)
		return CUDA_ERROR_INVALID_HANDLE;
	if (!kernel->image->code)
		return CUDA_ERROR_NOT_SUPPORTED;
	r = info_of(kernel, &info);
	if (r)
		return r;
	if (!offset || i >= info.num_params)
		return CUDA_ERROR_INVALID_VALUE;
	*offset = info.params[i].offset;
	if (size)
		*size = info.params[i].size;
	return CUDA_SUCCESS;
}

DRV_QUIET(cuFuncGetParamInfo)(CUfunction function, size_t i, size_t *offset, size_t *size)
{
	return param_info(function ? function->kernel : NULL, i, offset, size);
}

DRV_QUIET(cuKernelGetParamInfo)(CUkernel kernel, size_t i, size_t *offset, size_t *size)
{
	return param_info(kernel, i, offset, size);
}

DRV_QUIET(cuOccupancyMaxActiveBlocksPerMultiprocessor)(int *blocks, CUfunction function, int threads,
						       size_t shared)
{
	struct interp_info info;
	CUresult r = drv_check();

	if (r)
		return r;
	if (!blocks || !function || threads <= 0)
		return CUDA_ERROR_INVALID_VALUE;
	r = info_of(function->kernel, &info);
	if (!r)
		*blocks = (int)occupancy(&info, (unsigned)threads, shared);
	return r;
}

DRV_QUIET(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags)(int *blocks, CUfunction function, int threads,
								size_t shared, unsigned flags)
{
	(void)flags;
	return DRV_IMPL(cuOccupancyMaxActiveBlocksPerMultiprocessor)(blocks, function, threads, shared);
}

/* The largest block with which an SM is as full as it can be. */
DRV_QUIET(cuOccupancyMaxPotentialBlockSize)(int *grid, int *block, CUfunction function,
					    CUoccupancyB2DSize shared_of, size_t shared, int limit)
{
	unsigned threads, n, most = 0, best = 0;
	struct interp_info info;
	CUresult r = drv_check();

	if (r)
		return r;
	if (!grid || !block || !function)
		return CUDA_ERROR_INVALID_VALUE;
	r = info_of(function->kernel, &info);
	if (r)
		return r;
	threads = most_threads(&info);
	if (limit > 0)
		threads = least(threads, (size_t)limit);
	for (threads = threads < 32 ? threads : threads / 32 * 32; threads; threads -= least(32, threads)) {
		n = occupancy(&info, threads, shared_of ? shared_of((int)threads) : shared);
		if (n * threads > most * best || !best) {
			most = n;
			best = threads;
		}
	}
	*block = (int)best;
	*grid = (int)(most * SMS);
	return CUDA_SUCCESS;
}

DRV_QUIET(cuOccupancyMaxPotentialBlockSizeWithFlags)(int *grid, int *block, CUfunction function,
						     CUoccupancyB2DSize shared_of, size_t shared, int limit,
						     unsigned flags)
{
	(void)flags;
	return DRV_IMPL(cuOccupancyMaxPotentialBlockSize)(grid, block, function, shared_of, shared, limit);
}

DRV_QUIET(cuOccupancyAvailableDynamicSMemPerBlock)(size_t *shared, CUfunction function, int blocks, int threads)
{
	struct interp_info info;
	CUresult r = drv_check();
	size_t each;

	if (r)
		return r;
	if (!shared || !function || blocks <= 0 || threads <= 0)
		return CUDA_ERROR_INVALID_VALUE;
	r = info_of(function->kernel, &info);
	if (r)
		return r;
	each = SM_SHARED / (unsigned)blocks;
	each = each > BLOCK_SHARED_RESERVED + info.shared ? each - BLOCK_SHARED_RESERVED - info.shared : 0;
	*shared = least(BLOCK_SHARED_MOST - (unsigned)info.shared, each);
	return CUDA_SUCCESS;
}
