/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include "abi/launch.h"
#include "abi/nccl_event.h"
#include "abi/record.h"
#include "api/cuda_fn.h"
#include "api/nccl.h"
#include "base/clock.h"
#include "base/die.h"
#include "base/util.h"
#include "nccl/comm_layout.h"
#include "model/captures.h"
#include "nccl/communicators.h"
#include "nccl/graph_operations.h"
#include "model/graphs.h"
#include "probe/dso.h"
#include "probe/probes.h"
#include "proc/helper_files.h"
#include "proc/user.h"
#include "proc/vm_read.h"

/* A libnccl in a process: what is known of its communicators.  A process may have several. */
struct layout {
	unsigned long long start, end;	/* its code */
	unsigned rank;			/* byte of a communicator with its rank; 0: not known */
	bool hashed;			/* the hash is before that: NCCL 2.18 and later */
	bool current;			/* it is what the probes compute: 2.27 and later */
};

enum { LAYOUTS = 4, PENDING = 16, ALL_MAX = 64 /* of ncclCommInitAll() */ };

struct nccl_program {
	unsigned long long id;
	int pid;
	unsigned user;
	struct communicator *all;
	struct layout layouts[LAYOUTS];
	unsigned nlayouts;		/* so far: the oldest ones go */
	/* where communicators will be stored that are not made yet: by a call in a group, or one that goes on */
	unsigned long long pending[PENDING];
	unsigned npending;
	struct open_group *groups;	/* by thread */
	unsigned long long unknown;	/* launches of graphs that are not known */
	struct graphs graphs;		/* with their operations alone */
	UT_hash_handle hh;
};

/* The group that a thread has not ended: the operations in it begin at its end. */
struct open_group {
	unsigned tid, number;
	LIST_HEAD(, communicator) with;	/* that have operations in it */
	UT_hash_handle hh;
};

/* Of a communicator's row, when it is shown. */
enum { ROW_COST = 320 };

enum { PROGRAM_COST = sizeof(struct nccl_program) + 64, COMMUNICATOR_COST = sizeof(struct communicator) + 64 + ROW_COST,
       RECENT_COST = RECENT * sizeof(struct comm_op) };

enum { RANKS_MAX = 1 << 17 };	/* of a communicator: more are made up */

/* How often a communicator is looked for that was not ready. */
static const unsigned long long AGAIN_NS = 1000000000;

void communicators_init(struct communicators *c, struct probes *probes, bool whole)
{
	*c = (struct communicators){
		.probes = probes, .graph_time.each = true, .apart_time.each = true, .quota = {
			.limit = 64 << 20, .what = "communicators of NCCL", .loss = "the ranks of further ones are not known",
			.whole = whole,
		},
	};
}

static struct nccl_program *program_of(struct communicators *c, unsigned long long id, int pid)
{
	struct nccl_program *p;
	unsigned user;

	HASH_FIND(hh, c->programs, &id, sizeof(id), p);
	if (p)
		return p;
	user = proc_user(pid);
	if (!quota_take(&c->quota, user, pid, PROGRAM_COST))
		return NULL;
	p = xcalloc(1, sizeof(*p));
	p->id = id;
	p->pid = pid;
	p->user = user;
	p->graphs = (struct graphs){
		.quota = &c->quota, .time = c->quota.whole ? NULL : &c->graph_time, .user = user,
		.pid = pid,
	};
	HASH_ADD(hh, c->programs, id, sizeof(id), p);
	return p;
}

static struct communicator *find(struct nccl_program *p, unsigned long long handle)
{
	struct communicator *m;

	HASH_FIND(hh, p->all, &handle, sizeof(handle), m);
	return m;
}

static struct communicator *communicators_add(struct communicators *c, struct nccl_program *p, unsigned long long handle)
{
	struct communicator *m;

	if (!quota_take(&c->quota, p->user, p->pid, COMMUNICATOR_COST))
		return NULL;
	m = xcalloc(1, sizeof(*m));
	m->handle = handle;
	m->of = p;
	m->unknown = p->unknown;
	m->program = p->id;
	m->pid = p->pid;
	m->user = p->user;
	m->func = -1;
	HASH_ADD(hh, p->all, handle, sizeof(handle), m);
	return m;
}

/* ---- Where the ranks of a communicator meet: those of one user's processes that have the same hash */

struct meeting {
	struct { unsigned long long hash; unsigned uid; int nranks; } key;	/* uid: as programs may take others' hashes */
	unsigned user;			/* who is charged for it */
	LIST_HEAD(, communicator) ranks;
	unsigned long long furthest;	/* the most collectives that one has begun */
	struct { unsigned long long number; int arrived; } of[MEETINGS];
	UT_hash_handle hh;
};

/* The same communicator is made again, by the same id: what was before is not compared with what comes. */
static void begin_anew(struct meeting *g, const struct communicator *m)
{
	struct communicator *other = LIST_FIRST(&g->ranks), *next;

	for (; other; other = next) {
		next = LIST_NEXT(other, in_meeting);
		if (!other->ended && other->rank != m->rank)
			continue;
		LIST_REMOVE(other, in_meeting);
		other->meeting = NULL;
	}
	g->furthest = 0;
	memset(g->of, 0, sizeof(g->of));
}

static void join_meeting(struct communicators *c, struct communicator *m, unsigned uid)
{
	struct meeting *g, want = { .key = { m->hash, uid, m->nranks } };
	const struct communicator *other;

	HASH_FIND(hh, c->meetings, &want.key, sizeof(want.key), g);
	if (!g) {
		if (!quota_take(&c->quota, m->user, m->pid, sizeof(*g)))
			return;
		g = xcalloc(1, sizeof(*g));
		g->key = want.key;
		g->user = m->user;
		HASH_ADD(hh, c->meetings, key, sizeof(g->key), g);
	}
	LIST_FOREACH(other, &g->ranks, in_meeting) {
		if (other->rank != m->rank)
			continue;
		begin_anew(g, m);
		break;
	}
	m->meeting = g;
	LIST_INSERT_HEAD(&g->ranks, m, in_meeting);
}

static void leave_meeting(struct communicators *c, struct communicator *m)
{
	struct meeting *g = m->meeting;

	if (!g)
		return;
	LIST_REMOVE(m, in_meeting);
	m->meeting = NULL;
	if (!LIST_EMPTY(&g->ranks))
		return;
	HASH_DEL(c->meetings, g);
	quota_give(&c->quota, g->user, sizeof(*g));
	free(g);
}

/* All ranks have come to the collective that is at a place. */
static void compare(struct meeting *g, unsigned at)
{
	struct communicator *m, *last = NULL;
	unsigned long long first = ~0ull;

	LIST_FOREACH(m, &g->ranks, in_meeting) {
		first = m->starts[at] < first ? m->starts[at] : first;
		last = !last || m->starts[at] > last->starts[at] ? m : last;
	}
	LIST_FOREACH(m, &g->ranks, in_meeting) {
		m->total.met++;
		m->total.late += m->starts[at] - first;
		m->total.came_last += m == last;
	}
}

/* A rank comes to its next collective: the same one has the same number in each rank. */
static void meet(struct communicator *m, unsigned long long start)
{
	struct meeting *g = m->meeting;
	unsigned long long n = m->collectives;
	unsigned at = n % MEETINGS;

	if (g->furthest < n)
		g->furthest = n;
	m->starts[at] = start;
	if (g->of[at].number > n)	/* so far behind that the others are not known any more */
		return;
	if (g->of[at].number < n) {
		g->of[at].number = n;
		g->of[at].arrived = 0;
	}
	if (++g->of[at].arrived == m->nranks && m->nranks > 1)
		compare(g, at);
}

void communicators_record(struct communicators *c, struct captures *captures, const void *data, size_t size,
			  comm_fn *fn, void *ctx)
{
	const struct communicator *m;

	captures_record(captures, data);
	communicators_graph(c, data, size);
	if (!nccl_event_is_right(data, size))
		return;
	if (nccl_event_is_launch(data)) {
		communicators_launch(c, data, fn, ctx);
		return;
	}
	m = communicators_call(c, data);
	if (fn)
		fn(ctx, m, &(struct comm_calls){
			.event = data, .n = 1, .bytes = nccl_event_bytes(data) });
}

unsigned long long communicator_behind(const struct communicator *m)
{
	return m->meeting ? m->meeting->furthest - m->collectives : NO_VALUE;
}

/* ---- Groups that are open */

static void leave_group(struct communicator *m)
{
	if (m->group)
		LIST_REMOVE(m, in_group);
	m->group = NULL;
}

static void close_group(struct communicators *c, struct nccl_program *p, struct open_group *g)
{
	while (!LIST_EMPTY(&g->with))
		leave_group(LIST_FIRST(&g->with));
	HASH_DEL(p->groups, g);
	quota_give(&c->quota, p->user, sizeof(*g));
	free(g);
}

/* Returns the thread's group, new if it has begun another one; NULL if the user has too much. */
static struct open_group *open_group(struct communicators *c, struct nccl_program *p,
				     const struct nccl_event *e)
{
	struct open_group *g;

	HASH_FIND(hh, p->groups, &e->tid, sizeof(e->tid), g);
	if (g && g->number == e->group)
		return g;
	if (g)			/* the record of its end was lost */
		close_group(c, p, g);
	if (!quota_take(&c->quota, p->user, p->pid, sizeof(*g)))
		return NULL;
	g = xcalloc(1, sizeof(*g));
	g->tid = e->tid;
	g->number = e->group;
	HASH_ADD(hh, p->groups, tid, sizeof(g->tid), g);
	return g;
}

/* Many communicators have no operation.  Return true if those of this one are kept. */
static bool keeps(struct communicators *c, struct communicator *m)
{
	if (c->keeps_recent && !m->recent && quota_take(&c->quota, m->user, m->pid, RECENT_COST))
		m->recent = xcalloc(RECENT, sizeof(*m->recent));
	return m->recent;
}

static void join_group(struct communicators *c, struct nccl_program *p, struct communicator *m,
		       const struct nccl_event *e)
{
	struct open_group *g = m->recent && e->group ? open_group(c, p, e) : NULL;

	if (!g || m->group == g)
		return;
	leave_group(m);
	m->group = g;
	LIST_INSERT_HEAD(&g->with, m, in_group);
}

/* ---- The end */

static void free_communicator(struct communicators *c, struct communicator *m)
{
	quota_give(&c->quota, m->user, COMMUNICATOR_COST + (m->recent ? RECENT_COST : 0));
	comm_peers_free(&m->peers, &c->quota, m->user);
	free(m->recent);
	free(m);
}

static void free_ended(struct communicators *c)
{
	struct communicator *m;

	while ((m = c->ended)) {
		c->ended = m->next;
		leave_meeting(c, m);
		free_communicator(c, m);
	}
}

static void drop(struct communicators *c, struct nccl_program *p, struct communicator *m)
{
	HASH_DEL(p->all, m);
	leave_group(m);
	free_communicator(c, m);
}

static void end(struct communicators *c, struct nccl_program *p, struct communicator *m)
{
	HASH_DEL(p->all, m);
	leave_group(m);
	m->of = NULL;
	m->ended = true;
	m->next = c->ended;
	c->ended = m;
}

static void end_program(struct communicators *c, struct nccl_program *p)
{
	while (p->all)
		end(c, p, p->all);
	while (p->groups)
		close_group(c, p, p->groups);
	HASH_DEL(c->programs, p);
	c->lost_nodes += p->graphs.lost;
	graphs_free(&p->graphs);
	quota_give(&c->quota, p->user, PROGRAM_COST);
	free(p);
}

/* ---- Communicators that were not seen being made, or made of others: they are read from the process. */

/* The mapping of libnccl's code that an address is in. */
struct code_search {
	struct communicators *c;
	int pid;
	unsigned long long at;
	struct layout layout;
	unsigned long long functions[3];	/* addresses: see comm_layout_rank() */
};

static bool has_symbol(const struct dso *d, int id, unsigned long long *offset)
{
	for (int i = 0; i < d->scan.n; i++) {
		if (d->scan.probes[i].id != id)
			continue;
		*offset = d->scan.probes[i].symbol;
		return true;
	}
	return false;
}

static bool look(void *ctx, const struct mapping *m)
{
	static const int ids[] = { CUDA_ID_ncclCommUserRank, CUDA_ID_ncclCommCount, CUDA_ID_ncclCommCuDevice };
	struct code_search *s = ctx;
	unsigned long long offset;
	const struct dso *d;

	if (s->at < m->start || s->at >= m->end)
		return true;
	d = dso_of_mapping(s->c->probes, s->pid, m);
	s->layout.start = m->start;
	s->layout.end = m->end;
	for (int i = 0; i < 3; i++)
		if (has_symbol(d, ids[i], &offset) && offset >= m->offset && offset - m->offset < m->end - m->start)
			s->functions[i] = m->start + (offset - m->offset);
	s->layout.hashed = has_symbol(d, CUDA_ID_ncclCommSplit, &offset);	/* since 2.18, too */
	s->layout.current = has_symbol(d, CUDA_ID_ncclCommShrink, &offset);
	return false;
}

/* Returns false if the process's memory cannot be read now. */
static bool find_layout(struct code_search *s)
{
	struct code code[3];

	for (int i = 0; i < 3; i++) {
		code[i].size = s->functions[i] ?
			vm_read_some(s->c->probes->helpers, s->pid, s->functions[i], code[i].bytes, CODE_SIZE) : 0;
		if (s->functions[i] && !code[i].size)
			return false;
	}
	s->layout.rank = comm_layout_rank(&code[0], &code[1], &code[2]);
	return true;
}

/* Returns the libnccl that an address of a function is in; NULL if it cannot be found out now. */
static const struct layout *layout_of(struct communicators *c, struct nccl_program *p, unsigned long long code)
{
	struct code_search s = { .c = c, .pid = p->pid, .at = code };
	struct layout *l;

	for (unsigned i = 0; i < p->nlayouts && i < LAYOUTS; i++)
		if (code >= p->layouts[i].start && code < p->layouts[i].end)
			return &p->layouts[i];
	if (helper_mappings(c->probes->helpers, p->pid, false, look, &s) || !s.layout.end || !find_layout(&s))
		return NULL;
	c->outdated |= !s.layout.current;
	l = &p->layouts[p->nlayouts++ % LAYOUTS];
	*l = s.layout;
	return l;
}

/* Reads hash, rank and size; false if they are not there, or not yet. */
static bool read_communicator(struct communicators *c, const struct nccl_program *p, struct communicator *m, const struct layout *l)
{
	struct { unsigned long long hash; int rank, nranks, device; } is;
	void *bytes;

	if (!l || !l->rank || m->handle % 8)
		return false;
	bytes = vm_read_bytes(c->probes->helpers, p->pid, m->handle + l->rank - sizeof(is.hash), 20);
	if (!bytes)
		return false;
	memcpy(&is, bytes, 20);
	free(bytes);
	if (is.rank < 0 || is.rank >= is.nranks || is.nranks > RANKS_MAX || is.device < 0 || (l->hashed && !is.hash))
		return false;
	m->hash = l->hashed ? is.hash : 0;
	m->rank = is.rank;
	m->nranks = is.nranks;
	m->read = true;
	return true;
}

/* Reads the missing fields.  Of a communicator that was made by an id the rank is known, and the hash that NCCL has since 2.26: it is taken
 * if the library is so new, or if the process has ended and no older one was seen. */
static void look_for(struct communicators *c, struct nccl_program *p, struct communicator *m, unsigned long long code)
{
	unsigned long long now = clock_ns();
	const struct layout *l;

	if (m->read || (m->looked && now < m->looked + AGAIN_NS))
		return;
	m->looked = now;
	l = layout_of(c, p, code);
	if (!read_communicator(c, p, m, l) && !m->hash && m->computed && (l ? l->current : !c->outdated))
		m->hash = m->computed;
}

/* ---- Records */

bool nccl_event_is_launch(const struct nccl_event *e)
{
	return cuda_fns[e->head.kind].class == CUDA_LAUNCH;
}

bool nccl_event_is_right(const struct nccl_event *e, size_t size)
{
	return !record_is_process_event(&e->head) && record_is_whole(&e->head, size, offsetof(struct nccl_event, stack)) &&
	       e->head.kind < CUDA_ID_MAX && (cuda_fns[e->head.kind].lib == CUDA_NCCL || nccl_event_is_launch(e)) &&
	       !e->comm[sizeof(e->comm) - 1];
}

bool nccl_event_failed(const struct nccl_event *e)
{
	return e->ret && e->ret != NCCL_IN_PROGRESS;
}

unsigned long long nccl_event_bytes(const struct nccl_event *e)
{
	unsigned size = cuda_fns[e->head.kind].args.count ? nccl_type_size(e->type) : 0;
	unsigned long long bytes;

	return !size || __builtin_mul_overflow(e->count, size, &bytes) ? NO_VALUE : bytes;
}

static void made_by_id(struct communicator *m, const struct nccl_event *e)
{
	if (!e->hash || e->rank < 0 || e->rank >= e->nranks || e->nranks > RANKS_MAX)
		return;
	m->computed = e->hash;
	m->rank = e->rank;
	m->nranks = e->nranks;
}

/* Returns a new one, in place of one that has ended unseen. */
static struct communicator *made(struct communicators *c, struct nccl_program *p, unsigned long long handle)
{
	struct communicator *m = handle ? find(p, handle) : NULL;

	if (m)
		end(c, p, m);
	m = handle ? communicators_add(c, p, handle) : NULL;
	if (m)
		m->whole = true;
	return m;
}

static void made_all(struct communicators *c, struct nccl_program *p, const struct nccl_event *e)
{
	unsigned long long at[ALL_MAX] = { 0 }, handles[ALL_MAX];
	int n = e->nranks < 0 ? 0 : e->nranks < ALL_MAX ? e->nranks : ALL_MAX;
	struct communicator *m;

	for (int i = 0; i < n; i++)
		at[i] = e->at + 8ull * i;
	m = made(c, p, e->handle);
	if (m)
		look_for(c, p, m, e->code);
	if (!n || vm_read_words(c->probes->helpers, p->pid, at, n, handles))
		return;
	for (int i = 1; i < n; i++) {
		m = find(p, handles[i]) ? NULL : made(c, p, handles[i]);
		if (m)
			look_for(c, p, m, e->code);
		if (m && !m->read)	/* the array may have been on the stack, and is gone */
			drop(c, p, m);
	}
}

/* Return true if the handle is one that a call has announced. */
static bool is_pending(struct communicators *c, struct nccl_program *p, unsigned long long handle)
{
	unsigned n = p->npending < PENDING ? p->npending : PENDING;
	unsigned long long handles[PENDING];

	if (!n || vm_read_words(c->probes->helpers, p->pid, p->pending, n, handles))
		return false;
	for (unsigned i = 0; i < n; i++) {
		if (handles[i] != handle)
			continue;
		p->pending[i] = p->pending[--n];
		p->npending = n;
		return true;
	}
	return false;
}

static void keep(struct communicators *c, struct communicator *m, const struct nccl_event *e, bool message)
{
	struct comm_op *to;

	if (!keeps(c, m))
		return;
	to = message ? &m->message : m->recent + m->collectives % RECENT;
	*to = (struct comm_op){
		.start = e->start, .time = e->time, .number = message ? m->message.number + 1 : m->collectives, .message = message, .count = e->count, .stream = e->stream,
		.func = e->head.kind, .other = e->other, .type = e->type, .op = e->op, .device = e->device, .tid = e->tid,
		.group = e->group, .replayed = e->replayed,
	};
}

static void operation(struct communicators *c, struct communicator *m, const struct nccl_event *e)
{
	unsigned long long bytes = nccl_event_bytes(e);
	const struct cuda_args *args = &cuda_fns[e->head.kind].args;
	bool message;

	m->func = e->head.kind;
	m->time = e->start;
	m->device = e->device;
	if (nccl_event_failed(e)) {
		m->total.failed++;
		return;
	}
	m->total.operations++;
	m->total.replayed += e->replayed;
	if (bytes != NO_VALUE) {
		m->total.bytes += bytes;
		m->sizes[hist_row_of(bytes)]++;
	}
	message = args->peer || !args->count;	/* or a signal */
	m->collectives += !message;
	keep(c, m, e, message);
	if (m->recent && args->peer && args->count)
		comm_peers_count(&m->peers, e->other, e->head.kind == CUDA_ID_ncclSend, &c->quota, m->user, m->pid);
	if (!message && m->meeting)
		meet(m, e->start);
}

/* Returns the communicator of a call; NULL if there is none. */
static struct communicator *of_call(struct communicators *c, struct nccl_program *p, const struct nccl_event *e)
{
	struct communicator *m;

	if (nccl_event_failed(e) || !e->at) {
		m = find(p, e->handle);
		/* what failed may have had no communicator, or one that has ended meanwhile */
		if (m || !e->handle || nccl_event_failed(e))
			return m;
		return is_pending(c, p, e->handle) ? made(c, p, e->handle) : communicators_add(c, p, e->handle);
	}
	if (e->head.kind == CUDA_ID_ncclCommInitAll) {
		made_all(c, p, e);
		return NULL;
	}
	if (!e->handle)
		p->pending[p->npending++ % PENDING] = e->at;
	m = made(c, p, e->handle);
	if (m)
		made_by_id(m, e);
	return m;
}

/* Sets when the operations of a communicator's group have begun. */
static void begin_group(struct communicator *m, const struct nccl_event *end)
{
	for (unsigned long long n = m->collectives; n && m->collectives - n < RECENT; n--) {
		struct comm_op *op = &m->recent[n % RECENT];

		if (op->group != end->group || op->tid != end->tid)
			break;
		op->time = end->time;
	}
	if (m->message.group == end->group && m->message.tid == end->tid)
		m->message.time = end->time;
}

/* Of groups within each other the outermost one counts. */
static void group_ended(struct communicators *c, const struct nccl_event *e)
{
	struct open_group *g = NULL;
	struct communicator *m;
	struct nccl_program *p;

	HASH_FIND(hh, c->programs, &e->program, sizeof(e->program), p);
	if (p && !e->grouped)
		HASH_FIND(hh, p->groups, &e->tid, sizeof(e->tid), g);
	if (!g)
		return;
	if (g->number == e->group)
		LIST_FOREACH(m, &g->with, in_group)
			begin_group(m, e);
	close_group(c, p, g);
}

static void captured(struct nccl_program *p, const struct nccl_event *e)
{
	const struct graph_work operation = {
		.func = e->handle, .bytes = e->count,
		.operation = { .id = e->head.kind, .type = e->type, .op = e->op, .other = e->other },
	};

	graphs_captured(&p->graphs, e->capture, &operation);
}

/* Notes who has called. */
static void called(struct communicators *c, struct nccl_program *p, struct communicator *m,
		   const struct nccl_event *e)
{
	if (cuda_fns[e->head.kind].class != CUDA_ASK) {	/* as a thread does that watches others */
		memcpy(m->comm, e->comm, sizeof(m->comm));
		m->tid = e->tid;
		m->made = m->made ?: e->time;
	}
	m->code = e->code;
	m->uid = e->uid;
	look_for(c, p, m, e->code);
	if (m->whole && m->hash && !m->meeting && !m->collectives)
		join_meeting(c, m, e->uid);
}

const struct communicator *communicators_call(struct communicators *c, const struct nccl_event *e)
{
	const struct cuda_fn *fn = &cuda_fns[e->head.kind];
	struct nccl_program *p = e->handle || e->at ? program_of(c, e->program, e->head.pid) : NULL;
	struct communicator *m;

	if (!c->keeps_ended)
		free_ended(c);
	if (fn->class == CUDA_GROUP && fn->args.op == CUDA_END)
		group_ended(c, e);
	m = p ? of_call(c, p, e) : NULL;
	if (!m)
		return NULL;
	called(c, p, m, e);
	if (fn->class == CUDA_OPERATION && !e->capture) {
		operation(c, m, e);
		join_group(c, p, m, e);
	} else if (fn->class == CUDA_OPERATION && !nccl_event_failed(e)) {
		captured(p, e);
	}
	if (fn->class == CUDA_COMM && fn->args.op == CUDA_DESTROY)
		end(c, p, m);
	return m;
}

void communicators_graph(struct communicators *c, const struct record *record, size_t size)
{
	const struct launch_event *e = (const void *)record;
	struct nccl_program *p;

	if (!launch_is_record(record) || record->kind < LAUNCH_CAPTURED || size < sizeof(*e))
		return;
	/* of nodes only child graphs have operations */
	if ((record->kind == LAUNCH_CAPTURED || record->kind == LAUNCH_NODE) && e->key.kind != LAUNCH_GRAPH)
		return;
	p = program_of(c, e->key.program, record->pid);
	if (p)
		graphs_record(&p->graphs, NULL, e, size);
}

/* ---- Launches of graphs */

/* followed: the graph was made before tracing began; else it is too large, or the user has used up
 * his time. */
static void unknown_launch(struct communicators *c, struct nccl_program *p, bool followed)
{
	c->unknown += followed;
	c->unfollowed += !followed;
	if (p)
		p->unknown++;
}

bool communicator_has_unknown(const struct communicator *m)
{
	return m->of && m->of->unknown > m->unknown;
}

/* Others wait while launches are handled: each takes this many times as long of its user's time, of
 * LONGEST_NS at most, as the tool may not have had the CPU.  APART: operation by operation. */
enum { LAUNCH_WEIGHT = 8, APART_WEIGHT = 16, LONGEST_NS = 2000000 };

static unsigned long long since_then(unsigned long long then)
{
	unsigned long long ns = clock_ns() - then;

	return ns < LONGEST_NS ? ns : LONGEST_NS;
}

/* A launch that is being handled.  event: as if an operation of it had been called. */
struct launch {
	struct communicators *c;
	struct nccl_program *p;
	struct nccl_event event;
	comm_fn *fn;
	void *ctx;
};

static void set_operation(struct nccl_event *e, const struct graph_work *w)
{
	e->head.kind = w->operation.id;
	e->handle = w->func;
	e->count = w->bytes;
	e->type = w->operation.type;
	e->op = w->operation.op;
	e->other = w->operation.other;
	e->replayed = true;
}

/* Its communicator may have ended meanwhile: NCCL forbids that. */
static void launch_each(struct launch *l, const struct graph_content *content)
{
	unsigned long long now = clock_ns();
	struct nccl_event *e = &l->event;

	for (size_t i = content->n - content->noperations; i < content->n; i++) {
		const struct communicator *m;

		set_operation(e, &content->all[i]);
		m = find(l->p, e->handle) ? communicators_call(l->c, e) : NULL;
		if (m && l->fn)
			l->fn(l->ctx, m, &(struct comm_calls){
				.event = e, .n = 1, .bytes = nccl_event_bytes(e) });
	}
	if (l->p->graphs.time)
		budget_charge(&l->c->apart_time, l->p->user, APART_WEIGHT * since_then(now));
}

static bool is_apart(const struct launch *l, const struct graph_content *content,
		     unsigned long long now)
{
	if (content->noperations <= 1 || !l->p->graphs.time)
		return content->noperations <= LAUNCH_APART;
	return content->noperations <= LAUNCH_APART &&
	       budget_left(&l->c->apart_time, l->p->user, now);
}

/* The same as operation() of each of them. */
static void begin_part(struct communicators *c, struct communicator *m, const struct graph_part *part, struct nccl_event *e)
{
	for (unsigned i = 0; i < part->nkinds; i++) {
		const struct graph_kind *kind = &part->kinds[i];

		m->total.operations += kind->n;
		m->total.replayed += kind->n;
		m->total.bytes += kind->bytes != NO_VALUE ? kind->bytes : 0;
		for (unsigned k = 0; k < kind->nsizes; k++)
			m->sizes[kind->sizes[k].row] += kind->sizes[k].n;
	}
	m->collectives += part->collectives - part->ntail;
	for (unsigned i = 0; i < part->ntail; i++) {
		m->collectives++;
		set_operation(e, part->tail[i]);
		keep(c, m, e, false);
		if (m->meeting)
			meet(m, e->start);
	}
	if (part->last_message) {
		m->message.number += keeps(c, m) ? part->messages - 1 : 0;
		m->peers.incomplete = true;	/* the sums of a large graph do not have them by peer */
		set_operation(e, part->last_message);
		keep(c, m, e, true);
	}
	m->func = part->last->operation.id;
	m->time = e->start;
	m->device = e->device;
}

static void hand_over(struct launch *l, const struct communicator *m, const struct graph_kind *kind,
		      struct comm_calls *calls)
{
	struct nccl_event *e = &l->event;

	set_operation(e, kind->last);
	if (!kind->same_count)
		e->count = NO_VALUE;
	if (!kind->same_other)
		e->other = -1;
	calls->event = e;
	calls->n = m ? kind->large : 0;
	calls->bytes = kind->large_bytes;
	calls->left--;
	l->fn(l->ctx, m, calls);
}

/* Its cost does not depend on how many operations the graph has. */
static void launch_sums(struct launch *l, const struct graph_operations *all)
{
	struct comm_calls calls = { .kinds = all->nkinds, .left = all->nkinds };

	if (!l->c->keeps_ended)
		free_ended(l->c);
	for (size_t i = 0; i < all->nparts; i++) {
		const struct graph_part *part = &all->parts[i];
		struct communicator *m = find(l->p, part->last->func);

		if (m) {
			set_operation(&l->event, part->last);
			called(l->c, l->p, m, &l->event);
			begin_part(l->c, m, part, &l->event);
		}
		for (unsigned k = 0; l->fn && k < part->nkinds; k++)
			hand_over(l, m, &part->kinds[k], &calls);
	}
}

static void launch_together(struct launch *l, struct graph_content *content)
{
	const struct graph_operations *all = graph_operations_of(content, l->c->least);

	if (all)
		launch_sums(l, all);
	else
		unknown_launch(l->c, l->p, false);
}

void communicators_launch(struct communicators *c, const struct nccl_event *launch, comm_fn *fn,
			  void *ctx)
{
	struct launch l = { .c = c, .fn = fn, .ctx = ctx };
	size_t frames = launch->head.frames < STACK_FRAMES ? launch->head.frames : STACK_FRAMES;
	unsigned long long since;
	struct graph_now graph;

	memcpy(&l.event, launch, offsetof(struct nccl_event, stack) + 8 * frames);
	l.event.head.frames = frames;
	HASH_FIND(hh, c->programs, &launch->program, sizeof(launch->program), l.p);
	if (!l.p || !graphs_follow(&l.p->graphs)) {
		unknown_launch(c, l.p, !l.p);
		return;
	}
	graph = graphs_now(&l.p->graphs, launch->handle);
	since = clock_ns();
	if (!graph.known)
		unknown_launch(c, l.p, true);
	else if (graph.content && is_apart(&l, graph.content, since))
		launch_each(&l, graph.content);
	else if (graph.content)
		launch_together(&l, graph.content);
	if (l.p->graphs.time)
		budget_charge(&c->graph_time, l.p->user, LAUNCH_WEIGHT * since_then(since));
	graph_content_put(graph.content);
}

void communicators_warn(const struct communicators *c)
{
	unsigned long long lost = c->lost_nodes;

	for (const struct nccl_program *p = c->programs; p; p = p->hh.next)
		lost += p->graphs.lost;
	if (c->unknown)
		warning(0, "%llu launches of CUDA graphs that were made before tracing began: operations of NCCL in them are not counted",
			c->unknown);
	if (c->unfollowed)
		warning(0, "%llu launches of CUDA graphs that are not followed: operations of NCCL "
			"in them are not counted", c->unfollowed);
	if (lost)
		warning(0, "%llu nodes of graphs not followed: " GRAPHS_LOST, lost);
}

void communicators_look(struct communicators *c)
{
	for (struct nccl_program *p = c->programs; p; p = p->hh.next)
		for (struct communicator *m = p->all; m; m = m->hh.next)
			look_for(c, p, m, m->code);
}

const struct comm_op *communicator_last(const struct communicator *m)
{
	const struct comm_op *a = m->recent && m->collectives ? &m->recent[m->collectives % RECENT] : NULL;
	const struct comm_op *b = m->message.number ? &m->message : NULL;

	return !a || (b && b->time > a->time) ? b : a;
}

const struct comm_op *communicator_collective(const struct communicator *m, unsigned long long number)
{
	return number && m->recent && m->recent[number % RECENT].number == number ? &m->recent[number % RECENT] : NULL;
}

void communicators_each(const struct communicators *c, void (*fn)(void *ctx, const struct communicator *m), void *ctx)
{
	for (const struct nccl_program *p = c->programs; p; p = p->hh.next)
		for (const struct communicator *m = p->all; m; m = m->hh.next)
			fn(ctx, m);
	for (const struct communicator *m = c->ended; m; m = m->next)
		fn(ctx, m);
}

void communicators_interval(struct communicators *c)
{
	free_ended(c);
	for (struct nccl_program *p = c->programs; p; p = p->hh.next) {
		for (struct communicator *m = p->all; m; m = m->hh.next) {
			m->before = m->total;
			memset(m->sizes, 0, sizeof(m->sizes));
		}
	}
}

void communicators_lost(struct communicators *c)
{
	for (struct nccl_program *p = c->programs; p; p = p->hh.next) {
		for (struct communicator *m = p->all; m; m = m->hh.next) {
			leave_meeting(c, m);
			m->whole = false;
		}
	}
}

bool communicators_ended(struct communicators *c, const struct process_event *e)
{
	struct nccl_program *p;

	HASH_FIND(hh, c->programs, &e->program, sizeof(e->program), p);
	if (p)
		end_program(c, p);
	return p;
}

void communicators_free(struct communicators *c)
{
	struct nccl_program *p, *next;

	HASH_ITER(hh, c->programs, p, next)
		end_program(c, p);
	free_ended(c);
	budget_free(&c->graph_time);
	budget_free(&c->apart_time);
	quota_free(&c->quota);
}
