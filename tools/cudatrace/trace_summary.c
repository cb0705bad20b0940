/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include "base/die.h"
#include "base/escape.h"
#include "cli/out.h"
#include "cli/row.h"
#include "model/stack_sums.h"
#include "sym/stack.h"
#include "view/stack_view.h"
#include "cudatrace/trace.h"
#include "cudatrace/trace_summary.h"

struct summary_row {
	unsigned long long calls, errors, total, least, most;
	const char *func, *layer;
};

OUT_WORD(row_type, "function");

#define AT(f) offsetof(struct summary_row, f)
static const struct field fields[] = {	/* for JSON; print_line() prints text */
	{ "type", NULL, 0, &row_type, 0 },
	{ "func", NULL, 0, OUT_STR, AT(func) },
	{ "layer", NULL, 0, OUT_STR, AT(layer) },
	{ "calls", NULL, 0, OUT_UINT, AT(calls) },
	{ "errors", NULL, 0, OUT_UINT, AT(errors) },
	{ "total_ns", NULL, 0, OUT_UINT, AT(total) },
	{ "min_ns", NULL, 0, OUT_UINT, AT(least) },
	{ "max_ns", NULL, 0, OUT_UINT, AT(most) },
	{ 0 }
};

void trace_summary_add(struct trace_summary *s, const struct trace_call *call)
{
	unsigned long long ns = trace_duration(call);
	struct summary_row *r;

	if (!s->rows)
		s->rows = xcalloc(cuda_protos_n, sizeof(*s->rows));
	r = &s->rows[call->event->id];
	if (!r->calls || ns < r->least)
		r->least = ns;
	if (ns > r->most)
		r->most = ns;
	r->calls++;
	r->errors += call->failed;
	r->total += ns;
	r->func = call->proto->name;
	r->layer = cuda_lib_name(call->proto->lib);
}

static int longest_first(const void *a, const void *b)
{
	const struct summary_row *p = a, *q = b;

	return (p->total < q->total) - (p->total > q->total);
}

static void print_line(const struct summary_row *r, unsigned long long total)
{
	char errors[24] = "";

	if (r->errors)
		snprintf(errors, sizeof(errors), "%llu", r->errors);
	printf("%6.2f %11.6f %11.1f %9llu %9s %s\n", total ? 100.0 * r->total / total : 0,
	       r->total / 1e9, r->calls ? r->total / 1e3 / r->calls : 0, r->calls, errors, r->func);
}

static void print_text(const struct summary_row *list, int n)
{
	static const char rule[] = "------ ----------- ----------- --------- --------- "
				   "------------------------";
	struct summary_row sum = { .func = "total" };

	for (int i = 0; i < n; i++) {
		sum.calls += list[i].calls;
		sum.errors += list[i].errors;
		sum.total += list[i].total;
	}
	printf("%6s %11s %11s %9s %9s %s\n%s\n", "% time", "seconds", "usecs/call", "calls", "errors",
	       "function", rule);
	for (int i = 0; i < n; i++)
		print_line(&list[i], sum.total);
	puts(rule);
	print_line(&sum, sum.total);
}

void trace_summary_print(const struct trace_summary *s)
{
	struct summary_row *list = xcalloc(cuda_protos_n, sizeof(*list));
	int n = 0;

	for (int i = 0; s->rows && i < cuda_protos_n; i++)
		if (s->rows[i].calls)
			list[n++] = s->rows[i];
	qsort(list, n, sizeof(*list), longest_first);
	if (!out_is_json())
		print_text(list, n);
	for (int i = 0; out_is_json() && i < n; i++)
		out_row(fields, &list[i]);
	free(list);
}

struct stack_row {
	unsigned long long total;
	const char *comm, *func;
	const struct stack *stack;
};

OUT_WORD(stack_type, "stack");

static const struct field stack_fields[] = {	/* for JSON */
	{ "type", NULL, 0, &stack_type, 0 },
	{ "comm", NULL, 0, OUT_STR, offsetof(struct stack_row, comm) },
	{ "func", NULL, 0, OUT_STR, offsetof(struct stack_row, func) },
	{ "total_ns", NULL, 0, OUT_UINT, offsetof(struct stack_row, total) },
	{ "stack", NULL, 0, OUT_STACK, offsetof(struct stack_row, stack) },
	{ 0 }
};

static void print_stack(const struct stack_row *r)
{
	if (out_is_json()) {
		out_row(stack_fields, r);
		return;
	}
	printf("%18.6f %s in ", r->total / 1e9, r->func);
	escape_text(stdout, r->comm);
	putchar('\n');
	stack_text(r->stack);
}

void trace_summary_stacks(const struct stack_sums *sums)
{
	const struct stack_sum **list;
	size_t n;

	list = stack_sums_sorted(sums, &n);
	for (size_t i = 0; i < n; i++)
		print_stack(&(struct stack_row){ list[i]->sum, list[i]->key.comm, list[i]->key.function,
						 list[i]->key.stack });
	free(list);
}

void trace_summary_free(struct trace_summary *s)
{
	free(s->rows);
}
