/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "base/die.h"
#include "base/hash.h"
#include "base/quota.h"
#include "base/util.h"
#include "gputime/gpu_calls.h"
#include "proc/pid_ns.h"

/* Launches of a thread that CUPTI has not told yet: at first and at most.  Calls that wait for theirs.  Calls by their numbers,
 * of which a GPU's queues have some thousand: the newest ones.  Threads that are kept, and looked at. */
enum { LAUNCHES_FIRST = 64, LAUNCHES = 1 << 16, WAITING = 1 << 14, CALLS = 1 << 16, THREADS = 16384 };

/* How long a call waits for the probe's record; how often threads are looked for. */
static const unsigned long long PATIENCE_NS = 1000000000, LOOK_NS = 500000000;

struct launch {
	unsigned long long time;
	const void *site;
	unsigned long long end;		/* of the call that it is of; 0: none has come */
};

struct thread {
	int own, tid;			/* own: its id in its pid namespace */
	struct launch *launches;	/* a ring */
	unsigned room, first, n;
	UT_hash_handle hh;
};

/* A thread of the process by its id in another pid namespace. */
struct inner {
	int thread, tid;
	UT_hash_handle hh;
};

struct waiting {
	struct gpu_caller caller;
	int thread;
	unsigned long long since;
};

struct gpu_calls {
	int pid;
	unsigned user;
	struct quota *quota;
	bool sites;
	bool is_inner;			/* the process has a pid namespace of its own */
	unsigned long long looked;	/* for its threads */
	struct thread *threads;
	struct inner *inner;
	struct gpu_caller *calls;	/* CALLS, by correlation; or NULL */
	struct waiting *waiting;	/* those that the probes' records may still explain */
	unsigned nwaiting;
};

enum { CALLS_COST = CALLS * sizeof(struct gpu_caller) + WAITING * sizeof(struct waiting),
       THREAD_COST = sizeof(struct thread) + 64, INNER_COST = sizeof(struct inner) + 64 };

struct gpu_calls *gpu_calls_new(int pid, unsigned user, struct quota *quota, bool sites)
{
	struct gpu_calls *c = xcalloc(1, sizeof(*c));

	*c = (struct gpu_calls){ .pid = pid, .user = user, .quota = quota, .sites = sites, .is_inner = pid_in_namespace(pid) != pid };
	return c;
}

/* Allocates at the first record: without CUPTI none comes. */
static bool has_tables(struct gpu_calls *c)
{
	if (c->calls)
		return true;
	if (!quota_take(c->quota, c->user, c->pid, CALLS_COST))
		return false;
	c->calls = xcalloc(CALLS, sizeof(*c->calls));
	c->waiting = xcalloc(WAITING, sizeof(*c->waiting));
	return true;
}

static void drop_thread(struct gpu_calls *c, struct thread *t)
{
	quota_give(c->quota, c->user, THREAD_COST + t->room * sizeof(*t->launches));
	HASH_DEL(c->threads, t);
	free(t->launches);
	free(t);
}

static void drop_inner(struct gpu_calls *c)
{
	struct inner *i, *next;

	HASH_ITER(hh, c->inner, i, next) {
		HASH_DEL(c->inner, i);
		quota_give(c->quota, c->user, INNER_COST);
		free(i);
	}
}

void gpu_calls_free(struct gpu_calls *c)
{
	struct thread *t, *next;

	if (!c)
		return;
	HASH_ITER(hh, c->threads, t, next)
		drop_thread(c, t);
	drop_inner(c);
	if (c->calls)
		quota_give(c->quota, c->user, CALLS_COST);
	free(c->calls);
	free(c->waiting);
	free(c);
}

/* ---- What the probes saw */

static struct thread *thread_of(struct gpu_calls *c, int own)
{
	struct thread *t;

	HASH_FIND_INT(c->threads, &own, t);
	if (!t && HASH_COUNT(c->threads) == THREADS)
		drop_thread(c, c->threads);	/* the oldest one: most have ended */
	if (t || !quota_take(c->quota, c->user, c->pid, THREAD_COST))
		return t;
	t = xcalloc(1, sizeof(*t));
	t->own = own;
	HASH_ADD_INT(c->threads, own, t);
	return t;
}

static struct launch *launch_at(const struct thread *t, unsigned i)
{
	return &t->launches[(t->first + i) % t->room];
}

/* Makes room for one more: without memory, the oldest one's. */
static bool gpu_calls_make_room(struct gpu_calls *c, struct thread *t)
{
	const unsigned room = t->room ? 2 * t->room : LAUNCHES_FIRST;
	struct launch *launches;

	if (t->n < t->room)
		return true;
	if (room > LAUNCHES || !quota_take(c->quota, c->user, c->pid, (room - t->room) * sizeof(*launches))) {
		if (!t->room)
			return false;
		t->first++;
		t->n--;
		return true;
	}
	launches = xcalloc(room, sizeof(*launches));
	for (unsigned i = 0; i < t->n; i++)
		launches[i] = *launch_at(t, i);
	free(t->launches);
	t->launches = launches;
	t->room = room;
	t->first = 0;
	return true;
}

void gpu_calls_launched(struct gpu_calls *c, const struct gpu_launch *launch)
{
	struct thread *t = thread_of(c, launch->own_tid);

	if (!t || !gpu_calls_make_room(c, t))
		return;
	t->tid = launch->tid;
	*launch_at(t, t->n++) = (struct launch){ launch->time, launch->site, 0 };
}

/* ---- Threads in another pid namespace */

/* Looks at all threads: those of an id that is used again must not be mistaken. */
static void look_for_threads(struct gpu_calls *c)
{
	char *path = xprintf("/proc/%d/task", c->pid);
	DIR *dir = opendir(path);
	struct dirent *d;

	free(path);
	if (!dir)
		return;		/* what is known remains: its last calls are still to come */
	drop_inner(c);
	for (int n = 0; n < THREADS && (d = readdir(dir)); n++) {
		const int tid = atoi(d->d_name), thread = tid > 0 ? pid_in_namespace(tid) : 0;
		struct inner *i = NULL;

		if (thread > 0)
			HASH_FIND_INT(c->inner, &thread, i);
		if (thread <= 0 || i || !quota_take(c->quota, c->user, c->pid, INNER_COST))
			continue;
		i = xcalloc(1, sizeof(*i));
		*i = (struct inner){ .thread = thread, .tid = tid };
		HASH_ADD_INT(c->inner, thread, i);
	}
	closedir(dir);
}

/* Returns 0 if it is not known, or not yet. */
static int tid_of(struct gpu_calls *c, int thread)
{
	const unsigned long long now = clock_ns();
	struct inner *i;

	if (!c->is_inner)
		return thread;
	HASH_FIND_INT(c->inner, &thread, i);
	if (!i && now - c->looked >= LOOK_NS) {
		c->looked = now;
		look_for_threads(c);
		HASH_FIND_INT(c->inner, &thread, i);
	}
	return i ? i->tid : 0;
}

/* ---- What CUPTI told */

/* The thread's last launch before the call's end is the call's own, unless that is another call's.  A call of the driver inside
 * of one of the runtime has the same launch. */
static struct launch *find_launch(struct thread *t, const struct gpu_caller *call)
{
	unsigned low = 0, high = t->n;
	struct launch *l;

	while (low < high) {
		const unsigned middle = low + (high - low) / 2;

		if (launch_at(t, middle)->time <= call->end)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return NULL;
	t->first = (t->first + low - 1) % t->room;	/* those before it are of calls that CUPTI did not tell */
	t->n -= low - 1;
	l = launch_at(t, 0);
	return !l->end || call->start <= l->end ? l : NULL;
}

/* Return true if the call is known as well as it will be. */
static bool join(struct gpu_calls *c, struct gpu_caller *call, int thread)
{
	struct launch *l;
	struct thread *t;

	if (!c->sites) {
		call->tid = tid_of(c, thread);
		return call->tid;
	}
	HASH_FIND_INT(c->threads, &thread, t);
	l = t && t->n ? find_launch(t, call) : NULL;
	if (!l)
		return false;
	call->tid = t->tid;
	call->seen = true;
	call->site = l->site;
	l->end = call->end;
	return true;
}

static void keep(struct gpu_calls *c, const struct gpu_caller *call)
{
	c->calls[call->correlation % CALLS] = *call;
}

void gpu_calls_called(struct gpu_calls *c, int thread, unsigned long long start, unsigned long long end, unsigned correlation)
{
	struct gpu_caller call = { .correlation = correlation, .start = start, .end = end };

	if (!has_tables(c))
		return;
	if (join(c, &call, thread) || c->nwaiting == WAITING)
		keep(c, &call);
	else
		c->waiting[c->nwaiting++] = (struct waiting){ call, thread, clock_ns() };
}

void gpu_calls_tick(struct gpu_calls *c, bool last)
{
	const unsigned long long now = clock_ns();
	unsigned n = 0;

	for (unsigned i = 0; i < c->nwaiting; i++) {
		struct waiting *w = &c->waiting[i];

		if (join(c, &w->caller, w->thread)) {
			keep(c, &w->caller);
		} else if (last || now - w->since >= PATIENCE_NS) {
			w->caller.tid = tid_of(c, w->thread);
			keep(c, &w->caller);
		} else {
			c->waiting[n++] = *w;
		}
	}
	c->nwaiting = n;
}

const struct gpu_caller *gpu_calls_find(const struct gpu_calls *c, unsigned correlation)
{
	const struct gpu_caller *call = c->calls ? &c->calls[correlation % CALLS] : NULL;

	return call && call->start && call->correlation == correlation ? call : NULL;
}
