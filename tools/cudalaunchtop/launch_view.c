/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "abi/device.h"
#include "base/clock.h"
#include "base/die.h"
#include "base/escape.h"
#include "base/util.h"
#include "cli/out.h"
#include "cli/top_screen.h"
#include "cudalaunchtop/launch_view.h"
#include "cudalaunchtop/name_fit.h"
#include "pprof/profile.h"
#include "sym/stack.h"
#include "view/columns.h"
#include "view/stack_view.h"

/* Columns: of STREAM; that names get if they are that long; that a table of processes needs without
 * being narrow. */
enum { STREAM = 14, NAME = 40, WIDE = 100 };

/* ---- The lines */

/* Returns the threads of a launch; 0: unknown.  At most THREADS_MOST: the largest grid of the largest blocks has 2^73. */
static unsigned long long threads_of(const struct launch_row *r)
{
	unsigned long long n = 1;

	for (int i = 0; i < 3; i++)
		if (!r->grid[i] || !r->block[i])
			return 0;
	for (int i = 0; i < 3; i++)
		if (__builtin_mul_overflow(n, r->grid[i], &n) || __builtin_mul_overflow(n, r->block[i], &n))
			return THREADS_MOST;
	return n < THREADS_MOST ? n : THREADS_MOST;
}

/* Returns the length of the text. */
static int threads_text(char *buf, size_t size, const struct launch_row *r)
{
	const unsigned long long n = threads_of(r);

	return n == THREADS_MOST ? snprintf(buf, size, ">18.4E") : n ? snprintf(buf, size, "%llu", n) : snprintf(buf, size, "-");
}

static int more_first(unsigned long long a, unsigned long long b)
{
	return (a < b) - (a > b);
}

static const char *sort_name(const struct launch_line *l)
{
	return !l->kernel ? l->row.comm : out_is_json() ? l->kernel : l->shown;
}

static int by_sort(const void *a, const void *b, void *ctx)
{
	const struct launch_view *v = ctx;
	const struct launch_line *p = a, *q = b;
	int order = 0;

	if (v->sort == SORT_LAUNCHES)
		order = more_first(p->row.last.launches, q->row.last.launches);
	else if (v->sort == SORT_THREADS)
		order = more_first(threads_of(&p->row), threads_of(&q->row));
	else if (v->sort == SORT_NAME)
		order = strcmp(sort_name(p), sort_name(q));
	else if (v->sort == SORT_TIME)
		order = more_first(p->gpu.ns, q->gpu.ns);
	else if (v->sort == SORT_PID)
		order = more_first(q->row.pid, p->row.pid);
	order = order ? order : more_first(p->row.total.launches, q->row.total.launches);
	order = order ? order : more_first(q->row.pid, p->row.pid);
	if (!order && p->kernel && q->kernel)
		order = strcmp(p->kernel, q->kernel);
	return v->reverse ? -order : order;
}

static void set_container(struct launch_view *v, struct launch_line *l)
{
	const char *id = process_container(v->processes, l->row.pid);

	if (id)
		memcpy(l->container, id, sizeof(l->container));
	v->containers_shown |= !!id;
}

static void set_kernel(const struct launch_view *v, struct launch_line *l)
{
	static const char *const kinds[] = { "kernel", "cooperative", "graph" };
	const struct launch_row *r = &l->row;

	if (r->kind < 0)
		return;
	l->kind = kinds[r->kind % LAUNCH_KIND_MAX];
	l->address = r->kernel ? NULL : xprintf("0x%llx", r->func);
	l->kernel = !r->kernel ? l->address : v->full ? r->kernel->full : r->kernel->brief;
}

static enum kernel_style style(const struct launch_view *v)
{
	return v->full ? KERNEL_FULL : v->names;
}

/* A kernel without a name, or a graph, has only one. */
static void set_names(const struct launch_view *v, struct launch_line *l)
{
	const struct kernel *k = l->row.kernel;

	l->shown = k ? kernel_called(k, style(v)) : l->kernel;
	l->short_name = k ? k->short_name : l->kernel;
}

/* ---- GPU time */

/* GPU work of one name. */
struct gpu_row {
	int pid;
	unsigned int device;
	const char *comm;
	char *text;		/* that a line has as its kernel */
	const struct kernel *kernel;
	const struct stack *stack;	/* of the launches; NULL also if it is not wanted */
	bool graph, found;	/* found: a line has it */
	struct gpu_sum sum;
};

struct gpu_rows {
	const struct launch_view *v;
	struct gpu_row *all;
	size_t n, room;
	bool whole;
};

static void add_row(void *ctx, const struct gpu_tally *t)
{
	const struct gpu_sum *sum;
	struct gpu_rows *r = ctx;
	const struct kernel *k = t->key.kernel;

	sum = r->whole ? &t->total : &t->last;
	if (!sum->n || (r->v->only && !device_is_in(r->v->only, t->key.device)))
		return;
	ALLOC_GROW(r->all, r->n, r->room);
	r->all[r->n++] = (struct gpu_row){
		.pid = t->pid, .device = t->key.device, .comm = t->comm, .kernel = k, .graph = t->key.kind == GPUTIME_GRAPH, .sum = *sum,
		.stack = stack_shown(t->key.site),
		.text = r->v->by_process ? xstrdup("") : t->key.kind == GPUTIME_GRAPH ? xprintf("#%u", t->key.graph) :
			xstrdup(!k ? "[unknown]" : r->v->full ? k->full : k->brief),
	};
}

static int launch_view_by_name(int pid, const char *text, const struct stack *stack, const struct gpu_row *r)
{
	return pid != r->pid ? pid < r->pid ? -1 : 1 : strcmp(text, r->text) ?: (stack > r->stack) - (stack < r->stack);
}

static int by_device(unsigned int device, const struct gpu_row *r)
{
	return (device > r->device) - (device < r->device);
}

static int by_row(const void *a, const void *b)
{
	const struct gpu_row *p = a;

	return launch_view_by_name(p->pid, p->text, p->stack, b) ?: by_device(p->device, b);
}

static int by_line_name(const void *a, const void *b)
{
	const struct launch_line *l = a;

	return launch_view_by_name(l->row.pid, l->kernel ? l->kernel : "", l->row.stack, b);
}

static int by_line(const void *a, const void *b)
{
	const struct launch_line *l = a;

	return by_line_name(a, b) ?: by_device(l->row.device, b);
}

/* Rows sorted, one for each name. */
static struct gpu_rows gpu_rows(const struct launch_view *v, bool whole)
{
	struct gpu_rows r = { .v = v, .whole = whole };
	size_t to = 0;

	if (v->gpu)
		gpu_time_each(v->gpu, add_row, &r);
	if (r.n)
		qsort(r.all, r.n, sizeof(*r.all), by_row);
	for (size_t i = 1; i < r.n; i++) {
		if (by_row(&r.all[to], &r.all[i])) {
			r.all[++to] = r.all[i];
			continue;
		}
		gpu_sum_add(&r.all[to].sum, &r.all[i].sum);
		free(r.all[i].text);
	}
	r.n = r.n ? to + 1 : 0;
	return r;
}

/* Adds a row without launches: launched before the interval, or by the GPU. */
static void add_line(struct launch_view *v, const struct gpu_row *r)
{
	struct launch_line *l = &v->lines[v->n++];

	l->row = (struct launch_row){
		.pid = r->pid, .device = r->device, .comm = r->comm, .kernel = r->kernel, .stack = r->stack,
		.kind = v->by_process ? -1 : r->graph ? LAUNCH_GRAPH : LAUNCH_KERNEL,
	};
	l->time = v->counted;
	l->interval = v->interval;
	l->threads = NO_VALUE;
	l->kind = v->by_process ? NULL : r->graph ? "graph" : "kernel";
	l->address = v->by_process ? NULL : xstrdup(r->text);
	l->kernel = l->address;
	l->gpu = r->sum;
	devices_see(&v->devices, r->device);
	set_container(v, l);
}

static void set_gpu(const struct launch_view *v, struct launch_line *l)
{
	const struct gpu_sum *s = &l->gpu;

	l->gpu_unknown |= !v->gpu || !gpu_time_measured(v->gpu, l->row.pid);
	l->gpu_n = l->gpu_unknown ? NO_VALUE : s->n;
	l->gpu_ns = l->gpu_unknown ? NO_VALUE : s->ns;
	l->gpu_mean = s->n ? s->ns / s->n : NO_VALUE;
	l->gpu_spread = hist_spread(&s->hist, s->n ? s->least : NO_VALUE, s->most);
	l->gpu_share = l->gpu_unknown ? NAN : v->interval > 0 ? s->ns / 1e9 / v->interval : 0;
}

/* The time of a line's device; or, if that is not known, all that has its name and no line yet.  A kernel that is launched
 * cooperatively and otherwise has two lines: the first one has the time. */
static void find_time(const struct gpu_rows *rows, struct launch_line *l)
{
	const bool known = l->row.device;
	struct gpu_row *r = l->row.kind == LAUNCH_GRAPH || !rows->n ? NULL :
			    bsearch(l, rows->all, rows->n, sizeof(*r), known ? by_line : by_line_name);

	while (r && !known && r > rows->all && !by_line_name(l, r - 1))
		r--;
	for (; r && r < rows->all + rows->n && !(known ? by_line : by_line_name)(l, r); r++) {
		if (!r->found)
			gpu_sum_add(&l->gpu, &r->sum);
		l->gpu_unknown |= r->found && known;
		r->found = true;
	}
}

/* Sets the time of the lines; those that are missing are added: there is room. */
static void add_gpu_time(struct launch_view *v, struct gpu_rows *rows)
{
	for (int known = 1; known >= 0; known--)
		for (size_t i = 0; i < v->n; i++)
			if (!!v->lines[i].row.device == known)
				find_time(rows, &v->lines[i]);
	for (size_t i = 0; i < rows->n; i++) {
		if (!rows->all[i].found)
			add_line(v, &rows->all[i]);
		free(rows->all[i].text);
	}
	for (size_t i = 0; i < v->n; i++)
		set_gpu(v, &v->lines[i]);
	free(rows->all);
}

/* Sets the lines; idle: also those that were launched only before the interval. */
static void set_lines(struct launch_view *v, bool whole, bool idle)
{
	enum launches_by by = v->by_graph ? LAUNCHES_BY_GRAPH : v->by_process ? LAUNCHES_BY_PROCESS : v->full ? LAUNCHES_BY_FULL :
			      LAUNCHES_BY_BRIEF;
	size_t nrows;
	struct launch_row *rows = launches_rows(v->launches, by, &nrows);
	struct gpu_rows gpu = gpu_rows(v, whole);

	v->lines = xcalloc(nrows + gpu.n + 1, sizeof(*v->lines));
	v->n = 0;
	for (size_t i = 0; i < nrows; i++) {
		struct launch_line *l = &v->lines[v->n];
		struct launch_row *r = &l->row;

		*r = rows[i];
		if (whole)
			r->last = r->total;
		if (!idle && !r->last.launches && !r->last.failed)
			continue;
		l->time = v->counted;
		l->interval = v->interval;
		l->threads = *r->grid ? threads_of(r) : NO_VALUE;
		l->threads_beyond = l->threads == THREADS_MOST;
		l->rate = v->interval > 0 ? r->last.launches / v->interval : 0;
		devices_see(&v->devices, r->device);
		set_container(v, l);
		set_kernel(v, l);
		v->n++;
	}
	free(rows);
	add_gpu_time(v, &gpu);
	for (size_t i = 0; i < v->n; i++)
		set_names(v, &v->lines[i]);
	qsort_r(v->lines, v->n, sizeof(*v->lines), by_sort, v);
}

char *launch_line_leaf(const struct launch_line *l)
{
	return xprintf("%s%s", l->row.kind == LAUNCH_GRAPH ? "[graph] " : "", l->shown);
}

/* Adds the interval's launches. */
static void add_to_profile(const struct launch_view *v)
{
	size_t n = 0;
	struct launch_row *rows = launches_rows(v->launches, v->full ? LAUNCHES_BY_FULL : LAUNCHES_BY_BRIEF, &n);

	for (size_t i = 0; i < n; i++) {
		const struct launch_row *r = &rows[i];
		struct launch_line l = { .row = *r };
		char *leaf;

		if (!r->last.launches)
			continue;
		set_kernel(v, &l);
		set_names(v, &l);
		leaf = launch_line_leaf(&l);
		profile_add(v->profile, &(struct profile_event){
			r->pid, r->comm, leaf, r->stack, r->device, { r->last.launches } });
		free(leaf);
		free(l.address);
	}
	free(rows);
}

/* A tally of the interval. */
static void add_gpu_to_profile(void *ctx, const struct gpu_tally *t)
{
	const struct launch_view *v = ctx;
	const struct kernel *k = t->key.kernel;
	char *leaf;

	if (!t->last.n || (v->only && !device_is_in(v->only, t->key.device)))
		return;
	leaf = t->key.kind == GPUTIME_GRAPH ? xprintf("[graph] #%u", t->key.graph) : xstrdup(k ? kernel_called(k, style(v)) : "[unknown]");
	profile_add(v->profile, &(struct profile_event){
		t->pid, t->comm, leaf, t->key.site, t->key.device, { 0, t->last.ns } });
	free(leaf);
}

static void count_launches(struct launch_view *v, bool whole)
{
	unsigned long long from = whole ? v->began : v->counted;

	launches_count(v->launches);
	if (v->profile->path)
		add_to_profile(v);
	if (v->gpu)
		gpu_time_count(v->gpu);
	if (v->profile->path && v->gpu)
		gpu_time_each(v->gpu, add_gpu_to_profile, v);
	v->counted = clock_ns();
	v->interval = (v->counted - from) / 1e9;
}

void launch_view_count(struct launch_view *v, bool whole)
{
	count_launches(v, whole);
	set_lines(v, whole, false);
}

void launch_view_clear(struct launch_view *v)
{
	name_fit_free(v->fit);
	v->fit = NULL;
	for (size_t i = 0; i < v->n; i++)
		free(v->lines[i].address);
	free(v->lines);
	v->lines = NULL;
	v->n = 0;
}

/* ---- The columns */

/* Writes the sizes of a grid or block, "-" if unknown; returns the length. */
static int dim_text(char *buf, size_t size, const unsigned *d)
{
	return *d ? snprintf(buf, size, "%ux%ux%u", d[0], d[1], d[2]) : snprintf(buf, size, "-");
}

static void widen(int *width, int n)
{
	if (n > *width)
		*width = n;
}

/* Returns the columns of a name as printed. */
static int text_width(const char *text)
{
	size_t size;
	char *buf;
	FILE *f = top_view_line(&buf, &size);
	int n = escape_text(f, text);

	fclose(f);
	free(buf);
	return n;
}

static void widest(struct launch_view *v, size_t n, bool narrow)
{
	char buf[40];

	v->narrow = narrow;
	v->shapes = !narrow && !v->by_graph && !v->gpu;
	v->comm = narrow ? 10 : 15;
	v->grid = 11;
	v->block = 10;
	v->threads = 9;
	for (size_t i = 0; i < n; i++) {
		const struct launch_row *r = &v->lines[i].row;

		widen(&v->comm, text_width(r->comm));
		widen(&v->grid, dim_text(buf, sizeof(buf), r->grid));
		widen(&v->block, dim_text(buf, sizeof(buf), r->block));
		widen(&v->threads, threads_text(buf, sizeof(buf), r));
	}
}

static struct name_fit *fit_names(const struct launch_view *v, size_t n)
{
	const char **names = xcalloc(n + 1, sizeof(*names));
	struct name_fit *fit;

	for (size_t i = 0; i < n; i++)
		names[i] = v->lines[i].shown ?: "";
	fit = name_fit_new(names, n);
	free(names);
	return fit;
}

/* Returns the columns before the name. */
static int columns_before(const struct launch_view *v)
{
	size_t size;
	char *buf;
	FILE *f = top_view_line(&buf, &size);

	launch_view_head(v, f);
	fclose(f);
	free(buf);
	return v->by_process ? size : size - strlen(v->by_graph ? "GRAPH" : "KERNEL");
}

/* Names get the rest of the terminal.  If that is too little, GRID and BLOCK are omitted first. */
void launch_view_columns(struct launch_view *v, size_t n, int columns)
{
	int wanted;

	v->name = INT_MAX;
	widest(v, n, columns < WIDE && v->by_process);
	if (columns == INT_MAX || v->by_process || v->by_graph)
		return;
	v->fit = fit_names(v, n);
	wanted = name_fit_longest(v->fit) < NAME ? name_fit_longest(v->fit) : NAME;
	v->shapes = !v->gpu && columns - columns_before(v) >= wanted;
	if (columns - columns_before(v) < wanted)
		widest(v, n, true);
	v->name = columns - columns_before(v);
}

/* ---- As text */

void launch_view_head(const struct launch_view *v, FILE *f)
{
	fprintf(f, "%-7s %-*s %*s", "PID", v->comm, "COMM", v->narrow ? 9 : 10,
		v->narrow ? "LAUNCH/S" : "LAUNCHES/S");
	if (!v->narrow)
		fprintf(f, " %10s", "LAUNCHES");
	fprintf(f, " %*s", v->narrow ? 9 : 10, "TOTAL");
	if (v->devices.several)
		fputs(" DEVICE", f);
	if (v->streams)
		fprintf(f, " %*s", STREAM, "STREAM");
	if (v->failed)
		fprintf(f, " %8s", "FAILED");
	if (v->gpu)
		fprintf(f, " %10s %5s %9s %9s", "GPU(ms)", "%GPU", "MEAN(us)", "P99(us)");
	if (v->by_process && v->containers_shown)
		fprintf(f, " %-*s", CONTAINER_ID - 1, "CONTAINER");
	if (v->by_process)
		return;
	if (v->by_graph) {
		fprintf(f, " %7s %5s %10s GRAPH", "KERNELS", "NODES", "MEMORY");
		return;
	}
	if (v->shapes)
		fprintf(f, " %-*s %-*s", v->grid, "GRID", v->block, "BLOCK");
	if (!v->narrow && !v->gpu)
		fprintf(f, " %*s", v->threads, "THREADS");
	fputs(" KERNEL", f);
}

static void dim(FILE *f, int width, const unsigned *d)
{
	char buf[40];

	dim_text(buf, sizeof(buf), d);
	fprintf(f, " %-*s", width, buf);
}

/* Returns the marks before a kernel's name. */
static char *marks(const struct launch_row *r)
{
	const char *kind = r->kind == LAUNCH_GRAPH && r->unknown ? "[graph, kernels unknown] " :
			   r->kind == LAUNCH_GRAPH || r->last.replayed ? "[graph] " :
			   r->kind == LAUNCH_COOPERATIVE ? "[cooperative] " : "";

	return r->last.impossible ? xprintf("%s[%llu impossible] ", kind, r->last.impossible) : xstrdup(kind);
}

/* A stack follows the name and gets half of the columns. */
static void kernel(const struct launch_view *v, FILE *f, size_t i)
{
	char *before = marks(&v->lines[i].row), *name = NULL;
	int columns = v->name - strlen(before);

	if (v->fit && v->name != INT_MAX)
		name = name_fit(v->fit, i, v->stacks ? columns / 2 : columns);
	fputs(before, f);
	if (name)
		fputs(name, f);
	else
		escape_text(f, v->lines[i].shown);
	free(before);
	free(name);
}

static void graph_columns(FILE *f, const struct launch_line *l)
{
	if (l->row.unknown)
		fprintf(f, " %7s %5s %10s", "-", "-", "-");
	else
		fprintf(f, " %7llu %5llu %10s", l->items.kernels, l->items.nodes,
			out_amount(l->items.memory + l->items.taken, OUT_UNIT_BYTES));
	fprintf(f, " %s%s", l->row.unknown ? "[kernels unknown] " : "", l->kernel);
}

static void gpu_columns(FILE *f, const struct launch_line *l)
{
	char p99[32];

	if (l->gpu_unknown)
		fprintf(f, " %10s %5s", "-", "-");
	else
		fprintf(f, " %10.3f %5.1f", l->gpu.ns / 1e6, 100 * l->gpu_share);
	snprintf(p99, sizeof(p99), "%s%.1f", l->gpu_spread.about_p99 ? "~" : "", l->gpu_spread.p99 / 1e3);
	if (l->gpu.n)
		fprintf(f, " %9.1f %9s", l->gpu_mean / 1e3, p99);
	else
		fprintf(f, " %9s %9s", "-", "-");
}

void launch_view_line(const struct launch_view *v, FILE *f, size_t i)
{
	const struct launch_line *l = &v->lines[i];
	const struct launch_row *r = &l->row;
	char number[16], threads[24];

	fprintf(f, "%-7d ", r->pid);
	fprintf(f, "%*s", v->comm - escape_text(f, r->comm), "");
	fprintf(f, " %*.1f", v->narrow ? 9 : 10, l->rate);
	if (!v->narrow)
		fprintf(f, " %10llu", r->last.launches);
	fprintf(f, " %*llu", v->narrow ? 9 : 10, r->total.launches);
	if (v->devices.several)
		fprintf(f, " %6s", device_text(r->device, number));
	if (v->streams) {
		fputc(' ', f);
		OUT_STREAM->text(f, &(struct field){ .width = STREAM }, &r->stream);
	}
	if (v->failed)
		fprintf(f, " %8llu", r->last.failed);
	if (v->gpu)
		gpu_columns(f, l);
	if (v->by_process && v->containers_shown)
		fprintf(f, " %-*s", CONTAINER_ID - 1, *l->container ? l->container : "-");
	if (v->by_process)
		return;
	if (v->by_graph) {
		graph_columns(f, l);
		return;
	}
	if (v->shapes) {
		dim(f, v->grid, r->grid);
		dim(f, v->block, r->block);
	}
	if (!v->narrow && !v->gpu) {
		threads_text(threads, sizeof(threads), r);
		fprintf(f, " %*s", v->threads, threads);
	}
	fputc(' ', f);
	kernel(v, f, i);
}

void launch_view_items(struct launch_view *v, size_t i)
{
	if (v->by_graph)
		v->lines[i].items = graph_items(&v->lines[i].row, style(v));
}

void launch_view_items_free(struct launch_view *v, size_t i)
{
	graph_items_free(&v->lines[i].items);
}

/* ---- On the screen */

static void title(void *ctx, FILE *f)
{
	const struct launch_view *v = ctx;

	fprintf(f, "%.1f launches/s, %llu total", v->rate, launches_total(v->launches));
}

static void head(void *ctx, FILE *f)
{
	launch_view_head(ctx, f);
}

static void line(void *ctx, FILE *f, size_t i)
{
	struct launch_view *v = ctx;

	launch_view_items(v, i);
	launch_view_line(v, f, i);
	if (v->by_graph)
		graph_items_line(f, &v->lines[i].items);
	launch_view_items_free(v, i);
	if (v->stacks && !v->by_process)
		stack_view_callers(f, v->lines[i].row.stack);
}

/* A name may be truncated in its line. */
static void words(void *ctx, FILE *f, size_t i)
{
	const struct launch_view *v = ctx;
	const struct launch_line *l = &v->lines[i];

	fprintf(f, "%d %s %s %s %s", l->row.pid, l->row.comm, l->container, l->kernel ?: "", l->shown ?: "");
	if (v->stacks && !v->by_process)
		stack_view_callers(f, l->row.stack);
}

/* The columns fit all lines: they do not move when the lines are scrolled. */
static void draw(void *ctx)
{
	struct launch_view *v = ctx;
	unsigned long long launches = 0;

	set_lines(v, false, true);
	for (size_t i = 0; i < v->n; i++)
		launches += v->lines[i].row.last.launches;
	v->rate = v->interval > 0 ? launches / v->interval : 0;
	launch_view_columns(v, v->n, screen_columns());
	v->screen.fixed = columns_before(v);
	if (v->screen.shift)	/* to see whole names */
		v->name = INT_MAX;
	top_view_draw(&v->screen, v->rows && (size_t)v->rows < v->n ? (size_t)v->rows : v->n);
	launch_view_clear(v);
}

static void press(void *ctx, int key)
{
	int sort = top_view_index("ltdnig", key);
	struct launch_view *v = ctx;

	if (sort >= 0)
		v->sort = sort;
	v->reverse ^= key == 'r';
	v->full ^= key == 'f';
	v->by_process ^= key == 'v' && !v->by_graph;
}

void launch_screen_init(struct launch_view *v)
{
	static const char *const help[] = {
		"  l  sort by launches in the interval     r  reverse the order",
		"  t  by total                             f  toggle full kernel names",
		"  d  by threads per launch                v  toggle processes and kernels",
		"  n  by name",
		"  i  by PID                               g  by GPU time, with --gpu-time",
		NULL
	};

	v->screen.help = help;
	v->screen.ctx = v;
	v->screen.draw = draw;
	v->screen.key = press;
	v->screen.title = title;
	v->screen.head = head;
	v->screen.line = line;
	v->screen.words = words;
}

void launch_screen_update(struct launch_view *v)
{
	if (v->screen.paused)
		return;
	count_launches(v, false);
	draw(v);
}
