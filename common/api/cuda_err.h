/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Names of CUDA's error codes, which are not dense and differ between the two libraries. */
#ifndef CUDA_ERR_H
#define CUDA_ERR_H
#include "api/cuda_api.h"

/* Returns the name of an error code of that library: "cudaErrorNoDevice" or
 * "CUDA_ERROR_NO_DEVICE"; "cudaSuccess" or "CUDA_SUCCESS" for 0; NULL for a code that
 * cuda_protos.tbl lacks: print the number then.  The text is static. */
const char *cuda_err_name(enum cuda_lib lib, int code);

enum { CUDA_ERR_NUMBER = 16 };

/* Returns what a call returned in words: "ok", the name of the error, or its number, for which the
 * caller provides the memory. */
const char *cuda_err_text(enum cuda_lib lib, int code, char number[CUDA_ERR_NUMBER]);

#endif
