/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The part of gocalls in C: see main.go. */
#include <pthread.h>
#include <stdint.h>
#include "_cgo_export.h"

extern int cudaMalloc(void **p, size_t size);

__attribute__((noinline)) int allocate(void)
{
	void *p;
	int ret = cudaMalloc(&p, 64);

	__asm__ volatile("" : : : "memory");
	return ret;
}

void call_back(int n)
{
	goBack(n);
	__asm__ volatile("" : : : "memory");
}

static void *run(void *n)
{
	for (intptr_t i = 0; i < (intptr_t)n; i++)
		allocate();
	return NULL;
}

void in_thread(int n)
{
	pthread_t thread;

	if (!pthread_create(&thread, NULL, run, (void *)(intptr_t)n))
		pthread_join(thread, NULL);
}
