/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <limits.h>
#include "cli/top_screen.h"
#include "cudalaunchtop/launch_line.h"
#include "cudalaunchtop/launch_widths.h"
#include "cudalaunchtop/launch_screen.h"
#include "view/stack_view.h"

static void title(void *ctx, FILE *f)
{
	const struct launch_view *v = ctx;

	fprintf(f, "%.1f launches/s, %llu total", v->rate, launches_total(v->launches));
}

/* The lines are those in sight and others: the columns do not move when they are scrolled. */
static void head(void *ctx, FILE *f)
{
	const struct launch_view *v = ctx;

	launch_head(f, v, &v->widths);
}

static void line(void *ctx, FILE *f, size_t i)
{
	const struct launch_view *v = ctx;

	launch_text(f, v, &v->lines[i], &v->widths);
	if (v->stacks && !v->by_process)
		stack_view_callers(f, v->lines[i].row.stack);
}

static void draw(void *ctx)
{
	struct launch_view *v = ctx;
	unsigned long long launches = 0;
	size_t n;

	v->lines = launch_lines(v, false, true, &n);
	for (size_t i = 0; i < n; i++)
		launches += v->lines[i].row.last.launches;
	v->rate = v->interval > 0 ? launches / v->interval : 0;
	v->widths = launch_widths(v, v->lines, n, screen_columns());
	v->screen.fixed = launch_columns(v, &v->widths);
	if (v->screen.shift)	/* to see the names as they are */
		v->widths.name = INT_MAX;
	top_view_draw(&v->screen, v->rows && (size_t)v->rows < n ? (size_t)v->rows : n);
	launch_widths_free(&v->widths);
	launch_lines_free(v->lines, n);
	v->lines = NULL;
}

static void press(void *ctx, int key)
{
	int sort = top_view_index("ltdni", key);
	struct launch_view *v = ctx;

	if (sort >= 0)
		v->sort = sort;
	v->reverse ^= key == 'r';
	v->full ^= key == 'f';
	v->by_process ^= key == 'v';
}

void launch_screen_init(struct launch_view *v)
{
	static const char *const help[] = {
		"  l  sort by launches in the interval     r  reverse the order",
		"  t  by total                             f  toggle full kernel names",
		"  d  by threads per launch                v  toggle processes and kernels",
		"  n  by name",
		"  i  by PID",
		NULL
	};

	v->screen.help = help;
	v->screen.ctx = v;
	v->screen.draw = draw;
	v->screen.key = press;
	v->screen.title = title;
	v->screen.head = head;
	v->screen.line = line;
}

void launch_screen_update(struct launch_view *v)
{
	if (v->screen.paused)
		return;
	launch_view_measure(v, false);
	draw(v);
}
