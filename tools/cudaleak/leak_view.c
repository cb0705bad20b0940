/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdio.h>
#include <string.h>
#include "api/cuda_fn.h"
#include "abi/device.h"
#include "base/escape.h"
#include "base/plural.h"
#include "cudaleak/leak_view.h"
#include "cli/out.h"
#include "cli/row.h"
#include "view/folded.h"
#include "view/stack_view.h"
#include "sym/stack.h"

struct leak_row {
	unsigned long long time, bytes, count, oldest, ptr, sample;
	int pid, tid;
	unsigned int device;
	const char *comm, *at, *memory, *func;
	bool complete;
	const struct stack *stack;
};

#define AT(f) offsetof(struct leak_row, f)
enum { PTR = 10, TID, FUNC, SAMPLE, STACK };
static const struct field fields[] = {	/* for JSON; show() prints text */
	{ "time", NULL, 0, OUT_TIME, AT(time) },
	{ "pid", NULL, 0, OUT_INT, AT(pid) },
	{ "comm", NULL, 0, OUT_STR, AT(comm) },
	{ "at", NULL, 0, OUT_STR, AT(at) },
	{ "complete", NULL, 0, OUT_BOOL, AT(complete) },
	{ "memory", NULL, 0, OUT_STR, AT(memory) },
	{ "device", NULL, 0, OUT_DEVICE, AT(device) },
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

_Static_assert(sizeof(fields) == sizeof(((struct leak_view *)0)->fields), "LEAK_FIELDS");

void leak_view_init(struct leak_view *view)
{
	memcpy(view->fields, fields, sizeof(fields));
	for (int i = PTR; i <= FUNC; i++)
		if (!view->options.each)
			view->fields[i].key = NULL;
	if (view->options.sample <= 1)
		view->fields[SAMPLE].key = NULL;
	if (view->totals)
		view->fields[STACK].key = NULL;
}

/* Returns " on device 3", or "" if there is only one. */
static const char *on_device(const struct leak_view *view, unsigned int device, char text[32])
{
	char number[16];

	if (!view->devices.several || device == DEVICE_NONE)
		return "";
	snprintf(text, 32, " on device %s", device_text(device, number));
	return text;
}

static void show(const struct leak_view *view, const struct leak_group *g, const char *at)
{
	struct leak_row r = {
		.time = view->options.now, .bytes = g->bytes, .count = g->count, .ptr = g->ptr,
		.sample = view->options.sample, .pid = g->process->pid, .tid = g->tid,
		.device = g->device,
		.comm = g->process->comm, .at = at, .complete = !g->process->early, .memory = memory_name(g->memory),
		.func = cuda_fns[g->id].name, .stack = g->stack,
	};
	char leaf[32], where[32];
	const char *on = on_device(view, g->device, where);

	r.oldest = r.time - g->oldest;
	if (view->folded) {
		snprintf(leaf, sizeof(leaf), "[%s]", r.memory);
		folded_line(r.comm, r.stack, leaf, r.bytes);
	} else if (out_is_json()) {
		out_row(view->fields, &r);
	} else if (view->options.each) {
		printf("    %llu byte%s of %s memory%s at 0x%llx, %s old, by %s in thread %d\n", r.bytes,
		       plural(r.bytes), r.memory, on, r.ptr, out_ns(r.oldest), r.func, r.tid);
	} else {
		printf("    %llu byte%s in %llu allocation%s of %s memory%s, oldest %s\n", r.bytes,
		       plural(r.bytes), r.count, plural(r.count), r.memory, on, out_ns(r.oldest));
	}
	if (!view->folded && !out_is_json() && !view->totals)
		stack_text(r.stack);
	out_line_end();
}

void leak_view_early(const struct leak_view *view)
{
	printf("; allocations before %s are unknown", view->since);
}

void leak_view_nothing(const struct leak_view *view, int pid, const char *comm, const char *at)
{
	const struct leak_row r = {
		.time = view->options.now, .oldest = OUT_NONE, .ptr = OUT_NONE, .pid = pid, .tid = pid,
		.sample = view->options.sample, .comm = comm, .at = at,
	};

	out_row(view->fields, &r);
	out_line_end();
}

static void head(const struct leak_view *view, const struct mem_process *process, const char *at,
		 unsigned long long count, unsigned long long bytes)
{
	printf("[%s] pid %d (", out_clock(), process->pid);
	escape_text(stdout, process->comm);
	printf(")%s: %llu allocation%s not freed, %s", *at == 'e' ? " at exit" : "", count,
	       plural(count), out_bytes(bytes));
	if (view->options.sample > 1)
		printf(" (estimated from a sample of 1 in %ld)", view->options.sample);
	if (process->early)
		leak_view_early(view);
	putchar('\n');
}

static void doubt(const struct mem_process *process, const char *at, const char *key,
		  unsigned long long n, const char *what, const char *how, const char *when)
{
	if (!n)
		return;
	if (out_is_json())
		printf("{\"pid\":%d,\"at\":\"%s\",\"complete\":%s,\"%s\":%llu}\n", process->pid, at,
		       process->early ? "false" : "true", key, n);
	else
		printf("    %llu %s%s %s%s\n", n, what, plural(n), how, when);
}

static void doubts(const struct leak_view *view, const struct mem_process *process, const char *at)
{
	if (!view->filtered)
		doubt(process, at, "unknown_frees", process->unknown, "free",
		      process->early ? "of memory allocated before " :
				       "of memory whose allocation was not seen",
		      process->early ? view->since : "");
	doubt(process, at, "unseen_frees", process->replaced, "allocation",
	      "whose address was allocated again without a free: counted as freed", "");
	doubt(process, at, "ignored", process->ignored, "allocation", "not counted: too many are live",
	      "");
	doubt(process, at, "unsure", process->unsure, "allocation",
	      "of these may have been freed with a context or by a device reset", "");
}

void leak_view_process(struct leak_view *view, const struct mem_process *process,
		       const char *at)
{
	unsigned long long bytes = 0, count = 0;
	struct leak_group *g;
	size_t n, i;

	g = leak_groups(process, &view->options, &n);
	for (i = 0; i < n; i++) {
		devices_see(&view->devices, g[i].device);
		bytes += g[i].bytes;
		count += g[i].count;
	}
	if (!out_is_json() && !view->folded)
		head(view, process, at, count, bytes);
	if (!n && process->early && out_is_json())
		leak_view_nothing(view, process->pid, process->comm, at);
	for (i = 0; i < n && (view->folded || i < (size_t)view->top); i++)
		show(view, &g[i], at);
	if (i < n && !out_is_json())
		printf("    ... and %zu more%s%s\n", n - i, view->options.each ? "" : " group",
		       view->options.each ? "" : plural(n - i));
	free(g);
	if (!view->folded)
		doubts(view, process, at);
}
