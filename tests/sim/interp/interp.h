/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Runs PTX on the CPU, in warps of 32 lanes, with a model of time.  Device memory is the process's own memory.
 *
 * A warp issues one instruction a cycle; where its lanes have diverged, the group with the lowest address first, so
 * that they meet again where compilers join them.  The result of a load comes later than it is issued; who needs it
 * waits.  Blocks are spread over the SMs of the model; those that are resident together take turns, so that
 * a grid's blocks can wait for each other. */
#ifndef TESTS_SIM_INTERP_INTERP_H
#define TESTS_SIM_INTERP_INTERP_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct interp_module;
struct interp_kernel;

/* Faults as a GPU has them; the driver turns them into its errors. */
enum interp_fault_kind {
	INTERP_OK,
	INTERP_ADDRESS,		/* CUDA_ERROR_ILLEGAL_ADDRESS, 700 */
	INTERP_MISALIGNED,	/* CUDA_ERROR_MISALIGNED_ADDRESS, 716 */
	INTERP_TRAP,		/* trap; CUDA_ERROR_LAUNCH_FAILED, 719 */
	INTERP_ASSERT,		/* __assertfail; CUDA_ERROR_ASSERT, 710 */
	INTERP_INSTRUCTION,	/* CUDA_ERROR_ILLEGAL_INSTRUCTION, 715: also one that the interpreter does not know */
	INTERP_PC,		/* CUDA_ERROR_INVALID_PC, 718: a call through a pointer that is no function's */
	INTERP_STUCK,		/* no warp can go on, or SIM_KERNEL_STEPS instructions were issued: 702, LAUNCH_TIMEOUT */
	INTERP_RESOURCES,	/* 701: too much shared memory, too many threads for .maxntid … */
	INTERP_MEMORY,		/* the interpreter itself is out of memory: 2 */
};

struct interp_fault {
	enum interp_fault_kind kind;
	uint64_t addr;
	unsigned block[3], thread[3];
	char text[160];		/* what and where, for SIM_KERNEL_DEBUG=1 */
};

/* A texture or surface; nearest or linear, wrap, clamp, mirror or border. */
struct interp_texture {
	uint64_t addr;		/* of the texels */
	unsigned dims;		/* 1, 2, 3 */
	unsigned size[3];	/* texels; [1] and [2] are 1 where there are fewer dimensions */
	size_t pitch, slice;	/* bytes of a row, of a layer */
	unsigned channels;	/* 1, 2, 4 */
	unsigned bits;		/* of a channel: 8, 16, 32 */
	char type;		/* 'u', 's', 'f' */
	bool layered, cube, linear_memory;
	bool normalized_read, normalized_coords, linear_filter;
	unsigned char address[3];	/* CUaddress_mode */
	float border[4];
};

/* What the interpreter asks of the driver. */
struct interp_host {
	void *ctx;
	/* The range of mapped device memory that has this address: true and *low <= addr < *high. */
	bool (*mapped)(void *ctx, uint64_t addr, uint64_t *low, uint64_t *high);
	/* Memory for a variable of a module, zeroed, aligned to 512, mapped until interp_free(); 0: none left. */
	uint64_t (*variable)(void *ctx, size_t size);
	void (*variable_free)(void *ctx, uint64_t addr);
	bool (*texture)(void *ctx, uint64_t handle, struct interp_texture *texture);
	/* Device-side malloc() and free(). */
	uint64_t (*alloc)(void *ctx, size_t size);
	void (*free)(void *ctx, uint64_t addr);
	void (*print)(void *ctx, const char *text, size_t size);	/* printf() of a kernel */
};

/* Loads PTX; host must outlive it.  Returns NULL, and why in text of size bytes. */
struct interp_module *interp_load(const char *ptx, size_t ptx_size, const struct interp_host *host, char *why,
				  size_t size);
void interp_free(struct interp_module *module);

/* Kernels in the order of the text; NULL after the last. */
struct interp_kernel *interp_kernel_at(struct interp_module *module, unsigned i);
struct interp_kernel *interp_kernel(struct interp_module *module, const char *name);

struct interp_param {
	size_t offset, size;
	bool pointer;		/* .ptr, or a 64-bit parameter that is used as an address */
	uint64_t addresses;	/* which of its first 64 words of 8 bytes are: bits */
};

struct interp_info {
	const char *name;
	unsigned num_params;
	const struct interp_param *params;
	size_t param_size;
	size_t shared, local;	/* static, bytes */
	unsigned registers;	/* a guess: 32-bit registers in use, at most 255 */
	unsigned max_threads;	/* .maxntid, .reqntid; 1024 where there is none */
	unsigned cluster[3];	/* .reqnctapercluster; 0 */
};
void interp_info(const struct interp_kernel *kernel, struct interp_info *info);

/* A variable of the module (.global or .const) by name; 0 if there is none. */
uint64_t interp_variable(const struct interp_module *module, const char *name, size_t *size);

struct interp_grid {
	unsigned grid[3], block[3], cluster[3];
	size_t shared;		/* dynamic */
	bool cooperative;	/* all blocks are resident at once */
	unsigned sms;		/* of the model's device */
	uint64_t id;		/* %gridid */
	uint64_t start_ns;	/* %globaltimer when the grid begins */
	uint64_t end_ns;	/* set: when its last block ended */
	uint64_t instructions;	/* set: issued by warps */
};

/* Runs a kernel to its end; params is its parameter buffer (param_size bytes).  Returns the fault's kind, and
 * fills *fault where it is not INTERP_OK.  Several threads may run kernels of one module. */
enum interp_fault_kind interp_launch(struct interp_kernel *kernel, struct interp_grid *grid, const void *params,
				     struct interp_fault *fault);

#endif
