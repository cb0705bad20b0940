/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include "abi/launch.h"
#include "api/cuda_fn.h"
#include "base/die.h"
#include "base/escape.h"
#include "base/util.h"
#include "cli/row.h"
#include "cudalaunchtop/graph_view.h"
#include "kernels/executions.h"
#include "model/graphs.h"
#include "model/launches.h"

/* So many items in text, and on the screen. */
enum { ITEMS_TEXT = 10, ITEMS_LINE = 8 };

static bool has_bytes(const struct graph_work *w)
{
	return w->kind == NODE_COPY || w->kind == NODE_SET || w->kind == NODE_ALLOC;
}

static struct graph_item item_of(const struct launch_row *row, const struct graph_work *w, enum kernel_style style)
{
	const struct kernel_map *kernels = row->program->kernels;
	const struct kernel *k = !graph_work_is_kernel(w) ? NULL : w->kernel ?: kernel_map_find(kernels, w->func);
	struct graph_item item = {
		.kind = node_kind_name(w->kind), .count = w->count, .bytes = has_bytes(w) ? w->bytes : NO_VALUE,
		.direction = w->kind == NODE_COPY ? cuda_direction_name(w->direction) ?: "default" : NULL,
	};

	if (graph_work_is_kernel(w) && !k)
		item.address = xprintf("0x%llx", kernel_map_handle(kernels, w->func));
	item.kernel = k ? style == KERNEL_FULL ? k->full : k->brief : item.address;
	item.short_name = k ? k->short_name : item.address;
	item.shown = k ? kernel_called(k, style) : item.address;
	return item;
}

static int compare(const struct graph_item *a, const struct graph_item *b)
{
	int order = strcmp(a->kernel ?: "", b->kernel ?: "");

	order = order ?: strcmp(a->kind, b->kind);
	order = order ?: strcmp(a->direction ?: "", b->direction ?: "");
	return order ?: (a->bytes > b->bytes) - (a->bytes < b->bytes);
}

static int graph_view_by_name(const void *a, const void *b)
{
	return compare(a, b);
}

static int by_count(const void *a, const void *b)
{
	const struct graph_item *p = a, *q = b;

	if (!p->kernel != !q->kernel)
		return p->kernel ? -1 : 1;
	return p->count != q->count ? p->count < q->count ? 1 : -1 : compare(p, q);
}

/* Joins the items of the same name, which are sorted. */
static void join(struct graph_items *items)
{
	size_t to = 0;

	for (size_t i = 1; i < items->n; i++) {
		struct graph_item *last = &items->all[to], *item = &items->all[i];

		if (compare(last, item)) {
			items->all[++to] = *item;
		} else {
			last->count += item->count;
			free(item->address);
		}
	}
	items->n = items->n ? to + 1 : 0;
}

struct graph_items graph_items(const struct launch_row *row, enum kernel_style style)
{
	const struct graph_content *c = row->graph->content;
	struct graph_items items = { .kernels = c ? c->kernels : 0 };

	items.all = xcalloc((c ? c->n : 0) + 1, sizeof(*items.all));
	for (size_t i = 0; c && i < c->n; i++) {
		const struct graph_work *w = &c->all[i];

		if (w->kind == NODE_ALLOC)
			items.memory += w->bytes * w->count;
		if (w->kind == NODE_TAKEN) {
			items.taken += w->bytes * w->count;
			continue;
		}
		items.nodes += w->count;
		items.all[items.n++] = item_of(row, w, style);
	}
	qsort(items.all, items.n, sizeof(*items.all), graph_view_by_name);
	join(&items);
	qsort(items.all, items.n, sizeof(*items.all), by_count);
	return items;
}

void graph_items_free(struct graph_items *items)
{
	for (size_t i = 0; i < items->n; i++)
		free(items->all[i].address);
	free(items->all);
	*items = (struct graph_items){ 0 };
}

/* ---- Printing */

static void item_text(FILE *f, const struct graph_item *item)
{
	fprintf(f, "%llu x ", item->count);
	if (item->kernel && strcmp(item->kind, "kernel"))
		fprintf(f, "[%s] ", item->kind);
	if (item->kernel)
		escape_text(f, item->shown);
	else
		fputs(item->kind, f);
	if (item->direction)
		fprintf(f, " %s", item->direction);
	if (item->bytes != NO_VALUE)
		fprintf(f, " %llu byte%s", item->bytes, plural(item->bytes));
}

void graph_items_line(FILE *f, const struct graph_items *items)
{
	for (size_t i = 0; i < items->n && i < ITEMS_LINE; i++) {
		fputs(i ? ", " : " ", f);
		item_text(f, &items->all[i]);
	}
}

void graph_items_text(const struct graph_items *items)
{
	for (size_t i = 0; i < items->n && i < ITEMS_TEXT; i++) {
		fputs("        ", stdout);
		item_text(stdout, &items->all[i]);
		putchar('\n');
	}
	if (items->n > ITEMS_TEXT)
		printf("        ... and %zu more\n", items->n - ITEMS_TEXT);
	if (items->taken)
		printf("        %llu bytes allocated during capture\n", items->taken);
}

#define AT(f) offsetof(struct graph_item, f)
static const struct field node_fields[] = {
	{ "kind", NULL, 0, OUT_STR, AT(kind) },	/* kernel, cooperative, memcpy, memset, host, alloc, free, conditional or other */
	{ "kernel", NULL, 0, OUT_STR, AT(kernel) },	/* name or address; null if it is none */
	{ "short", NULL, 0, OUT_STR, AT(short_name) },	/* short name of the kernel */
	{ "count", NULL, 0, OUT_UINT, AT(count) },	/* nodes of the graph that do this */
	{ "direction", NULL, 0, OUT_STR, AT(direction) },	/* of a memcpy; otherwise null */
	{ "bytes", NULL, 0, OUT_UINT, AT(bytes) },	/* bytes: of each memcpy, memset or alloc; otherwise null */
	{ 0 }
};

void graph_items_json(FILE *f, const void *of)
{
	const struct graph_items *items = of;

	fputc('[', f);
	for (size_t i = 0; i < items->n; i++) {
		if (i)
			fputc(',', f);
		out_object(node_fields, &items->all[i]);
	}
	fputc(']', f);
}
