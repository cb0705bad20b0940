/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What libsimkernels.so does for the simulated driver: it reads images and runs kernels.  The driver loads it from
 * its own folder where SIM_KERNELS is set: programs of other tests neither link nor map it. */
#ifndef TESTS_SIM_KERNELS_H
#define TESTS_SIM_KERNELS_H
#include "interp/interp.h"
#include "ptx/fatbin.h"

struct sim_kernels {
	__typeof__(fatbin_size) *fatbin_size;
	__typeof__(fatbin_next) *fatbin_next;
	__typeof__(fatbin_unpack) *fatbin_unpack;
	__typeof__(fatbin_runs) *fatbin_runs;
	__typeof__(interp_load) *load;
	__typeof__(interp_free) *free;
	__typeof__(interp_kernel_at) *kernel_at;
	__typeof__(interp_kernel) *kernel;
	__typeof__(interp_info) *info;
	__typeof__(interp_variable) *variable;
	__typeof__(interp_launch) *launch;
};

#define SIM_KERNELS_TABLE "sim_kernels_table"	/* its only export */

#endif
