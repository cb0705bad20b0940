/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include "base/clock.h"
#include "base/util.h"
#include "cli/out.h"
#include "cudaleak/leak_growth.h"
#include "cudaleak/leak_head.h"
#include "cudaleak/leak_view.h"
#include "sym/stack.h"
#include "view/stack_view.h"

void leak_view_start(struct leak_view *view)
{
	view->began = clock_ns();
}

void leak_view_mark(struct leak_view *view, struct memory *memory, enum mem_snapshot mark)
{
	memory_mark(memory, mark);
	view->marks[mark] = view->options.now;
}

static void show(const struct leak_view *view, const struct leak_group *g, const char *at)
{
	struct leak_row r = leak_row(view, g, at);
	char leaf[32], where[32];
	const char *on = leak_row_device(view, g->device, where);

	if (view->folded) {
		snprintf(leaf, sizeof(leaf), "[%s]", r.memory);
		folded_line(r.comm, r.stack, leaf, r.bytes);
	} else if (out_is_json()) {
		leak_row_print(view, &r);
	} else if (view->options.each) {
		printf("    %s of %s memory%s at 0x%llx, %s old, by %s in thread %d\n", out_bytes(r.bytes), r.memory,
		       on, r.ptr, out_ns(r.oldest), r.func, r.tid);
	} else {
		printf("    %s in %llu allocation%s of %s memory%s, oldest %s\n", out_bytes(r.bytes), r.count,
		       plural(r.count), r.memory, on, out_ns(r.oldest));
	}
	if (!view->folded && !out_is_json() && !view->totals)
		stack_text(r.stack);
	out_line_end();
}

static void head(const struct leak_view *view, const struct mem_process *process, const char *at,
		 unsigned long long count, unsigned long long bytes)
{
	leak_head(view, process, at);
	printf("%llu allocation%s not freed, %s", count, plural(count), out_bytes(bytes));
	if (view->options.sample > 1)
		printf(" (estimated from a sample of 1 in %ld)", view->options.sample);
	if (process->preexisting)
		preexisting_text(view->preexisting, "allocations");
	putchar('\n');
}

static void held(const struct leak_view *view, const struct mem_process *process, const char *at)
{
	unsigned long long bytes = 0, count = 0;
	struct leak_group *g;
	size_t n, i;

	g = leak_groups(process, &view->options, &n);
	for (i = 0; i < n; i++) {
		bytes += g[i].bytes;
		count += g[i].count;
	}
	if (!out_is_json() && !view->folded)
		head(view, process, at, count, bytes);
	if (view->options.tensors && !view->folded)
		leak_segments(view, process, at);
	if (!n && out_is_json())
		leak_row_nothing(view, process->pid, process->comm, at, !process->preexisting);
	for (i = 0; i < n && (view->folded || i < (size_t)view->top); i++)
		show(view, &g[i], at);
	if (i < n && !out_is_json())
		printf("    ... and %zu more%s%s\n", n - i, view->options.each ? "" : " group",
		       view->options.each ? "" : plural(n - i));
	free(g);
}

void leak_view_process(const struct leak_view *view, const struct mem_process *process,
		       const char *at)
{
	if (view->growth)
		leak_growth(view, process, at);
	else
		held(view, process, at);
	if (!view->folded)
		leak_doubts(view, process, at);
}
