/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include "base/die.h"
#include "cli/out.h"
#include "cli/top_screen.h"
#include "generated/call_top.h"
#include "pprof/profile.h"
#include "view/stack_view.h"

enum { TEXT_ROWS = 20 };

static const struct field *sort_field(const struct call_top *t)
{
	for (const struct field *f = t->fields; f->type; f++)
		if (f->key && !strcmp(f->key, t->sorts[t->sort]))
			return f;
	die(0, "no column named %s", t->sorts[t->sort]);
}

/* Numbers descend, missing ones last; ints (PIDs) and names ascend. */
static int compare(const struct field *f, const void *a, const void *b)
{
	const void *p = (const char *)a + f->at, *q = (const char *)b + f->at;
	unsigned long long m, n;

	if (f->type == OUT_STR)
		return strcmp(*(const char *const *)p, *(const char *const *)q);
	if (f->type == OUT_INT)
		return *(const int *)p - *(const int *)q;
	if (f->type == OUT_REAL)
		return (*(const double *)p < *(const double *)q) - (*(const double *)p > *(const double *)q);
	m = *(const unsigned long long *)p + 1;	/* OUT_NONE becomes 0 */
	n = *(const unsigned long long *)q + 1;
	return (m < n) - (m > n);
}

static int by_sort(const void *a, const void *b, void *ctx)
{
	const struct call_stats *p = a, *q = b;
	const struct call_top *t = ctx;
	int order = compare(sort_field(t), p, q);

	order = order ? order : (p->total < q->total) - (p->total > q->total);
	order = order ? order : strcmp(p->func, q->func);
	order = order ? order : p->pid - q->pid;
	return t->reverse ? -order : order;
}

static void sort(struct call_top *t)
{
	qsort_r(t->stats, t->n, sizeof(*t->stats), by_sort, t);
}

/* ---- the screen */

static void title(void *ctx, FILE *f)
{
	const struct call_top *t = ctx;
	unsigned long long calls = 0;

	for (size_t i = 0; i < t->n; i++)
		calls += t->stats[i].calls;
	fprintf(f, "%.1f calls/s, by %s%s",
		t->n && t->stats->interval > 0 ? calls / t->stats->interval : 0, sort_field(t)->head,
		t->reverse ? ", reversed" : "");
}

static void head(void *ctx, FILE *f)
{
	const struct call_top *t = ctx;

	out_text_head(f, t->fields);
}

static void line(void *ctx, FILE *f, size_t i)
{
	const struct call_top *t = ctx;

	out_text(f, t->fields, &t->stats[i]);
	stack_view_callers(f, t->stats[i].stack);
}

static void draw(void *ctx)
{
	struct call_top *t = ctx;

	sort(t);
	top_view_draw(&t->screen, t->rows && (size_t)t->rows < t->n ? (size_t)t->rows : t->n);
}

static void press(void *ctx, int key)
{
	struct call_top *t = ctx;

	if (key == 's')
		t->sort = t->sorts[t->sort + 1] ? t->sort + 1 : 0;
	t->reverse ^= key == 'r';
}

void call_top_start(struct call_top *t)
{
	static const char *const help[] = {
		"  s  sort by the next column", "  r  reverse the order", NULL
	};

	t->screen.help = help;
	t->screen.ctx = t;
	t->screen.draw = draw;
	t->screen.key = press;
	t->screen.title = title;
	t->screen.head = head;
	t->screen.line = line;
	t->first = true;
	call_stats_start(&t->calls);
}

bool call_top_tick(struct call_top *t)
{
	return !screen_is_open() || top_view_keys(&t->screen);
}

/* ---- text and JSON */

static void print(struct call_top *t)
{
	const struct out_block block = {
		.fields = t->fields, .rows = t->stats, .size = sizeof(*t->stats), .n = t->n, .max = t->rows, .text_rows = TEXT_ROWS,
	};

	sort(t);
	out_block(&block, &t->first);
}

static void print_folded(const struct call_top *t)
{
	for (size_t i = 0; i < t->n; i++)
		folded_line(t->stats[i].comm, t->stats[i].stack, t->stats[i].func, t->stats[i].total);
}

static void add_to_profile(const struct call_top *t)
{
	for (size_t i = 0; i < t->n; i++) {
		const struct call_stats *s = &t->stats[i];

		profile_add(t->profile, s->pid, s->comm, s->stack, s->func, 0,
			    (unsigned long long[PROFILE_VALUES]){ s->total, s->count });
	}
}

void call_top_report(struct call_top *t)
{
	if (screen_is_open() && t->screen.paused)
		return;
	t->stats = call_stats_take(&t->calls, t->aggregates, t->epoch, false, &t->n);
	add_to_profile(t);
	aggregate_clear(&t->calls.aggregates);
	if (screen_is_open())
		draw(t);
	else if (t->folded)
		print_folded(t);
	else
		print(t);
}
