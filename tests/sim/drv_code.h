/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The code of images, where SIM_KERNELS is set: their PTX, and what the interpreter made of it on each device. */
#ifndef TESTS_SIM_DRV_CODE_H
#define TESTS_SIM_DRV_CODE_H

#include <stdbool.h>

#include "drv.h"
#include "kernels.h"

extern HIDDEN const struct sim_kernels *drv_kernels;	/* NULL without SIM_KERNELS */
extern HIDDEN bool drv_debug;				/* SIM_KERNEL_DEBUG */
extern HIDDEN unsigned drv_sm;				/* SIM_SM */

struct code {
	struct code *next;
	char *ptx;
	size_t size;
	unsigned sm;		/* its .target */
	struct interp_module *on[MAX_DEVICES];
};

/* Finds the PTX for the devices in an image: in a container of size bytes or less, or text.  *code is to be freed by
 * code_put(). */
HIDDEN CUresult code_get(struct code **code, const void *image, size_t size);
HIDDEN void code_put(struct code *code);
/* What the current device runs, loaded when it is asked for. */
HIDDEN CUresult code_module(struct code *code, struct interp_module **module);
/* The same of any device: to look names up without a context. */
HIDDEN CUresult code_any(struct code *code, struct interp_module **module);
HIDDEN void code_reset(int dev);	/* all variables of the device begin anew */

/* What the interpreter asks of the driver for a device: memory, textures, output. */
HIDDEN const struct interp_host *drv_host(int dev);
/* The range of memory around an address that kernels may use. */
HIDDEN bool drv_mapped(uint64_t addr, uint64_t *low, uint64_t *high);
HIDDEN bool drv_texture(uint64_t handle, struct interp_texture *texture);

/* A device's clock, in nanoseconds of the model; its grids follow each other. */
HIDDEN uint64_t drv_clock(int dev);
/* Runs a grid on the current device; a fault is the context's. */
HIDDEN CUresult drv_run(struct interp_kernel *kernel, struct interp_grid *grid, const void *params);

#endif
