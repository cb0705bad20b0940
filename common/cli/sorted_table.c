/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include "base/die.h"
#include "cli/sorted_table.h"

static const struct field *field_of(const struct sorted_table *t, const char *key)
{
	for (const struct field *f = t->fields; f->type; f++)
		if (f->key && !strcmp(f->key, key))
			return f;
	die(0, "no column named %s", key);
}

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
	const struct sorted_table *t = ctx;
	const char *key = t->sorts[t->sort].key;
	int order = key ? compare(field_of(t, key), a, b) : 0;

	order = order ?: t->then(t, a, b);
	return t->reverse ? -order : order;
}

static void sort(struct sorted_table *t)
{
	if (t->n)
		qsort_r(t->rows, t->n, t->size, by_sort, t);
}

static void title(void *ctx, FILE *f)
{
	const struct sorted_table *t = ctx;
	const struct table_sort *by = &t->sorts[t->sort];

	t->totals(t, f);
	fprintf(f, ", by %s%s", by->title ?: field_of(t, by->key)->head, t->reverse ? ", reversed" : "");
}

static void head(void *ctx, FILE *f)
{
	const struct sorted_table *t = ctx;

	out_text_head(f, t->fields);
}

static void line(void *ctx, FILE *f, size_t i)
{
	const struct sorted_table *t = ctx;
	const void *row = (const char *)t->rows + i * t->size;

	out_text(f, t->fields, row);
	if (t->after)
		t->after(f, row);
}

static void draw_table(void *ctx)
{
	struct sorted_table *t = ctx;

	sort(t);
	top_view_draw(&t->screen, t->max && (size_t)t->max < t->n ? (size_t)t->max : t->n);
}

static void press(void *ctx, int key)
{
	struct sorted_table *t = ctx;
	const struct table_sort *next = &t->sorts[t->sort + 1];

	if (key == 's')
		t->sort = next->key || next->title ? t->sort + 1 : 0;
	t->reverse ^= key == 'r';
}

void sorted_table_start(struct sorted_table *t)
{
	static const char *const help[] = { "  s  sort by the next column", "  r  reverse the order", NULL };

	t->screen = (struct top_view){
		.who = t->screen.who, .help = help, .ctx = t, .draw = draw_table, .key = press, .title = title, .head = head, .line = line,
	};
}

void sorted_table_print(struct sorted_table *t)
{
	const struct out_block block = {
		.fields = t->fields, .rows = t->rows, .size = t->size, .n = t->n, .max = t->max, .text_rows = t->text_rows,
	};
	bool first = !t->begun;

	sort(t);
	out_block(&block, &first);
	t->begun = true;
}
