/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* nccl_inside N: calls an NCCL that is linked in, which calls CUDA as the real one does: N times ncclAllReduce() of 7 i64,
 * which allocates 4 KiB, frees it and waits. */
#include <stdlib.h>
#include "cuda_api.h"
#include "../sim/sim_nccl.h"

static char communicator[64];

__attribute__((noinline)) ncclResult_t ncclAllReduce(const void *from, void *to, size_t n, ncclDataType_t type, ncclRedOp_t op,
						     ncclComm_t comm, simStream_t stream)
{
	void *buffer;

	(void)from, (void)to, (void)n, (void)type, (void)op, (void)comm, (void)stream;
	return cudaMalloc(&buffer, 4096) || cudaFree(buffer) || cudaDeviceSynchronize() ? ncclUnhandledCudaError : ncclSuccess;
}

int main(int argc, char **argv)
{
	int failed = 0;

	for (int i = argc > 1 ? atoi(argv[1]) : 0; i; i--)
		failed |= ncclAllReduce(NULL, NULL, 7, ncclInt64, ncclSum, (ncclComm_t)communicator, NULL);
	return failed;
}
