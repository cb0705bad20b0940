/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* libcuda.so.1 of a layer before the real driver, which is libcuda.so.1.1 beside it: one that shares the GPU, or the loader of WSL.
 * Each function calls the real one of that name, or jumps there (compiled with -foptimize-sibling-calls).  layer.def has
 * WRAP(name) for each.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* More words than any function takes: a function that does not read them is not disturbed. */
#define PARAMS long a, long b, long c, long d, long e, long f, long g, long h, long i, long j, long k, long l, long m, long n,	\
	long o, long p
#define ARGS a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p

typedef int any(PARAMS);

#define WRAP(name) R_##name,
enum {
#include "layer.def"
	REALS
};
#undef WRAP

static any *real[REALS];

#define WRAP(name) __attribute__((visibility("default"))) int name(PARAMS) { return real[R_##name](ARGS); }
#include "layer.def"
#undef WRAP

static const struct { const char *name; any *own; } functions[] = {
#define WRAP(name) { #name, name },
#include "layer.def"
};

static any *proc_address;

/* The program is given the layer's own functions. */
static int own_address(const char *symbol, void **function, int version, uint64_t flags, int *status)
{
	int ret = ((int (*)(const char *, void **, int, uint64_t, int *))proc_address)(symbol, function, version, flags, status);

	for (int i = 0; !ret && i < REALS; i++)
		if (*function == (void *)real[i])
			*function = (void *)functions[i].own;
	return ret;
}

__attribute__((constructor)) static void find(void)
{
	void *driver = dlopen("libcuda.so.1.1", RTLD_NOW);

	for (int i = 0; driver && i < REALS; i++)
		real[i] = (any *)dlsym(driver, functions[i].name);
	if (!driver || !real[R_cuGetProcAddress_v2]) {
		fprintf(stderr, "layer: %s\n", dlerror());
		exit(127);
	}
	proc_address = real[R_cuGetProcAddress_v2];
	real[R_cuGetProcAddress_v2] = (any *)own_address;
}
