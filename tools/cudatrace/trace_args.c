/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <math.h>
#include <string.h>
#include "api/cuda_err.h"
#include "api/cuda_structs.h"
#include "base/die.h"
#include "base/escape.h"
#include "cudatrace/trace_args.h"
#include "kernels/kernel_map.h"

/* No failures: cudaErrorNotReady and CUDA_ERROR_NOT_READY; ncclInProgress. */
enum { NOT_READY = 600, NCCL_IN_PROGRESS = 7 };

static bool is_error(const struct cuda_value *v)
{
	return !strcmp(v->type, "cudaError_t") || !strcmp(v->type, "CUresult") || !strcmp(v->type, "ncclResult_t") ||
	       !strcmp(v->type, "nvrtcResult");
}

/* Return true if it returns its own error: cudaGetLastError() returns that of an earlier call. */
static bool returns_error(const struct cuda_proto *proto)
{
	return proto->result.kind == CUDA_KIND_ENUM && is_error(&proto->result) &&
	       strcmp(proto->name, "cudaGetLastError") && strcmp(proto->name, "cudaPeekAtLastError");
}

/* Functions called by nvcc's code declare addresses as strings, too. */
static bool is_text(const struct cuda_proto *proto, const struct cuda_param *p)
{
	return proto->group != CUDA_GROUP_internal || !strcmp(p->name, "deviceName");
}

/* Return true if its void ** is not for a result, but a launch's arguments or a handle. */
static bool keeps_pointers(const struct cuda_proto *proto)
{
	return proto->group == CUDA_GROUP_launch || proto->group == CUDA_GROUP_internal;
}

/* How to read a parameter's target; size 0: not at all. */
static struct trace_read read_for(const struct cuda_proto *proto, const struct cuda_param *p)
{
	struct trace_read r = { .word = p->place - 1 };
	bool text = is_text(proto, p);

	r.size = p->to.kind == CUDA_KIND_STRUCT ? cuda_struct_size(p->to.type) : 0;
	if (!r.size && p->to.kind != CUDA_KIND_NONE)
		r.size = p->to.size;
	if (p->by_reference) {
		r.how = TRACE_IN;
		r.size = p->value.size;
	} else if (p->value.kind == CUDA_KIND_STR) {
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

/* The struct up to the end of the allocation's size, as its fields may not be shown. */
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
		int end = proto->params[i].place - 1 + cuda_param_words(&proto->params[i]);

		if (proto->params[i].place && end > fn->words)
			fn->words = end < TRACE_WORDS ? end : TRACE_WORDS;
	}
}

struct trace_function trace_describe(int id, unsigned flags, bool full)
{
	const struct cuda_proto *proto = &cuda_protos[id], *older = proto;
	struct trace_function fn = {
		.id = id, .flags = flags | (returns_error(proto) ? TRACE_ERROR : 0),
		.pending = proto->lib == CUDA_NCCL ? NCCL_IN_PROGRESS : NOT_READY,
	};

	if (proto->lib == CUDA_RT)
		fn.flags |= TRACE_RUNTIME;
	if (proto->lib == CUDA_NCCL)
		fn.flags |= TRACE_NCCL;
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

static unsigned long long number(const void *at, unsigned size)
{
	unsigned long long n = 0;

	memcpy(&n, at, size < sizeof(n) ? size : sizeof(n));
	return n;
}

static long long extended(unsigned long long n, unsigned size)
{
	unsigned unused = size < 8 ? 64 - 8 * size : 0;

	return (long long)(n << unused) >> unused;
}

static void print_enum(FILE *f, bool json, const char *type, int n)
{
	const struct cuda_enum *e = cuda_enum_find(type);
	const char *name = e ? cuda_enum_name(e, n) : NULL;

	if (!name)
		fprintf(f, "%d", n);
	else
		fprintf(f, json ? "\"%s\"" : "%s", name);
}

/* JSON has no infinities. */
static void print_float(FILE *f, bool json, const void *at, unsigned size)
{
	float single;
	double n;

	memcpy(&single, at, sizeof(single));
	n = single;
	if (size == sizeof(n))
		memcpy(&n, at, sizeof(n));
	if (json && !isfinite(n))
		fputs("null", f);
	else
		fprintf(f, "%.9g", n);
}

static void print_dim3(FILE *f, bool json, const void *at)
{
	unsigned dim[3];

	memcpy(dim, at, sizeof(dim));
	fprintf(f, json ? "[%u,%u,%u]" : "{%u, %u, %u}", dim[0], dim[1], dim[2]);
}

enum { LONG_STRUCT = 64, BEGINNING = 32 };	/* bytes: of longer ones, text has the beginning */

static void print_words(FILE *f, bool json, const char *at, unsigned size)
{
	bool whole = json || size <= LONG_STRUCT;
	unsigned long long word;

	putc(json ? '[' : '{', f);
	for (unsigned i = 0; i < (whole ? size : BEGINNING); i += sizeof(word)) {
		word = number(at + i, size - i);
		fprintf(f, json ? "%s\"0x%llx\"" : "%s0x%llx", i ? json ? "," : ", " : "", word);
	}
	fputs(json ? "]" : whole ? "}" : ", ...}", f);
}

static void print_value(FILE *f, bool json, const struct cuda_value *v, const void *at);

/* Prints the members; the words in hexadecimal if the members are unknown or need more bytes. */
static void print_struct(FILE *f, bool json, const char *type, const void *at, unsigned size)
{
	const struct cuda_member *first = cuda_struct_find(type);

	if (!first || size < cuda_struct_size(type)) {
		print_words(f, json, at, size);
		return;
	}
	putc('{', f);
	for (const struct cuda_member *m = first; m; m = cuda_struct_next(m)) {
		if (m != first)
			fputs(json ? "," : ", ", f);
		fprintf(f, json ? "\"%s\":" : "%s=", m->name);
		print_value(f, json, &m->value, (const char *)at + m->offset);
	}
	putc('}', f);
}

/* Prints the v->size bytes at at: an enum by name, a pointer, string or handle as 0x…, a dim3 as
 * {x, y, z}, a struct as {width=4, ...}; in JSON these are "0x…", [x,y,z] and an object. */
static void print_value(FILE *f, bool json, const struct cuda_value *v, const void *at)
{
	unsigned long long n = number(at, v->size);

	switch (v->kind) {
	case CUDA_KIND_INT:
		fprintf(f, "%lld", extended(n, v->size));
		return;
	case CUDA_KIND_UINT:
		fprintf(f, "%llu", n);
		return;
	case CUDA_KIND_FLOAT:
		print_float(f, json, at, v->size);
		return;
	case CUDA_KIND_ENUM:
		print_enum(f, json, v->type, n);
		return;
	case CUDA_KIND_DIM3:
		print_dim3(f, json, at);
		return;
	case CUDA_KIND_STRUCT:
		print_struct(f, json, v->type, at, v->size);
		return;
	case CUDA_KIND_HANDLE:
	case CUDA_KIND_PTR:
	case CUDA_KIND_STR:
	case CUDA_KIND_FN:
		fprintf(f, json ? "\"0x%llx\"" : "0x%llx", n);
		return;
	}
	fputs(json ? "null" : "?", f);
}

/* Prints the string, quoted and escaped, followed by ... if it fills the room that it was read into. */
static void print_string(FILE *f, bool json, const char *text, unsigned room)
{
	bool whole = strlen(text) + 1 < room;
	char *copy, *rest, *piece;

	if (json) {
		escape_json(f, text);
		return;
	}
	copy = rest = xstrdup(text);
	putc('"', f);
	while ((piece = strsep(&rest, "\""))) {
		escape_text(f, piece);
		fputs(rest ? "\\\"" : "\"", f);
	}
	if (!whole)
		fputs("...", f);
	free(copy);
}

/* The index in call->read[] of the parameter's target; -1 if it is not read. */
static int read_of(const struct trace_call *call, const struct cuda_param *p)
{
	struct trace_read want = read_for(call->proto, p);

	for (int i = 0; p->place && i < call->function->nreads; i++) {
		const struct trace_read *r = &call->function->reads[i];

		if (r->word == want.word && r->how == want.how && r->size == want.size)
			return i;
	}
	return -1;
}

static void trace_args_print_name(FILE *f, bool json, bool first, const char *star, const char *name)
{
	if (!first)
		fputs(json ? "," : ", ", f);
	fprintf(f, json ? "\"%s%s\":" : "%s%s=", star, name);
}

/* Prints the argument as passed; one that no probe can read, or that did not fit, is unknown.  n: read_of(). */
static void print_passed(FILE *f, bool json, const struct trace_call *call,
			 const struct cuda_param *p, int n)
{
	int words = call->event->words - (p->place - 1);
	const void *at = call->words + p->place - 1;

	if (p->by_reference)
		at = n >= 0 && call->event->read[n] == p->value.size ? call->read[n] : NULL;
	if (!p->place || words < cuda_param_words(p) || !at)
		fputs(json ? "null" : "?", f);
	else
		print_value(f, json, &p->value, at);
}

static void print_read(FILE *f, bool json, const struct trace_call *call,
		       const struct cuda_param *p, int i)
{
	struct cuda_value to = p->to;

	switch (call->function->reads[i].how) {
	case TRACE_IN:
	case TRACE_OUT:
		to.size = call->event->read[i];
		print_value(f, json, &to, call->read[i]);
		return;
	}
	print_string(f, json, call->read[i], call->function->flags & TRACE_NAMES ?
		     TRACE_LONG_STRING : TRACE_STRING);
}

/* Return true if this parameter is the launched kernel. */
static bool is_kernel(const struct trace_call *call, const struct cuda_param *p)
{
	const struct cuda_fn *role = call->kernel ? trace_role(call->proto) : NULL;

	return role && p->place && role->args.func == p->place;
}

void trace_args(FILE *f, bool json, const struct trace_call *call)
{
	bool first = true;

	if (*call->proto->result.type == '?' && !json)	/* declared in no header */
		putc('?', f);
	for (int i = 0; i < call->proto->nparams; i++) {
		const struct cuda_param *p = &call->proto->params[i];
		int n = read_of(call, p);
		bool read = n >= 0 && call->read[n] && !p->by_reference;
		bool string = p->value.kind == CUDA_KIND_STR && !p->out;

		if (!read || (json && !string)) {
			trace_args_print_name(f, json, first, "", p->name);
			print_passed(f, json, call, p, n);
			first = false;
		}
		if (read) {
			trace_args_print_name(f, json, first, string ? "" : "*", p->name);
			print_read(f, json, call, p, n);
			first = false;
		}
		if (!json && is_kernel(call, p)) {
			putc(' ', f);
			escape_text(f, trace_kernel_name(call));
		}
	}
}

const char *trace_error(const struct trace_call *call)
{
	int ret = call->event->ret;

	if (call->event->head.kind != TRACE_CALL || !is_error(&call->proto->result) || !ret)
		return NULL;
	return cuda_err_name(call->proto->lib, ret);
}

const char *trace_kernel_name(const struct trace_call *call)
{
	return call->kernel ? kernel_called(call->kernel, call->names) : NULL;
}

void trace_result(FILE *f, bool json, const struct trace_call *call)
{
	const struct cuda_value *v = &call->proto->result;
	int string = call->function->nreads - 1, ret = call->event->ret;

	if (call->event->head.kind != TRACE_CALL) {
		fputs(json ? "null" : "?", f);
	} else if (is_error(v)) {
		if (json || !ret || !trace_error(call))
			fprintf(f, "%d", ret);
		else
			fprintf(f, "%s (%d)", trace_error(call), ret);
	} else if (v->kind == CUDA_KIND_STR && string >= 0 && call->read[string]) {
		print_string(f, json, call->read[string], TRACE_STRING);
	} else if (v->size > sizeof(call->event->ret)) {	/* a struct, returned by address */
		fputs(json ? "null" : "?", f);
	} else {
		print_value(f, json, v, &call->event->ret);
	}
}
