/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Shared by the simulated driver (drv_*.c) and runtime (rt_*.c).
 *
 * SIM_MEMORY      bytes of each device, with k, m, g (16g)
 * SIM_DEVICES     how many devices (2, at most 8)
 * SIM_FAIL        FUNC:N=CODE the Nth call returns CODE, FUNC:*=CODE every call
 * SIM_LATENCY_US  FUNC=US or FUNC:N=US sleep that long before the call; -1: for ever
 * SIM_SPIN_US     the same, but busy
 * SIM_SM          compute capability of the devices (90)
 * SIM_KERNELS     1: kernels run; otherwise they do nothing and images are never looked into
 * SIM_KERNEL_DEBUG  1: says on standard error why an image did not load, and which access faulted
 * SIM_KERNEL_STEPS  instructions after which a kernel is stopped: see interp/interp.h
 * SIM_TRACE       file to append a line a call to: "rt|drv FUNC ARGS RESULT";
 *                 %p in its name becomes the process id
 * CUDA_INJECTION64_PATH  a library that cuInit() loads, to call its InitializeInjection()
 */
#ifndef TESTS_SIM_SIM_H
#define TESTS_SIM_SIM_H

#include <stddef.h>
#include <stdint.h>

/* NVIDIA's headers make a wrong prototype here a compile error. */
#if !defined(SIM_OWN_HEADERS) && defined(__has_include)
#if __has_include(<cuda.h>) && __has_include(<cuda_runtime_api.h>)
#define SIM_NVIDIA_HEADERS
#endif
#endif
#ifdef SIM_NVIDIA_HEADERS
#define __CUDA_API_VERSION_INTERNAL	/* every variant's prototype */
#include <cuda.h>
#include <cuda_runtime_api.h>
#if CUDA_VERSION < 13000
#error "prototypes are CUDA 13's: build with SIM_OWN_HEADERS=1"
#endif
#else
#include "sim_cuda.h"
#endif

#define HIDDEN __attribute__((visibility("hidden")))
#define EXPORTED __attribute__((visibility("default")))
#define unlikely(x) __builtin_expect(!!(x), 0)

enum { SIM_RULES = 1, SIM_TRACING = 2 };
extern HIDDEN int sim_flags;

/* One a function: how often it was called, and whether a rule names it. */
struct sim_call {
	const char *layer, *name;
	unsigned count;
	int has_rules;
};

/* Applies the environment's rules; 1 when *ret is to be returned at once. */
HIDDEN int sim_before(struct sim_call *call, int *ret);
HIDDEN void sim_trace(const struct sim_call *call, int ret, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
HIDDEN unsigned long long sim_size(const char *text);

/* For arguments of trace lines: pointers, and what a call stored. */
#define P(x) ((unsigned long)(uintptr_t)(x))
#define OUT(ptr) (ret || !(ptr) ? 0UL : P(*(ptr)))

#define SIM_CALL(layer_, name_, body, args, ...) \
	static struct sim_call call = { .layer = layer_, .name = #name_ }; \
	int ret = 0; \
	if (!unlikely(sim_flags & SIM_RULES) || !sim_before(&call, &ret)) \
		ret = (int)(body args); \
	if (unlikely(sim_flags & SIM_TRACING)) \
		sim_trace(&call, ret, __VA_ARGS__)

#endif
