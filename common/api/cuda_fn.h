/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The rows of cuda_api.tbl for user space, by id and by name. */
#ifndef API_CUDA_FN_H
#define API_CUDA_FN_H
#include <stdbool.h>
#include "api/cuda_api.h"

struct cuda_fn {
	const char *name;	/* the exported symbol, or "PROVIDER:NAME" of a USDT probe */
	enum cuda_lib lib;
	enum cuda_class class;
	struct cuda_args args;
};

/* In a mask of classes: every function that waits, whatever its class. */
#define CUDA_WAITS (1u << CUDA_CLASS_MAX)

/* … and of class launch the functions that launch a graph. */
#define CUDA_REPLAYS (2u << CUDA_CLASS_MAX)

/* … and those that begin or end a capture, or by which a stream joins one. */
#define CUDA_CAPTURES (4u << CUDA_CLASS_MAX)

/* … and those by which captured calls come into an executable graph. */
#define CUDA_GRAPH_FLOW (8u << CUDA_CLASS_MAX)

/* … and those that load code, compile or link it, also lazily: where a program stalls before it launches. */
#define CUDA_LOADS (16u << CUDA_CLASS_MAX)

/* … and those that load an image of code, or unload it. */
#define CUDA_IMAGES (32u << CUDA_CLASS_MAX)

/* … and those that make or destroy handles, also of arrays and code. */
#define CUDA_HANDLES (64u << CUDA_CLASS_MAX)

static inline bool cuda_fn_handles(const struct cuda_fn *fn)
{
	return fn->args.memory == CUDA_ARRAY || fn->args.memory >= CUDA_CODE;
}

/* Return true if a function that cuda_fn_handles() makes one, or else destroys it. */
static inline bool cuda_fn_makes_handle(const struct cuda_fn *fn)
{
	return fn->args.out || fn->args.op == CUDA_END;
}

static inline bool cuda_fn_loads(const struct cuda_fn *fn)
{
	return fn->class == CUDA_LOAD || fn->args.loads;
}

static inline bool cuda_fn_captures(const struct cuda_fn *fn)
{
	return fn->class == CUDA_EVENT || (fn->class == CUDA_GRAPH && fn->args.op >= CUDA_BEGIN && fn->args.op <= CUDA_END);
}

static inline bool cuda_fn_makes_graphs(const struct cuda_fn *fn)
{
	const enum cuda_op op = fn->args.op;

	return cuda_fn_captures(fn) || (fn->class == CUDA_GRAPH && (op == CUDA_INSTANTIATE || op == CUDA_CLONE ||
	       op == CUDA_DESTROY || op == CUDA_CHILD_NODE || op == CUDA_ANY_NODE || op == CUDA_ENABLE));
}

static inline bool cuda_fn_in(const struct cuda_fn *fn, unsigned classes)
{
	return classes & 1u << fn->class || (classes & CUDA_WAITS && fn->args.waits) ||
	       (classes & CUDA_REPLAYS && fn->class == CUDA_LAUNCH && fn->args.handle) ||
	       (classes & CUDA_CAPTURES && cuda_fn_captures(fn)) ||
	       (classes & CUDA_GRAPH_FLOW && cuda_fn_makes_graphs(fn)) || (classes & CUDA_LOADS && cuda_fn_loads(fn)) ||
	       (classes & CUDA_IMAGES && fn->args.memory == CUDA_CODE) || (classes & CUDA_HANDLES && cuda_fn_handles(fn));
}

/* Return true if the byte count of a call is known. */
static inline bool cuda_fn_has_bytes(const struct cuda_fn *fn)
{
	const struct cuda_args *a = &fn->args;

	return a->size || a->width || a->extent || a->desc || a->size_at;
}

/* Indexed by enum cuda_id, in the table's order. */
extern const struct cuda_fn cuda_fns[CUDA_ID_MAX];

/* Returns the function of an id that a program may have written itself; the first one if there is none. */
static inline const struct cuda_fn *cuda_fn_of(unsigned long long id)
{
	return &cuda_fns[id < CUDA_ID_MAX ? id : 0];
}

/* Returns the id of the function of that name, or -1.  Fast enough to call for every symbol of
 * a large program. */
int cuda_fn_find(const char *name);

/* The same for a USDT probe, "PROVIDER:NAME". */
int cuda_usdt_find(const char *name);

/* Returns the id of the form of this function, as returned by cuda_fn_find(), that the runtime of this major version has: other
 * parameters under the same name.  Of most functions, and of an unknown version (0), the function itself. */
int cuda_fn_form(int id, int major);

/* The forms that only older runtimes have: the id of each, from 0 on. */
extern const int cuda_forms_n;
int cuda_fn_form_at(int i);

/* Returns "NAME@12" for a form that only runtimes up to that major version have; NULL for every other function. */
const char *cuda_fn_form_name(int id);

/* "runtime", "driver", "nccl", "nvrtc", "library" or "usdt". */
static inline const char *cuda_lib_name(enum cuda_lib lib)
{
	return lib == CUDA_RT ? "runtime" : lib == CUDA_DRV ? "driver" : lib == CUDA_NCCL ? "nccl" :
	       lib == CUDA_NVRTC ? "nvrtc" : lib == CUDA_LIB ? "library" : "usdt";
}

/* Return true if --layer selects a function of this library; layer: CUDA_RT, CUDA_DRV, or CUDA_LIB_MAX for both. */
static inline bool cuda_lib_in_layer(enum cuda_lib lib, int layer)
{
	return layer == CUDA_LIB_MAX || lib > CUDA_LIB_MAX || layer == (int)lib;
}

/* "HtoD", "DtoH", …, "default", or NULL for CUDA_BY_KIND. */
const char *cuda_direction_name(enum cuda_direction direction);

#endif
