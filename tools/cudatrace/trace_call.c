/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <string.h>
#include "abi/memory_event.h"
#include "abi/array_bytes.h"
#include "base/die.h"
#include "cudatrace/trace_call.h"
#include "machine/call.h"

const struct cuda_fn *trace_role(const struct cuda_proto *proto)
{
	/* called by nvcc's stubs; jumps to cudaLaunchKernel() */
	bool jumps = !strncmp(proto->name, "__cudaLaunchKernel", 18);
	int id = cuda_fn_find(proto->name + (jumps ? 2 : 0));

	return id < 0 ? NULL : &cuda_fns[cuda_fn_form(id, proto->until / 1000)];
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
		       (int)e->ret && (int)e->ret != call->function->pending;
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

static void sticky_error_get(const struct sticky_error *e)
{
	for (int i = 0; i < e->n; i++)
		kernel_get(e->launched[i].kernel);
}

void sticky_error_put(const struct sticky_error *e)
{
	for (int i = 0; i < e->n; i++)
		kernel_put(e->launched[i].kernel);
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
		sticky_error_get(kept->cause);
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
		sticky_error_put(call->cause);
	free(call);
}

/* Return true if read i is of the argument's target, and long enough. */
static bool reads(const struct trace_call *call, int i, unsigned char place, size_t size)
{
	const struct trace_read *r = &call->function->reads[i];

	return (r->how == TRACE_IN || r->how == TRACE_OUT) && place && r->word == place - 1 &&
	       call->read[i] && call->event->read[i] >= size;
}

bool trace_target(const struct trace_call *call, unsigned char place, size_t at, void *to,
		  size_t size)
{
	for (int i = 0; i < call->function->nreads; i++) {
		if (!reads(call, i, place, at + size))
			continue;
		memcpy(to, call->read[i] + at, size);
		return true;
	}
	return false;
}

static unsigned long long word_at(const struct trace_call *call, unsigned char place, size_t at)
{
	unsigned long long word = 0;

	trace_target(call, place, at, &word, sizeof(word));
	return word;
}

/* A word of a struct that is passed by value: struct_arg() in bpf/lib/call.bpf.h. */
static unsigned long long struct_word(const struct trace_call *call, unsigned char place, unsigned n)
{
	return CALL_REFERENCES ? word_at(call, place & ~CUDA_BY_REFERENCE, 8 * n) : trace_word(call, place + n);
}

unsigned long long trace_ipc(const struct trace_call *call, const struct cuda_args *row)
{
	unsigned long long words[IPC_WORDS];

	for (unsigned i = 0; row->out && i < IPC_WORDS; i++)
		words[i] = struct_word(call, row->ipc, i);
	return row->out || trace_target(call, row->ipc, 0, words, sizeof(words)) ? ipc_hash_of(words) : 0;
}

static unsigned long long rt_array_bytes(const struct trace_call *call, const struct cuda_args *row)
{
	struct rt_format format = { 0 };
	struct volume v = { trace_word(call, row->width), trace_word(call, row->height), 0 };

	trace_target(call, row->desc, 0, &format, sizeof(format));
	if (row->extent) {
		v.width = struct_word(call, row->extent, 0);
		v.height = struct_word(call, row->extent, 1);
		v.depth = struct_word(call, row->extent, 2);
	}
	return volume_bytes(rt_block(&format), v, has_layers(trace_word(call, row->flags)),
			    trace_word(call, row->levels));
}

static unsigned long long drv_array_bytes(const struct trace_call *call, const struct cuda_args *row)
{
	struct drv_array a = { 0 };

	trace_target(call, row->desc, 0, &a, sizeof(a));
	return volume_bytes(drv_block(a.format, a.channels), (struct volume){ a.width, a.height, 0 }, false, 1);
}

static unsigned long long drv_array3d_bytes(const struct trace_call *call, const struct cuda_args *row)
{
	struct drv_array3d a = { 0 };

	trace_target(call, row->desc, 0, &a, sizeof(a));
	return volume_bytes(drv_block(a.format, a.channels), a.volume, has_layers(a.flags),
			    trace_word(call, row->levels));
}

unsigned long long trace_bytes(const struct trace_call *call, const struct cuda_args *row)
{
	switch (row->shape) {
	case CUDA_BYTES:
		return trace_word(call, row->size);
	case CUDA_FIELD:
		return word_at(call, row->size, row->size_at);
	case CUDA_PITCH:
		return trace_word(call, row->height) * word_at(call, row->pitch, 0);
	case CUDA_PITCHED:	/* struct cudaPitchedPtr: ptr, pitch, … */
		return struct_word(call, row->extent, 1) * struct_word(call, row->extent, 2) *
		       word_at(call, row->ptr, 8);
	case CUDA_DRV_ARRAY:
		return drv_array_bytes(call, row);
	case CUDA_DRV_ARRAY3D:
		return drv_array3d_bytes(call, row);
	case CUDA_RT_ARRAY:
		return rt_array_bytes(call, row);
	}
	return 0;
}
