/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "abi/device.h"
#include "abi/record.h"
#include "api/cuda_api.h"
#include "base/clock.h"
#include "base/die.h"
#include "base/util.h"
#include "cli/opt.h"
#include "cli/value.h"
#include "gputime/gpu_calls.h"
#include "gputime/gpu_memory.h"
#include "gputime/gpu_time.h"
#include "kernels/kernel_name.h"
#include "proc/proc.h"
#include "proc/process_table.h"
#include "proc/user.h"
#include "session/beside.h"
#include "session/command.h"

/* How often processes without the library are looked at again, at first and later; after how long one counts as such. */
static const unsigned long long LOOK_NS = 100000000, LOOK_MOST_NS = 5000000000, PATIENCE_NS = 3000000000;

/* How often processes whose end has no record are looked for. */
static const unsigned long long CHECK_NS = 5000000000;

/* How long a tick may look for memory. */
static const unsigned long long LOOKING_NS = 20000000;

/* How long the end waits for what CUPTI has, in all processes. */
static const unsigned long long STOP_NS = 200000000;

/* How long a run waits for its call: CUPTI delivers them in different buffers. */
static const unsigned long long CALL_NS = 2000000000;

/* In a process: tallies, and runs that wait for their calls. */
enum { TALLIES = 16384, WAITING = 1 << 16 };

/* After so many looks a process is one without the library, which may yet come. */
enum { LOOKS = 3 };

/* A run or a copy is not longer.  A program could make sums overflow. */
static const unsigned long long RUN_MAX = 3600000000000;

/* More than any GPU has: sums are shared. */
static const unsigned long long BYTES_MAX = 1ull << 48;

struct waiting_run {
	struct gputime_record record;
	unsigned long long since;
};

struct gpu_process {
	int pid;
	unsigned user;
	unsigned long long seen, looked, wait;	/* when it was first seen, and looked at; how long until it is again, ns */
	unsigned looks;
	char comm[16];
	struct gpu_memory memory;
	struct gpu_losses losses;	/* since they were last read */
	struct proc_identity is;
	unsigned long long program;	/* when it has ended: as in struct process_event */
	struct gpu_tally *tallies;
	const struct kernel **names;	/* GPUTIME_NAMES, by number - 1; or NULL */
	char *text;			/* a name of which parts have come; GPUTIME_NAME_MAX + GPUTIME_PART + 1 */
	unsigned text_name, text_at;
	struct gpu_calls *calls;	/* if they are wanted */
	struct waiting_run *waiting;	/* for their calls, a ring */
	unsigned room, first, nwaiting;
	bool told, shown;		/* shown: since it has ended */
	bool found, failed;		/* its memory was; and cannot be used */
	bool measured;			/* it was on */
	bool gone;			/* at the last check */
	struct gpu_process *next;	/* of those that have ended */
	UT_hash_handle hh;
};

enum { TALLY_COST = sizeof(struct gpu_tally) + 64, PROCESS_COST = sizeof(struct gpu_process) + 64,
       NAMES_COST = GPUTIME_NAMES * sizeof(struct kernel *) };

static void tell(struct gpu_process *p, const char *why)
{
	if (!p->told)
		warning(0, "pid %d: no GPU time: %s", p->pid, why);
	p->told = true;
}

/* ---- Records: the program may have written anything */

static void add_up(unsigned long long *to, unsigned long long n)
{
	if (__builtin_add_overflow(*to, n, to))
		*to = ~0ull;
}

static void add(struct gpu_sum *to, unsigned long long ns, unsigned long long bytes)
{
	add_up(&to->bytes, bytes);
	to->least = to->n && to->least < ns ? to->least : ns;
	to->most = to->most > ns ? to->most : ns;
	to->n++;
	add_up(&to->ns, ns);
	hist_add(&to->hist, ns, 1);
}

void gpu_sum_add(struct gpu_sum *to, const struct gpu_sum *from)
{
	if (!from->n)
		return;
	to->least = to->n && to->least < from->least ? to->least : from->least;
	to->most = to->most > from->most ? to->most : from->most;
	to->n += from->n;
	add_up(&to->ns, from->ns);
	add_up(&to->bytes, from->bytes);
	hist_join(&to->hist, &from->hist);
}

static struct gpu_tally *tally_of(struct gpu_time *g, struct gpu_process *p, const struct gpu_tally_key *key)
{
	struct gpu_tally *t;

	HASH_FIND(hh, p->tallies, key, sizeof(*key), t);
	if (t || HASH_COUNT(p->tallies) == TALLIES || !quota_take(&g->quota, p->user, p->pid, TALLY_COST))
		return t;
	t = xcalloc(1, sizeof(*t));
	t->key = *key;
	t->pid = p->pid;
	t->user = p->user;
	t->comm = p->comm;
	kernel_get(key->kernel);
	HASH_ADD(hh, p->tallies, key, sizeof(t->key), t);
	return t;
}

/* copy: a CUpti_ActivityMemcpyKind (cupti_activity.h). */
static unsigned direction_of(unsigned copy)
{
	static const unsigned char directions[] = {
		[1] = CUDA_HTOD, [2] = CUDA_DTOH, [3] = CUDA_HTOD /* to an array */, [4] = CUDA_DTOH, [5] = CUDA_DTOD,
		[6] = CUDA_DTOD, [7] = CUDA_DTOD, [8] = CUDA_DTOD, [9] = CUDA_HTOH, [10] = CUDA_PTOP,
	};

	return copy < sizeof(directions) && directions[copy] ? directions[copy] : CUDA_DEFAULT;
}

static void on_run(struct gpu_time *g, struct gpu_process *p, const struct gputime_record *r, const struct gpu_caller *caller)
{
	struct gpu_tally_key key = { .kind = r->kind, .device = r->device < DEVICES ? r->device + 1 : 0 };
	const long long clock = p->memory.control->clock;
	struct gpu_tally *t;

	if (r->name)
		key.kernel = p->names[r->name - 1];
	if (r->kind == GPUTIME_GRAPH)
		key.graph = r->graph;
	if (r->kind == GPUTIME_COPY)
		key.direction = direction_of(r->copy);
	if (g->on_run) {
		g->on_run(g->ctx, &(struct gpu_run){
			.kernel = key.kernel, .kind = key.kind, .device = key.device, .graph = key.graph, .direction = key.direction,
			.context = r->context, .stream = r->stream, .correlation = r->correlation, .pid = p->pid,
			.start = r->start + clock, .end = r->end + clock, .bytes = r->bytes, .caller = caller,
		});
		return;
	}
	key.site = caller ? caller->site : NULL;
	t = tally_of(g, p, &key);
	if (t)
		add(&t->pending, r->end - r->start, r->bytes < BYTES_MAX ? r->bytes : BYTES_MAX);
	else
		p->losses.dropped++;
}

/* ---- Runs that wait for their calls */

static bool needs_call(const struct gpu_time *g, const struct gputime_record *r)
{
	if (!g->callers)
		return false;
	return g->want & (r->kind == GPUTIME_COPY || r->kind == GPUTIME_SET ? GPUTIME_COPY_CALLS : GPUTIME_LAUNCHES);
}

static bool make_room(struct gpu_time *g, struct gpu_process *p)
{
	const unsigned room = p->room ? 2 * p->room : 1024;
	struct waiting_run *runs;

	if (p->nwaiting < p->room)
		return true;
	if (room > WAITING || !quota_take(&g->quota, p->user, p->pid, (room - p->room) * sizeof(*runs)))
		return false;
	runs = xcalloc(room, sizeof(*runs));
	for (unsigned i = 0; i < p->nwaiting; i++)
		runs[i] = p->waiting[(p->first + i) % p->room];
	free(p->waiting);
	p->waiting = runs;
	p->room = room;
	p->first = 0;
	return true;
}

static void finish_run(struct gpu_time *g, struct gpu_process *p, const struct gputime_record *r, const struct gpu_caller *caller)
{
	if (needs_call(g, r))
		g->uncalled += !caller || (g->sites && !caller->seen);
	on_run(g, p, r, caller);
}

static void begin_run(struct gpu_time *g, struct gpu_process *p, const struct gputime_record *r)
{
	const struct gpu_caller *caller = needs_call(g, r) ? gpu_calls_find(p->calls, r->correlation) : NULL;

	if (caller || !needs_call(g, r) || !make_room(g, p))
		finish_run(g, p, r, caller);
	else
		p->waiting[(p->first + p->nwaiting++) % p->room] = (struct waiting_run){ *r, clock_ns() };
}

/* all: their calls do not come any more. */
static void retry_runs(struct gpu_time *g, struct gpu_process *p, bool all)
{
	const unsigned long long now = clock_ns();

	gpu_calls_tick(p->calls, all);
	for (unsigned n = p->nwaiting; n; n--) {
		const struct waiting_run w = p->waiting[p->first];
		const struct gpu_caller *caller = gpu_calls_find(p->calls, w.record.correlation);

		p->first = (p->first + 1) % p->room;
		p->nwaiting--;
		if (caller || all || now - w.since >= CALL_NS)
			finish_run(g, p, &w.record, caller);
		else
			p->waiting[(p->first + p->nwaiting++) % p->room] = w;
	}
}

/* ---- Records */

static void on_call(struct gpu_process *p, const struct gputime_record *r)
{
	const long long clock = p->memory.control->clock;

	if (p->calls)
		gpu_calls_called(p->calls, r->call.thread, r->call.start + clock, r->call.end + clock, r->call.correlation);
}

/* The last part of a name has come. */
static void on_name(struct gpu_time *g, struct gpu_process *p, unsigned size)
{
	if (!p->names && !quota_take(&g->quota, p->user, p->pid, NAMES_COST)) {
		p->losses.dropped++;
		return;
	}
	p->text[size] = '\0';
	p->names = p->names ?: xcalloc(GPUTIME_NAMES, sizeof(*p->names));
	p->names[p->text_name - 1] = kernel_get(kernel_named(g->names, p->user, p->pid, p->text));
}

static void on_text(struct gpu_time *g, struct gpu_process *p, const struct gputime_record *r)
{
	const unsigned size = r->text.size, at = r->text.at;

	if (!at) {
		p->text_name = r->name;
		p->text_at = 0;
	}
	if (!r->name || r->name != p->text_name || (p->names && p->names[r->name - 1]) || !size || at != p->text_at || at >= size) {
		p->losses.unknown++;
		return;
	}
	if (!p->text)
		p->text = xcalloc(1, GPUTIME_NAME_MAX + GPUTIME_PART + 1);
	memcpy(p->text + at, r->text.part, GPUTIME_PART);
	p->text_at = at + GPUTIME_PART;
	if (p->text_at < size)
		return;
	p->text_at = 0;
	on_name(g, p, size);
}

static bool is_sane(const struct gpu_process *p, const struct gputime_record *r)
{
	if (r->kind == GPUTIME_TEXT)
		return r->name <= GPUTIME_NAMES && r->text.size <= GPUTIME_NAME_MAX;
	if (!r->kind || r->kind > GPUTIME_TEXT || !r->start || r->end < r->start || r->end - r->start > RUN_MAX)
		return false;
	return r->kind == GPUTIME_CALL || !r->name || (r->name <= GPUTIME_NAMES && p->names && p->names[r->name - 1]);
}

static void handle(struct gpu_time *g, struct gpu_process *p, const struct gputime_record *r)
{
	if (!is_sane(p, r))
		p->losses.unknown++;
	else if (r->kind == GPUTIME_TEXT)
		on_text(g, p, r);
	else if (r->kind == GPUTIME_CALL)
		on_call(p, r);
	else
		begin_run(g, p, r);
}

static void read_losses(struct gpu_time *g, struct gpu_process *p)
{
	gpu_memory_losses(&p->memory, &p->losses);
	g->dropped += p->losses.dropped;
	g->unknown += p->losses.unknown;
	g->untimed += p->losses.untimed;
	p->losses = (struct gpu_losses){ 0 };
}

static void read_records(struct gpu_time *g, struct gpu_process *p)
{
	unsigned long long now = clock_ns(), n;

	/* else they stay there: the library counts those for which there is no room then */
	if (!budget_left(&g->budget, p->user, now))
		return;
	n = gpu_memory_records(&p->memory);
	p->measured |= n > 0;
	while (n--) {
		struct gputime_record r;

		gpu_memory_next(&p->memory, &r);
		handle(g, p, &r);
	}
	gpu_memory_release(&p->memory);
	if (p->calls)
		retry_runs(g, p, false);
	read_losses(g, p);
	budget_charge(&g->budget, p->user, clock_ns() - now);
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

static void free_names(struct gpu_time *g, struct gpu_process *p)
{
	for (unsigned i = 0; p->names && i < GPUTIME_NAMES; i++)
		kernel_put(p->names[i]);
	if (p->names)
		quota_give(&g->quota, p->user, NAMES_COST);
	free(p->names);
	free(p->text);
	p->names = NULL;
	p->text = NULL;
}

/* There may be no time for it. */
static void read_rest(struct gpu_time *g, struct gpu_process *p)
{
	read_records(g, p);
	if (p->calls)
		retry_runs(g, p, true);
	g->dropped += gpu_memory_records(&p->memory);
	quota_give(&g->quota, p->user, p->room * sizeof(*p->waiting));
	free(p->waiting);
	p->waiting = NULL;
	p->room = p->nwaiting = 0;
	free_names(g, p);
	gpu_memory_close(&p->memory);
	quota_give(&g->quota, p->user, GPUTIME_RING);
}

static void unmap(struct gpu_time *g, struct gpu_process *p)
{
	if (p->memory.control)
		read_rest(g, p);
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
	g->mount = gpu_memory_mount();
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

static void drop_tally(struct gpu_time *g, struct gpu_process *p, struct gpu_tally *t)
{
	HASH_DEL(p->tallies, t);
	kernel_put(t->key.kernel);
	quota_give(&g->quota, p->user, TALLY_COST);
	free(t);
}

static void free_process(struct gpu_time *g, struct gpu_process *p)
{
	struct gpu_tally *t, *next;

	HASH_ITER(hh, p->tallies, t, next)
		drop_tally(g, p, t);
	quota_give(&g->quota, p->user, PROCESS_COST);
	free(p);
}

/* What it ran is shown once more. */
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
		read_records(g, p);
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
				read_records(g, p);
	}
	for (struct gpu_process *p = g->all; p; p = p->hh.next)
		if (p->calls)
			retry_runs(g, p, true);
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

static void end_interval(struct gpu_process *p)
{
	for (struct gpu_tally *t = p->tallies; t; t = t->hh.next) {
		if (!t->pending.n && !t->last.n)	/* spares copies of 4 KiB */
			continue;
		t->last = t->pending;
		gpu_sum_add(&t->total, &t->pending);
		t->pending = (struct gpu_sum){ 0 };
	}
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
		end_interval(p);
		p->shown = true;
		at = &p->next;
	}
	for (p = g->all; p; p = p->hh.next)
		end_interval(p);
}

static void take_of(struct gpu_time *g, struct gpu_process *p, gpu_take_fn *fn, void *ctx)
{
	struct gpu_tally *t, *next;

	HASH_ITER(hh, p->tallies, t, next)
		if (!t->pending.n || fn(ctx, t))
			drop_tally(g, p, t);
}

void gpu_time_take(struct gpu_time *g, gpu_take_fn *fn, void *ctx)
{
	struct gpu_process **at = &g->ended, *p;

	for (p = g->all; p; p = p->hh.next)
		take_of(g, p, fn, ctx);
	while ((p = *at)) {
		take_of(g, p, fn, ctx);
		if (p->tallies) {
			at = &p->next;
			continue;
		}
		*at = p->next;
		free_process(g, p);
	}
}

static void each_of(const struct gpu_process *p, gpu_tally_fn *fn, void *ctx)
{
	for (const struct gpu_tally *t = p->tallies; t; t = t->hh.next)
		fn(ctx, t);
}

void gpu_time_each(const struct gpu_time *g, gpu_tally_fn *fn, void *ctx)
{
	for (const struct gpu_process *p = g->all; p; p = p->hh.next)
		each_of(p, fn, ctx);
	for (const struct gpu_process *p = g->ended; p; p = p->next)
		each_of(p, fn, ctx);
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
