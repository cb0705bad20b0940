/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Names of the error codes of CUDA's two libraries, which are not dense and differ, of NCCL and of NVRTC. */
#ifndef API_CUDA_ERR_H
#define API_CUDA_ERR_H
#include "api/cuda_api.h"

/* Returns the name of an error code of that library: "cudaErrorNoDevice", "CUDA_ERROR_NO_DEVICE" or
 * "ncclRemoteError"; "cudaSuccess", "CUDA_SUCCESS" or "ncclSuccess" for 0; NULL for an unknown code: print
 * the number then.  The text is static. */
const char *cuda_err_name(enum cuda_lib lib, int code);

enum { CUDA_ERR_NUMBER = 16 };

/* Returns what a call returned in words: "ok", the name of the error, or its number, for which the
 * caller provides the memory. */
const char *cuda_err_text(enum cuda_lib lib, int code, char number[CUDA_ERR_NUMBER]);

#endif
