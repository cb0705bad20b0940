/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdio.h>
#include "api/cuda_fn.h"
#include "base/escape.h"
#include "cudaleak/leak_view.h"
#include "cli/out.h"
#include "sym/syms.h"

struct row {
	unsigned long long time, bytes, count, oldest, ptr, sample;
	int pid, tid;
	const char *comm, *at, *memory, *func;
	const struct stack *stack;
};

#define AT(f) offsetof(struct row, f)
enum { PTR = 8, TID, FUNC, SAMPLE, STACK };
static struct field fields[] = {	/* the text is show()'s */
	{ "time", NULL, 0, OUT_TIME, AT(time) },
	{ "pid", NULL, 0, OUT_INT, AT(pid) },
	{ "comm", NULL, 0, OUT_STR, AT(comm) },
	{ "at", NULL, 0, OUT_STR, AT(at) },
	{ "memory", NULL, 0, OUT_STR, AT(memory) },
	{ "bytes", NULL, 0, OUT_UINT, AT(bytes) },
	{ "count", NULL, 0, OUT_UINT, AT(count) },
	{ "oldest_ns", NULL, 0, OUT_UINT, AT(oldest) },
	[PTR] = { "ptr", NULL, 0, OUT_PTR, AT(ptr) },
	[TID] = { "tid", NULL, 0, OUT_INT, AT(tid) },
	[FUNC] = { "func", NULL, 0, OUT_STR, AT(func) },
	[SAMPLE] = { "sample", NULL, 0, OUT_UINT, AT(sample) },
	[STACK] = { "stack", NULL, 0, OUT_STACK, AT(stack) },
	{ 0 }
};

void leak_view_init(const struct leak_view *v)
{
	fields[PTR].key = v->options.each ? "ptr" : NULL;
	fields[TID].key = v->options.each ? "tid" : NULL;
	fields[FUNC].key = v->options.each ? "func" : NULL;
	fields[SAMPLE].key = v->options.sample > 1 ? "sample" : NULL;
	fields[STACK].key = v->totals ? NULL : "stack";
}

static void show(const struct leak_view *v, const struct leak_group *g, const char *at)
{
	struct row r = {
		.time = v->options.now, .bytes = g->bytes, .count = g->count, .ptr = g->ptr,
		.sample = v->options.sample, .pid = g->process->pid, .tid = g->tid,
		.comm = g->process->comm, .at = at, .memory = memory_name(g->memory),
		.func = cuda_fns[g->id].name, .stack = g->stack,
	};

	r.oldest = r.time - g->oldest;
	if (v->folded) {
		stack_folded_name(r.comm);
		putchar(';');
		stack_folded(r.stack);
		printf(";[%s] %llu\n", r.memory, r.bytes);
	} else if (out_is_json()) {
		out_row(fields, &r);
	} else if (v->options.each) {
		printf("    %llu bytes of %s memory at 0x%llx, %s old, by %s in thread %d\n", r.bytes,
		       r.memory, r.ptr, out_ns(r.oldest), r.func, r.tid);
	} else {
		printf("    %llu bytes in %llu allocation%s of %s memory, oldest %s\n", r.bytes,
		       r.count, r.count == 1 ? "" : "s", r.memory, out_ns(r.oldest));
	}
	if (!v->folded && !out_is_json() && !v->totals)
		stack_text(r.stack);
	out_line_end();
}

static void doubt(const struct leak_view *v, const struct mem_process *h, const char *at, const char *key,
		  const char *text, unsigned long long n)
{
	if (!n || v->folded)
		return;
	if (out_is_json())
		printf("{\"pid\":%d,\"at\":\"%s\",\"%s\":%llu}\n", h->pid, at, key, n);
	else
		printf("    %llu %s\n", n, text);
}

void leak_view_holder(const struct leak_view *v, const struct mem_process *h, const char *at)
{
	unsigned long long bytes = 0, count = 0;
	struct leak_group *g;
	size_t n, i;

	g = leak_groups(h, &v->options, &n);
	for (i = 0; i < n; i++) {
		bytes += g[i].bytes;
		count += g[i].count;
	}
	if (!out_is_json() && !v->folded) {
		printf("[%s] pid %d (", out_clock(), h->pid);
		escape_text(stdout, h->comm);
		printf(")%s: %llu allocation%s not freed, %s", *at == 'e' ? " at exit" : "", count,
		       count == 1 ? "" : "s", out_bytes(bytes));
		if (v->options.sample > 1)
			printf(" (estimated from a sample of 1 in %ld)", v->options.sample);
		putchar('\n');
	}
	for (i = 0; i < n && (v->folded || i < (size_t)v->top); i++)
		show(v, &g[i], at);
	if (i < n && !out_is_json())
		printf("    ... and %zu more%s\n", n - i, v->options.each ? "" : " groups");
	free(g);
	if (!v->filtered)
		doubt(v, h, at, "unknown_frees", "frees of memory allocated before tracing began", h->unknown);
	doubt(v, h, at, "unseen_frees", "allocations whose address was allocated again without a free: counted "
	      "as freed", h->replaced);
	doubt(v, h, at, "ignored", "allocations not counted: too many are live", h->ignored);
	doubt(v, h, at, "unsure", "of these may have been freed with a context or by a device reset", h->unsure);
}
