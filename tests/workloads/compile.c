/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* compile N WRONG: with NVRTC, compiles N programs, and WRONG ones that it refuses; then allocates 4 KiB. */
#include <stdlib.h>

#include "cuda_api.h"

typedef struct program *nvrtcProgram;

int nvrtcCreateProgram(nvrtcProgram *, const char *, const char *, int, const char *const *, const char *const *);
int nvrtcCompileProgram(nvrtcProgram, int, const char *const *);
int nvrtcDestroyProgram(nvrtcProgram *);

static int compile(const char *source)
{
	static const char *const option = "-arch=sm_90";
	nvrtcProgram program;
	int ret;

	if (nvrtcCreateProgram(&program, source, "source.cu", 0, NULL, NULL))
		exit(1);
	ret = nvrtcCompileProgram(program, 1, &option);
	nvrtcDestroyProgram(&program);
	return ret;
}

int main(int argc, char **argv)
{
	const int n = argc > 1 ? atoi(argv[1]) : 1, wrong = argc > 2 ? atoi(argv[2]) : 0;
	void *p;

	for (int i = 0; i < n; i++)
		if (compile("__global__ void k() { }"))
			return 1;
	for (int i = 0; i < wrong; i++)
		if (!compile("#error"))
			return 1;
	return cudaMalloc(&p, 4096) != 0;
}
