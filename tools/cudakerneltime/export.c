/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include "base/csv_text.h"
#include "base/escape.h"
#include "cli/out_file.h"
#include "cudakerneltime/export.h"
#include "gpuprobe/gpuprobe_view.h"

FILE *run_csv_open(const char *path)
{
	FILE *f = out_file_stream(path);

	fputs("pid,device,context,grid,kernel,start_ns,end_ns,ns,blocks,block_total_ns,block_min_ns,block_p50_ns,"
	      "block_p95_ns,block_p99_ns,block_max_ns\n", f);
	return f;
}

void run_csv_add(FILE *f, const struct kernel_run *run, const char *name)
{
	const struct gpu_launch *g = &run->gpu;

	fprintf(f, "%d,%d,%u,%llu,", run->module->process->pid, run->module->device, run->module->context, g->grid);
	csv_text(f, name);
	fprintf(f, ",%llu,%llu,%llu,%llu,%llu,%llu,%llu,%llu,%llu,%llu\n", g->start, g->end, g->end - g->start,
		g->blocks, g->sum, g->min, run->p50, run->p95, run->p99, g->max);
}

/* Overlapping slices of a track are in rows below each other; the last row takes all that exceed ROWS. */
enum { ROWS = 256, DEVICE = -1 };

struct slice {
	const struct gpuprobe_module *module;
	long sm;		/* DEVICE: a run */
	unsigned long long start, end;
	const struct kernel_run *run;	/* one of them */
	const struct kernel_block *block;
};

/* The rows of a track: a device, or an SM. */
struct rows {
	int pid, n;
	unsigned long long end[ROWS];
};

static int by_track(const struct slice *x, const struct slice *y)
{
	unsigned p = x->module->process->id, q = y->module->process->id;
	int32_t c = x->module->device, d = y->module->device;

	return (p > q) - (p < q) ?: (c > d) - (c < d) ?: (x->sm > y->sm) - (x->sm < y->sm);
}

static int by_start(const void *a, const void *b)
{
	const struct slice *x = a, *y = b;

	return by_track(x, y) ?: (x->start > y->start) - (x->start < y->start);
}

static struct slice *slices_of(const struct run_list *list, size_t *n)
{
	struct slice *s = xcalloc(list->runs + list->blocks + 1, sizeof(*s));

	*n = 0;
	for (size_t i = 0; i < list->runs; i++) {
		const struct kernel_run *r = &list->run[i];

		s[(*n)++] = (struct slice){ r->module, DEVICE, r->gpu.start, r->gpu.end, r, NULL };
	}
	for (size_t i = 0; i < list->blocks; i++) {
		const struct kernel_block *b = &list->block[i];

		s[(*n)++] = (struct slice){ b->module, b->smid, b->start, b->start + b->ns, NULL, b };
	}
	qsort(s, *n, sizeof(*s), by_start);
	return s;
}

static void name_track(struct chrome *c, int pid, const struct slice *s)
{
	const struct gpuprobe_process *p = s->module->process;
	char *name = s->sm == DEVICE ? xprintf("GPU %d: %s (%d)", s->module->device, p->comm, p->pid)
				     : xprintf("GPU %d SM %ld: %s (%d)", s->module->device, s->sm, p->comm, p->pid);

	chrome_name(c, pid, 0, name);
	free(name);
}

/* Returns the first free row, from 1. */
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
	const struct site *site = s->run ? s->run->site : s->block->site;
	int row = row_for(c, rows, s);

	chrome_event(c);
	fputs("\"name\":", c->file);
	escape_json(c->file, kernel_report_name(report, site, false));
	fprintf(c->file, ",\"ph\":\"X\",\"pid\":%d,\"tid\":%d", rows->pid, row);
	chrome_us(c, "ts", s->start - begun);
	chrome_us(c, "dur", s->end - s->start);
	if (s->run)
		fprintf(c->file, ",\"args\":{\"grid\":%llu,\"context\":%u,\"blocks\":%llu,\"block_p50_ns\":%llu,"
			"\"block_max_ns\":%llu}}", s->run->gpu.grid, s->module->context, s->run->gpu.blocks,
			s->run->p50, s->run->gpu.max);
	else
		fprintf(c->file, ",\"args\":{\"grid\":%u,\"block\":%u}}", s->block->grid, s->block->block);
}

void chrome_runs(struct chrome *c, const struct run_list *list, struct kernel_report *report)
{
	struct rows *rows = xcalloc(1, sizeof(*rows));
	unsigned long long begun = ~0ull;
	size_t n;
	struct slice *s = slices_of(list, &n);

	for (size_t i = 0; i < n; i++)
		begun = s[i].start < begun ? s[i].start : begun;
	for (size_t i = 0; i < n; i++) {
		if (!i || by_track(&s[i - 1], &s[i])) {
			*rows = (struct rows){ .pid = rows->pid + 1 };
			name_track(c, rows->pid, &s[i]);
		}
		draw(c, rows, &s[i], begun, report);
	}
	free(s);
	free(rows);
}
