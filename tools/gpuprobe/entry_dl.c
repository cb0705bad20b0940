/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The wrappers of what finds functions by name, and of what ends the process. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "gpuprobe/entry.h"
#include "gpuprobe/gpuprobe.h"
#include "gpuprobe/nvrtc_real.h"

/* dlsym and dlvsym: RTLD_NEXT and RTLD_DEFAULT are looked up from where the return address is, so the linker's own
 * functions have to see the program's.  All registers that carry arguments are kept. */
#define STUB(name) \
	__asm__(".pushsection .text\n" \
		".globl " #name "\n" \
		".type " #name ", @function\n" \
		".p2align 4\n" \
		#name ":\n" \
		".cfi_startproc\n" \
		"endbr64\n" \
		"push %rdi\n .cfi_adjust_cfa_offset 8\n" \
		"push %rsi\n .cfi_adjust_cfa_offset 8\n" \
		"push %rdx\n .cfi_adjust_cfa_offset 8\n" \
		"call entry_" #name "\n" \
		"pop %rdx\n .cfi_adjust_cfa_offset -8\n" \
		"pop %rsi\n .cfi_adjust_cfa_offset -8\n" \
		"pop %rdi\n .cfi_adjust_cfa_offset -8\n" \
		"test %rax, %rax\n" \
		"jnz 1f\n" \
		"sub $8, %rsp\n .cfi_adjust_cfa_offset 8\n" \
		"push %rdi\n .cfi_adjust_cfa_offset 8\n" \
		"push %rsi\n .cfi_adjust_cfa_offset 8\n" \
		"push %rdx\n .cfi_adjust_cfa_offset 8\n" \
		"sub $8, %rsp\n .cfi_adjust_cfa_offset 8\n" \
		"call real_" #name "\n" \
		"add $8, %rsp\n .cfi_adjust_cfa_offset -8\n" \
		"pop %rdx\n .cfi_adjust_cfa_offset -8\n" \
		"pop %rsi\n .cfi_adjust_cfa_offset -8\n" \
		"pop %rdi\n .cfi_adjust_cfa_offset -8\n" \
		"add $8, %rsp\n .cfi_adjust_cfa_offset -8\n" \
		"test %rax, %rax\n" \
		"jz 1f\n" \
		"jmp *%rax\n" \
		"1: ret\n" \
		".cfi_endproc\n" \
		".size " #name ", . - " #name "\n" \
		".popsection\n")
STUB(dlsym);
STUB(dlvsym);

/* Return true if a function of this name may have a wrapper: all others cost only this. */
static bool may_be_wrapped(const char *name)
{
	return name && ((name[0] == 'c' && name[1] == 'u') || !strcmp(name, "nvrtcGetCUBIN") || !strcmp(name, "dlsym") ||
			!strcmp(name, "dlvsym"));
}

/* With RTLD_DEFAULT the linker finds the wrapper by itself. */
static void *wrapper_of(void *p, const char *name)
{
	void *wrapper = p && !strcmp(name, "nvrtcGetCUBIN") ? nvrtc_real_wrapped(p) : real_wrapped(p);

	return wrapper != p ? wrapper : NULL;
}

void *entry_dlsym(void *handle, const char *name)
{
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
		*f = real_wrapped_name(symbol, *f, version, flags);
	return r;
}

EXPORTED CUresult cuGetProcAddress_v2(const char *symbol, void **f, int version, unsigned long long flags, int *status)
{
	const struct driver *d = real_driver();
	CUresult r = d && d->cuGetProcAddress_v2 ? d->cuGetProcAddress_v2(symbol, f, version, flags, status) :
						   CUDA_ERROR_NOT_FOUND;

	if (!r && f && *f)
		*f = real_wrapped_name(symbol, *f, version, flags);
	return r;
}

/* Handlers of atexit() do not run. */
static void __attribute__((noreturn)) end_now(int status)
{
	gpuprobe_end();
	for (;;) {
		syscall(SYS_exit_group, status);
		__builtin_trap();	/* a filter of calls forbids it: the C library does the same */
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
