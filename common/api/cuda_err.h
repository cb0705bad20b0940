/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Names of CUDA's error codes, which are not dense and differ between the two libraries. */
#ifndef CUDA_ERR_H
#define CUDA_ERR_H
#include "api/cuda_api.h"

/* Returns the name of an error code of that library: "cudaErrorNoDevice" or
 * "CUDA_ERROR_NO_DEVICE"; "cudaSuccess" or "CUDA_SUCCESS" for 0; NULL for a code that
 * cuda_protos.tbl lacks: print the number then.  The text is static. */
const char *cuda_err_name(enum cuda_lib lib, int code);

#endif
