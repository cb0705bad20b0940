/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* inject PART [N] [WORD...]: reaches CUDA's functions in the ways in which programs do, and leaves them in those in which
 * they can be left.  Exactly N calls of cudaMalloc are made unless something else is said.
 *
 *   plt                 by the program's own references
 *   data                N calls of cudaMallocHost by pointers in static data
 *   dlsym, dlvsym       by what those answer; both handles and RTLD_DEFAULT
 *   dlmopen             in a namespace of their own: the runtime and the driver are loaded once more
 *   proc, entry         N calls of cuMemAlloc_v2 by what cuGetProcAddress, cudaGetDriverEntryPoint answer
 *   pointers            prints whether cudaMallocHost has one address, however it is asked for
 *   weak                prints whether a weak reference to a function that does not exist is NULL
 *   plugin N FILE HOW   of a library that is loaded while the program runs, HOW: now, lazy, local, deep
 *   reopen N            N times: loads FILE of the environment's INJECT_PLUGIN, has it make 3 calls, unloads it
 *   args                functions with arguments on the stack; prints "right" if all arrived
 *   thread-exit         N threads end by pthread_exit() inside cudaLaunchHostFunc, and N calls follow
 *   thread-gone         the same by the system call, which unwinds nothing
 *   jump                N times longjmp() out of cudaLaunchHostFunc, each followed by a call
 *   throw               N times a C++ exception out of cudaLaunchHostFunc, each followed by a call
 *   killed              N calls, then one in a child that is killed inside of it (SIM_LATENCY_US says where)
 *   stuck               N calls, then one inside of which the program kills itself
 *   threads             N threads at the same time, a call each
 *   sequence            N threads one after the other, a call each
 *   fork                N calls here, N in a child, N in the child's child, then N here
 *   fork-inside         forks inside cudaLaunchHostFunc; N calls in the child and N here
 *   vfork, spawn        N calls, a child by vfork() or posix_spawn() which is `inject plt N`, N calls
 *   exec                N calls, then becomes `inject plt N`
 *   same                prints what calls must leave alone: registers of control, errno, signals, alignment
 *   fds, environ        prints the files that are open after the calls, the environment without the linker's words
 *   signal              N calls of cudaGetDevice while a timer's handler makes such calls too; prints how many it made
 *   backtrace           prints the functions between a callback of CUDA and main()
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inject.h"
#include "cuda_api.h"

static const struct { const char *name; inject_part *run; } parts[] = {
	{ "plt", part_plt }, { "data", part_data }, { "dlsym", part_dlsym }, { "dlvsym", part_dlvsym },
	{ "dlmopen", part_dlmopen }, { "proc", part_proc }, { "entry", part_entry },
	{ "pointers", part_pointers }, { "weak", part_weak }, { "plugin", part_plugin }, { "reopen", part_reopen },
	{ "args", part_args }, { "thread-exit", part_thread_exit }, { "thread-gone", part_thread_gone },
	{ "jump", part_jump }, { "throw", part_throw }, { "killed", part_killed }, { "stuck", part_stuck },
	{ "threads", part_threads }, { "sequence", part_sequence }, { "fork", part_fork },
	{ "fork-inside", part_fork_inside }, { "vfork", part_vfork }, { "spawn", part_spawn }, { "exec", part_exec },
	{ "same", part_same }, { "fds", part_fds }, { "environ", part_environ }, { "signal", part_signal },
	{ "backtrace", part_backtrace },
};

int inject_count(int argc, char **argv)
{
	return argc > 1 ? atoi(argv[1]) : 1;
}

void inject_must(int holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "inject: %s\n", what);
	exit(1);
}

void inject_allocate(int n)
{
	void *p;

	for (; n > 0; n--)
		inject_must(cudaMalloc(&p, 64) == cudaSuccess, "cudaMalloc failed");
}

void inject_allocate_driver(int n)
{
	CUdeviceptr p;

	for (; n > 0; n--)
		inject_must(cuMemAlloc_v2(&p, 64) == CUDA_SUCCESS, "cuMemAlloc failed");
}

int main(int argc, char **argv)
{
	unsigned i;

	for (i = 0; argc > 1 && i < sizeof(parts) / sizeof(*parts); i++)
		if (!strcmp(argv[1], parts[i].name))
			return parts[i].run(argc - 1, argv + 1);
	fprintf(stderr, "inject: expected a part\n");
	return 2;
}
