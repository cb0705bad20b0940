/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "api/cuda_protos.h"
#include "base/die.h"
#include "base/escape.h"
#include "cli/out.h"
#include "cli/row.h"
#include "model/stack_below.h"
#include "model/stack_sums.h"
#include "proc/cgroup.h"
#include "proc/process_table.h"
#include "sym/stack.h"
#include "view/stack_view.h"
#include "cudatrace/trace_summary.h"

struct summary_row {
	unsigned long long calls, errors, total, least, most;
	unsigned long long pid;		/* OUT_NONE: of several processes, and neither name nor container */
	char name[16], in[CONTAINER_ID];
	const char *comm, *container;	/* these two, or NULL, once it is printed */
	unsigned int device;
	const char *func, *layer;
};

OUT_WORD(row_type, "function");

#define AT(f) offsetof(struct summary_row, f)
static const struct field fields[] = {	/* for JSON; print_line() prints text */
	{ "type", NULL, 0, &row_type, 0 },	/* calls of a function, with --summary */
	{ "pid", NULL, 0, OUT_UINT, AT(pid) },	/* null if there are several processes */
	{ "comm", NULL, 0, OUT_STR, AT(comm) },	/* name of the process; null likewise */
	{ "container", NULL, 0, OUT_STR, AT(container) },
	{ "func", NULL, 0, OUT_STR, AT(func) },
	{ "layer", NULL, 0, OUT_STR, AT(layer) },	/* runtime, driver, nccl or nvrtc */
	{ "device", NULL, 0, OUT_DEVICE, AT(device) },
	{ "calls", NULL, 0, OUT_UINT, AT(calls) },	/* of the function */
	{ "errors", NULL, 0, OUT_UINT, AT(errors) },	/* calls that failed */
	{ "total_ns", NULL, 0, OUT_UINT, AT(total) },	/* ns: of these calls */
	{ "min_ns", NULL, 0, OUT_UINT, AT(least) },	/* ns: shortest */
	{ "max_ns", NULL, 0, OUT_UINT, AT(most) },	/* ns: longest */
	{ 0 }
};

static struct summary_row *row_of(struct trace_summary *s, const struct trace_calls *calls)
{
	struct summary_row **rows = &s->rows[calls->device == DEVICE_NONE ? SUMMARY_NONE : calls->device % SUMMARY_NONE];

	if (!*rows)
		*rows = xcalloc(cuda_protos_n, sizeof(**rows));
	return &(*rows)[calls->id];
}

static void set_process(const struct trace_summary *s, struct summary_row *r, const struct trace_calls *calls)
{
	if (r->calls && r->pid != calls->pid) {
		r->pid = OUT_NONE;
		*r->name = *r->in = 0;
	} else if (!r->calls) {
		r->pid = calls->pid;
		snprintf(r->name, sizeof(r->name), "%s", calls->comm);
		snprintf(r->in, sizeof(r->in), "%s", (calls->pid ? process_container(s->processes, calls->pid) : NULL) ?: "");
	}
}

void trace_summary_add(struct trace_summary *s, const struct trace_calls *calls, bool uses)
{
	struct summary_row *r = row_of(s, calls);
	const struct cuda_proto *proto = &cuda_protos[calls->id];

	if (uses)
		devices_see(&s->seen, calls->device);
	if (!r->calls || calls->least < r->least)
		r->least = calls->least;
	if (calls->most > r->most)
		r->most = calls->most;
	set_process(s, r, calls);
	r->calls += calls->n;
	r->errors += calls->errors;
	r->total += calls->total;
	r->device = calls->device;
	r->func = proto->name;
	r->layer = cuda_lib_name(proto->lib);
}

static int longest_first(const void *a, const void *b)
{
	const struct summary_row *p = a, *q = b;

	return (p->total < q->total) - (p->total > q->total);
}

/* device: what the column has, or NULL. */
static void print_line(const struct summary_row *r, unsigned long long total, const char *device)
{
	char errors[24] = "";

	if (r->errors)
		snprintf(errors, sizeof(errors), "%llu", r->errors);
	printf("%6.2f %11.6f %11.1f %9llu %9s", total ? 100.0 * r->total / total : 0,
	       r->total / 1e9, r->calls ? r->total / 1e3 / r->calls : 0, r->calls, errors);
	if (device)
		printf(" %6s", device);
	printf(" %s\n", r->func);
}

static void print_text(const struct summary_row *list, int n, bool devices)
{
	static const char rule[] = "------ ----------- ----------- --------- --------- "
				   "------------------------";
	struct summary_row sum = { .func = "total" };
	char number[16];

	for (int i = 0; i < n; i++) {
		sum.calls += list[i].calls;
		sum.errors += list[i].errors;
		sum.total += list[i].total;
	}
	printf("%6s %11s %11s %9s %9s %s%s\n%s%s\n", "% time", "seconds", "usecs/call", "calls", "errors",
	       devices ? "device " : "", "function", devices ? "-------" : "", rule);
	for (int i = 0; i < n; i++)
		print_line(&list[i], sum.total, devices ? device_text(list[i].device, number) : NULL);
	printf("%s%s\n", devices ? "-------" : "", rule);
	print_line(&sum, sum.total, devices ? "" : NULL);
}

static void print_json(struct summary_row *r)
{
	r->comm = *r->name ? r->name : NULL;
	r->container = *r->in ? r->in : NULL;
	out_row(fields, r);
}

/* Returns the list of *n with the rows of a device that have calls, if it is not NULL. */
static struct summary_row *add_rows(struct summary_row *list, int *n, const struct summary_row *rows)
{
	if (!rows)
		return list;
	list = xrealloc(list, *n + cuda_protos_n, sizeof(*list));
	for (int i = 0; i < cuda_protos_n; i++)
		if (rows[i].calls)
			list[(*n)++] = rows[i];
	return list;
}

void trace_summary_print(const struct trace_summary *s)
{
	struct summary_row *list = NULL;
	int n = 0;

	for (int device = 0; device < SUMMARY_DEVICES; device++)
		list = add_rows(list, &n, s->rows[device]);
	if (n)
		qsort(list, n, sizeof(*list), longest_first);
	if (!out_is_json())
		print_text(list, n, s->seen.several);
	for (int i = 0; out_is_json() && i < n; i++)
		print_json(&list[i]);
	free(list);
}

struct stack_row {
	unsigned long long total, calls, pid;
	const char *comm, *func;
	const struct stack *stack;
};

OUT_WORD(stack_type, "stack");

static const struct field stack_fields[] = {	/* for JSON */
	{ "type", NULL, 0, &stack_type, 0 },	/* calls of a stack, with --summary --stacks */
	{ "pid", NULL, 0, OUT_UINT, offsetof(struct stack_row, pid) },
	{ "comm", NULL, 0, OUT_STR, offsetof(struct stack_row, comm) },
	{ "func", NULL, 0, OUT_STR, offsetof(struct stack_row, func) },
	{ "calls", NULL, 0, OUT_UINT, offsetof(struct stack_row, calls) },	/* of the function with that stack */
	{ "total_ns", NULL, 0, OUT_UINT, offsetof(struct stack_row, total) },	/* ns: of these calls */
	{ "stack", NULL, 0, OUT_STACK, offsetof(struct stack_row, stack) },
	{ 0 }
};

static void print_stack(const struct stack_row *r)
{
	if (out_is_json()) {
		out_row(stack_fields, r);
		return;
	}
	printf("%18.6f %11.1f %9llu %s in ", r->total / 1e9, r->total / 1e3 / r->calls, r->calls, r->func);
	escape_text(stdout, r->comm);
	putchar('\n');
	stack_text(r->stack);
}

static void print_below(const struct stack_sum **list, size_t n)
{
	struct stack_part *parts = xcalloc(n + 1, sizeof(*parts));
	struct stack_below below;

	for (size_t i = 0; i < n; i++)
		parts[i] = (struct stack_part){ list[i]->key.stack, list[i]->sum };
	below = stack_below(parts, n);
	if (below.frame)
		printf("%.1f %% of the time below %s\n", 100 * below.share, below.frame);
	free(below.frame);
	free(parts);
}

void trace_summary_stacks(const struct stack_sums *sums)
{
	const struct stack_sum **list;
	size_t n;

	list = stack_sums_sorted(sums, &n);
	if (!out_is_json())
		print_below(list, n);
	for (size_t i = 0; i < n; i++)
		print_stack(&(struct stack_row){
			.total = list[i]->sum, .calls = list[i]->times, .pid = list[i]->pid ? (unsigned)list[i]->pid : OUT_NONE,
			.comm = list[i]->key.comm, .func = list[i]->key.function, .stack = list[i]->key.stack,
		});
	free(list);
}

void trace_summary_free(struct trace_summary *s)
{
	for (int device = 0; device < SUMMARY_DEVICES; device++)
		free(s->rows[device]);
}
