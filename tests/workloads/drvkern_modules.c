/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* drvkern: modules, libraries, images that do not load. */
#include "drvkern.h"

enum { N = 1009 };

static void check_vadd(struct results *r, CUfunction f, void **extra_of)
{
	static float a[N], b[N], c[N];
	CUdeviceptr da, db, dc;
	int i, n = N;
	char buffer[28];
	size_t size = sizeof(buffer);
	void *params[] = { &da, &db, &dc, &n };
	/* CU_LAUNCH_PARAM_BUFFER_POINTER, CU_LAUNCH_PARAM_BUFFER_SIZE, CU_LAUNCH_PARAM_END */
	void *extra[] = { (void *)1, buffer, (void *)2, &size, (void *)0 };

	for (i = 0; i < N; i++) {
		a[i] = (float)i;
		b[i] = 2000.f - 3 * (float)i;
	}
	da = device(a, sizeof(a));
	db = device(b, sizeof(b));
	dc = device(NULL, sizeof(c));
	memcpy(buffer, &da, 8);
	memcpy(buffer + 8, &db, 8);
	memcpy(buffer + 16, &dc, 8);
	memcpy(buffer + 24, &n, 4);
	TRY(cuLaunchKernel(f, 11, 1, 1, 96, 1, 1, 0, NULL, extra_of ? NULL : params, extra_of ? extra : NULL));
	TRY(cuCtxSynchronize());
	TRY(cuMemcpyDtoH_v2(c, dc, sizeof(c)));
	for (i = 0; i < N; i++)
		IS(c[i] == a[i] + b[i]);
	TRY(cuMemFree_v2(da));
	TRY(cuMemFree_v2(db));
	TRY(cuMemFree_v2(dc));
}

void part_launch(struct results *r)
{
	static int in[N];
	CUdeviceptr din, sum, max, x;
	int i, n = N, want = 0, got;
	CUfunction f;
	CUmodule m;
	void *params[] = { &din, &n, &sum, &max, &x };

	TRY(cuModuleLoad(&m, path(r, "nvcc-vadd")));
	TRY(cuModuleGetFunction(&f, m, "_Z4vaddPKfS0_Pfi"));
	check_vadd(r, f, NULL);
	check_vadd(r, f, params);
	TRY(cuModuleUnload(m));
	for (i = 0; i < N; i++)
		want += in[i] = i * 7919 % 1013;
	TRY(cuModuleLoad(&m, path(r, "nvcc-reduce")));
	TRY(cuModuleGetFunction(&f, m, "_Z13reduce_sharedPKiiPiPjPy"));
	din = device(in, sizeof(in));
	sum = device(NULL, 8), max = device(NULL, 8), x = device(NULL, 8);
	TRY(cuLaunchKernel(f, 4, 1, 1, 256, 1, 1, 0, NULL, params, NULL));
	TRY(cuMemcpyDtoH_v2(&got, sum, sizeof(got)));
	IS(got == want);
	TRY(cuMemcpyDtoH_v2(&got, max, sizeof(got)));
	IS(got == 1012);
	/* what a launch refuses */
	IS(cuLaunchKernel(f, 1, 1, 1, 0, 1, 1, 0, NULL, params, NULL) == CUDA_ERROR_INVALID_VALUE);
	IS(cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 49 << 10, NULL, params, NULL) == CUDA_ERROR_INVALID_VALUE);
	IS(cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL) == CUDA_ERROR_INVALID_VALUE);
	IS(cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, NULL, params, params) == CUDA_ERROR_INVALID_VALUE);
	TRY(cuModuleUnload(m));
	TRY(cuModuleLoad(&m, path(r, "nvcc-symbols")));
	TRY(cuModuleGetFunction(&f, m, "_Z10polynomiali"));
	params[0] = &n;
	IS((int)cuLaunchKernel(f, 1, 1, 1, 97, 1, 1, 0, NULL, params, NULL) == 701);
	TRY(cuModuleUnload(m));
}

static double scale_of(CUlibrary library, CUdeviceptr *address)
{
	double value;
	size_t size;

	TRY(cuLibraryGetGlobal(address, &size, library, "scale"));
	if (size != sizeof(value))
		return -1;
	TRY(cuMemcpyDtoH_v2(&value, *address, size));
	return value;
}

void part_modules(struct results *r)
{
	CUdeviceptr first, second, where, results_of;
	CUcontext other;
	CUkernel kernels[3] = { NULL };
	CUfunction functions[3] = { NULL }, f;
	const double changed = 7;
	unsigned count = 0;
	const char *name;
	CUlibrary library;
	CUmodule m;
	size_t size;

	TRY(cuModuleLoad(&m, path(r, "nvcc-reduce")));
	TRY(cuModuleGetFunctionCount(&count, m));
	IS(count == 2);
	TRY(cuModuleEnumerateFunctions(functions, 3, m));
	IS(functions[0] && functions[1] && !functions[2]);
	TRY(cuFuncGetName(&name, functions[1]));
	IS(!strncmp(name, "_Z1", 3) && strstr(name, "reduce_"));
	TRY(cuModuleGetFunction(&f, m, name));
	IS(f == functions[1]);
	IS(cuModuleGetFunction(&f, m, "reduce") == CUDA_ERROR_NOT_FOUND);
	IS(cuModuleGetGlobal_v2(&first, NULL, m, "scale") == CUDA_ERROR_NOT_FOUND);
	TRY(cuModuleUnload(m));

	TRY(cuLibraryLoadFromFile(&library, path(r, "nvcc-symbols"), NULL, NULL, 0, NULL, NULL, 0));
	TRY(cuLibraryGetKernelCount(&count, library));
	IS(count == 1);
	TRY(cuLibraryEnumerateKernels(kernels, 3, library));
	TRY(cuKernelGetName(&name, kernels[0]));
	IS(!strcmp(name, "_Z10polynomiali"));
	IS(scale_of(library, &first) == 2.5);
	TRY(cuMemcpyHtoD_v2(first, &changed, sizeof(changed)));
	IS(scale_of(library, &first) == 7);
	/* another device has variables of its own */
	TRY(cuCtxCreate_v4(&other, NULL, 0, 1));
	IS(scale_of(library, &second) == 2.5);
	IS(second != first);
	TRY(cuCtxDestroy_v2(other));
	TRY(cuCtxSetCurrent(r->ctx));
	IS(scale_of(library, &first) == 7);
	/* an initial value that is another variable's address */
	TRY(cuLibraryGetGlobal(&results_of, &size, library, "results_of"));
	IS(size == 256);
	TRY(cuLibraryGetGlobal(&where, &size, library, "where"));
	TRY(cuMemcpyDtoH_v2(&second, where, sizeof(second)));
	IS(second == results_of + 12);
	TRY(cuLibraryUnload(library));
}

#define HEAD ".version 7.0\n.target sm_75\n.address_size 64\n"

void part_images(struct results *r)
{
	static const char fat[] = "\x50\xed\x55\xba\x01\x00\x10\x00\x40\x00\x00\x00\x00\x00\x00\x00"
		"\x02\x00\x01\x01\x40\x00\x00\x00";	/* a container with the header of a cubin, and nothing of it */
	_Alignas(8) char container[4096] = { 0 };
	CUfunction f;
	CUmodule m;
	CUlinkState link;
	void *image;
	size_t size;

	IS((int)cuModuleLoadData(&m, "") == 218);
	IS((int)cuModuleLoadData(&m, "no PTX at all") == 218);
	IS((int)cuModuleLoadData(&m, HEAD ".visible .entry k() { mov.u32 ;;; }") == 218);
	IS((int)cuModuleLoadData(&m, HEAD ".visible .entry k() { ret;") == 218);
	IS((int)cuModuleLoadData(&m, ".version 8.7\n.target sm_999\n.address_size 64\n.visible .entry k() { ret; }\n")
	   == 218);
	IS((int)cuModuleLoadData(&m, "\177ELF\2\1\1") == 209);
	memcpy(container, fat, sizeof(fat));
	IS((int)cuModuleLoadData(&m, container) == 209 || (int)cuModuleLoadData(&m, container) == 200);
	IS((int)cuModuleLoad(&m, "/nonexistent/x.ptx") == 301);
	TRY(cuModuleLoadDataEx(&m, HEAD ".visible .entry k() { ret; }\n", 0, NULL, NULL));
	TRY(cuModuleGetFunction(&f, m, "k"));
	TRY(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
	TRY(cuModuleUnload(m));

	TRY(cuLinkCreate_v2(0, NULL, NULL, &link));
	TRY(cuLinkAddData_v2(link, CU_JIT_INPUT_PTX, HEAD ".visible .entry linked() { ret; }\n",
			     sizeof(HEAD ".visible .entry linked() { ret; }\n"), "x", 0, NULL, NULL));
	TRY(cuLinkComplete(link, &image, &size));
	TRY(cuModuleLoadData(&m, image));
	TRY(cuLinkDestroy(link));
	TRY(cuModuleGetFunction(&f, m, "linked"));
	TRY(cuModuleUnload(m));
	TRY(cuCtxSynchronize());

	/* an instruction that nobody knows: its kernel faults, and the others run */
	TRY(cuModuleLoadData(&m, HEAD ".visible .entry odd() { .reg .b32 %r<3>; frobnicate.b32 %r1, %r2; ret; }\n"
			     ".visible .entry even() { ret; }\n"));
	TRY(cuModuleGetFunction(&f, m, "even"));
	TRY(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
	IS(cuCtxSynchronize() == CUDA_SUCCESS);
	TRY(cuModuleGetFunction(&f, m, "odd"));
	TRY(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
	IS((int)cuCtxSynchronize() == 715);
}

void part_info(struct results *r)
{
	CUfunction f;
	CUmodule m, of = NULL;
	size_t offset = 99, size = 0, shared = 0;
	int value = -1, grid = 0, block = 0;

	TRY(cuModuleLoad(&m, path(r, "nvcc-reduce")));
	TRY(cuModuleGetFunction(&f, m, "_Z13reduce_sharedPKiiPiPjPy"));
	TRY(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, f));
	IS(value == 1024);
	TRY(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, f));
	IS(value > 0 && value < 256);
	TRY(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_PTX_VERSION, f));
	IS(value == 75);
	TRY(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_BINARY_VERSION, f));
	IS(value == 90);
	TRY(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, f));
	IS(value == (48 << 10) - 1024);
	TRY(cuFuncGetModule(&of, f));
	IS(of == m);
	TRY(cuFuncGetParamInfo(f, 1, &offset, &size));
	IS(offset == 8 && size == 4);
	TRY(cuFuncGetParamInfo(f, 4, &offset, &size));
	IS(offset == 32 && size == 8);
	IS(cuFuncGetParamInfo(f, 5, &offset, &size) == CUDA_ERROR_INVALID_VALUE);
	TRY(cuOccupancyMaxActiveBlocksPerMultiprocessor(&value, f, 256, 0));
	IS(value > 0 && value <= 8);
	TRY(cuOccupancyMaxActiveBlocksPerMultiprocessor(&value, f, 256, 40 << 10));
	IS(value == 5);
	TRY(cuOccupancyMaxPotentialBlockSize(&grid, &block, f, NULL, 0, 0));
	IS(block >= 64 && block <= 1024 && grid >= 4);
	TRY(cuOccupancyAvailableDynamicSMemPerBlock(&shared, f, 2, 256));
	IS(shared == (228 << 10) / 2 - 1024 - 1024);
	TRY(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 100 << 10));
	TRY(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, f));
	IS(value == 100 << 10);
	IS(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 227 << 10) ==
	   CUDA_ERROR_INVALID_VALUE);
	TRY(cuModuleUnload(m));
}
