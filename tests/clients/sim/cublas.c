/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* cuBLAS 12, as far as programs need it to be loaded: NVIDIA's own (600 MB) wants more of a driver than is public. */
#include <stdlib.h>

#define NOT_SUPPORTED(name) \
	int name(void); \
	__attribute__((visibility("default"))) int name(void) { return 15; /* CUBLAS_STATUS_NOT_SUPPORTED */ }

NOT_SUPPORTED(cublasCreate_v2)
NOT_SUPPORTED(cublasDestroy_v2)
NOT_SUPPORTED(cublasGemmBatchedEx)
NOT_SUPPORTED(cublasGemmEx)
NOT_SUPPORTED(cublasGemmStridedBatchedEx)
NOT_SUPPORTED(cublasSetMathMode)
NOT_SUPPORTED(cublasSetStream_v2)
NOT_SUPPORTED(cublasSgemm_v2)

/* Of libstdc++ from GCC 13 on, which the wheel of llama.cpp was linked with. */
void __cxa_call_terminate(void *exception);
__attribute__((visibility("default"), noreturn)) void __cxa_call_terminate(void *exception)
{
	(void)exception;
	abort();
}

const char *cublasGetStatusString(int status);
__attribute__((visibility("default"))) const char *cublasGetStatusString(int status)
{
	return status ? "CUBLAS_STATUS_NOT_SUPPORTED" : "CUBLAS_STATUS_SUCCESS";
}
