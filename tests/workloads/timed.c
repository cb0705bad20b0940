/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* timed FILE KERNEL LAUNCHES BLOCKS THREADS N [HOW]: launches a kernel of timed.cu from PTX in FILE, or an image of
 * another kind, by the driver alone, on N numbers, and prints how many results are right.  HOW: `kill`, `fault` or
 * `leave` (by _exit): what it does once the kernels have run, after a line of its input. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "cuda_api.h"

static void must(CUresult err, const char *what)
{
	if (err == CUDA_SUCCESS)
		return;
	printf("timed: %s: error %d\n", what, (int)err);
	exit(1);
}
#define MUST(call) must(call, #call)

struct work {
	const char *kernel;
	unsigned launches, blocks, threads;
	int n;
	float *a, *b;
	CUdeviceptr da, db;
};

static void run(const char *file, struct work *w)
{
	void *params[] = { &w->da, &w->db, &w->n };
	size_t size = (w->n ? w->n : 1) * sizeof(float);
	CUmodule module;
	CUfunction f;

	MUST(cuModuleLoad(&module, file));
	MUST(cuModuleGetFunction(&f, module, w->kernel));
	w->a = calloc(1, size);
	w->b = calloc(1, size);
	for (int i = 0; i < w->n; i++)
		w->a[i] = i % 7 * 2;
	MUST(cuMemAlloc_v2(&w->da, size));
	MUST(cuMemAlloc_v2(&w->db, size));
	MUST(cuMemcpyHtoD_v2(w->da, w->a, size));
	MUST(cuMemsetD8_v2(w->db, 0, size));
	for (unsigned i = 0; i < w->launches; i++)
		MUST(cuLaunchKernel(f, w->blocks, 1, 1, w->threads, 1, 1, 0, NULL, params, NULL));
	MUST(cuCtxSynchronize());
	MUST(cuMemcpyDtoH_v2(w->b, w->db, size));
}

static void check(const struct work *w)
{
	int all = strcmp(w->kernel, "sum") ? w->n : 1, right = 0;
	float sum = 0;

	for (int i = 0; i < w->n; i++)
		sum += w->a[i];
	for (int i = 0; i < all; i++)
		right += w->b[i] == (all == 1 ? sum * w->launches : strcmp(w->kernel, "scale") ? w->a[i] : w->a[i] * 1.5f);
	printf("%s: %d of %d right\n", w->kernel, right, all);
	fflush(stdout);
}

static void end(const char *how, const struct work *w)
{
	char line[8];

	if (!fgets(line, sizeof(line), stdin))
		return;
	if (!strcmp(how, "kill"))
		raise(SIGKILL);
	if (!strcmp(how, "leave"))
		_exit(5);
	if (!strcmp(how, "fault")) {
		MUST(cuMemFree_v2(w->da));
		exit(6);
	}
}

int main(int argc, char **argv)
{
	struct work w = { 0 };
	CUcontext ctx;

	if (argc < 7)
		return 2;
	w = (struct work){ .kernel = argv[2], .launches = strtoul(argv[3], NULL, 0),
			   .blocks = strtoul(argv[4], NULL, 0), .threads = strtoul(argv[5], NULL, 0),
			   .n = atoi(argv[6]) };
	MUST(cuInit(0));
	MUST(cuCtxCreate_v4(&ctx, NULL, 0, 0));
	run(argv[1], &w);
	check(&w);
	if (argc > 7)
		end(argv[7], &w);
	return 0;
}
