/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include "abi/nccl_event.h"
#include "abi/record.h"
#include "api/cuda_fn.h"
#include "api/nccl.h"
#include "base/clock.h"
#include "base/util.h"
#include "model/comm_layout.h"
#include "model/communicators.h"
#include "probe/dso.h"
#include "probe/probes.h"
#include "proc/helper_files.h"
#include "proc/user.h"
#include "proc/vm_read.h"

/* Where the communicators of a libnccl have what is read of them.  A process may have several of that library. */
struct layout {
	unsigned long long start, end;	/* its code in the process */
	unsigned rank;			/* byte of a communicator with its rank; 0: not known */
	bool hashed;			/* its hash is before that */
};

enum { LAYOUTS = 4 };

struct nccl_program {
	unsigned long long id;
	int pid;
	unsigned user;
	struct communicator *all;
	struct layout layouts[LAYOUTS];
	int nlayouts;
	UT_hash_handle hh;
};

/* Of a communicator's row, when it is shown. */
enum { ROW_COST = 320 };

enum { PROGRAM_COST = sizeof(struct nccl_program) + 64, COMMUNICATOR_COST = sizeof(struct communicator) + 64 + ROW_COST };

/* How often a communicator is looked for that was not ready. */
static const unsigned long long AGAIN_NS = 1000000000;

void communicators_init(struct communicators *c, struct probes *probes, bool whole)
{
	*c = (struct communicators){
		.probes = probes, .quota = {
			.limit = 16 << 20, .what = "communicators of NCCL", .loss = "the ranks of further ones are not known",
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
	HASH_ADD(hh, c->programs, id, sizeof(id), p);
	return p;
}

static struct communicator *find(struct nccl_program *p, unsigned long long handle)
{
	struct communicator *m;

	HASH_FIND(hh, p->all, &handle, sizeof(handle), m);
	return m;
}

static struct communicator *add(struct communicators *c, struct nccl_program *p, unsigned long long handle)
{
	struct communicator *m;

	if (!quota_take(&c->quota, p->user, p->pid, COMMUNICATOR_COST))
		return NULL;
	m = xcalloc(1, sizeof(*m));
	m->handle = handle;
	m->pid = p->pid;
	m->user = p->user;
	m->func = -1;
	HASH_ADD(hh, p->all, handle, sizeof(handle), m);
	return m;
}

/* ---- Where the ranks of a communicator meet: those of one user's processes that have the same hash */

/* So many collectives can the first rank be ahead of the last one for them to be compared. */
enum { MEETINGS = 256 };

struct meeting {
	struct { unsigned long long hash; unsigned uid, unused; } key;	/* uid: as programs may take others' hashes */
	unsigned user;			/* who is charged for it */
	unsigned refs;			/* by ranks */
	unsigned long long furthest;	/* the most collectives that one has begun */
	struct { unsigned long long number, first; int arrived; } of[MEETINGS];
	UT_hash_handle hh;
};

static struct meeting *meeting_get(struct communicators *c, const struct communicator *m, unsigned uid)
{
	struct meeting *g, want = { .key = { m->hash, uid, 0 } };

	HASH_FIND(hh, c->meetings, &want.key, sizeof(want.key), g);
	if (!g) {
		if (!quota_take(&c->quota, m->user, m->pid, sizeof(*g)))
			return NULL;
		g = xcalloc(1, sizeof(*g));
		g->key = want.key;
		g->user = m->user;
		HASH_ADD(hh, c->meetings, key, sizeof(g->key), g);
	}
	g->refs++;
	return g;
}

static void meeting_put(struct communicators *c, struct meeting *g)
{
	if (!g || --g->refs)
		return;
	HASH_DEL(c->meetings, g);
	quota_give(&c->quota, g->user, sizeof(*g));
	free(g);
}

/* A rank comes to its next collective: the same one has the same number in each rank. */
static void meet(struct communicator *m, unsigned long long time)
{
	struct meeting *g = m->meeting;
	unsigned long long n = m->collectives, at = n % MEETINGS;

	if (g->furthest < n)
		g->furthest = n;
	if (g->of[at].number > n)	/* so far behind that the others are not known any more */
		return;
	if (g->of[at].number < n) {
		g->of[at].number = n;
		g->of[at].first = time;
		g->of[at].arrived = 0;
	}
	m->total.met++;
	m->total.late += time > g->of[at].first ? time - g->of[at].first : 0;
	m->total.came_last += ++g->of[at].arrived == m->nranks && m->nranks > 1;
}

unsigned long long communicator_behind(const struct communicator *m)
{
	return m->meeting ? m->meeting->furthest - m->collectives : NO_VALUE;
}

/* ---- The end */

static void free_ended(struct communicators *c)
{
	struct communicator *m;

	while ((m = c->ended)) {
		c->ended = m->next;
		meeting_put(c, m->meeting);
		quota_give(&c->quota, m->user, COMMUNICATOR_COST);
		free(m);
	}
}

static void end(struct communicators *c, struct nccl_program *p, struct communicator *m)
{
	HASH_DEL(p->all, m);
	m->next = c->ended;
	c->ended = m;
}

static void end_program(struct communicators *c, struct nccl_program *p)
{
	while (p->all)
		end(c, p, p->all);
	HASH_DEL(c->programs, p);
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

static int symbol_offset(const struct dso *d, int id, unsigned long long *offset)
{
	for (int i = 0; i < d->scan.n; i++) {
		if (d->scan.probes[i].id != id)
			continue;
		*offset = d->scan.probes[i].symbol;
		return 0;
	}
	return -1;
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
		if (!symbol_offset(d, ids[i], &offset) && offset >= m->offset && offset - m->offset < m->end - m->start)
			s->functions[i] = m->start + (offset - m->offset);
	s->layout.hashed = !symbol_offset(d, CUDA_ID_ncclCommSplit, &offset);	/* since 2.18, too */
	return false;
}

static void find_layout(struct code_search *s)
{
	struct code code[3];

	for (int i = 0; i < 3; i++)
		code[i].size = s->functions[i] ? vm_read_some(s->c->probes->helpers, s->pid, s->functions[i], code[i].bytes, CODE_SIZE) : 0;
	s->layout.rank = comm_layout_rank(&code[0], &code[1], &code[2]);
}

static const struct layout *layout_of(struct communicators *c, struct nccl_program *p, unsigned long long code)
{
	struct code_search s = { .c = c, .pid = p->pid, .at = code };

	for (int i = 0; i < p->nlayouts; i++)
		if (code >= p->layouts[i].start && code < p->layouts[i].end)
			return &p->layouts[i];
	if (p->nlayouts == LAYOUTS || helper_mappings(c->probes->helpers, p->pid, false, look, &s) || !s.layout.end)
		return NULL;
	find_layout(&s);
	p->layouts[p->nlayouts] = s.layout;
	return &p->layouts[p->nlayouts++];
}

static void read_communicator(struct communicators *c, struct nccl_program *p, struct communicator *m, unsigned long long code)
{
	const struct layout *l = layout_of(c, p, code);
	struct { unsigned long long hash; int rank, nranks, device; } is;
	void *bytes;

	if (!l || !l->rank || m->handle % 8)
		return;
	bytes = vm_read_bytes(c->probes->helpers, p->pid, m->handle + l->rank - sizeof(is.hash), 20);
	if (!bytes)
		return;
	memcpy(&is, bytes, 20);
	free(bytes);
	if (is.rank < 0 || is.rank >= is.nranks || is.device < 0)
		return;
	m->hash = l->hashed ? is.hash : 0;
	m->rank = is.rank;
	m->nranks = is.nranks;
}

static void look_for(struct communicators *c, struct nccl_program *p, struct communicator *m, unsigned long long code)
{
	unsigned long long now = clock_ns();

	if (m->looked && now < m->looked + AGAIN_NS)
		return;
	m->looked = now;
	read_communicator(c, p, m, code);
}

/* ---- Records */

bool nccl_event_is_right(const struct nccl_event *e, size_t size)
{
	return !record_is_process_event(&e->head) && record_is_whole(&e->head, size, offsetof(struct nccl_event, stack)) &&
	       e->head.kind < CUDA_ID_MAX && cuda_fns[e->head.kind].lib == CUDA_NCCL && !e->comm[sizeof(e->comm) - 1];
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

/* Another one at the address of one that has ended unseen. */
static void made(struct communicator *m, const struct nccl_event *e)
{
	m->whole = true;
	m->hash = e->hash;
	m->rank = e->rank;
	m->nranks = e->hash ? e->nranks : 0;	/* of others only these know */
}

static void operation(struct communicator *m, const struct nccl_event *e)
{
	unsigned long long bytes = nccl_event_bytes(e);
	const struct cuda_args *args = &cuda_fns[e->head.kind].args;

	m->func = e->head.kind;
	m->time = e->start;
	m->device = e->device;
	if (nccl_event_failed(e)) {
		m->total.failed++;
		return;
	}
	m->total.operations++;
	if (bytes != NO_VALUE) {
		m->total.bytes += bytes;
		m->sizes[bytes ? 63 - __builtin_clzll(bytes) : 0]++;
	}
	if (args->peer || !args->count)		/* messages, signals */
		return;
	m->collectives++;
	if (m->meeting)
		meet(m, e->start);
}

const struct communicator *communicators_call(struct communicators *c, const struct nccl_event *e)
{
	const struct cuda_fn *fn = &cuda_fns[e->head.kind];
	struct nccl_program *p = e->handle ? program_of(c, e->program, e->head.pid) : NULL;
	struct communicator *m = p ? find(p, e->handle) : NULL;

	if (!c->keeps_ended)
		free_ended(c);
	if (m && e->made) {
		end(c, p, m);
		m = NULL;
	}
	if (!m && p)
		m = add(c, p, e->handle);
	if (!m)
		return NULL;
	if (e->made)
		made(m, e);
	memcpy(m->comm, e->comm, sizeof(m->comm));
	if (!m->nranks)
		look_for(c, p, m, e->code);
	if (m->whole && m->hash && !m->meeting && !m->collectives)
		m->meeting = meeting_get(c, m, e->uid);
	if (fn->class == CUDA_OPERATION && !e->captured)
		operation(m, e);
	if (fn->class == CUDA_COMM && fn->args.op == CUDA_DESTROY && !nccl_event_failed(e))
		end(c, p, m);
	return m;
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

void communicators_ended(struct communicators *c, const struct process_event *e)
{
	struct nccl_program *p;

	HASH_FIND(hh, c->programs, &e->program, sizeof(e->program), p);
	if (p)
		end_program(c, p);
}

void communicators_free(struct communicators *c)
{
	struct nccl_program *p, *next;

	HASH_ITER(hh, c->programs, p, next)
		end_program(c, p);
	free_ended(c);
	quota_free(&c->quota);
}
