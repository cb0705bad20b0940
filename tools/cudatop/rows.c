/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "abi/device.h"
#include "api/cuda_fn.h"
#include "base/clock.h"
#include "base/die.h"
#include "base/util.h"
#include "cli/out.h"
#include "cudatop/gpu_use.h"
#include "cudatop/limits.h"
#include "cudatop/rows.h"
#include "nccl/rank_name.h"
#include "proc/helper_files.h"
#include "proc/process_table.h"

/* How long an answer of NVML is waited for, ms; a call that is shorter is not shown. */
enum { NVML_MS = 50 };
static const unsigned long long CALL_NS = 100000000;

/* ---- What is not in the probes' counts */

static unsigned long long since(unsigned long long now, unsigned long long before, bool whole)
{
	return whole ? now : now > before ? now - before : 0;
}

static void read_memory(struct top_rows *t)
{
	struct mem_process *m;

	for (struct top_process *p = t->processes.all; p; p = p->hh.next) {
		HASH_FIND_INT(t->memory.processes, &p->pid, m);
		for (const struct mem_site *s = m ? m->groups.all : NULL; s; s = s->hh.next) {
			if (s->key.device == DEVICE_NONE || s->key.memory == CUDA_TENSOR)
				continue;
			p->now.held += s->held.bytes;
			if (s->held.bytes && s->key.device && s->key.device <= DEVICES)
				p->devices |= 1ull << (s->key.device - 1);
		}
		growth_see(&p->growth[GROWS_MEMORY], p->now.held, 0, t->counted);
		growth_see(&p->growth[GROWS_PINNED], m ? m->groups.kinds[CUDA_HOST].bytes : 0, 0, t->counted);
		for (int i = 0; i < HANDLE_KINDS; i++)
			growth_see(&p->growth[GROWS_HANDLES + i], handles_left(&p->now.handles, i),
				   p->now.handles.destroyed[i] > 0 ? p->now.handles.destroyed[i] : 0, t->counted);
	}
}

static bool is_of(const struct inflight_row *r, enum cuda_class class)
{
	const int id = cuda_fn_find(r->func);

	return id >= 0 && cuda_fns[id].class == class;
}

/* A call that returned after the counts were read is in neither count, but in the next ones; one that its thread left is in none. */
static void keep(unsigned long long *now, unsigned long long before, bool *kept)
{
	*kept = !*kept && *now < before;
	if (*kept)
		*now = before;
}

/* Launches are sampled. */
static bool is_timed(const struct inflight_row *r)
{
	const int id = cuda_fn_find(r->func);

	return id >= 0 && cuda_fns[id].lib < CUDA_LIB_MAX && cuda_fns[id].class != CUDA_LAUNCH;
}

/* Calls in flight count as if they had returned, so that one of a minute is shown in each second. */
static void read_inflight(struct top_rows *t)
{
	t->inflight.stacks = t->processes.detail.pid;	/* to read them takes time */
	inflight_collect(&t->inflight);
	for (size_t i = 0; i < t->inflight.n; i++) {
		const struct inflight_row *r = &t->inflight.rows[i];
		struct top_process *p = top_process_find(&t->processes, r->pid);

		if (p && is_of(r, CUDA_SYNC))
			p->now.wait_ns += r->age;
		else if (p && is_of(r, CUDA_LOAD))
			p->now.load_ns += r->age;
		else if (p && is_timed(r))
			top_process_call(p, cuda_fns[cuda_fn_find(r->func)].name, r->age);
	}
	for (struct top_process *p = t->processes.all; p; p = p->hh.next) {
		keep(&p->now.wait_ns, p->before.wait_ns, &p->waits_kept);
		keep(&p->now.load_ns, p->before.load_ns, &p->loads_kept);
	}
}

/* ---- Rows */

static void set_counts(struct top_rows *t, struct top_row *r, const struct top_process *p, bool whole)
{
	const struct top_counts *now = &p->now, *before = &p->before;
	const double s = t->interval > 0 ? t->interval : 1;

	r->held = now->held;
	r->growth = now->held - (whole ? 0 : before->held);
	r->launches = since(now->launches, before->launches, whole);
	r->graphs = since(now->graphs, before->graphs, whole);
	r->estimated = since(now->estimated, before->estimated, whole);
	for (int d = 0; d <= CUDA_DEFAULT; d++) {
		r->copies += since(now->copies[d], before->copies[d], whole);
		r->bytes += since(now->bytes[d], before->bytes[d], whole);
	}
	r->htod = since(now->bytes[CUDA_HTOD], before->bytes[CUDA_HTOD], whole);
	r->dtoh = since(now->bytes[CUDA_DTOH], before->bytes[CUDA_DTOH], whole);
	r->wait_ns = since(now->wait_ns, before->wait_ns, whole);
	r->loads = since(now->loads, before->loads, whole);
	r->images = since(now->images, before->images, whole);
	r->load_ns = since(now->load_ns, before->load_ns, whole);
	r->errors = since(now->errors, before->errors, whole);
	r->memory_grown = growth_most(p->growth, GROWS_MEMORY, GROWS_PINNED, t->counted);
	r->handles_grown = growth_most(p->growth, GROWS_HANDLES, TOP_GROWS - 1, t->counted);
	r->growth_rate = r->growth / s;
	r->launch_rate = r->launches / s;
	r->htod_rate = r->htod / s;
	r->dtoh_rate = r->dtoh / s;
	r->copy_rate = r->bytes / s;
	r->error_rate = r->errors / s;
	r->wait_share = r->wait_ns / 1e9 / s;
	r->load_share = r->load_ns / 1e9 / s;
}

static bool is_copy(const char *name)
{
	const int id = cuda_fn_find(name);

	return id >= 0 && cuda_fns[id].class == CUDA_COPY;
}

static void set_functions(struct top_row *r, const struct top_process *p, bool whole)
{
	for (unsigned i = 0; i < p->nfunctions; i++) {
		const struct top_function *f = &p->functions[i];
		const unsigned long long ns = since(f->ns, f->before, whole);

		r->cuda_ns += ns;
		r->copy_ns += is_copy(f->name) ? ns : 0;
		if (ns <= r->busiest_ns)
			continue;
		r->busiest_ns = ns;
		r->busiest = f->name;
	}
	r->cuda_share = r->interval > 0 ? r->cuda_ns / 1e9 / r->interval : 0;
}

static void set_kinds(struct top_rows *t, struct top_row *r)
{
	const struct mem_process *m;

	HASH_FIND_INT(t->memory.processes, &r->pid, m);
	if (!m)
		return;
	r->host = m->groups.kinds[CUDA_HOST].bytes;
	r->managed = m->groups.kinds[CUDA_MANAGED].bytes;
}

/* ---- What is kept elsewhere: each list is read once, as there may be thousands of processes */

/* Returns NULL if the program has no row. */
static struct top_row *row_of(const struct top_rows *t, int pid, unsigned long long program)
{
	const struct top_process *p = top_process_of(&t->processes, pid, program);

	return p ? &t->rows[p->row] : NULL;
}

/* percent: -1 if it is unknown. */
static void see_busy(struct top_row *r, int percent)
{
	if (percent >= 0 && !(r->gpu_busy >= percent / 100.))	/* gpu_busy may be NAN */
		r->gpu_busy = percent / 100.;
}

/* Late answers of NVML leave a gap. */
static void set_used(const struct top_rows *t, struct top_row *r, struct top_process *p)
{
	r->by_gpu.of = t->nvml.ndevices ? p->use : NULL;
	for (unsigned i = 0; p->use && i < t->nvml.ndevices; i++) {
		if (!(p->use->gpus & 1ull << i))
			continue;
		r->used = (r->used == OUT_NONE ? 0 : r->used) + p->use->used[i];
		see_busy(r, t->nvml.devices[i].busy);
	}
	if (r->used != OUT_NONE)
		growth_see(&p->growth[GROWS_USED], r->used, r->held, t->counted);
	r->used_grown = growth_most(p->growth, GROWS_USED, GROWS_USED, t->counted);
}

static void rows_set_calls(struct top_rows *t)
{
	for (size_t i = 0; i < t->inflight.n; i++) {
		const struct inflight_row *c = &t->inflight.rows[i];
		struct top_row *r = row_of(t, c->pid, 0);

		if (!r)
			continue;
		r->calls++;
		if (r->call || c->age < CALL_NS)	/* the longest one comes first */
			continue;
		r->call = c->func;
		r->call_ns = c->age;
		r->call_tid = c->tid;
	}
}

static void set_rank(void *ctx, const struct communicator *m)
{
	struct top_row *r = m->ended || !m->nranks ? NULL : row_of(ctx, m->pid, 0);

	if (!r || (r->nranks != OUT_NONE && r->nranks >= (unsigned)m->nranks))
		return;
	r->rank = m->rank;
	r->nranks = m->nranks;
	r->behind = communicator_behind(m);
}

static bool is_nccl(void *ctx, const struct mapping *m)
{
	const char *slash = strrchr(m->path, '/');
	bool *found = ctx;

	*found = slash && !strncmp(slash, "/libnccl.so", 11);
	return !*found;
}

/* A process that is attached to late may make no call of NCCL any more; any other has made no communicator, unless it is at it. */
static int read_job(const struct top_rows *t, struct top_process *p)
{
	bool found = false;

	if (p->job_read)
		return p->job_rank;
	p->job_read = true;
	helper_mappings(t->processes.helpers, p->pid, false, is_nccl, &found);
	p->job_rank = found ? rank_name_read(t->processes.helpers, p->pid).rank : -1;
	return p->job_rank;
}

/* Waits of ranks may be for other ranks. */
static void set_job(const struct top_rows *t, struct top_row *r)
{
	struct top_process *p = r->former ? NULL : top_process_find(&t->processes, r->pid);
	const int id = r->call ? cuda_fn_find(r->call) : -1;

	if (!p || id < 0 || r->call_ns < top_limits[LIMIT_HANGS_S] * 1e9 || (cuda_fns[id].class != CUDA_SYNC && cuda_fns[id].lib != CUDA_NCCL))
		return;
	if (r->nranks != OUT_NONE)
		r->job_rank = r->nranks > 1 ? (int)r->rank : -1;
	else if (!r->complete || cuda_fns[id].lib == CUDA_NCCL)
		r->job_rank = read_job(t, p);
}

static void begin_gpu(void *ctx, int pid, unsigned long long program)
{
	struct top_row *r = row_of(ctx, pid, program);

	if (r)
		r->gpu_ns = 0;
}

struct gpu_rows { struct top_rows *rows; bool whole; };

static void add_gpu(void *ctx, const struct gpu_tally *tally)
{
	const struct gpu_rows *g = ctx;
	struct top_row *r = row_of(g->rows, tally->pid, tally->program);

	if (r && r->gpu_ns != OUT_NONE)
		r->gpu_ns += (g->whole ? &tally->total : &tally->last)->ns;
}

static void rows_set_gpu(struct top_rows *t, bool whole)
{
	gpu_time_each_measured(t->gpu, begin_gpu, t);
	gpu_time_each(t->gpu, add_gpu, &(struct gpu_rows){ t, whole });
	for (size_t i = 0; i < t->n; i++)
		if (t->rows[i].gpu_ns != OUT_NONE)
			t->rows[i].gpu_busy = t->rows[i].gpu_share = t->interval > 0 ? t->rows[i].gpu_ns / 1e9 / t->interval : 0;
}

static void add_row(struct top_rows *t, struct top_process *p, bool whole)
{
	const char *container = process_container(t->processes.table, p->pid);
	struct top_row *r;

	ALLOC_GROW(t->rows, t->n, t->room);
	p->row = t->n;
	r = &t->rows[t->n++];
	*r = (struct top_row){
		.time = t->counted, .interval = t->interval, .pid = p->pid, .devices = p->devices | p->devices_now,
		.complete = process_is_complete(t->processes.table, p->pid), .call_ns = OUT_NONE, .call_tid = OUT_NONE,
		.used = OUT_NONE, .rank = OUT_NONE, .nranks = OUT_NONE, .behind = OUT_NONE, .gpu_ns = OUT_NONE, .gpu_share = NAN, .gpu_busy = NAN,
		.by_gpu = { gpu_use_json, NULL }, .job_rank = -1,
	};
	memcpy(r->comm, p->comm, sizeof(p->comm));
	memcpy(r->command, p->command, sizeof(p->command));
	memcpy(r->user, p->user, sizeof(p->user));
	if (container)
		snprintf(r->container, sizeof(r->container), "%s", container);
	set_counts(t, r, p, whole);
	set_functions(r, p, whole);
	r->former = p != top_process_find(&t->processes, p->pid);
	if (!r->former) {	/* memory is kept by pid */
		set_kinds(t, r);
		set_used(t, r, p);
	}
	t->sum.held += r->held;
	t->sum.launch_rate += r->launch_rate;
	t->sum.copy_rate += r->copy_rate;
	t->sum.wait_share += r->wait_share;
}

/* ---- As text */

/* "0", "0-7", "0,2+": as much as fits. */
static void device_range(char text[TOP_TEXT], unsigned long long devices)
{
	const int first = devices ? __builtin_ctzll(devices) : 0, last = devices ? 63 - __builtin_clzll(devices) : 0;
	const int n = __builtin_popcountll(devices);

	if (n < 2)
		snprintf(text, TOP_TEXT, n ? "%d" : "-", first);
	else if (n == last - first + 1)
		snprintf(text, TOP_TEXT, "%d-%d", first, last);
	else
		snprintf(text, TOP_TEXT, "%d,%d%s", first, first + 1 + __builtin_ctzll(devices >> (first + 1)), n > 2 ? "+" : "");
}

static void rate_text(char *text, double rate)
{
	const size_t size = TOP_TEXT - 1;	/* there may be a mark before it */

	if (rate >= 1e6)
		snprintf(text, size, "%.1fM", rate / 1e6);
	else if (rate >= 1e5)
		snprintf(text, size, "%.0fk", rate / 1e3);
	else
		snprintf(text, size, rate && rate < 10 ? "%.1f" : "%.0f", rate);
}

/* "~": not all launches were seen. */
static void launch_text(char text[TOP_TEXT], const struct top_row *r)
{
	if (r->estimated)
		*text++ = '~';
	rate_text(text, r->launch_rate);
}

static void bytes_per_s(char text[TOP_TEXT], double rate)
{
	if (rate)
		snprintf(text, TOP_TEXT, "%s", out_amount((unsigned long long)rate, OUT_UNIT_BYTES_PER_S));
	else
		snprintf(text, TOP_TEXT, "0");
}

static void share_text(char text[TOP_TEXT], double share)
{
	if (isnan(share))
		snprintf(text, TOP_TEXT, "-");
	else
		snprintf(text, TOP_TEXT, "%.1f", 100 * share);
}

static void rank_text(struct top_row *r)
{
	const bool behind = r->behind != OUT_NONE && r->behind;

	if (r->nranks == OUT_NONE)
		strcpy(r->rank_text, "-");
	else
		snprintf(r->rank_text, sizeof(r->rank_text), behind ? "%llu/%llu -%llu" : "%llu/%llu", r->rank, r->nranks, r->behind);
}

static void set_texts(struct top_row *r)
{
	device_range(r->device, r->devices);
	if (!r->devices && (r->launches || r->held))
		strcpy(r->device, "?");
	snprintf(r->held_text, TOP_TEXT, "%s", r->held || r->complete ? out_bytes(r->held) : "-");
	snprintf(r->growth_text, TOP_TEXT, "%s", r->growth_rate ? out_change(r->growth_rate) : "0");
	snprintf(r->host_text, TOP_TEXT, "%s", r->host || r->complete ? out_bytes(r->host) : "-");
	snprintf(r->used_text, TOP_TEXT, "%s", out_amount(r->used, OUT_UNIT_BYTES));
	launch_text(r->launch_text, r);
	bytes_per_s(r->htod_text, r->htod_rate);
	bytes_per_s(r->dtoh_text, r->dtoh_rate);
	bytes_per_s(r->copy_text, r->copy_rate);
	rate_text(r->error_text, r->error_rate);
	share_text(r->wait_text, r->wait_share);
	share_text(r->cuda_text, r->cuda_share);
	share_text(r->load_text, r->load_share);
	share_text(r->gpu_text, r->gpu_share);
	rank_text(r);
	if (r->call)
		snprintf(r->call_text, sizeof(r->call_text), "%s %.26s", out_ns(r->call_ns), r->call);
	else
		strcpy(r->call_text, "-");
}

/* ---- Order */

static int rows_most_first(double a, double b)
{
	return (a < b) - (a > b);
}

static int by_sort(const void *a, const void *b, void *ctx)
{
	const struct top_row *p = a, *q = b;
	const struct top_rows *t = ctx;
	int order = 0;

	switch ((enum top_sort)t->sort) {
	case TOP_MEMORY:
		order = rows_most_first(p->held, q->held);
		break;
	case TOP_GROWTH:
		order = rows_most_first(p->growth_rate, q->growth_rate);
		break;
	case TOP_LAUNCHES:
		order = rows_most_first(p->launch_rate, q->launch_rate);
		break;
	case TOP_COPIES:
		order = rows_most_first(p->copy_rate, q->copy_rate);
		break;
	case TOP_WAIT:
		order = rows_most_first(p->wait_share, q->wait_share);
		break;
	case TOP_ERRORS:
		order = rows_most_first(p->error_rate, q->error_rate);
		break;
	case TOP_CALL:
		order = rows_most_first(p->call ? p->call_ns : 0, q->call ? q->call_ns : 0);
		break;
	case TOP_CUDA:
		order = rows_most_first(p->cuda_share, q->cuda_share);
		break;
	default:
		break;
	}
	if (!order && t->sort != TOP_PID)
		order = rows_most_first(p->launch_rate, q->launch_rate);
	order = order ?: p->pid - q->pid;
	return t->reverse ? -order : order;
}

/* ---- Tree */

/* Ancestors that are looked at. */
enum { ANCESTORS = 32 };

/* Returns the pid of the nearest one with a row, 0 if there is none.  A process that is gone keeps the parent that it had. */
static int ancestor_of(const struct top_processes *t, struct top_process *p)
{
	int pid = proc_parent(p->pid) ?: p->parent;

	p->parent = pid;
	for (int i = 0; i < ANCESTORS && pid && !top_process_find(t, pid); i++)
		pid = proc_parent(pid);
	return top_process_find(t, pid) ? pid : 0;
}

static void set_parents(struct top_rows *t)
{
	for (size_t i = 0; i < t->n; i++) {
		struct top_process *p = top_process_find(&t->processes, t->rows[i].pid);
		const int parent = p ? ancestor_of(&t->processes, p) : 0;

		t->rows[i].parent = parent ? (unsigned)parent : OUT_NONE;
	}
}

/* The sorted rows as a tree.  Indexes are one more, so that 0 is none. */
struct tree {
	struct top_rows *rows;
	size_t *first, *next;	/* of each row: its first child, its next sibling */
	size_t *todo, ntodo;	/* to be placed, the next one last */
	bool *placed;
	struct top_row *to;
	size_t n;
};

/* Returns the parent's row. */
static struct top_process *parent_of(const struct tree *t, size_t i)
{
	struct top_process *p = top_process_find(&t->rows->processes, t->rows->rows[i].parent);

	return p && p->row < t->rows->n && p->row != i && t->rows->rows[p->row].pid == p->pid ? p : NULL;
}

static void link_rows(struct tree *t)
{
	for (size_t i = 0; i < t->rows->n; i++) {
		struct top_process *p = top_process_find(&t->rows->processes, t->rows->rows[i].pid);

		if (p && !t->rows->rows[i].former)
			p->row = i;
	}
	for (size_t i = t->rows->n; i-- > 0;) {
		const struct top_process *parent = parent_of(t, i);

		if (!parent)
			continue;
		t->next[i] = t->first[parent->row];
		t->first[parent->row] = i + 1;
	}
}

static void put(struct tree *t, size_t number, int depth)
{
	if (!number)
		return;
	t->rows->rows[number - 1].depth = depth;
	t->todo[t->ntodo++] = number - 1;
}

/* Places a row and those below it. */
static void place(struct tree *t, size_t root)
{
	put(t, root + 1, 0);
	while (t->ntodo) {
		const size_t i = t->todo[--t->ntodo];
		const int depth = t->rows->rows[i].depth;

		if (t->placed[i])
			continue;
		t->placed[i] = true;
		t->to[t->n++] = t->rows->rows[i];
		put(t, i == root ? 0 : t->next[i], depth);
		put(t, t->first[i], depth + 1);
	}
}

/* Parents that were read at different times may form a circle: then one of it is placed as a root. */
static void place_rows(struct tree *t)
{
	for (size_t i = 0; i < t->rows->n; i++)
		if (!parent_of(t, i))
			place(t, i);
	for (size_t i = 0; i < t->rows->n; i++)
		place(t, i);
}

static void sort_tree(struct top_rows *rows)
{
	struct tree t = {
		.rows = rows, .first = xcalloc(rows->n, sizeof(*t.first)), .next = xcalloc(rows->n, sizeof(*t.next)),
		.todo = xcalloc(rows->n + 2, sizeof(*t.todo)), .placed = xcalloc(rows->n, sizeof(*t.placed)),
		.to = xcalloc(rows->room, sizeof(*t.to)),
	};

	link_rows(&t);
	place_rows(&t);
	free(t.first);
	free(t.next);
	free(t.todo);
	free(t.placed);
	free(rows->rows);
	rows->rows = t.to;
}

void top_rows_sort(struct top_rows *t)
{
	if (t->n)
		qsort_r(t->rows, t->n, sizeof(*t->rows), by_sort, t);
	if (t->n && t->tree)
		sort_tree(t);
	for (size_t i = 0; i < t->n; i++) {
		struct top_row *r = &t->rows[i];
		const int depth = !t->tree ? 0 : r->depth < TOP_DEPTH ? r->depth : TOP_DEPTH;

		snprintf(r->comm_text, sizeof(r->comm_text), "%*s%s", 2 * depth, "", *r->command && !t->names ? r->command : r->comm);
	}
}

void top_rows_set_tree(struct top_rows *t, bool tree)
{
	t->tree = tree;
	if (tree)
		set_parents(t);
	top_rows_sort(t);
}

void top_rows_gather(struct top_rows *t, bool whole)
{
	const unsigned long long now = clock_ns();

	t->interval = (now - (whole ? t->began : t->counted)) / 1e9;
	t->counted = now;
	if (t->gpu)
		gpu_time_count(t->gpu);
	if (t->launches)
		launches_count(t->launches);
	nvml_read(&t->nvml, NVML_MS);
	nvml_ask(&t->nvml);
	top_processes_read(&t->processes);
	read_memory(t);
	read_inflight(t);
	gpu_use_read(&t->processes, &t->nvml);
	t->n = 0;
	t->sum = (struct top_row){ 0 };
	for (struct top_process *p = t->processes.all; p; p = p->hh.next)
		add_row(t, p, whole);
	for (struct top_process *p = t->processes.former; p; p = p->hh.next)
		add_row(t, p, whole);
	rows_set_calls(t);
	communicators_each(&t->communicators, set_rank, t);
	for (size_t i = 0; i < t->n; i++)
		set_job(t, &t->rows[i]);
	if (t->gpu)
		rows_set_gpu(t, whole);
	for (size_t i = 0; i < t->n; i++)
		set_texts(&t->rows[i]);
	if (t->tree)
		set_parents(t);
	top_rows_sort(t);
}

const struct top_row *top_row_find(const struct top_rows *t, int pid)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->rows[i].pid == pid)
			return &t->rows[i];
	return NULL;
}

void top_rows_interval(struct top_rows *t)
{
	top_processes_interval(&t->processes);
	communicators_interval(&t->communicators);
	process_tidy(t->processes.table);
}

void top_rows_free(struct top_rows *t)
{
	inflight_free(&t->inflight);
	top_processes_free(&t->processes);
	communicators_free(&t->communicators);
	memory_free(&t->memory);
	nvml_close(&t->nvml);
	if (t->launches)
		launches_free(t->launches);
	free(t->rows);
}
