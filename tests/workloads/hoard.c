/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* A program that makes a tool keep what it can, with a runtime of its own, which does nothing:
 * compiled with -DRUNTIME as libcudart.so.13, and without as what calls it.
 *
 * hoard WORD [N]:
 *   records         allocates and frees until it is killed
 *   counts N        launches N kernels at different addresses
 *   names N         registers N kernels with names of 4,000 characters
 *   renames N       launches 30,000 kernels, then registers another two at one address, N times
 *   errors N        launches a kernel, and learns that one failed, N times
 *   nested N        makes N calls inside a call, in each of 8 threads
 *   allocations N   allocates N times
 * Prints "ready" and waits for SIGUSR1 before; prints "done" and stays until it is killed.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int cudaMalloc(void **p, size_t size);
int cudaFree(void *p);
int cudaLaunchKernel(const void *func);
int cudaDeviceSynchronize(void);
int cudaStreamSynchronize(void *stream);
void __cudaRegisterFunction(void **handle, const char *stub, char *unused, const char *name);

#ifdef RUNTIME

enum { ILLEGAL_ADDRESS = 700 };

int cudaMalloc(void **p, size_t size)
{
	static __thread unsigned long n;

	(void)size;
	*p = (void *)(++n << 12);
	return 0;
}

int cudaFree(void *p)
{
	(void)p;
	return 0;
}

int cudaLaunchKernel(const void *func)
{
	(void)func;
	return 0;
}

int cudaDeviceSynchronize(void)
{
	return ILLEGAL_ADDRESS;
}

/* The stream is the number of calls to make. */
int cudaStreamSynchronize(void *stream)
{
	void *p;

	for (unsigned long n = (unsigned long)stream; n; n--)
		cudaMalloc(&p, 64);
	return 0;
}

void __cudaRegisterFunction(void **handle, const char *stub, char *unused, const char *name)
{
	(void)handle, (void)stub, (void)unused, (void)name;
}

#else

enum { THREADS = 8, NAME = 4000, RENAMED = 30000 };

static unsigned long count;

static void name(unsigned long stub, unsigned long n)
{
	static char text[NAME + 1];

	memset(text, 'k', NAME);
	text[snprintf(text, NAME, "kernel_%lu", n)] = '_';
	__cudaRegisterFunction(NULL, (const char *)stub, NULL, text);
}

static void launch(unsigned long n)
{
	for (unsigned long i = 1; i <= n; i++)
		cudaLaunchKernel((const void *)(i << 4));
}

static void renames(void)
{
	launch(RENAMED);
	for (unsigned long i = 0; i < count; i++)
		name(RENAMED << 4, i & 1);
}

static void *nested(void *unused)
{
	cudaStreamSynchronize((void *)count);
	return unused;
}

static void threads(void)
{
	pthread_t ids[THREADS];

	for (int i = 0; i < THREADS; i++)
		pthread_create(&ids[i], NULL, nested, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(ids[i], NULL);
}

static void errors(void)
{
	for (unsigned long i = 0; i < count; i++) {
		cudaLaunchKernel((const void *)4096);
		cudaDeviceSynchronize();
	}
}

static void wait_for_go(void)
{
	sigset_t go;
	int sig;

	sigemptyset(&go);
	sigaddset(&go, SIGUSR1);
	sigprocmask(SIG_BLOCK, &go, NULL);
	puts("ready");
	fflush(stdout);
	sigwait(&go, &sig);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	void *p;

	count = argc > 2 ? strtoul(argv[2], NULL, 0) : ~0ul;
	wait_for_go();
	if (!strcmp(what, "records"))
		for (;;)
			cudaFree(cudaMalloc(&p, 64) ? NULL : p);
	else if (!strcmp(what, "counts"))
		launch(count);
	else if (!strcmp(what, "names"))
		for (unsigned long i = 1; i <= count; i++)
			name(i << 4, i);
	else if (!strcmp(what, "renames"))
		renames();
	else if (!strcmp(what, "errors"))
		errors();
	else if (!strcmp(what, "nested"))
		threads();
	else if (!strcmp(what, "allocations"))
		for (unsigned long i = 0; i < count; i++)
			cudaMalloc(&p, 64);
	else
		return 2;
	puts("done");
	fflush(stdout);
	pause();
}

#endif
