/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include "abi/device.h"
#include "abi/inflight_call.h"
#include "base/clock.h"
#include "base/die.h"
#include "bpf/map_backend.h"
#include "model/memory.h"
#include "model/inflight.h"
#include "model/inflight_early.h"
#include "model/inflight_read.h"
#include "model/inflight_tell.h"
#include "probe/probe_source.h"
#include "probe/probes.h"
#include "proc/containers.h"
#include "proc/vm_read.h"
#include "sym/syms.h"

/* MOST: calls and threads that programs can make the tool keep.  FAR: bytes; a stack that is further
 * from where a call began is another one. */
enum { MOST = 16384, FAR = 64 << 20 };

/* How long stacks are read when tracing begins, and for a report; the rest has its turn in the next. */
static const unsigned long long BEGIN_NS = 2000 * 1000000ull, REPORT_NS = 500 * 1000000ull;

/* Returns NULL if the call is on no device that is wanted. */
static struct inflight_row *new_row(struct inflight *r, const struct inflight_call *c, unsigned user,
				   unsigned int device)
{
	struct inflight_row *row;

	if (r->only && !device_is_in(r->only, device) && !device_is_in(r->only, c->peer)) {
		r->unknown += !device;
		return NULL;
	}
	r->rows = xrealloc(r->rows, r->n + 1, sizeof(*r->rows));
	row = &r->rows[r->n++];
	*row = (struct inflight_row){ .pid = c->stack.head.pid, .tid = c->tid, .inflight = true,
				     .device = device, .user = user };
	memcpy(row->name, c->comm, sizeof(row->name));
	row->name[sizeof(row->name) - 1] = 0;
	return row;
}

/* Return true if the thread has left the call without a return: by longjmp() or an exception.  While it is
 * in it, the return address is that of the kernel's trampoline: see is_armed() in bpf/lib/task.bpf.h.  0: the
 * process is ending, unless nobody may read its memory. */
static bool has_left(const struct inflight *r, const struct inflight_call *c)
{
	unsigned long long sp = c->stack.regs[UNWIND_RSP], from = c->stack.from, word = 0;

	if (bmaps_are_shared())		/* inflight_shared() knows */
		return false;
	if (sp > from && sp - from < FAR)
		return true;
	if (clock_ns() > r->until || vm_read_words(r->probes->helpers, c->stack.head.pid, &from, 1, &word))
		return false;
	return word ? word & 0xfff : !vm_read_forbidden(r->probes->helpers, c->stack.head.pid);
}

static bool add_seen(struct inflight *r, const struct inflight_call *c, unsigned user)
{
	unsigned int device = r->memory ? memory_call_device(r->memory, c) : c->device;
	struct inflight_row *row = has_left(r, c) ? NULL : new_row(r, c, user, device);

	if (!row)
		return false;
	row->func = r->probes->source->get(r->probes, c->id).name;
	row->age = r->now > c->start ? r->now - c->start : 0;
	row->complete = true;
	row->stack = r->stacks ? inflight_stack(r, c) : NULL;
	return true;
}

static bool add_early(struct inflight *r, const struct inflight_call *c, unsigned user)
{
	const struct inflight_thread *t = inflight_early(r, c, user);
	struct inflight_row *row = t && t->id >= 0 ? new_row(r, c, user, 0) : NULL;

	if (!row)
		return false;
	row->func = r->probes->source->get(r->probes, t->id).name;
	row->age = r->now - r->since;
	row->stack = t->stack;
	return true;
}

static void add(struct inflight *r, const struct inflight_taken *t)
{
	if (!(t->call.preexisting ? add_early : add_seen)(r, &t->call, t->user))
		quota_give(&r->quota, t->user, 1);
}

static int longest_first(const void *a, const void *b)
{
	const struct inflight_row *p = a, *q = b;

	return p->age == q->age ? p->tid - q->tid : p->age < q->age ? 1 : -1;
}

/* Pointers into a row are good when no more rows come. */
static void complete(struct inflight *r, struct inflight_row *row)
{
	const char *id = containers_of(r->containers, row->pid);

	row->time = r->now;
	row->comm = row->name;
	if (id)
		row->container = memcpy(row->container_id, id, sizeof(row->container_id));
}

void inflight_collect(struct inflight *r)
{
	struct inflight_taken *all;
	size_t n;

	inflight_clear(r);
	*r->all = !r->begun || r->threads;
	r->round++;
	r->mapped = 0;
	r->unknown = 0;
	all = inflight_read(r, &n);
	r->now = clock_ns();
	r->until = r->now + (r->begun ? REPORT_NS : BEGIN_NS);
	for (size_t i = 0; i < n; i++)
		add(r, &all[i]);
	free(all);
	inflight_early_tidy(r);
	if (r->n)
		qsort(r->rows, r->n, sizeof(*r->rows), longest_first);
	for (size_t i = 0; i < r->n; i++)
		complete(r, &r->rows[i]);
	inflight_tell(r);
}

void inflight_start(struct inflight *r)
{
	r->since = clock_ns();
	r->quota = (struct quota){
		.limit = MOST, .what = "calls in flight", .loss = "further ones of its processes are left out",
	};
	inflight_collect(r);
	inflight_clear(r);
	r->begun = true;
}

void inflight_clear(struct inflight *r)
{
	for (size_t i = 0; i < r->n; i++)
		quota_give(&r->quota, r->rows[i].user, 1);
	free(r->rows);
	r->rows = NULL;
	r->n = 0;
}

void inflight_free(struct inflight *r)
{
	inflight_clear(r);
	r->round++;
	inflight_early_tidy(r);
	syms_free(r->syms);
	r->syms = NULL;
	quota_free(&r->quota);
}
