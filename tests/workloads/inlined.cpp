/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* inlined [FUNCTION]: calls CUDA through functions that the compiler inlines, of three levels; then sleeps, so that a
 * tool has time.  FUNCTION: what to call instead of allocating: launch, copy, wait.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cuda_api.h"
#include "inlined.h"

static INLINED int allocate_all()
{
	int ret = many<int>(3);

	return ret + many<long>(2);
}

__attribute__((noinline)) int step()
{
	int ret = allocate_all();

	__asm__ volatile("" ::: "memory");
	return ret;
}

static INLINED int call(const char *what)
{
	static char to[64];
	void *p;
	int ret = 0;

	cudaMalloc(&p, sizeof(to));
	if (!strcmp(what, "copy"))
		ret = cudaMemcpy(to, p, sizeof(to), cudaMemcpyDeviceToHost);
	else if (!strcmp(what, "wait"))
		ret = cudaDeviceSynchronize();
	else if (!strcmp(what, "launch"))
		ret = cudaLaunchKernel((const void *)step, dim3{1, 1, 1}, dim3{1, 1, 1}, NULL, 0, NULL);
	__asm__ volatile("" ::: "memory");
	return ret;
}

__attribute__((noinline)) int other(const char *what)
{
	int ret = call(what);

	__asm__ volatile("" ::: "memory");
	return ret;
}

int main(int argc, char **argv)
{
	int ret = argc > 1 ? other(argv[1]) : step();

	usleep(100000);
	return ret < 0;
}
