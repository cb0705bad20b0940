/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* launches WORD...: launches kernels in ways that mem has not, the words from left to right:
 *   failed N     the runtime's launch of what is no kernel, which never reaches the driver
 *   driver N     the driver's, of the same grid and block (3x2x1, 32x4x2), from this function
 *   deeper N     the same from two functions further down
 *   long N       the same of a kernel whose name has 4,001 characters
 *   called NAME N  the same of a kernel with this name
 *   ugly N       the same of a kernel whose name has control characters and a quote
 *   reuse N      the runtime's of a kernel, then 4 more of another with the same host function
 *   jit N        loads a module, launches its kernel jit<I> 2, 3, 5, 7 or 11 times and unloads it at
 *                once, for I from 0 to N - 1
 *   named N      the driver's N times, and names the kernel anew before each
 *   shape Y N    the driver's of a grid of 3xYx1
 *   vast N       the driver's of the largest grid of the largest blocks: 9444444733164249676800 threads
 *   aside Y N    the same as shape 150 ms later in a thread of its own, which stays
 *   kept N       as jit, but unloads nothing
 *   handles N    the driver's of N functions that nothing has named, each once
 *   runtime N    the runtime's of a kernel
 *   names FILE   the driver's of a kernel by each line of a file, the first once, the second twice and so on
 *   rename NAME  of this process, %e in it becomes ESC
 *   register N   registers N kernels, registered<I> for I from 0, and launches the last 11 of them
 *                I % 5 + 2 times through the runtime
 *   heir N       the same, but a child process launches
 *   wait         prints "ready" and reads a line
 */
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cuda_api.h"

#define KEPT __attribute__((noipa))

static __typeof__(&cuLaunchKernel) drv_launch;
static __typeof__(&cuModuleGetFunction) drv_function;
static __typeof__(&cuModuleLoadData) drv_load;
static __typeof__(&cuModuleUnload) drv_unload;
static const char image[] = "//\n.version 9.0\n.target sm_90\n.address_size 64\n";
static CUmodule module;
static CUfunction kernel;

static CUfunction function(const char *name)
{
	CUfunction f = NULL;

	if (drv_function(&f, module, name))
		fprintf(stderr, "launches: no function\n");
	return f;
}

static void driver(CUfunction f, int n)
{
	for (int i = 0; i < n; i++)
		drv_launch(f, 3, 2, 1, 32, 4, 2, 0, NULL, NULL, NULL);
}

KEPT static void failed(int n)
{
	const dim3 grid = { 3, 2, 1 }, block = { 32, 4, 2 };

	for (int i = 0; i < n; i++)
		cudaLaunchKernel((const void *)(unsigned long)driver, grid, block, NULL, 0, NULL);
}

static void kernel_stub(void)
{
	__asm__ volatile("");
}

static void **register_binary(void)
{
	extern void **__cudaRegisterFatBinary(void *);
	static struct { int magic, version; const void *data; void *name; } binary = {
		0x466243b1, 1, image, NULL
	};

	return __cudaRegisterFatBinary(&binary);
}

static void register_kernel(void **binary, const char *name)
{
	extern void __cudaRegisterFunction(void **, const char *, char *, const char *, int, void *,
					   void *, void *, void *, int *);

	__cudaRegisterFunction(binary, (const char *)(unsigned long)kernel_stub, NULL, name, -1, NULL,
			       NULL, NULL, NULL, NULL);
}

KEPT static void runtime(int n)
{
	const dim3 grid = { 3, 2, 1 }, block = { 32, 4, 2 };

	for (int i = 0; i < n; i++)
		cudaLaunchKernel((const void *)(unsigned long)kernel_stub, grid, block, NULL, 0, NULL);
}

/* The stubs of kernels that are never run: addresses are enough. */
static char stubs[1 << 16];

static void register_many(unsigned n)
{
	extern void __cudaRegisterFunction(void **, const char *, char *, const char *, int, void *,
					   void *, void *, void *, int *);
	void **binary = register_binary();
	char *name;

	for (unsigned i = 0; i < n && i < sizeof(stubs); i++) {
		if (asprintf(&name, "_Z10registeredILi%uEEvv", i) < 0)
			return;
		__cudaRegisterFunction(binary, &stubs[i], NULL, name, -1, NULL, NULL, NULL, NULL, NULL);
	}
}

static void launch_last(unsigned n)
{
	const dim3 grid = { 3, 2, 1 }, block = { 32, 4, 2 };

	for (unsigned i = n - 11; i < n; i++)
		for (unsigned j = 0; j < i % 5 + 2; j++)
			cudaLaunchKernel(&stubs[i], grid, block, NULL, 0, NULL);
}

static void heir(unsigned n)
{
	register_many(n);
	if (!fork()) {
		launch_last(n);
		sleep(1);
		_exit(0);
	}
	wait(NULL);
}

static void reuse(int n)
{
	void **binary = register_binary();

	register_kernel(binary, "_Z5firstv");
	runtime(n);
	register_kernel(binary, "_Z6secondv");
	runtime(n + 4);
}

static void jit(int n, bool unload)
{
	static const int times[] = { 2, 3, 5, 7, 11 };
	char name[32];
	CUfunction f;
	CUmodule m;

	for (int i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "_Z3jitILi%dEEvv", i);
		if (drv_load(&m, image) || drv_function(&f, m, name))
			fprintf(stderr, "launches: no function\n");
		driver(f, times[i % 5]);
		if (unload)
			drv_unload(m);
	}
}

static void shape(unsigned y, int n)
{
	for (int i = 0; i < n; i++)
		drv_launch(kernel, 3, y, 1, 32, 4, 2, 0, NULL, NULL, NULL);
}

static void vast(int n)
{
	for (int i = 0; i < n; i++)
		drv_launch(kernel, 2147483647, 65535, 65535, 32, 32, 1, 0, NULL, NULL, NULL);
}

static void named(int n)
{
	for (int i = 0; i < n; i++)
		driver(function("_Z6directPfi"), 1);
}

static void handles(int n)
{
	for (unsigned long i = 1; i <= (unsigned long)n; i++)
		driver((CUfunction)(i << 12), 1);
}

/* a frame that leaves what was on the stack */
KEPT static void deep(int n)
{
	char room[512];

	__asm__ volatile("" : : "r"(room) : "memory");
	driver(kernel, n);
	__asm__ volatile("" : : "r"(room) : "memory");
}

KEPT static void deeper(int n)
{
	deep(n);
	__asm__ volatile("" ::: "memory");
}

/* Not a part of main(), whose frame is to be small. */
KEPT static void names(const char *path)
{
	char name[8192];
	FILE *f = fopen(path, "r");

	for (int n = 1; f && fgets(name, sizeof(name), f); n++) {
		name[strcspn(name, "\n")] = 0;
		driver(function(name), n);
	}
}

static struct { int y, n; sem_t done; } other;

static void *other_thread(void *unused)
{
	usleep(150000);
	cudaFree(NULL);		/* makes the context current */
	shape(other.y, other.n);
	sem_post(&other.done);
	for (;;)
		pause();
	return unused;
}

static void aside(int y, int n)
{
	pthread_t thread;

	other.y = y;
	other.n = n;
	sem_init(&other.done, 0, 0);
	if (pthread_create(&thread, NULL, other_thread, NULL))
		_exit(1);
	while (sem_wait(&other.done))
		;
}

static int start(void)
{
	void *lib = dlopen("libcuda.so.1", RTLD_NOW);
	void *p;

	if (cudaMalloc(&p, 4096) || !lib ||
	    !(*(void **)&drv_launch = dlsym(lib, "cuLaunchKernel")) ||
	    !(*(void **)&drv_function = dlsym(lib, "cuModuleGetFunction")) ||
	    !(*(void **)&drv_load = dlsym(lib, "cuModuleLoadData")) ||
	    !(*(void **)&drv_unload = dlsym(lib, "cuModuleUnload")))
		return 1;
	return drv_load(&module, image);
}

static void rename_to(const char *name)
{
	char comm[16];
	int n = 0;

	for (; *name && n < 15; name++) {
		bool escape = !strncmp(name, "%e", 2);

		comm[n++] = escape ? '\033' : *name;
		name += escape;
	}
	comm[n] = 0;
	prctl(PR_SET_NAME, comm);
}

int main(int argc, char **argv)
{
	char name[4002] = "a_kernel_whose_name_goes_on_";

	if (start()) {
		fprintf(stderr, "launches: no CUDA\n");
		return 1;
	}
	memset(name + strlen(name), 'n', sizeof(name) - 1 - strlen(name));
	kernel = function("_Z6directPfi");
	for (int i = 1; i < argc; i++) {
		int n = i + 1 < argc ? atoi(argv[i + 1]) : 0;

		if (!strcmp(argv[i], "wait")) {
			puts("ready");
			fflush(stdout);
			getchar();
			continue;
		}
		if (!strcmp(argv[i], "failed"))
			failed(n);
		else if (!strcmp(argv[i], "driver"))
			driver(kernel, n);
		else if (!strcmp(argv[i], "deeper"))
			deeper(n);
		else if (!strcmp(argv[i], "long"))
			driver(function(name), n);
		else if (!strcmp(argv[i], "called") && i + 2 < argc) {
			driver(function(argv[i + 1]), atoi(argv[i + 2]));
			i++;
		}
		else if (!strcmp(argv[i], "ugly"))
			driver(function("ugly\033[31m\n\"kernel"), n);
		else if (!strcmp(argv[i], "reuse"))
			reuse(n);
		else if (!strcmp(argv[i], "jit"))
			jit(n, true);
		else if (!strcmp(argv[i], "kept"))
			jit(n, false);
		else if (!strcmp(argv[i], "shape") && i + 2 < argc)
			shape(n, atoi(argv[++i + 1]));
		else if (!strcmp(argv[i], "vast"))
			vast(n);
		else if (!strcmp(argv[i], "aside") && i + 2 < argc)
			aside(n, atoi(argv[++i + 1]));
		else if (!strcmp(argv[i], "named"))
			named(n);
		else if (!strcmp(argv[i], "handles"))
			handles(n);
		else if (!strcmp(argv[i], "runtime")) {
			register_kernel(register_binary(), "_Z5firstv");
			runtime(n);
		}
		else if (!strcmp(argv[i], "register")) {
			register_many(n);
			launch_last(n);
		} else if (!strcmp(argv[i], "heir"))
			heir(n);
		else if (!strcmp(argv[i], "names") && i + 1 < argc)
			names(argv[i + 1]);
		else if (!strcmp(argv[i], "rename") && i + 1 < argc)
			rename_to(argv[i + 1]);
		else
			return 2;
		i++;
	}
	return 0;
}
