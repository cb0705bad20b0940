/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdio.h>
#include <string.h>
#include "model/calls.h"
#include "api/cuda_err.h"
#include "api/cuda_fn.h"
#include "sym/kernels.h"
#include "cli/out.h"
#include "sym/syms.h"

/* The first argument of some functions is where they store the result. */
static unsigned long long value(const struct call_event *e, const struct cuda_args *a, int pos,
				unsigned long long passed)
{
	if (pos == 1 && a->out)
		return e->ret ? OUT_NONE : e->stored;
	return pos ? passed : OUT_NONE;
}

/* A launch has its kernel or its stream in a struct, where that is all it is passed. */
static void from_struct(struct call_row *r, const struct call_event *e, const struct cuda_fn *fn)
{
	if (fn->class != CUDA_LAUNCH || !fn->args.params)
		return;
	if (fn->args.count)
		r->args.func = e->args.func;
	else
		r->args.stream = e->args.stream;
}

bool call_row(struct call_row *r, const struct call_event *e)
{
	static char comm[sizeof(e->comm) + 1], name[CALL_NAME], number[16];
	const unsigned long long *stack = (const void *)(e + 1);
	const struct cuda_fn *fn;

	if (record_is_process_event(&e->head)) {
		syms_forget(e->head.pid);
		return false;
	}
	fn = &cuda_fns[e->head.kind];
	snprintf(comm, sizeof(comm), "%.*s", (int)sizeof(e->comm), e->comm);
	snprintf(name, sizeof(name), "%.*s", e->name_bytes, (const char *)(stack + e->head.frames));
	if (e->name_at && !*name && !kernels_read_string(e->head.pid, e->name_at, name, sizeof(name)))
		*name = 0;
	snprintf(number, sizeof(number), "%d", e->ret);
	*r = (struct call_row){
		.time = e->time, .latency = e->time - e->start,
		.bytes = cuda_fn_has_bytes(fn) ? e->bytes : OUT_NONE,
		.pid = e->head.pid, .tid = e->tid, .ret = e->ret, .comm = comm,
		.layer = cuda_lib_name(fn->lib), .func = fn->name,
		.direction = cuda_direction_name(e->direction), .name = *name ? name : NULL,
		.error = e->ret ? cuda_err_name(fn->lib, e->ret) : NULL,
		.stack = stack_get(e->head.pid, stack, e->head.frames),
	};
#define X(role) r->args.role = value(e, &fn->args, fn->args.role, e->args.role);
	CALL_ARGS(X)
#undef X
	from_struct(r, e, fn);
	if (fn->class == CUDA_LAUNCH) {
		memcpy(r->grid, e->grid, sizeof(r->grid));
		memcpy(r->block, e->block, sizeof(r->block));
	}
	if (fn->args.dev)	/* int and unsigned: the register's other half is anything */
		r->args.dev = (unsigned int)r->args.dev;
	r->result = !e->ret ? "ok" : r->error ? r->error : number;
	return true;
}
