/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* inject: the stack as the program itself sees it, from a callback of CUDA. */
#include <dlfcn.h>
#include <execinfo.h>
#include <stdio.h>

#include "inject.h"
#include "cuda_api.h"

/* found by dladdr() */
extern inject_part stack_outer;
extern void stack_callback(void *data);
extern int main(int argc, char **argv);

void stack_callback(void *data)
{
	void *frame[64];
	int n = backtrace(frame, 64), i;
	Dl_info info;

	(void)data;
	for (i = 0; i < n; i++)
		if (dladdr(frame[i], &info) && info.dli_sname)
			puts(info.dli_sname);
		else
			puts("?");
	fflush(stdout);
}

__attribute__((noinline)) int stack_outer(int argc, char **argv)
{
	(void)argc, (void)argv;
	return cudaLaunchHostFunc(NULL, stack_callback, NULL) != cudaSuccess;
}

int part_backtrace(int argc, char **argv)
{
	int (*volatile outer)(int, char **) = stack_outer;

	return outer(argc, argv);
}
