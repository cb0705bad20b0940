/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "abi/record.h"
#include "base/clock.h"
#include "base/die.h"
#include "base/util.h"
#include "cli/opt.h"
#include "cli/value.h"
#include "gputime/gpu_calls.h"
#include "gputime/gpu_process.h"
#include "gputime/gpu_records.h"
#include "gputime/gpu_tallies.h"
#include "gputime/gpu_time.h"
#include "kernels/kernel_name.h"
#include "proc/command.h"
#include "proc/installed.h"
#include "proc/process_memfd.h"
#include "proc/process_table.h"
#include "proc/user.h"

/* How often processes without the library are looked at again, at first and later; after how long one counts as such. */
static const unsigned long long LOOK_NS = 100000000, LOOK_MOST_NS = 5000000000, PATIENCE_NS = 3000000000;

/* How often processes whose end has no record are looked for. */
static const unsigned long long CHECK_NS = 5000000000;

/* How long a tick may look for memory. */
static const unsigned long long LOOKING_NS = 20000000;

/* How long the end waits for what CUPTI has, in all processes. */
static const unsigned long long STOP_NS = 200000000;

/* After so many looks a process is one without the library, which may yet come. */
enum { LOOKS = 3 };

enum { PROCESS_COST = sizeof(struct gpu_process) + 64 };

static void tell(struct gpu_process *p, const char *why)
{
	if (!p->told)
		warning(0, "pid %d: no GPU time: %s", p->pid, why);
	p->told = true;
}

static void tell_state(const struct gpu_time *g, struct gpu_process *p)
{
	const struct gputime_control *c = p->memory.control;
	char why[160];

	if (g->want & GPUTIME_NODES && c->whole_graphs)
		tell(p, "only that of whole graphs: an earlier tool has measured these, and CUPTI cannot go back");

	switch (__atomic_load_n(&c->state, __ATOMIC_ACQUIRE)) {
	case GPUTIME_IS_ON:
		p->measured |= p->memory.serves;
		if (c->error) {
			snprintf(why, sizeof(why), "CUPTI: error %d: not all that this tool wants", c->error);
			tell(p, why);
		}
		break;
	case GPUTIME_NO_CUPTI:
		if (c->version)
			snprintf(why, sizeof(why), "CUPTI: unknown version %u", c->version);
		else
			snprintf(why, sizeof(why), "libcupti: not found (it is in the CUDA Toolkit and in the wheel nvidia-cuda-cupti)");
		tell(p, why);
		break;
	case GPUTIME_IN_USE:
		tell(p, "another profiler in the process uses CUPTI");
		break;
	case GPUTIME_REFUSED:
		snprintf(why, sizeof(why), "CUPTI: error %d%s", c->error,
			 c->error == 35 ? " (NVIDIA's driver lets only root profile: NVreg_RestrictProfilingToAdminUsers=0)" : "");
		tell(p, why);
		break;
	case GPUTIME_NO_THREAD:
		tell(p, "libcudagputime.so: cannot start a thread");
		break;
	case GPUTIME_CLOSED:
		tell(p, "the program has closed the descriptor of libcudagputime.so");
		break;
	}
}

/* ---- Processes */

static void unmap(struct gpu_time *g, struct gpu_process *p)
{
	if (p->memory.control)
		gpu_records_rest(g, p);
	gpu_calls_free(p->calls);
	p->calls = NULL;
}

static struct gpu_process *find(const struct gpu_time *g, int pid)
{
	struct gpu_process *p;

	HASH_FIND_INT(g->all, &pid, p);
	return p;
}

static void tell_missing(struct gpu_time *g, struct gpu_process *p)
{
	if (!g->told && !p->found)
		tell(p, "libcudagputime.so is not loaded (see cudalaunchtop(8)); said only once");
	g->told |= !p->found;
}

static struct gpu_process *new_process(struct gpu_time *g, int pid, unsigned long long now)
{
	unsigned user = proc_user(pid);
	struct gpu_process *p;

	if (!quota_take(&g->quota, user, pid, PROCESS_COST))
		return NULL;
	p = xcalloc(1, sizeof(*p));
	p->pid = pid;
	p->user = user;
	p->is = proc_identity(pid);
	proc_comm(pid, p->comm);
	p->seen = now;
	HASH_ADD_INT(g->all, pid, p);
	return p;
}

static void find_memory(struct gpu_time *g, struct gpu_process *p)
{
	const struct gpu_wish wish = { .want = g->want, .run_ns = g->run_ns, .of_ns = g->of_ns, .is_command = g->is_command };
	unsigned long long now = clock_ns();
	enum gpu_memory_found found;

	if (!budget_left(&g->budget, p->user, now) || !quota_take(&g->quota, p->user, p->pid, GPUTIME_RING))
		return;
	found = gpu_memory_find(&p->memory, p->pid, g->mount, &wish);
	budget_charge(&g->budget, p->user, clock_ns() - now);
	p->found |= found != GPU_MEMORY_NONE;
	p->failed = found == GPU_MEMORY_OTHER;
	if (found == GPU_MEMORY_IN_USE)
		tell(p, "other tools measure it");
	if (found == GPU_MEMORY_OTHER)
		tell(p, "libcudagputime.so: version mismatch");
	if (found != GPU_MEMORY_READY)
		quota_give(&g->quota, p->user, GPUTIME_RING);
	else if (g->want & (GPUTIME_LAUNCHES | GPUTIME_COPY_CALLS) && !p->calls)
		p->calls = gpu_calls_new(p->pid, p->user, &g->quota, g->sites);
}

/* Its library may not be loaded yet. */
static bool may_have_memory(const struct gpu_time *g, const struct gpu_process *p)
{
	return p->memory.control || (!p->failed && (g->is_command || p->looks <= LOOKS));
}

static void look_for(struct gpu_time *g, int pid)
{
	unsigned long long now = clock_ns();
	struct gpu_process *p = find(g, pid) ?: new_process(g, pid, now);

	if (!p || p->memory.control || p->failed || now - p->looked < p->wait)
		return;
	p->looked = now;
	p->wait = g->is_command ? LOOK_NS : p->wait < LOOK_MOST_NS ? 2 * p->wait + LOOK_NS / 2 : p->wait;
	p->looks++;
	find_memory(g, p);
	if (!may_have_memory(g, p)) {
		gpu_calls_free(p->calls);
		p->calls = NULL;
	}
	if (!p->found && now - p->seen > PATIENCE_NS && !g->is_command)	/* a command's has yet to call cuInit() */
		tell_missing(g, p);
}

void gpu_time_sample(struct gpu_time *g, const char *text)
{
	const char *slash = strchr(text, '/');
	char *run = slash ? xprintf("%.*s", (int)(slash - text), text) : NULL;
	long run_ns, of_ns;

	if (!run || !value_time(run, VALUE_S, &run_ns) || !value_time(slash + 1, VALUE_S, &of_ns) || run_ns < VALUE_MS || run_ns >= of_ns)
		usage_error("--sample: '%s' is not a time of 1 ms or more and a longer one, such as 100ms/1s", text);
	free(run);
	g->run_ns = run_ns;
	g->of_ns = of_ns;
}

void gpu_time_open(struct gpu_time *g, struct process_table *processes)
{
	g->mount = process_memfd_mount();
	g->processes = processes;
	g->names = kernel_names_new();
	g->quota = (struct quota){
		.limit = 2ull << 30, .what = "GPU time", .loss = "that of its further processes and kernels is not measured",
	};
}

static bool is_same_file(const char *a, const char *b)
{
	struct stat p, q;

	return !stat(a, &p) && !stat(b, &q) && p.st_dev == q.st_dev && p.st_ino == q.st_ino;
}

void gpu_time_begin(struct gpu_time *g)
{
	char *why, *library = beside_find("", "libcudagputime.so", "CUDA_INJECTION64_PATH", "", &why), on[32];
	const char *was = getenv("CUDA_INJECTION64_PATH");

	if (!library)
		die(0, "--gpu-time: %s", why);
	g->is_command = true;
	snprintf(on, sizeof(on), "%u:%d", g->want, getpid());
	if (was && *was && !is_same_file(was, library))
		command_setenv(GPUTIME_NEXT, was);
	command_setenv("CUDA_INJECTION64_PATH", library);
	command_setenv(GPUTIME_ON, on);
	free(library);
}

static void free_process(struct gpu_time *g, struct gpu_process *p)
{
	gpu_tallies_drop(g, p);
	quota_give(&g->quota, p->user, PROCESS_COST);
	free(p);
}

/* Shows its work once more. */
static void end_process(struct gpu_time *g, struct gpu_process *p, unsigned long long program)
{
	unmap(g, p);
	HASH_DEL(g->all, p);
	p->program = program;
	for (struct gpu_tally *t = p->tallies; t; t = t->hh.next) {
		t->program = program;
		t->ended = true;
	}
	p->next = g->ended;
	g->ended = p;
}

/* A process that made no traced call ends without a record.  Others' may still be to come: it is gone at two checks. */
static void check_processes(struct gpu_time *g)
{
	struct gpu_process *p, *next;

	HASH_ITER(hh, g->all, p, next) {
		const bool before = p->gone;

		p->gone = !proc_identity_is(p->is, proc_identity(p->pid));
		if (before && p->gone)
			end_process(g, p, 0);
	}
}

void gpu_time_tick(struct gpu_time *g)
{
	unsigned long long now = clock_ns();

	if (!g->processes)
		return;
	if (now - g->checked >= CHECK_NS) {
		g->checked = now;
		check_processes(g);
	}
	if (now - g->looked >= LOOK_NS) {
		g->looked = now;
		/* those that were not reached were looked at longer ago than the others: they are due before them */
		for (const struct process_entry *e = g->processes->all; e && clock_ns() - now < LOOKING_NS; e = e->hh.next)
			if (!e->ended)
				look_for(g, e->pid);
	}
	for (struct gpu_process *p = g->all; p; p = p->hh.next) {
		if (!p->memory.control)
			continue;
		gpu_records_read(g, p);
		tell_state(g, p);
	}
}

/* CUPTI then delivers what it has. */
void gpu_time_stop(struct gpu_time *g)
{
	const unsigned long long end = clock_ns() + STOP_NS;
	const struct timespec pause = { .tv_nsec = 1000000 };
	bool some = true;

	for (struct gpu_process *p = g->all; p; p = p->hh.next)
		if (p->memory.control)
			gpu_memory_stop(&p->memory);
	while (some && clock_ns() < end) {
		some = false;
		for (struct gpu_process *p = g->all; p; p = p->hh.next)
			some |= p->memory.control && gpu_memory_stops(&p->memory);
		if (some)
			nanosleep(&pause, NULL);
		for (struct gpu_process *p = g->all; p; p = p->hh.next)
			if (p->memory.control)
				gpu_records_read(g, p);
	}
	for (struct gpu_process *p = g->all; p; p = p->hh.next)
		if (p->calls)
			gpu_records_retry(g, p, true);
}

bool gpu_time_measured(const struct gpu_time *g, int pid)
{
	const struct gpu_process *p = find(g, pid);

	for (const struct gpu_process *e = g->ended; e && !(p && p->measured); e = e->next)
		if (e->pid == pid)
			p = e;
	return p && p->measured;
}

void gpu_time_each_measured(const struct gpu_time *g, gpu_measured_fn *fn, void *ctx)
{
	for (const struct gpu_process *p = g->all; p; p = p->hh.next)
		if (p->measured)
			fn(ctx, p->pid, p->program);
	for (const struct gpu_process *p = g->ended; p; p = p->next)
		if (p->measured)
			fn(ctx, p->pid, p->program);
}

void gpu_time_launched(struct gpu_time *g, int pid, const struct gpu_launch *launch)
{
	struct gpu_process *p = find(g, pid) ?: new_process(g, pid, clock_ns());

	if (!p || !may_have_memory(g, p))
		return;
	if (!p->calls)
		p->calls = gpu_calls_new(pid, p->user, &g->quota, true);
	gpu_calls_launched(p->calls, launch);
}

void gpu_time_expect(struct gpu_time *g, int pid)
{
	struct gpu_process *p = find(g, pid);

	if (p)
		p->looked = p->wait = 0;
}

void gpu_time_ended(void *ctx, const struct process_event *event)
{
	struct gpu_time *g = ctx;
	struct gpu_process *p = find(g, event->head.pid);

	if (!p)
		return;
	if (p->looks > LOOKS)
		tell_missing(g, p);
	end_process(g, p, event->program);
}

void gpu_time_count(struct gpu_time *g)
{
	struct gpu_process **at = &g->ended, *p;

	while ((p = *at)) {
		if (p->shown && !g->keep) {
			*at = p->next;
			free_process(g, p);
			continue;
		}
		gpu_tallies_end_interval(p);
		p->shown = true;
		at = &p->next;
	}
	for (p = g->all; p; p = p->hh.next)
		gpu_tallies_end_interval(p);
}

void gpu_time_take(struct gpu_time *g, gpu_take_fn *fn, void *ctx)
{
	struct gpu_process **at = &g->ended, *p;

	for (p = g->all; p; p = p->hh.next)
		gpu_tallies_take(g, p, fn, ctx);
	while ((p = *at)) {
		gpu_tallies_take(g, p, fn, ctx);
		if (p->tallies) {
			at = &p->next;
			continue;
		}
		*at = p->next;
		free_process(g, p);
	}
}

void gpu_time_each(const struct gpu_time *g, gpu_tally_fn *fn, void *ctx)
{
	for (const struct gpu_process *p = g->all; p; p = p->hh.next)
		gpu_tallies_each(p, fn, ctx);
	for (const struct gpu_process *p = g->ended; p; p = p->next)
		gpu_tallies_each(p, fn, ctx);
}

void gpu_time_close(struct gpu_time *g)
{
	struct gpu_process *p, *next;

	HASH_ITER(hh, g->all, p, next) {
		unmap(g, p);
		HASH_DEL(g->all, p);
		free_process(g, p);
	}
	while ((p = g->ended)) {
		g->ended = p->next;
		free_process(g, p);
	}
	if (g->dropped)
		warning(0, "lost %llu records of GPU time", g->dropped);
	if (g->unknown)
		warning(0, "ignored %llu malformed records of GPU time", g->unknown);
	if (g->untimed)
		warning(0, "%llu runs on the GPU have no time: CUPTI had none when it was switched off", g->untimed);
	if (g->uncalled)
		warning(0, "%llu runs on the GPU: their calls are not known (lost, or made before tracing began)", g->uncalled);
	if (g->names)
		kernel_names_free(g->names);
	quota_free(&g->quota);
	budget_free(&g->budget);
}
