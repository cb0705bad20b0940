/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/util.h"
#include "cli/out.h"
#include "cudaleak/leak_growth.h"
#include "cudaleak/leak_head.h"
#include "sym/stack.h"
#include "view/stack_view.h"

/* Allocations without a size grow in number. */
static bool grew(const struct leak_group *g)
{
	return g->growth > 0 || (!g->bytes && g->growth_count > 0);
}

static unsigned long long distance(long long n)
{
	return n < 0 ? 0 - (unsigned long long)n : (unsigned long long)n;
}

static void compare(const struct leak_view *view, const struct mem_sum *held)
{
	long long growth = (held->bytes - held->marks[view->options.mark].bytes) * view->options.sample;

	if (growth)
		printf("%s %s than", out_bytes(distance(growth)), growth < 0 ? "less" : "more");
	else
		fputs("as much as", stdout);
	printf(" %s before, ", out_ns(leak_interval(view) * 1e9));
}

static void head(const struct leak_view *view, const struct mem_process *process, const char *at,
		 bool first)
{
	const struct mem_sum *held = leak_sum(process, &view->options);

	leak_head(view, process, at);
	printf("%s held, ", out_bytes(held->bytes * view->options.sample));
	if (!first)
		compare(view, held);
	printf("peak %s", out_bytes(held->peak * view->options.sample));
	if (process->preexisting)
		preexisting_text(view->preexisting, "allocations");
	putchar('\n');
}

static void show(const struct leak_view *view, const struct leak_row *r)
{
	char where[32];

	if (out_is_json()) {
		leak_row_print(view, r);
		return;
	}
	printf("    %s and %+lld allocation%s of %s memory%s, %s/s: ", out_change(r->growth), r->growth_count,
	       plural(r->growth_count), r->memory, leak_row_device(view, r->device, where),
	       out_change(r->rate));
	printf("now %s in %llu allocation%s\n", out_bytes(r->bytes), r->count, plural(r->count));
	if (!view->totals)
		stack_text(r->stack);
	out_line_end();
}

static void show_all(const struct leak_view *view, const struct mem_process *process, const char *at)
{
	size_t n, all = 0, top = view->top;
	struct leak_group *g;

	g = leak_groups(process, &view->options, &n);
	for (size_t i = 0; i < n; i++) {
		struct leak_row r = leak_row(view, &g[i], at);

		if (grew(&g[i]) && all++ < top)
			show(view, &r);
	}
	if (all > top && !out_is_json())
		printf("    ... and %zu more group%s\n", all - top, plural(all - top));
	free(g);
}

void leak_growth(const struct leak_view *view, const struct mem_process *process, const char *at)
{
	bool first = !strcmp(at, "interval") && !view->marks[view->options.mark];

	if (!out_is_json())
		head(view, process, at, first);
	if (!first)
		show_all(view, process, at);
}
