/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdlib.h>
#include "abi/host_time.h"
#include "base/clock.h"
#include "base/die.h"
#include "base/hash.h"
#include "cudalaunchtop/host_threads.h"
#include "gputime/gpu_calls.h"
#include "proc/process_table.h"
#include "sym/stack.h"
#include "sym/syms.h"

/* Entries of a thread: at first, and at most, when the oldest ones go: more than three seconds of the shortest.  Threads. */
enum { ENTRIES_FIRST = 64, ENTRIES = 1 << 16, THREADS = 16384 };

/* Time without samples that is still taken for the call's own; more of it was not seen. */
static const unsigned long long UNSEEN_NS = 5 * HOST_SAMPLE_NS;

const char *const host_state_names[HOST_STATES] = { "off CPU", "preempted", "running", "unknown" };

struct entry {
	unsigned long long from, to;	/* the same: a sample */
	const struct stack *stack;
	enum host_state state;
};

struct host_thread {
	int tid, pid;
	unsigned user;
	struct entry *entries;		/* a ring, in order */
	unsigned room, first, n;
	unsigned long long last;	/* ns */
	UT_hash_handle hh;
};

enum { THREAD_COST = sizeof(struct host_thread) + 64 };

/* ---- The programs */

bool host_threads_can(bool inject)
{
	if (inject)
		warning(0, "--gaps: what threads do is not shown: --attach inject does not see the scheduler");
	else if (!cpu_samples_can())
		warning(0, "--gaps: what threads do is not shown: requires Linux 6.1");
	else
		return true;
	return false;
}

static void begin_samples(struct host_threads *h, struct bpf_program *sample)
{
	const int err = cpu_samples_begin(&h->cpus, sample, HOST_SAMPLE_NS);

	h->samples = h->cpus.n;
	if (err)
		warning(err, "--gaps: cannot sample%s: what running threads do is not shown", h->samples ? " all CPUs" : "");
}

void host_threads_open(struct host_threads *h, struct syms *syms, struct process_table *processes, struct bpf_program *sample)
{
	h->syms = syms;
	h->processes = processes;
	h->quota = (struct quota){
		.limit = 256 << 20, .what = "what threads do between launches", .loss = "that of further threads is not shown",
	};
	if (h->switches)
		begin_samples(h, sample);
}

/* ---- Records */

static void drop_thread(struct host_threads *h, struct host_thread *t)
{
	quota_give(&h->quota, t->user, THREAD_COST + t->room * sizeof(*t->entries));
	HASH_DEL(h->all, t);
	free(t->entries);
	free(t);
}

static struct host_thread *find(const struct host_threads *h, int tid)
{
	struct host_thread *t;

	HASH_FIND_INT(h->all, &tid, t);
	return t;
}

static struct host_thread *thread_of(struct host_threads *h, int pid, int tid)
{
	struct host_thread *t = find(h, tid);
	const unsigned user = t ? t->user : process_user(h->processes, pid);

	if (t && t->pid != pid)
		drop_thread(h, t);
	else if (t)
		return t;
	if (HASH_COUNT(h->all) == THREADS || !quota_take(&h->quota, user, pid, THREAD_COST))
		return NULL;
	t = xcalloc(1, sizeof(*t));
	*t = (struct host_thread){ .tid = tid, .pid = pid, .user = user };
	HASH_ADD_INT(h->all, tid, t);
	return t;
}

static struct entry *entry_at(const struct host_thread *t, unsigned i)
{
	return &t->entries[(t->first + i) % t->room];
}

/* Makes room for one more: without memory, the oldest one's. */
static bool host_threads_make_room(struct host_threads *h, struct host_thread *t)
{
	const unsigned room = t->room ? 2 * t->room : ENTRIES_FIRST;
	struct entry *entries;

	if (t->n < t->room)
		return true;
	if (room > ENTRIES || !quota_take(&h->quota, t->user, t->pid, (room - t->room) * sizeof(*entries))) {
		t->first += t->room ? 1 : 0;
		t->n -= t->room ? 1 : 0;
		return t->room;
	}
	entries = xcalloc(room, sizeof(*entries));
	for (unsigned i = 0; i < t->n; i++)
		entries[i] = *entry_at(t, i);
	free(t->entries);
	t->entries = entries;
	t->room = room;
	t->first = 0;
	return true;
}

static void host_threads_add(struct host_threads *h, const struct host_time *r, const struct stack *stack)
{
	static const enum host_state states[] = { HOST_IS_OFF, HOST_IS_PREEMPTED, HOST_RUNS };
	struct host_thread *t = thread_of(h, r->head.pid, r->tid);

	if (!t || r->from < t->last || r->to < r->from || !host_threads_make_room(h, t))
		return;
	t->last = r->to;
	*entry_at(t, t->n++) = (struct entry){ r->from, r->to, stack, states[r->head.kind - HOST_OFF_CPU] };
}

bool host_threads_record(struct host_threads *h, const void *data, size_t size)
{
	const struct host_time *r = data;
	const struct stack *stack;

	if (r->head.kind < HOST_OFF_CPU || r->head.kind >= HOST_WHAT_END)
		return false;
	if (r->head.frames > STACK_FRAMES || !record_is_whole(&r->head, size, offsetof(struct host_time, stack)))
		return true;
	stack = stack_get(h->syms, r->head.pid, r->stack, r->head.frames);
	if (r->head.kind == HOST_CALL)
		h->on_call(h->ctx, r->head.pid, &(struct gpu_launch){ r->tid, r->own_tid, r->from, stack });
	else
		host_threads_add(h, r, stack);
	return true;
}

/* ---- Times */

/* Returns the first entry that does not end before this time. */
static unsigned first_at(const struct host_thread *t, unsigned long long time)
{
	unsigned low = 0, high = t->n;

	while (low < high) {
		const unsigned middle = low + (high - low) / 2;

		if (entry_at(t, middle)->to < time)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static unsigned long long overlap(const struct entry *e, const struct host_span *s)
{
	const unsigned long long from = e->from > s->from ? e->from : s->from, to = e->to < s->to ? e->to : s->to;

	return to > from ? to - from : 0;
}

static bool is_sample(const struct entry *e, const struct host_span *s)
{
	return e->state == HOST_RUNS && e->from < s->to;
}

void host_threads_split(const struct host_threads *h, const struct host_span *s, host_part_fn *fn, void *ctx)
{
	const struct host_thread *t = find(h, s->tid);
	unsigned long long rest = s->to - s->from;
	unsigned first = 0, n = 0;

	t = t && t->pid == s->pid ? t : NULL;
	first = t ? first_at(t, s->from) : 0;
	for (unsigned i = first; t && i < t->n && entry_at(t, i)->from < s->to; i++) {
		const struct entry *e = entry_at(t, i);
		const unsigned long long ns = overlap(e, s);

		if (ns)
			fn(ctx, e->state, e->stack, ns);
		rest -= ns;
		n += is_sample(e, s);
	}
	if (rest && !n)
		fn(ctx, h->switches && rest < UNSEEN_NS ? HOST_RUNS : HOST_UNKNOWN, s->site, rest);
	/* the thread ran in the rest: equal parts for the samples */
	for (unsigned i = first; n; i++) {
		const struct entry *e = entry_at(t, i);

		if (!is_sample(e, s))
			continue;
		fn(ctx, HOST_RUNS, e->stack, rest / n);
		rest -= rest / n--;
	}
}

/* ---- The end */

void host_threads_tidy(struct host_threads *h)
{
	const unsigned long long now = clock_ns();
	struct host_thread *t, *next;

	HASH_ITER(hh, h->all, t, next)
		if (now - t->last > 2 * HOST_FOLLOWED_NS)
			drop_thread(h, t);
}

void host_threads_ended(void *ctx, const struct process_event *event)
{
	struct host_threads *h = ctx;
	struct host_thread *t, *next;

	HASH_ITER(hh, h->all, t, next)
		if (t->pid == (int)event->head.pid)
			drop_thread(h, t);
}

void host_threads_close(struct host_threads *h)
{
	struct host_thread *t, *next;

	cpu_samples_end(&h->cpus);
	HASH_ITER(hh, h->all, t, next)
		drop_thread(h, t);
	quota_free(&h->quota);
}

