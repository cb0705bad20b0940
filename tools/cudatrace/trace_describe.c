/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <string.h>
#include "api/cuda_structs.h"
#include "cudatrace/trace_describe.h"

/* Return true if it returns its own error: cudaGetLastError() returns that of an earlier call. */
static bool returns_error(const struct cuda_proto *proto)
{
	return proto->result.kind == CUDA_KIND_ENUM &&
	       (!strcmp(proto->result.type, "cudaError_t") || !strcmp(proto->result.type, "CUresult")) &&
	       strcmp(proto->name, "cudaGetLastError") && strcmp(proto->name, "cudaPeekAtLastError");
}

/* The number of argument words that a value takes. */
static int words_of(const struct cuda_value *v)
{
	return v->kind == CUDA_KIND_DIM3 || v->kind == CUDA_KIND_STRUCT ? (v->size + 7) / 8 : 1;
}

/* Return true for a string.  Functions that nvcc's code calls declare addresses as strings, too. */
static bool is_text(const struct cuda_proto *proto, const struct cuda_param *p)
{
	return proto->group != CUDA_GROUP_internal || !strcmp(p->name, "deviceName");
}

/* Return true if its void ** is not a place for a result: a launch's arguments, a handle. */
static bool keeps_pointers(const struct cuda_proto *proto)
{
	return proto->group == CUDA_GROUP_launch || proto->group == CUDA_GROUP_internal;
}

/* How much to read of what a parameter points to, and how; size 0: nothing. */
static struct trace_read read_for(const struct cuda_proto *proto, const struct cuda_param *p)
{
	struct trace_read r = { .word = p->place - 1 };
	bool text = is_text(proto, p);

	r.size = p->to.kind == CUDA_KIND_STRUCT ? cuda_struct_size(p->to.type) :
		 p->to.kind != CUDA_KIND_NONE ? p->to.size : 0;
	if (p->value.kind == CUDA_KIND_STR) {
		r.how = p->out ? TRACE_OUT_TEXT : TRACE_IN_STRING;
		r.size = text ? TRACE_STRING : 0;
	} else if (p->out && p->to.kind == CUDA_KIND_STR) {
		r.how = TRACE_OUT_STRING;
	} else if (p->out && p->to.kind == CUDA_KIND_PTR && keeps_pointers(proto)) {
		r.size = 0;
	} else if (p->out) {
		r.how = TRACE_OUT;
	} else if (p->to.kind == CUDA_KIND_STRUCT) {
		r.how = TRACE_IN;
	} else {
		r.size = 0;
	}
	if (r.size > TRACE_VALUE)
		r.size = 0;
	return r;
}

static void add_read(struct trace_function *fn, struct trace_read r)
{
	if (r.size && fn->nreads < TRACE_READS && r.word < TRACE_WORDS)
		fn->reads[fn->nreads++] = r;
}

/* The size in a struct, up to its end: it may be one whose fields are not shown. */
static struct trace_read size_in_struct(const struct cuda_proto *proto)
{
	const struct cuda_fn *fn = trace_role(proto);
	struct trace_read r = { .how = TRACE_IN };

	if (fn && fn->args.shape == CUDA_FIELD) {
		r.word = fn->args.size - 1;
		r.size = fn->args.size_at + sizeof(unsigned long long);
	}
	return r;
}

static void add_words(struct trace_function *fn, const struct cuda_proto *proto)
{
	for (int i = 0; i < proto->nparams; i++) {
		int end = proto->params[i].place - 1 + words_of(&proto->params[i].value);

		if (proto->params[i].place && end > fn->words)
			fn->words = end < TRACE_WORDS ? end : TRACE_WORDS;
	}
}

/* A stream that is made is not one that the call is in, nor is a context that it makes current. */
static void add_role(struct trace_function *fn, const struct cuda_proto *proto)
{
	const struct cuda_fn *role = trace_role(proto);
	const struct cuda_args *row = role ? &role->args : NULL;

	if (!role)
		return;
	fn->role = 1 + (role - cuda_fns);
	if (role->class == CUDA_STREAM || role->class == CUDA_CTX)
		return;
	fn->handle = row->stream ? row->stream : row->ctx;
	if (role->class == CUDA_LAUNCH && row->params && !row->count) {
		fn->handle = row->params;
		fn->handle_at = CUDA_CONFIG_STREAM;
	}
}

struct trace_function trace_describe(int id, unsigned flags, bool full)
{
	const struct cuda_proto *proto = &cuda_protos[id], *older = proto;
	struct trace_function fn = { .flags = flags | (returns_error(proto) ? TRACE_ERROR : 0) };

	if (proto->lib == CUDA_RT)
		fn.flags |= TRACE_RUNTIME;
	add_role(&fn, proto);
	if (!full)
		return fn;
	add_words(&fn, proto);
	for (int i = 0; i < proto->nparams; i++)
		if (proto->params[i].place)
			add_read(&fn, read_for(proto, &proto->params[i]));
	if (proto->result.kind == CUDA_KIND_STR)
		add_read(&fn, (struct trace_read){ 0, TRACE_RETURN_STRING, TRACE_STRING });
	if (flags & TRACE_HELD)
		add_read(&fn, size_in_struct(proto));
	/* a program may use an older runtime, whose function has other parameters */
	for (int since = proto->since; since; since = older->since < since ? older->since : 0) {
		older = cuda_proto_in(id, since - 1);
		add_words(&fn, older);
	}
	return fn;
}

int trace_read_of(const struct trace_call *call, const struct cuda_param *p)
{
	struct trace_read want = read_for(call->proto, p);

	for (int i = 0; p->place && i < call->function->nreads; i++) {
		const struct trace_read *r = &call->function->reads[i];

		if (r->word == want.word && r->how == want.how && r->size == want.size)
			return i;
	}
	return -1;
}
