/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* churn THREADS PAIRS [SIZE]  each thread allocates PAIRS times; whoever takes a
 *                             pointer's place frees it, mostly another thread
 * churn million LIVE [wait]   LIVE allocations at a time, freed by nobody; wait:
 *                             prints "ready" and reads a line before it ends
 * Prints what it did.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cuda_api.h"

enum { PLACES = 61 };
static void *_Atomic places[PLACES];
static atomic_ulong allocs, frees, failed;
static unsigned long pairs;
static size_t size = 4096;

static void release(void *p)
{
	if (!p)
		return;
	if (cudaFree(p) == cudaSuccess)
		frees++;
	else
		failed++;
}

static void *churn(void *arg)
{
	unsigned long place = (unsigned long)(uintptr_t)arg, i;
	void *p;

	for (i = 0; i < pairs; i++) {
		if (cudaMalloc(&p, size) != cudaSuccess) {
			failed++;
			continue;
		}
		allocs++;
		release(atomic_exchange(&places[(place + i) % PLACES], p));
	}
	return NULL;
}

static void million(unsigned long live)
{
	unsigned long i;
	void *p;

	for (i = 0; i < live; i++) {
		if (cudaMalloc(&p, 512) == cudaSuccess)
			allocs++;
		else
			failed++;
	}
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	double start = now();
	pthread_t thread[64];
	unsigned long i, n;

	if (argc < 3) {
		fprintf(stderr, "usage: churn THREADS PAIRS [SIZE] | million LIVE [wait]\n");
		return 2;
	}
	if (!strcmp(argv[1], "million")) {
		million(strtoul(argv[2], NULL, 0));
	} else {
		n = strtoul(argv[1], NULL, 0);
		pairs = strtoul(argv[2], NULL, 0);
		if (argc > 3)
			size = strtoul(argv[3], NULL, 0);
		if (n < 1 || n > 64) {
			fprintf(stderr, "churn: %s: expected 1 to 64 threads\n", argv[1]);
			return 2;
		}
		for (i = 0; i < n; i++)
			if (pthread_create(&thread[i], NULL, churn, (void *)(i * 7)))
				abort();
		for (i = 0; i < n; i++)
			pthread_join(thread[i], NULL);
		for (i = 0; i < PLACES; i++)
			release(places[i]);
	}
	printf("allocs %lu frees %lu failed %lu seconds %.3f\n", (unsigned long)allocs,
	       (unsigned long)frees, (unsigned long)failed, now() - start);
	fflush(stdout);
	if (!strcmp(argv[argc - 1], "wait")) {
		puts("ready");
		fflush(stdout);
		getchar();
	}
	return 0;
}
