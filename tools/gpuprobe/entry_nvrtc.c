/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* nvrtcGetCUBIN: NVRTC has the PTX as well, also where a program asks for machine code alone. */
#define _GNU_SOURCE
#include <errno.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include "gpuprobe/cubin.h"
#include "gpuprobe/entry.h"
#include "gpuprobe/gpuprobe.h"
#include "gpuprobe/nvrtc_real.h"

typedef nvrtcResult get_fn(nvrtcProgram program, char *to);
typedef nvrtcResult size_fn(nvrtcProgram program, size_t *size);

/* the NVRTC that the wrapper serves: the first that was found */
static get_fn *real_get;

enum { NVRTC_ERROR_INTERNAL = 11 };

void *nvrtc_real_wrapped(void *function)
{
	get_fn *none = NULL, *f;

	if (function == (void *)nvrtcGetCUBIN)
		return function;
	*(void **)&f = function;
	if (__atomic_compare_exchange_n(&real_get, &none, f, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE) || none == f)
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

/* A program that is linked with NVRTC calls the wrapper without having asked for it. */
static get_fn *find_linked(void)
{
	const char *file = NULL;
	dlsym_fn *sym = real_dlsym();
	void *lib;

	dl_iterate_phdr(is_nvrtc, &file);
	lib = file && sym ? dlopen(file, RTLD_NOW | RTLD_NOLOAD) : NULL;
	if (lib)
		nvrtc_real_wrapped(sym(lib, "nvrtcGetCUBIN"));
	return __atomic_load_n(&real_get, __ATOMIC_ACQUIRE);
}

static void keep(struct inject *inject, get_fn *get, nvrtcProgram program, const char *cubin)
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
		pthread_mutex_lock(&inject->lock);
		nvrtc_keep(&inject->nvrtc, cubin, cubin_size(cubin, code_size), ptx, strnlen(ptx, size));
		pthread_mutex_unlock(&inject->lock);
	}
	free(ptx);
}

EXPORTED nvrtcResult nvrtcGetCUBIN(nvrtcProgram program, char *cubin)
{
	get_fn *get = __atomic_load_n(&real_get, __ATOMIC_ACQUIRE);
	struct inject *inject;
	nvrtcResult r;

	if (!get)
		get = find_linked();
	r = get ? get(program, cubin) : NVRTC_ERROR_INTERNAL;
	inject = !r && cubin ? gpuprobe_begin() : NULL;
	if (inject) {
		int err = errno;

		keep(inject, get, program, cubin);
		errno = err;
	}
	return r;
}
