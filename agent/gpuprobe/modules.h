/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The modules that a program has loaded, its contexts, and the attributes of its kernels.  Contexts are never freed, so
 * pointers to them stay valid.  All functions except loading_*() require the lock of struct gpuprobe. */
#ifndef AGENT_GPUPROBE_MODULES_H
#define AGENT_GPUPROBE_MODULES_H
#include <stdbool.h>
#include <stdint.h>
#include "abi/gpu_variables.h"
#include "agent/gpuprobe/real.h"

/* By CUfunction_attribute: those from CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK on that cannot be set. */
enum { KERNEL_ATTRIBUTES = CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES };

enum { KERNELS_BUCKETS = 1024 };

/* The attributes of an original kernel, which the driver is to report for the rewritten one. */
struct kernel {
	struct kernel *next;
	const void *handle;		/* a CUfunction or CUkernel */
	const void *module;
	const bool *gone, *context_gone;	/* true once that is gone; NULL: no context */
	CUdevice device;		/* of the attributes */
	int attributes[KERNEL_ATTRIBUTES];
	int asked, given;		/* bytes of dynamic shared memory; 0: all that was asked for was given */
};

struct kernels {
	struct kernel *bucket[KERNELS_BUCKETS];
};

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
	struct gpu_last *lasts;	/* GPU_LASTS; NULL: none.  Freed with the context */
	CUdeviceptr lasts_at;	/* their address in kernels */
};

/* An instrumented PTX in a context; the thread's own. */
struct instance {
	struct instance *next;
	struct context *context;
	uint32_t hash;
	uint32_t number;	/* from 1; 0: absent, as the driver chose another image */
	uint32_t sites, groups, limit;
	CUdeviceptr slots, rings, records;	/* 0: the probe has none */
	size_t slots_size;
	uint64_t slots_sent;	/* hash of the slots as last sent */
	uint64_t *read;		/* by group: records that were read, or passed over */
	uint64_t lost, lost_sent;
	CUdeviceptr ranges, variables;	/* struct gpu_ranges and the module's variables (abi/gpu_variables.h), or 0 */
	size_t variables_size;
	uint64_t ranges_changes;	/* ranges_copy()'s count when last written */
	uint32_t ranges_version;	/* on the device */
	bool ranges_noted, ranges_warned;	/* variables were added; too many were reported */
	bool lasts_sent;
};

enum module_kind { MODULE, LIBRARY };

struct module {
	struct module *next;
	void *handle;
	enum module_kind kind;
	struct context *context;	/* NULL of a library, which is in every context */
	uint32_t *hashes;		/* of its instrumented PTX; owned */
	unsigned num_hashes;
	void *image;			/* as passed to the driver, or NULL; owned */
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
	uint32_t *linked;	/* hashes of PTX passed to the linker; owned */
	size_t num_linked;
};

/* A call that loads an image, so that it can be repeated with another one. */
struct loading {
	const struct driver *driver;
	enum module_kind kind;
	enum { LOAD_DATA, LOAD_DATA_EX, LOAD_FAT_BINARY } function;	/* for the image of a MODULE */
	const char *file;	/* NULL: the program passed an image */
	/* the arguments that the function has */
	unsigned num_jit, num;
	int *jit, *options;
	void **jit_values, **values;
	void **jit_before;	/* copy of jit_values, to call more than once; or NULL */
};

/* Loads an image, or how->file if image is NULL. */
CUresult loading_call(const struct loading *how, void **handle, const void *image);
CUresult loading_unload(const struct loading *how, void *handle);

/* Returns a context's state, created at the first call; NULL: ctx is NULL, or out of memory. */
struct context *modules_context(struct modules *modules, CUcontext ctx, CUdevice device);

/* Returns the module of a handle, or NULL. */
struct module *modules_find(struct modules *modules, const void *handle, enum module_kind kind);

/* Adds a copy and returns it; it owns hashes and image from then on.  Returns NULL if out of memory: it owns nothing. */
struct module *modules_add(struct modules *modules, const struct module *like);

/* Record the hashes of PTX passed to the linker; return true if all of these were recorded. */
void modules_linked_add(struct modules *modules, const uint32_t *hashes, unsigned n);
bool modules_linked(const struct modules *modules, const uint32_t *hashes, unsigned n);

/* Frees modules that are gone and not in use. */
void modules_sweep(struct modules *modules);

/* Adds a copy, or replaces the kernel with that handle. */
void kernels_add(struct kernels *kernels, const struct kernel *kernel);

/* Returns the kernel of a handle, or NULL. */
struct kernel *kernels_find(const struct kernels *kernels, const void *handle);

#endif
