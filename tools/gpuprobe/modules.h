/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What is loaded and where.  Contexts are never freed, so that whoever has found one may keep it.  All functions want
 * the lock of struct inject held. */
#ifndef GPUPROBE_MODULES_H
#define GPUPROBE_MODULES_H
#include <stdbool.h>
#include <stdint.h>
#include "gpuprobe/kernels.h"
#include "gpuprobe/real.h"

struct context {
	struct context *next;
	CUcontext ctx;
	CUdevice device;
	uint32_t number;	/* from 1 */
	bool primary;
	bool closed;		/* destroyed, or about to be: not to be entered */
	bool gone;		/* destroyed */
	bool busy;		/* the thread is in it */
	/* the thread's own */
	bool dead;		/* after an error that only the context's end cures */
	CUstream stream;
};

/* An instrumented PTX in a context; the thread's own. */
struct instance {
	struct instance *next;
	struct context *context;
	uint32_t hash;
	uint32_t number;	/* from 1; 0: it is not there, as the driver has taken another image */
	uint32_t sites, groups, limit;
	CUdeviceptr slots, rings, records;	/* 0: its probe has none */
	size_t slots_size;
	uint64_t slots_sent;	/* hash of the slots as last sent */
	uint64_t *read;		/* by group: records that were read, or passed over */
	uint64_t lost, lost_sent;
	CUdeviceptr ranges, variables;	/* abi/gpu.h: struct gpu_ranges, and what there is beside it; or 0 */
	size_t variables_size;
	uint64_t ranges_changes;	/* that were written, as ranges.c counts them */
	uint32_t ranges_version;	/* on the device */
	bool ranges_noted, ranges_told;	/* variables; that there are too many */
};

enum module_kind { MODULE, LIBRARY };

struct module {
	struct module *next;
	void *handle;
	enum module_kind kind;
	struct context *context;	/* NULL of a library, which comes to every context */
	uint32_t *hashes;		/* of its instrumented PTX; owned */
	unsigned num_hashes;
	void *image;			/* what the driver was given, or NULL; owned */
	unsigned long wanted, served;	/* readings */
	bool closed, gone, busy;	/* as of a context */
	unsigned unloading;		/* threads that are in a call that unloads it */
	struct instance *instances;
};

struct modules {
	struct module *first;
	struct context *contexts;
	struct kernels kernels;
	uint32_t num_contexts, num_instances;
	uint32_t *linked;	/* hashes of PTX that was given to the linker: known when its result is loaded; owned */
	size_t num_linked;
};

/* Returns a context's state, made at the first call.  NULL: out of memory, or there is none. */
struct context *modules_context(struct modules *modules, CUcontext ctx, CUdevice device);

/* Returns what is known of a handle, or NULL. */
struct module *modules_find(struct modules *modules, const void *handle, enum module_kind kind);

/* Adds one and returns it; it owns hashes and image from then on.  Returns NULL if out of memory: it owns nothing. */
struct module *modules_add(struct modules *modules, void *handle, enum module_kind kind, struct context *context,
			   uint32_t *hashes, unsigned num_hashes, void *image);

/* Remembers what is being linked; return true if all of these were. */
void modules_linked_add(struct modules *modules, const uint32_t *hashes, unsigned n);
bool modules_linked(const struct modules *modules, const uint32_t *hashes, unsigned n);

/* Frees what is gone, and of use to nobody. */
void modules_sweep(struct modules *modules);

#endif
