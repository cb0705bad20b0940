/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What nvcc's code registers at a program's start. */
#ifndef TESTS_SIM_RT_REGISTER_H
#define TESTS_SIM_RT_REGISTER_H

#include "rt.h"

/* The driver's function for a stub or a kernel handle, in the current context. */
HIDDEN cudaError_t rt_function(const void *stub_or_handle, CUfunction *function);
#if SIM_CUDART >= 13
HIDDEN cudaError_t rt_handle(const void *stub, cudaKernel_t *handle);
#endif

#endif
