/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "abi/device.h"
#include "abi/launch.h"
#include "api/cuda_fn.h"
#include "base/clock.h"
#include "base/die.h"
#include "base/util.h"
#include "budget/probe_budget.h"
#include "cudatop/top_processes.h"
#include "probe/probe_source.h"
#include "probe/probes.h"
#include "proc/process_table.h"
#include "proc/user.h"

/* How long the record of a program's first call may take; how often those that end without a record are looked for. */
static const unsigned long long RECORD_NS = 2000000000, CHECK_NS = 5000000000;

enum { PROCESSES = 65536 };

void top_processes_open(struct top_processes *t)
{
	export_maps_open(&t->maps);
	t->quota = (struct quota){
		.limit = PROCESSES, .what = "processes", .loss = "further ones are not shown",
	};
}

struct top_process *top_process_find(const struct top_processes *t, int pid)
{
	struct top_process *p;

	HASH_FIND_INT(t->all, &pid, p);
	return p;
}

struct top_process *top_process_of(const struct top_processes *t, int pid, unsigned long long program)
{
	struct top_process *now = top_process_find(t, pid), *former = NULL;

	if (program && now && now->program != program)
		HASH_FIND(hh, t->former, &program, sizeof(program), former);
	return former && former->pid == pid ? former : now;
}

/* Only the machine's own file: a name service could take its time. */
static void name_user(struct top_process *p)
{
	FILE *f = p->uid == USER_UNKNOWN ? NULL : fopen("/etc/passwd", "re");
	struct passwd *user = NULL;

	while (f && (user = fgetpwent(f)) && user->pw_uid != p->uid)
		;
	if (user)
		snprintf(p->user, sizeof(p->user), "%s", user->pw_name);
	else if (p->uid == USER_UNKNOWN)
		snprintf(p->user, sizeof(p->user), "?");
	else
		snprintf(p->user, sizeof(p->user), "%u", p->uid);
	if (f)
		fclose(f);
}

static void drop(struct top_processes *t, struct top_process **from, struct top_process *p)
{
	HASH_DEL(*from, p);
	quota_give(&t->quota, p->charged, 1);
	free(p->functions);
	free(p->use);
	free(p->env);
	free(p);
}

/* Another one takes its pid.  What it has counted is in the next report. */
static void replace(struct top_processes *t, struct top_process *p)
{
	if (!p->program) {
		drop(t, &t->all, p);
		return;
	}
	p->over = true;
	HASH_DEL(t->all, p);
	HASH_ADD(hh, t->former, program, sizeof(p->program), p);
}

/* Takes the pid from another one.  Returns NULL if its user has too many. */
static struct top_process *top_processes_add(struct top_processes *t, int pid, unsigned long long program)
{
	struct top_process *p, *former = top_process_find(t, pid);
	const unsigned charged = proc_user(pid);

	if (!quota_take(&t->quota, charged, pid, 1))
		return NULL;
	p = xcalloc(1, sizeof(*p));
	p->pid = pid;
	p->program = program;
	p->charged = charged;
	p->uid = proc_real_user(pid);
	p->is = proc_identity(pid);
	p->parent = proc_parent(pid);
	proc_comm(pid, p->comm);
	command_line_read(t->helpers, pid, p->command);
	name_user(p);
	if (former)
		replace(t, former);
	HASH_ADD_INT(t->all, pid, p);
	return p;
}

static bool has_changed(const struct top_process *p)
{
	const struct proc_identity now = proc_identity(p->pid);

	return now.started && !proc_identity_is(p->is, now);
}

void top_process_mapped(struct top_processes *t, int pid)
{
	struct top_process *p = top_process_find(t, pid);
	char comm[16];

	if ((!p || has_changed(p)) && proc_comm(pid, comm))
		top_processes_add(t, pid, 0);
}

void top_process_seen(struct top_processes *t, const struct export_seen *seen)
{
	struct top_process *p = top_process_find(t, seen->head.pid);

	if (!p || (p->program && p->program != seen->program))
		p = top_processes_add(t, seen->head.pid, seen->program);
	if (!p)
		return;
	p->program = seen->program;
	if (*seen->comm)	/* by now it may run another program */
		memcpy(p->comm, seen->comm, sizeof(p->comm) - 1);
	if (p->uid != USER_UNKNOWN)
		return;
	p->uid = seen->uid;
	name_user(p);
}

void top_process_ended(void *ctx, const struct process_event *event)
{
	struct top_process *p = top_process_of(ctx, event->head.pid, event->program);

	if (p && (!p->program || p->program == event->program))
		p->over = true;
}

/* ---- Time in calls, by function */

static struct top_function *top_processes_function_of(struct top_process *p, const char *name)
{
	for (unsigned i = 0; i < p->nfunctions; i++)
		if (p->functions[i].name == name)
			return &p->functions[i];
	if (p->nfunctions == TOP_FUNCTIONS)
		return NULL;
	ALLOC_GROW(p->functions, p->nfunctions, p->functions_room);
	p->functions[p->nfunctions] = (struct top_function){ .name = name };
	return &p->functions[p->nfunctions++];
}

void top_process_call(struct top_process *p, const char *name, unsigned long long ns)
{
	struct top_function *f = top_processes_function_of(p, name);

	if (f)
		f->ns += ns;
}

void top_process_sample(struct top_process *p, const char *name, unsigned long long ns)
{
	struct top_function *f = top_processes_function_of(p, name);

	if (f)
		f->sampled += ns;
}

void top_process_compiles(struct top_process *p, unsigned long long ns)
{
	p->compile_ns += ns;
}

static void functions_begin(struct top_process *p)
{
	for (unsigned i = 0; i < p->nfunctions; i++)
		p->functions[i].ns = p->functions[i].sampled;
}

static void counts_begin(struct top_process *p)
{
	p->now = (struct top_counts){ .load_ns = p->compile_ns };
	functions_begin(p);
}

static void functions_end(struct top_process *p)
{
	for (unsigned i = 0; i < p->nfunctions; i++)
		if (p->functions[i].before < p->functions[i].ns)
			p->functions[i].before = p->functions[i].ns;
}

/* ---- What the probes have counted */

/* Sets *drop if a count is of a program that has ended.  Returns NULL if its row is gone, or its record is still to come. */
static struct top_process *counted_by(struct top_processes *t, int pid, unsigned long long program, bool *drop)
{
	struct top_process *p = top_process_of(t, pid, program);
	char comm[16];

	*drop = false;
	if (!p && clock_ns() - program > RECORD_NS) {
		*drop = !proc_comm(pid, comm);
		p = *drop ? NULL : top_processes_add(t, pid, program);
	}
	if (!p)
		return NULL;
	if (!p->program)
		p->program = program;
	*drop = p->program == program ? p->over : program < p->program;
	return p->program == program ? p : NULL;
}

static void add_detail(struct top_detail *d, struct export_key key, const struct export_values *v)
{
	struct top_part *part = NULL;

	if (key.what == EXPORT_LOAD)
		key.detail = 0;

	for (unsigned i = 0; i < d->nparts && !part; i++)
		if (d->parts[i].key.what == key.what && d->parts[i].key.detail == key.detail && d->parts[i].key.device == key.device &&
		    d->parts[i].key.id == key.id)
			part = &d->parts[i];
	if (!part && d->nparts == DETAIL_PARTS)
		return;
	if (!part) {
		part = &d->parts[d->nparts++];
		*part = (struct top_part){ .key = key };
	}
	part->count += v->count;
	part->bytes += v->bytes;
	part->ns += v->ns;
}

static void see_device(struct top_process *p, unsigned device)
{
	if (device && device <= DEVICES)
		p->devices |= 1ull << (device - 1);
}

static bool read_values(void *ctx, const struct export_key *key, const struct export_values *v)
{
	struct top_processes *t = ctx;
	bool drop;
	struct top_process *p = counted_by(t, key->pid, key->program, &drop);
	const unsigned direction = key->detail & (EXPORT_ASYNC - 1);
	enum cuda_lib lib;
	const char *name;

	launch_estimates_add(&t->budget->estimates, key, v->count, false);
	if (!p)
		return drop;
	if (p->pid == t->detail.pid)
		add_detail(&t->detail, *key, v);
	switch (key->what) {
	case EXPORT_LAUNCH:
		p->now.launches += v->count;
		p->now.graphs += key->detail == LAUNCH_GRAPH ? v->count : 0;
		see_device(p, key->device);
		break;
	case EXPORT_COPY:
		p->now.copies[direction <= CUDA_DEFAULT ? direction : CUDA_DEFAULT] += v->count;
		p->now.bytes[direction <= CUDA_DEFAULT ? direction : CUDA_DEFAULT] += v->bytes;
		break;
	case EXPORT_LOAD:
		p->now.loads += v->count;
		p->now.load_ns += v->ns;
		p->now.images += key->detail ? v->count : 0;
		if (key->detail && t->budget->probes->attacher.kind != ATTACH_PERF)	/* it sees no unloads */
			p->now.handles.made[0] += v->count;
		break;
	case EXPORT_CALL:
		handles_count(&p->now.handles, key->id - 1, false, v->count);
		name = cuda_error_function(key->id - 1, &lib);
		if (name)
			top_process_call(p, name, v->ns);
		break;
	default:
		p->now.waits += v->count;
		p->now.wait_ns += v->ns;
	}
	return drop;
}

static bool read_error(void *ctx, const struct export_error *e, unsigned long long n)
{
	struct top_processes *t = ctx;
	bool drop;
	struct top_process *p = counted_by(t, e->pid, e->program, &drop);

	if (!p || !export_is_failure(e))
		return drop;
	p->now.errors += n;
	handles_count(&p->now.handles, e->id, true, n);
	if (p->pid == t->detail.pid && t->detail.nerrors < DETAIL_ERRORS)
		t->detail.errors[t->detail.nerrors++] = (struct top_error){ e->id, e->ret, n };
	return drop;
}

/* There is no record of the end of a process that made no call; others' may still be to come: it is gone at two checks. */
static void top_processes_check(struct top_processes *t)
{
	struct top_process *p, *next;

	HASH_ITER(hh, t->all, p, next) {
		const bool before = p->gone;

		p->gone = (kill(p->pid, 0) && errno == ESRCH) || has_changed(p);
		p->over |= before && p->gone;
	}
}

static void add_estimates(struct top_processes *t)
{
	struct launch_estimate *e, *next;
	struct launch_time now;
	unsigned long long n;
	struct top_process *p;

	HASH_ITER(hh, t->budget->estimates.all, e, next) {
		p = top_process_of(t, e->key.pid, e->key.program);
		now = probe_budget_time(t->budget, e->key.pid);
		n = launch_estimate_value(e, &now);
		if (p && p->program == e->key.program) {
			p->now.launches += n;
			p->now.estimated += n;
		}
		if (!e->count)	/* its counts were those of a program that is over */
			launch_estimates_drop(&t->budget->estimates, e);
	}
}

void top_processes_read(struct top_processes *t)
{
	const struct export_reader reader = { .ctx = t, .values = read_values, .error = read_error };
	const unsigned long long now = clock_ns();

	if (now - t->checked >= CHECK_NS) {
		t->checked = now;
		top_processes_check(t);
	}
	for (struct top_process *p = t->all; p; p = p->hh.next)
		counts_begin(p);
	for (struct top_process *p = t->former; p; p = p->hh.next)
		counts_begin(p);
	t->detail.nparts = t->detail.nerrors = 0;
	launch_estimates_begin(&t->budget->estimates);
	export_maps_read(&t->maps, &reader);
	add_estimates(t);
}

void top_processes_interval(struct top_processes *t)
{
	struct top_process *p, *next;

	HASH_ITER(hh, t->all, p, next) {
		p->before = p->now;
		functions_end(p);
		if (p->over)
			drop(t, &t->all, p);
	}
	HASH_ITER(hh, t->former, p, next)
		drop(t, &t->former, p);
}

void top_processes_free(struct top_processes *t)
{
	struct top_process *p, *next;

	HASH_ITER(hh, t->all, p, next)
		drop(t, &t->all, p);
	HASH_ITER(hh, t->former, p, next)
		drop(t, &t->former, p);
	quota_free(&t->quota);
}
