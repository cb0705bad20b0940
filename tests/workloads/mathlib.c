/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The handles of a simulated cuBLAS, cuDNN, cuSOLVER and cuSPARSE, in one library: what real ones do in a call that makes one.  Of
 * cuSOLVER's each has one of cuBLAS and one of cuSPARSE, and of cuBLAS's each a stream, two events and one of cuBLASLt. */
#include <stdlib.h>
#include "cuda_api.h"

struct handle { cudaStream_t stream; cudaEvent_t events[2]; struct handle *inner[2]; };

static struct handle *handle_new(void) { return calloc(1, sizeof(struct handle)); }

#define PLAIN(name)								\
int name##Create(struct handle **h)						\
{										\
	if (!h)									\
		return 1;							\
	*h = handle_new();							\
	return 0;								\
}										\
int name##Destroy(struct handle *h) { free(h); return 0; }

PLAIN(cublasLt)
PLAIN(cudnn)
PLAIN(cusparse)

int cublasCreate_v2(struct handle **h)
{
	if (!h || cublasLtCreate(&(*h = handle_new())->inner[0]))
		return 1;
	return cudaStreamCreateWithFlags(&(*h)->stream, 1) || cudaEventCreateWithFlags(&(*h)->events[0], 2) ||
	       cudaEventCreateWithFlags(&(*h)->events[1], 2) ? 1 : 0;
}

int cublasDestroy_v2(struct handle *h)
{
	cudaStreamDestroy(h->stream);
	cudaEventDestroy(h->events[0]);
	cudaEventDestroy(h->events[1]);
	cublasLtDestroy(h->inner[0]);
	free(h);
	return 0;
}

int cusolverDnCreate(struct handle **h)
{
	*h = handle_new();
	return cublasCreate_v2(&(*h)->inner[0]) || cusparseCreate(&(*h)->inner[1]) ? 1 : 0;
}

int cusolverDnDestroy(struct handle *h)
{
	cublasDestroy_v2(h->inner[0]);
	cusparseDestroy(h->inner[1]);
	free(h);
	return 0;
}
