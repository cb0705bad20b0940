/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* CUDA's headers, or the simulation's where there are none. */
#ifndef TESTS_WORKLOADS_CUDA_API_H
#define TESTS_WORKLOADS_CUDA_API_H

#if !defined(SIM_OWN_HEADERS) && defined(__has_include)
#if __has_include(<cuda.h>) && __has_include(<cuda_runtime_api.h>)
#define HAVE_NVIDIA_HEADERS
#endif
#endif
#ifdef HAVE_NVIDIA_HEADERS
#include <cuda.h>
#include <cuda_runtime_api.h>
#else
#include "../sim/sim_cuda.h"
#endif

#endif
