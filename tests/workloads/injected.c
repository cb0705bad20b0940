/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* A library for CUDA_INJECTION64_PATH.  It says on standard output whenever it is called, and calls cuInit() itself. */
#include <stdio.h>
#include <unistd.h>
#include "cuda_api.h"

int InitializeInjection(void);
int InitializeInjection(void)
{
	char text[60];
	int n = sprintf(text, "injected, cuInit() %d\n", (int)cuInit(0));

	return write(1, text, (size_t)n) == n;
}
