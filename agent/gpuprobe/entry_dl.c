/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Wrappers of the functions that find others by name, which return the wrappers of these; of nvrtcGetCUBIN; and of the
 * functions that end the process. */
#define _GNU_SOURCE
#include <errno.h>
#include <link.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "agent/gpuprobe/cubin.h"
#include "agent/gpuprobe/entry.h"
#include "agent/gpuprobe/gpuprobe.h"
#include "machine/dl_stub.h"

/* nvrtcGetCUBIN: records the PTX of the machine code, which NVRTC has even if the program gets only the code. */

typedef nvrtcResult get_fn(nvrtcProgram program, char *to);
typedef nvrtcResult size_fn(nvrtcProgram program, size_t *size);

/* of the first NVRTC that was found, the only one that the wrapper serves */
static get_fn *nvrtc_get;

enum { NVRTC_ERROR_INTERNAL = 11 };

/* Returns the wrapper of an nvrtcGetCUBIN, or the function itself if the wrapper serves another NVRTC. */
static void *wrapped_nvrtc(void *function)
{
	get_fn *none = NULL, *f;

	if (function == (void *)nvrtcGetCUBIN)
		return function;
	*(void **)&f = function;
	if (__atomic_compare_exchange_n(&nvrtc_get, &none, f, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE) || none == f)
		return (void *)nvrtcGetCUBIN;
	return function;
}

static int is_nvrtc(struct dl_phdr_info *info, size_t size, void *ctx)
{
	const char *base = strrchr(info->dlpi_name, '/');

	(void)size;
	if (strncmp(base ? base + 1 : info->dlpi_name, "libnvrtc.so", 11))
		return 0;
	*(const char **)ctx = info->dlpi_name;
	return 1;
}

/* A program that is linked with NVRTC reaches the wrapper without dlsym. */
static get_fn *find_linked(void)
{
	const char *file = NULL;
	dlsym_fn *sym = real_dlsym();
	void *lib;

	dl_iterate_phdr(is_nvrtc, &file);
	lib = file && sym ? dlopen(file, RTLD_NOW | RTLD_NOLOAD) : NULL;
	if (lib)
		wrapped_nvrtc(sym(lib, "nvrtcGetCUBIN"));
	return __atomic_load_n(&nvrtc_get, __ATOMIC_ACQUIRE);
}

static void keep(struct gpuprobe *state, get_fn *get, nvrtcProgram program, const char *cubin)
{
	dlsym_fn *sym = real_dlsym();
	size_t code_size = 0, size = 0;
	size_fn *get_code_size, *get_size;
	get_fn *get_ptx;
	Dl_info info;
	void *lib;
	char *ptx;

	lib = sym && dladdr((void *)get, &info) ? dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD) : NULL;
	if (!lib)
		return;
	*(void **)&get_code_size = sym(lib, "nvrtcGetCUBINSize");
	*(void **)&get_size = sym(lib, "nvrtcGetPTXSize");
	*(void **)&get_ptx = sym(lib, "nvrtcGetPTX");
	if (!get_code_size || !get_size || !get_ptx || get_code_size(program, &code_size) || get_size(program, &size) ||
	    size < 2 || !cubin_size(cubin, code_size))
		return;
	ptx = malloc(size);
	if (ptx && !get_ptx(program, ptx)) {
		pthread_mutex_lock(&state->lock);
		nvrtc_keep(&state->nvrtc, cubin, cubin_size(cubin, code_size), ptx, strnlen(ptx, size));
		pthread_mutex_unlock(&state->lock);
	}
	free(ptx);
}

EXPORTED nvrtcResult nvrtcGetCUBIN(nvrtcProgram program, char *cubin)
{
	get_fn *get = __atomic_load_n(&nvrtc_get, __ATOMIC_ACQUIRE);
	struct gpuprobe *state;
	nvrtcResult r;

	if (!get)
		get = find_linked();
	r = get ? get(program, cubin) : NVRTC_ERROR_INTERNAL;
	state = !r && cubin ? gpuprobe_begin() : NULL;
	if (state) {
		int err = errno;

		keep(state, get, program, cubin);
		errno = err;
	}
	return r;
}

/* dlsym and dlvsym: the linker resolves RTLD_NEXT and RTLD_DEFAULT by its caller's return address, so its own functions
 * are reached by a jump.  The stubs preserve all argument registers. */
DL_STUB(dlsym);
DL_STUB(dlvsym);

/* Returns the wrapper of one of the driver's or the linker's functions, or the function itself. */
static void *wrapped(void *function)
{
	const struct driver *d = function ? real_driver() : NULL;

	if (function && function == (void *)real_dlsym())
		return (void *)dlsym;
	if (function && function == (void *)real_dlvsym())
		return (void *)dlvsym;
#define NONE(name, params)
#define SAME(name, params) if (d && function == (void *)d->name) return (void *)name;
	DRIVER_FUNCTIONS(NONE, SAME)
	return function;
}

/* A name without _v2 means the version of the CUDA that is asked for: cudaTypedefs.h. */
static const struct {
	const char *name;
	int since;
	bool per_thread;	/* requires CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM */
	void *wrapper;
} by_name[] = {
	{ "cuGetProcAddress", 12000, false, (void *)cuGetProcAddress_v2 },
	{ "cuGetProcAddress", 11030, false, (void *)cuGetProcAddress },
	{ "cuModuleLoad", 2000, false, (void *)cuModuleLoad },
	{ "cuModuleLoadData", 2000, false, (void *)cuModuleLoadData },
	{ "cuModuleLoadDataEx", 2010, false, (void *)cuModuleLoadDataEx },
	{ "cuModuleLoadFatBinary", 2000, false, (void *)cuModuleLoadFatBinary },
	{ "cuModuleUnload", 2000, false, (void *)cuModuleUnload },
	{ "cuLibraryLoadData", 12000, false, (void *)cuLibraryLoadData },
	{ "cuLibraryLoadFromFile", 12000, false, (void *)cuLibraryLoadFromFile },
	{ "cuLibraryUnload", 12000, false, (void *)cuLibraryUnload },
	{ "cuLinkAddData", 6050, false, (void *)cuLinkAddData_v2 },
	{ "cuLinkAddFile", 6050, false, (void *)cuLinkAddFile_v2 },
	{ "cuCtxCreate", 12050, false, (void *)cuCtxCreate_v4 },
	{ "cuCtxCreate", 11040, false, (void *)cuCtxCreate_v3 },
	{ "cuCtxCreate", 3020, false, (void *)cuCtxCreate_v2 },
	{ "cuCtxDestroy", 4000, false, (void *)cuCtxDestroy_v2 },
	{ "cuDevicePrimaryCtxRetain", 7000, false, (void *)cuDevicePrimaryCtxRetain },
	{ "cuDevicePrimaryCtxRelease", 11000, false, (void *)cuDevicePrimaryCtxRelease_v2 },
	{ "cuDevicePrimaryCtxReset", 11000, false, (void *)cuDevicePrimaryCtxReset_v2 },
	{ "cuFuncGetAttribute", 2020, false, (void *)cuFuncGetAttribute },
	{ "cuFuncSetAttribute", 9000, false, (void *)cuFuncSetAttribute },
	{ "cuKernelGetAttribute", 12000, false, (void *)cuKernelGetAttribute },
	{ "cuKernelSetAttribute", 12000, false, (void *)cuKernelSetAttribute },
	{ "cuKernelGetFunction", 12000, false, (void *)cuKernelGetFunction },
	{ "cuLaunchKernel", 7000, true, (void *)cuLaunchKernel_ptsz },
	{ "cuLaunchKernel", 4000, false, (void *)cuLaunchKernel },
	{ "cuLaunchKernelEx", 11060, true, (void *)cuLaunchKernelEx_ptsz },
	{ "cuLaunchKernelEx", 11060, false, (void *)cuLaunchKernelEx },
	{ "cuLaunchCooperativeKernel", 9000, true, (void *)cuLaunchCooperativeKernel_ptsz },
	{ "cuLaunchCooperativeKernel", 9000, false, (void *)cuLaunchCooperativeKernel },
	{ "cuMemAlloc", 3020, false, (void *)cuMemAlloc_v2 },
	{ "cuMemAllocManaged", 6000, false, (void *)cuMemAllocManaged },
	{ "cuMemAllocPitch", 3020, false, (void *)cuMemAllocPitch_v2 },
	{ "cuMemAllocAsync", 11020, true, (void *)cuMemAllocAsync_ptsz },
	{ "cuMemAllocAsync", 11020, false, (void *)cuMemAllocAsync },
	{ "cuMemAllocFromPoolAsync", 11020, true, (void *)cuMemAllocFromPoolAsync_ptsz },
	{ "cuMemAllocFromPoolAsync", 11020, false, (void *)cuMemAllocFromPoolAsync },
	{ "cuMemFree", 3020, false, (void *)cuMemFree_v2 },
	{ "cuMemAllocHost", 3020, false, (void *)cuMemAllocHost_v2 },
	{ "cuMemHostAlloc", 2020, false, (void *)cuMemHostAlloc },
	{ "cuMemHostRegister", 6050, false, (void *)cuMemHostRegister_v2 },
	{ "cuMemFreeHost", 2000, false, (void *)cuMemFreeHost },
	{ "cuMemHostUnregister", 4000, false, (void *)cuMemHostUnregister },
	{ "cuMemMap", 10020, false, (void *)cuMemMap },
	{ "cuMemUnmap", 10020, false, (void *)cuMemUnmap },
	{ "cuIpcOpenMemHandle", 11000, false, (void *)cuIpcOpenMemHandle_v2 },
};

/* The same by the name passed to cuGetProcAddress, because some drivers do not return their exports. */
static void *wrapped_name(const char *name, void *function, int version, unsigned long long flags)
{
	void *wrapper = wrapped(function);

	if (wrapper != function)
		return wrapper;
	for (size_t i = 0; i < sizeof(by_name) / sizeof(*by_name); i++)
		if (version >= by_name[i].since && !strcmp(name, by_name[i].name) &&
		    (!by_name[i].per_thread || flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM))
			return by_name[i].wrapper;
	return function;
}

/* Returns true if a function of this name may have a wrapper; for all others this is the only cost. */
static bool may_be_wrapped(const char *name)
{
	return name && ((name[0] == 'c' && name[1] == 'u') || !strcmp(name, "nvrtcGetCUBIN") || !strcmp(name, "dlsym") ||
			!strcmp(name, "dlvsym"));
}

static void *wrapper_of(void *p, const char *name)
{
	void *wrapper = p && !strcmp(name, "nvrtcGetCUBIN") ? wrapped_nvrtc(p) : wrapped(p);

	return wrapper != p ? wrapper : NULL;
}

void *entry_dlsym(void *handle, const char *name)
{
	/* with RTLD_DEFAULT the linker finds the wrapper itself */
	dlsym_fn *sym = handle != RTLD_NEXT && handle != RTLD_DEFAULT && may_be_wrapped(name) ? real_dlsym() : NULL;

	return sym ? wrapper_of(sym(handle, name), name) : NULL;
}

void *entry_dlvsym(void *handle, const char *name, const char *version)
{
	dlvsym_fn *sym = handle != RTLD_NEXT && handle != RTLD_DEFAULT && may_be_wrapped(name) ? real_dlvsym() : NULL;

	return sym ? wrapper_of(sym(handle, name, version), name) : NULL;
}

EXPORTED CUresult cuGetProcAddress(const char *symbol, void **f, int version, unsigned long long flags)
{
	const struct driver *d = real_driver();
	CUresult r = d && d->cuGetProcAddress ? d->cuGetProcAddress(symbol, f, version, flags) : CUDA_ERROR_NOT_FOUND;

	if (!r && f && *f)
		*f = wrapped_name(symbol, *f, version, flags);
	return r;
}

EXPORTED CUresult cuGetProcAddress_v2(const char *symbol, void **f, int version, unsigned long long flags, int *status)
{
	const struct driver *d = real_driver();
	CUresult r = d && d->cuGetProcAddress_v2 ? d->cuGetProcAddress_v2(symbol, f, version, flags, status) :
						   CUDA_ERROR_NOT_FOUND;

	if (!r && f && *f)
		*f = wrapped_name(symbol, *f, version, flags);
	return r;
}

/* _exit() skips atexit handlers. */
static void __attribute__((noreturn)) end_now(int status)
{
	gpuprobe_end();
	for (;;) {
		syscall(SYS_exit_group, status);
		__builtin_trap();	/* forbidden by a seccomp filter; the C library does the same */
	}
}

EXPORTED void _exit(int status)
{
	end_now(status);
}

EXPORTED void _Exit(int status)
{
	end_now(status);
}
