/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <string.h>
#include "base/die.h"
#include "cudatrace/sticky_error.h"
#include "cudatrace/trace.h"

const struct cuda_fn *trace_role(const struct cuda_proto *proto)
{
	/* the one with underscores, which nvcc's stubs call, jumps to the other one */
	bool jumps = !strncmp(proto->name, "__cudaLaunchKernel", 18);
	int id = cuda_fn_find(proto->name + (jumps ? 2 : 0));

	return id < 0 ? NULL : &cuda_fns[id];
}

static bool is_string(const struct trace_read *r)
{
	return r->how != TRACE_IN && r->how != TRACE_OUT;
}

bool trace_call_read(struct trace_call *call, const struct trace_function *functions,
		     const void *data, size_t size)
{
	const struct trace_event *e = data;
	size_t at = sizeof(*e);

	memset(call, 0, sizeof(*call));
	if (size < at || e->id >= cuda_protos_n || e->words > TRACE_WORDS || e->comm[sizeof(e->comm) - 1])
		return false;
	call->event = e;
	call->proto = &cuda_protos[e->id];
	call->function = &functions[e->id];
	call->words = (const void *)((const char *)data + at);
	at += e->words * sizeof(*call->words);
	for (int i = 0; i < call->function->nreads; i++) {
		const char *read = (const char *)data + at;

		at += (e->read[i] + 7) / 8 * 8;
		if (at > size)
			return false;
		if (e->read[i] && (!is_string(&call->function->reads[i]) || !read[e->read[i] - 1]))
			call->read[i] = read;
	}
	call->frames = (const void *)((const char *)data + at);
	if (at + e->head.frames * sizeof(*call->frames) > size)
		return false;
	call->failed = e->head.kind == TRACE_CALL && call->function->flags & TRACE_ERROR &&
		       (int)e->ret && (int)e->ret != TRACE_NOT_READY;
	return true;
}

/* Returns the address in the copy of a record of what p points to in the record. */
static const void *in_copy(const void *p, const void *record, const void *copy)
{
	return p ? (const char *)copy + ((const char *)p - (const char *)record) : NULL;
}

static size_t record_size(const struct trace_call *call)
{
	const struct trace_event *record = call->event;

	return (const char *)(call->frames + record->head.frames) - (const char *)record;
}

static size_t copy_size(const struct trace_call *call)
{
	return sizeof(*call) + record_size(call) + (call->cause ? sizeof(*call->cause) : 0);
}

size_t trace_call_cost(const struct trace_call *call)
{
	return copy_size(call) + 16;	/* malloc() */
}

struct trace_call *trace_call_keep(const struct trace_call *call)
{
	const struct trace_event *record = call->event;
	size_t size = record_size(call);
	struct trace_call *kept = xcalloc(1, copy_size(call));
	void *copy = kept + 1;

	memcpy(copy, record, size);
	*kept = *call;
	kernel_get(kept->kernel);
	if (call->cause) {
		kept->cause = memcpy((char *)copy + size, call->cause, sizeof(*call->cause));
		sticky_error_hold(kept->cause);
	}
	kept->event = copy;
	kept->words = in_copy(call->words, record, copy);
	kept->frames = in_copy(call->frames, record, copy);
	for (int i = 0; i < TRACE_READS; i++)
		kept->read[i] = in_copy(call->read[i], record, copy);
	return kept;
}

void trace_call_drop(struct trace_call *call)
{
	kernel_put(call->kernel);
	if (call->cause)
		sticky_error_drop(call->cause);
	free(call);
}
