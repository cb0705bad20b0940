/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include "base/escape.h"
#include "cudakerneltime/launch_chrome.h"

/* What runs at the same time in one place stands in rows below each other; more rows than a GPU has room for are one. */
enum { ROWS = 256, DEVICE = -1 };

struct slice {
	const struct gpuprobe_module *module;
	long sm;		/* DEVICE: a launch */
	unsigned long long start, end;
	const struct kernel_launch *launch;	/* one of them */
	const struct kernel_block *block;
};

/* The rows of a device, or of an SM. */
struct rows {
	int pid, n;
	unsigned long long end[ROWS];
};

static int by_place(const struct slice *x, const struct slice *y)
{
	unsigned p = x->module->process->id, q = y->module->process->id;
	int32_t c = x->module->device, d = y->module->device;

	return (p > q) - (p < q) ?: (c > d) - (c < d) ?: (x->sm > y->sm) - (x->sm < y->sm);
}

static int by_start(const void *a, const void *b)
{
	const struct slice *x = a, *y = b;

	return by_place(x, y) ?: (x->start > y->start) - (x->start < y->start);
}

static struct slice *slices_of(const struct launch_keep *keep, size_t *n)
{
	struct slice *s = xcalloc(keep->launches + keep->blocks + 1, sizeof(*s));

	*n = 0;
	for (size_t i = 0; i < keep->launches; i++) {
		const struct kernel_launch *l = &keep->launch[i];

		s[(*n)++] = (struct slice){ l->module, DEVICE, l->gpu.start, l->gpu.end, l, NULL };
	}
	for (size_t i = 0; i < keep->blocks; i++) {
		const struct kernel_block *b = &keep->block[i];

		s[(*n)++] = (struct slice){ b->module, b->smid, b->start, b->start + b->ns, NULL, b };
	}
	qsort(s, *n, sizeof(*s), by_start);
	return s;
}

static void name_place(struct chrome *c, int pid, const struct slice *s)
{
	const struct gpuprobe_process *p = s->module->process;
	char *name = s->sm == DEVICE ? xprintf("GPU %d: %s (%d)", s->module->device, p->comm, p->pid)
				     : xprintf("GPU %d SM %ld: %s (%d)", s->module->device, s->sm, p->comm, p->pid);

	chrome_name(c, pid, 0, name);
	free(name);
}

/* Returns the first row that is free, from 1. */
static int row_for(struct chrome *c, struct rows *rows, const struct slice *s)
{
	int row = 0;

	while (row < rows->n && rows->end[row] > s->start)
		row++;
	if (row == ROWS)
		row--;
	if (row == rows->n) {
		rows->n++;
		chrome_name(c, rows->pid, row + 1, s->sm == DEVICE ? "kernels" : "blocks");
	}
	rows->end[row] = s->end;
	return row + 1;
}

static void draw(struct chrome *c, struct rows *rows, const struct slice *s, unsigned long long begun,
		 struct kernel_report *report)
{
	const struct site *site = s->launch ? s->launch->site : s->block->site;
	int row = row_for(c, rows, s);

	chrome_event(c);
	fputs("\"name\":", c->file);
	escape_json(c->file, kernel_report_name(report, site));
	fprintf(c->file, ",\"ph\":\"X\",\"pid\":%d,\"tid\":%d", rows->pid, row);
	chrome_us(c, "ts", s->start - begun);
	chrome_us(c, "dur", s->end - s->start);
	if (s->launch)
		fprintf(c->file, ",\"args\":{\"grid\":%llu,\"context\":%u,\"blocks\":%llu,\"block_p50_ns\":%llu,"
			"\"block_max_ns\":%llu}}", s->launch->gpu.grid, s->module->context, s->launch->gpu.blocks,
			s->launch->p50, s->launch->gpu.max);
	else
		fprintf(c->file, ",\"args\":{\"grid\":%u,\"block\":%u}}", s->block->grid, s->block->block);
}

void launch_chrome(struct chrome *c, const struct launch_keep *keep, struct kernel_report *report)
{
	struct rows *rows = xcalloc(1, sizeof(*rows));
	unsigned long long begun = ~0ull;
	size_t n;
	struct slice *s = slices_of(keep, &n);

	for (size_t i = 0; i < n; i++)
		begun = s[i].start < begun ? s[i].start : begun;
	for (size_t i = 0; i < n; i++) {
		if (!i || by_place(&s[i - 1], &s[i])) {
			*rows = (struct rows){ .pid = rows->pid + 1 };
			name_place(c, rows->pid, &s[i]);
		}
		draw(c, rows, &s[i], begun, report);
	}
	free(s);
	free(rows);
}
