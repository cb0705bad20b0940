/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdio.h>
#include <string.h>
#include "api/cuda_err.h"
#include "api/cuda_fn.h"
#include "base/util.h"
#include "model/calls.h"
#include "proc/vm_read.h"
#include "sym/syms.h"

struct call call_of(const struct cuda_fn *fn, const struct call *call)
{
	struct call c = *call;

	c.layer = cuda_lib_name(fn->lib);
	c.func = fn->name;
	c.error = c.ret ? cuda_err_name(fn->lib, c.ret) : NULL;
	if (fn->lib == CUDA_USDT)	/* a probe says what is done, and is no call */
		c.latency = NO_VALUE;
	return c;
}

/* The first argument of some functions points to where they store the result. */
static unsigned long long value(const struct call_event *e, const struct cuda_args *a, int pos,
				unsigned long long passed)
{
	if (pos == 1 && a->out)
		return e->ret ? NO_VALUE : e->stored;
	return pos ? passed : NO_VALUE;
}

/* A launch that is passed only a struct has its kernel or its stream in that. */
static void from_struct(struct call_row *r, const struct call_event *e, const struct cuda_fn *fn)
{
	if (fn->class != CUDA_LAUNCH || !fn->args.params)
		return;
	if (fn->args.count)
		r->args.func = e->args.func;
	else
		r->args.stream = e->args.stream;
}

/* passed: the kernel's name from the record. */
static void texts(struct call_row *r, const struct call_event *e, const char *passed,
		  struct helper_pool *helpers)
{
	char *name = r->text.name;

	snprintf(r->text.comm, sizeof(r->text.comm), "%.*s", (int)sizeof(e->comm), e->comm);
	snprintf(name, CALL_NAME, "%.*s", e->name_bytes, passed);
	if (e->name_at && !*name &&
	    !vm_read_string(helpers, e->head.pid, e->name_at, name, CALL_NAME))
		*name = 0;
	r->name = *name ? name : NULL;
}

/* The call stack and the name come last. */
static bool is_right(const struct call_event *e, size_t size)
{
	if (record_is_process_event(&e->head) || !record_is_whole(&e->head, size, sizeof(*e)))
		return false;
	return e->head.kind < CUDA_ID_MAX && e->name_bytes <= size - sizeof(*e) - e->head.frames * 8ull;
}

bool call_row(struct call_row *r, const void *record, size_t size, struct syms *syms, struct helper_pool *helpers)
{
	const struct call_event *e = record;
	const unsigned long long *stack = (const void *)(e + 1);
	const struct cuda_fn *fn;

	if (!is_right(e, size))
		return false;
	fn = &cuda_fns[e->head.kind];
	*r = (struct call_row){
		.call = CALL_OF(e, fn), .bytes = cuda_fn_has_bytes(fn) ? e->bytes : NO_VALUE,
		.direction = cuda_direction_name(e->direction),
	};
	r->call.comm = r->text.comm;
	r->call.stack = stack_get(syms, e->head.pid, stack, e->head.frames);
	texts(r, e, (const char *)(stack + e->head.frames), helpers);
#define X(role) r->args.role = value(e, &fn->args, fn->args.role, e->args.role);
	CALL_ARGS(X)
#undef X
	from_struct(r, e, fn);
	if (fn->class == CUDA_LAUNCH) {
		memcpy(r->grid, e->grid, sizeof(r->grid));
		memcpy(r->block, e->block, sizeof(r->block));
	}
	if (fn->args.dev)	/* int or unsigned: the upper half of the register is undefined */
		r->args.dev = fn->lib == CUDA_USDT && (int)r->args.dev < 0 ? NO_VALUE : (unsigned int)r->args.dev;
	r->result = cuda_err_text(fn->lib, e->ret, r->text.number);
	return true;
}
