/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* A library for inject.c to load while it runs. */
#include <stdlib.h>

#include "cuda_api.h"

extern void plugin_allocate(int n);
void plugin_allocate(int n)
{
	void *p;

	for (; n > 0; n--)
		if (cudaMalloc(&p, 64) != cudaSuccess)
			abort();
}
