/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* batch N: three batches of N copies in the stream 0x5500, of 8, 16, … 8 N bytes.  With -DMAJOR=12 as CUDA 12.8 has the function,
 * with nine arguments, with 13 as CUDA 13 has it, with eight; then also with -DRUNTIME: only the runtime.  Where nothing else
 * defines the runtime, it is a part of the program.
 */
#include <stdlib.h>

#if MAJOR == 12
#define FAILED size_t *failed,
#define FAIL &failed,
#else
#define FAILED
#define FAIL
#endif

int cudaStreamCreate(void **stream);
int cudaMemcpyBatchAsync(void **to, void **from, size_t *sizes, size_t n, void *attrs, size_t *which, size_t nattrs, FAILED
			 void *stream);

#ifndef PROGRAM
#define KEPT __attribute__((noipa, visibility("default")))

KEPT int cudaStreamCreate(void **stream)
{
	*stream = (void *)0x5500;
	return 0;
}

KEPT int cudaMemcpyBatchAsync(void **to, void **from, size_t *sizes, size_t n, void *attrs, size_t *which, size_t nattrs, FAILED
			      void *stream)
{
	(void)to, (void)from, (void)sizes, (void)n, (void)attrs, (void)which, (void)nattrs, (void)stream;
#if MAJOR == 12
	*failed = -1;
#endif
	return 0;
}

#if MAJOR == 12
KEPT int cudaThreadExit(void)
{
	return 0;
}
#endif
#endif

#ifndef RUNTIME
int main(int argc, char **argv)
{
	size_t n = argc > 1 ? strtoul(argv[1], NULL, 0) : 0, *sizes = calloc(n + 1, sizeof(*sizes)), which = 0;
	void **to = calloc(n + 1, sizeof(*to)), *stream = NULL;
	long attrs[8] = { 0 };
#if MAJOR == 12
	size_t failed = 0;
#endif

	for (size_t i = 0; i < n; i++)
		sizes[i] = 8 * (i + 1);
	cudaStreamCreate(&stream);
	for (int i = 0; i < 3; i++)
		cudaMemcpyBatchAsync(to, to, sizes, n, attrs, &which, 1, FAIL stream);
	return 0;
}
#endif
