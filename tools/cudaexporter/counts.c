/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include "api/cuda_fn.h"
#include "base/clock.h"
#include "cudaexporter/counts.h"
#include "budget/probe_budget.h"
#include "inflight/inflight.h"
#include "probe/probes.h"

/* The most error series of a label set; further errors are "other". */
enum { ERROR_SERIES = 64 };

void counts_open(struct counts *c, const struct export_maps *maps, bool off_cpu, struct processes *processes)
{
	*c = (struct counts){ .maps = *maps, .off_cpu = off_cpu, .processes = processes };
	export_maps_open(&c->maps);
}

static void counts_count(const struct cuda_process *process, enum metric m, struct metric_labels labels,
		  unsigned long long n)
{
	(process->over ? series_count : series_count_live)(process->set, m, labels, n);
}

static void add_launches(struct counts *c, const struct cuda_process *process, const struct export_key *key,
			 const struct export_values *v)
{
	counts_count(process, METRIC_LAUNCHES, metric_labels(key->device, key->detail), v->count);
	if (!process->over && v->last)
		series_max(process->set, METRIC_LAST_LAUNCH, (struct metric_labels){ 0 }, v->last + c->epoch);
}

static void counts_add_copies(const struct cuda_process *process, const struct export_key *key,
		       const struct export_values *v)
{
	unsigned direction = key->detail & (EXPORT_ASYNC - 1);
	bool async = key->detail & EXPORT_ASYNC;

	series_observe(process->set, METRIC_COPY_SIZE, metric_labels(direction, async),
		       v->sizes, v->bytes, !process->over);
	if (!async)
		series_observe(process->set, METRIC_COPY_DURATION,
			       metric_labels(direction, 0), v->times, v->ns, !process->over);
}

static void add_waits(struct counts *c, const struct cuda_process *process, const struct export_key *key,
		      const struct export_values *v)
{
	series_observe(process->set, METRIC_SYNC_DURATION, metric_labels(key->id, 0),
		       v->times, v->ns, !process->over);
	if (c->off_cpu)
		counts_count(process, METRIC_SYNC_OFF_CPU, (struct metric_labels){ 0 }, v->off_ns);
}

static void counts_add(struct counts *c, struct cuda_process *process, const struct export_key *key,
		const struct export_values *v)
{
	if (key->what == EXPORT_LAUNCH)
		add_launches(c, process, key, v);
	else if (key->what == EXPORT_COPY)
		counts_add_copies(process, key, v);
	else if (key->what == EXPORT_SYNC)
		add_waits(c, process, key, v);
	else if (key->what == EXPORT_LOAD)
		series_observe(process->set, METRIC_LOAD_DURATION, (struct metric_labels){ 0 }, v->times, v->ns, !process->over);
	if (key->what == EXPORT_LOAD && key->detail && c->budget->probes->attacher.kind != ATTACH_PERF)	/* it sees no unloads */
		process->handles.made[0] += v->count;
	if (key->what == EXPORT_CALL)
		handles_count(&process->handles, key->id - 1, false, v->count);
}

/* Returns the process of a key, added if need be (processes_admit()); NULL if it is not to be read now. */
static struct cuda_process *counts_process_of(struct counts *c, unsigned pid, unsigned long long program)
{
	struct cuda_process *process = processes_admit(c->processes, pid, program);

	return !process || (c->only_over && !process->over) ? NULL : process;
}

static bool read_values(void *ctx, const struct export_key *key, const struct export_values *values)
{
	struct counts *c = ctx;
	struct cuda_process *process;

	launch_estimates_add(&c->budget->estimates, key, values->count, false);
	process = counts_process_of(c, key->pid, key->program);
	if (!process)
		return false;
	counts_add(c, process, key, values);
	return process->over;
}

/* Returns the labels of an error; "other" if its label set has too many. */
static struct metric_labels error_labels(struct label_set *set, const struct export_error *e)
{
	struct metric_labels labels = metric_labels(e->id, (unsigned)e->ret);

	if (series_of(set, METRIC_ERRORS, labels, false))
		return labels;
	if (set->errors >= ERROR_SERIES || !series_of(set, METRIC_ERRORS, labels, true))
		return metric_labels(METRIC_OTHER, 0);
	set->errors++;
	return labels;
}

static bool read_error(void *ctx, const struct export_error *e, unsigned long long n)
{
	struct counts *c = ctx;
	struct cuda_process *process = counts_process_of(c, e->pid, e->program);

	if (!process)
		return false;
	handles_count(&process->handles, e->id, true, n);
	if (e->id >= EXPORT_STICKY)
		counts_count(process, METRIC_STICKY_ERRORS,
		      metric_labels(e->id - EXPORT_STICKY, (unsigned)e->ret), n);
	else if (export_is_failure(e))
		counts_count(process, METRIC_ERRORS, error_labels(process->set, e), n);
	return process->over;
}

static bool read_exemplar(void *ctx, const struct export_key *k, const struct export_exemplar *e)
{
	struct counts *c = ctx;
	const struct cuda_process *process = counts_process_of(c, k->pid, k->program);
	unsigned direction = k->detail & (EXPORT_ASYNC - 1);
	struct exemplar exemplar = { e->value, e->time, e->tid, e->id };

	if (!process)
		return false;
	if (k->bucket < EXPORT_OF_TIMES)
		series_exemplify(process->set, METRIC_COPY_SIZE,
				 metric_labels(direction, !!(k->detail & EXPORT_ASYNC)),
				 k->bucket - EXPORT_OF_SIZES, &exemplar);
	else
		series_exemplify(process->set,
				 k->what == EXPORT_COPY ? METRIC_COPY_DURATION :
				 k->what == EXPORT_LOAD ? METRIC_LOAD_DURATION : METRIC_SYNC_DURATION,
				 metric_labels(k->what == EXPORT_COPY ? direction : k->id, 0),
				 k->bucket - EXPORT_OF_TIMES, &exemplar);
	return process->over;
}

/* Launches that were not seen. */
static void add_estimate(struct counts *c, struct launch_estimate *e)
{
	const struct cuda_process *process = processes_known(c->processes, e->key.pid, e->key.program);
	const struct metric_labels labels = metric_labels(e->key.device, e->key.detail);
	struct launch_time now;
	unsigned long long n;

	if (!process || (c->only_over && !process->over))
		return;
	now = probe_budget_time(c->budget, e->key.pid);
	n = launch_estimate_value(e, &now);
	if (!n)
		return;
	counts_count(process, METRIC_LAUNCHES, labels, n);
	counts_count(process, METRIC_LAUNCHES_ESTIMATED, labels, n);
}

static void add_budget(struct counts *c, const struct cuda_process *process)
{
	const struct probe_shares shares = probe_budget_shares(c->budget, process->key.pid);
	unsigned long long ns;

	if (process->over) {
		ns = probe_budget_take_overhead(c->budget, process->key.pid);
	} else {
		ns = probe_budget_overhead_ns(c->budget, process->key.pid);
		series_min(process->set, METRIC_LAUNCHES_PROBED, metric_labels(0, 0), shares.entry * 1e9);
		series_min(process->set, METRIC_LAUNCHES_PROBED, metric_labels(1, 0), shares.returns * 1e9);
	}
	if (ns)
		counts_count(process, METRIC_OVERHEAD, (struct metric_labels){ 0 }, ns);
}

/* Estimates for --max-overhead, and their cost in counts. */
static void read_budget(struct counts *c)
{
	struct launch_estimate *e, *next;
	struct cuda_process *process;

	HASH_ITER(hh, c->budget->estimates.all, e, next) {
		add_estimate(c, e);
		if (!e->count)	/* its counts were those of a program that is over */
			launch_estimates_drop(&c->budget->estimates, e);
	}
	for (process = c->processes->all; process; process = process->hh.next)
		if (process->over || (!c->only_over && process->key.program))
			add_budget(c, process);
}

/* Kinds of which the process has made some. */
static void add_handles(const struct cuda_process *process)
{
	for (int i = 0; i < HANDLE_KINDS; i++)
		if (process->handles.made[i] > 0)
			series_add(process->set, METRIC_HANDLES, metric_labels(CUDA_CODE + i, 0), handles_left(&process->handles, i));
}

void counts_read(struct counts *c, bool only_over)
{
	const struct export_reader reader = { c, read_values, read_error, read_exemplar };
	struct cuda_process *process;

	c->only_over = only_over;
	c->epoch = clock_wall_ns() - clock_ns();	/* the clock may be set at any time */
	launch_estimates_begin(&c->budget->estimates);
	for (process = c->processes->all; process; process = process->hh.next)
		process->handles = (struct handle_counts){ 0 };
	export_maps_read(&c->maps, &reader);
	for (process = only_over ? NULL : c->processes->by_pid; process; process = process->hh_pid.next)
		add_handles(process);
	if (c->budget->share)
		read_budget(c);
	processes_reap(c->processes);
}

static enum export_group group_of(const struct inflight_row *row)
{
	int id = cuda_fn_find(row->func);

	switch (id < 0 ? CUDA_ALLOC : cuda_fns[id].class) {
	case CUDA_COPY:
		return EXPORT_GROUP_COPY;
	case CUDA_LAUNCH:
		return EXPORT_GROUP_LAUNCH;
	case CUDA_SYNC:
		return EXPORT_GROUP_SYNC;
	case CUDA_LOAD:
		return EXPORT_GROUP_LOAD;
	default:
		return EXPORT_GROUP_ALLOC;
	}
}

void calls_inflight_collect(struct inflight *r, struct processes *c)
{
	const struct cuda_process *process;

	for (process = c->by_pid; process; process = process->hh_pid.next)
		for (unsigned g = 0; g < EXPORT_GROUPS; g++) {
			series_add(process->set, METRIC_CALLS_RUNNING, metric_labels(g, 0), 0);
			series_max(process->set, METRIC_CALL_RUNNING, metric_labels(g, 0), 0);
		}
	inflight_collect(r);
	for (size_t i = 0; i < r->n; i++) {
		const struct metric_labels group = metric_labels(group_of(&r->rows[i]), 0);

		process = processes_find(c, r->rows[i].pid);
		if (!process)
			process = processes_mapped(c, r->rows[i].pid);
		series_add(process->set, METRIC_CALLS_RUNNING, group, 1);
		series_max(process->set, METRIC_CALL_RUNNING, group, r->rows[i].age);
	}
	inflight_clear(r);
}
