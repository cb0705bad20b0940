/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* primary WORD...: the primary context of device 0, by the driver.
 *   retain, release, reset    once
 *   alloc N                   N allocations of 1000 bytes in it
 *   runtime                   cudaFree(NULL), so that the runtime has a reference, too
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cuda_api.h"

static void word(char **w)
{
	CUcontext ctx = NULL;
	CUdeviceptr p;
	int failed = 0;

	if (!strcmp(*w, "retain"))
		failed = cuDevicePrimaryCtxRetain(&ctx, 0) || cuCtxSetCurrent(ctx);
	else if (!strcmp(*w, "release"))
		failed = cuDevicePrimaryCtxRelease_v2(0);
	else if (!strcmp(*w, "reset"))
		failed = cuDevicePrimaryCtxReset_v2(0);
	else if (!strcmp(*w, "runtime"))
		failed = cudaFree(NULL);
	else if (!strcmp(*w, "alloc"))
		for (int i = atoi(w[1]); i-- && !failed;)
			failed = cuMemAlloc_v2(&p, 1000);
	if (failed)
		fprintf(stderr, "primary: %s fails\n", *w);
}

int main(int argc, char **argv)
{
	cuInit(0);
	for (int i = 1; i < argc; i++)
		word(argv + i);
	return 0;
}
