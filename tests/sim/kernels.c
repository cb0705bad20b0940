/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* libsimkernels.so's only export. */
#include "kernels.h"

extern const struct sim_kernels sim_kernels_table __attribute__((visibility("default")));
const struct sim_kernels sim_kernels_table = {
	.fatbin_size = fatbin_size,
	.fatbin_next = fatbin_next,
	.fatbin_unpack = fatbin_unpack,
	.fatbin_runs = fatbin_runs,
	.load = interp_load,
	.free = interp_free,
	.kernel_at = interp_kernel_at,
	.kernel = interp_kernel,
	.info = interp_info,
	.variable = interp_variable,
	.launch = interp_launch,
};
