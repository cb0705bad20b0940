/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <string.h>
#include "api/cuda_err.h"
#include "base/escape.h"
#include "sym/kernels.h"
#include "cudatrace/trace_args.h"
#include "cudatrace/trace_describe.h"
#include "cudatrace/trace_value.h"

static void print_name(FILE *f, bool json, bool first, const char *star, const char *name)
{
	if (!first)
		fputs(json ? "," : ", ", f);
	fprintf(f, json ? "\"%s%s\":" : "%s%s=", star, name);
}

/* Prints the argument as passed; one that no probe can read, or that did not fit, is unknown. */
static void print_passed(FILE *f, bool json, const struct trace_call *call,
			 const struct cuda_param *p)
{
	int words = call->event->words - (p->place - 1);

	if (!p->place || words * 8 < (p->value.size + 7) / 8 * 8)
		fputs(json ? "null" : "?", f);
	else
		trace_value(f, json, &p->value, call->words + p->place - 1);
}

static void print_read(FILE *f, bool json, const struct trace_call *call,
		       const struct cuda_param *p, int i)
{
	struct cuda_value to = p->to;

	switch (call->function->reads[i].how) {
	case TRACE_IN:
	case TRACE_OUT:
		to.size = call->event->read[i];
		trace_value(f, json, &to, call->read[i]);
		return;
	}
	trace_string(f, json, call->read[i], call->function->flags & TRACE_NAMES ?
		     TRACE_LONG_STRING : TRACE_STRING);
}

/* Return true if this parameter says which kernel is launched. */
static bool is_kernel(const struct trace_call *call, const struct cuda_param *p)
{
	const struct cuda_fn *role = call->kernel ? trace_role(call->proto) : NULL;

	return role && p->place && role->args.func == p->place;
}

void trace_args(FILE *f, bool json, const struct trace_call *call)
{
	bool first = true;

	if (*call->proto->result.type == '?' && !json)	/* no header declares it */
		putc('?', f);
	for (int i = 0; i < call->proto->nparams; i++) {
		const struct cuda_param *p = &call->proto->params[i];
		int n = trace_read_of(call, p);
		bool read = n >= 0 && call->read[n], string = p->value.kind == CUDA_KIND_STR && !p->out;

		if (read && string) {
			print_name(f, json, first, "", p->name);
			print_read(f, json, call, p, n);
			first = false;
			continue;
		}
		if (!read || json) {
			print_name(f, json, first, "", p->name);
			print_passed(f, json, call, p);
			first = false;
		}
		if (read) {
			print_name(f, json, first, "*", p->name);
			print_read(f, json, call, p, n);
			first = false;
		}
		if (!json && is_kernel(call, p)) {
			putc(' ', f);
			escape_text(f, trace_kernel_name(call));
		}
	}
}

static bool is_error(const struct cuda_value *v)
{
	return !strcmp(v->type, "cudaError_t") || !strcmp(v->type, "CUresult");
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
	return call->kernel ? call->kernel->brief : NULL;
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
		trace_string(f, json, call->read[string], TRACE_STRING);
	} else if (v->size > sizeof(call->event->ret)) {	/* a struct, returned by address */
		fputs(json ? "null" : "?", f);
	} else {
		trace_value(f, json, v, &call->event->ret);
	}
}
