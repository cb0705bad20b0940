/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Driver: images (modules, libraries) and the kernels in them. */
#ifndef TESTS_SIM_DRV_MODULE_H
#define TESTS_SIM_DRV_MODULE_H

#include "drv_code.h"

/* A kernel handle, and the functions it is on each device. Functions of a module
 * are the first of these.
 */
struct CUfunc_st {
	struct CUkern_st *kernel;
};

struct CUkern_st {
	struct CUfunc_st on[MAX_DEVICES];
	struct CUkern_st *next;
	struct image *image;
	int dynamic_shared;	/* at most, as cuFuncSetAttribute has it; 0: never set */
	char name[];
};

struct variable;

struct image {
	struct CUkern_st *kernels;
	struct variable *variables;
	struct code *code;	/* NULL without SIM_KERNELS */
};

/* Loads an image of at most size bytes; gives it back. */
HIDDEN CUresult image_load(struct image **image, const void *data, size_t size);
/* Reads a file; *data, with a 0 after it, is to be freed. */
HIDDEN CUresult image_read(char **data, size_t *size, const char *path);
HIDDEN CUresult image_load_file(struct image **image, const char *path);
HIDDEN CUresult image_unload(struct image *image);
/* Finds a kernel; the handle lasts as long as the image. */
HIDDEN CUresult image_kernel(struct CUkern_st **kernel, struct image *image, const char *name);
HIDDEN CUresult image_variable(CUdeviceptr *ptr, size_t *size, struct image *image, const char *name);
/* Counts the kernels; stores up to max of them unless kernels is NULL. */
HIDDEN CUresult image_kernels(struct image *image, struct CUkern_st **kernels, unsigned max, unsigned *count);

/* What runs on the current device, or on any; with SIM_KERNELS only. */
HIDDEN CUresult kernel_code(struct CUkern_st *kernel, struct interp_kernel **code);

/* The least and the most that the devices have. */
enum {
	SMS = 4, SM_THREADS = 2048, SM_BLOCKS = 32, SM_REGISTERS = 65536, SM_SHARED = 228 << 10,
	BLOCK_SHARED = 48 << 10, BLOCK_SHARED_MOST = 227 << 10, BLOCK_SHARED_RESERVED = 1 << 10,
};
/* Blocks of so many threads with so much dynamic shared memory that an SM holds at once. */
HIDDEN unsigned occupancy(const struct interp_info *info, unsigned threads, size_t shared);
/* Threads of a block at most. */
HIDDEN unsigned most_threads(const struct interp_info *info);

#endif
