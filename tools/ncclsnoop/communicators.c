/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include "abi/ncclsnoop.h"
#include "abi/record.h"
#include "api/cuda_fn.h"
#include "base/clock.h"
#include "ncclsnoop/comm_layout.h"
#include "ncclsnoop/communicators.h"
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

enum { PROGRAM_COST = sizeof(struct nccl_program) + 64, COMMUNICATOR_COST = sizeof(struct communicator) + 64 };

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

static struct communicator *find_or_add(struct communicators *c, struct nccl_program *p, unsigned long long handle)
{
	struct communicator *m = find(p, handle);

	if (m || !quota_take(&c->quota, p->user, p->pid, COMMUNICATOR_COST))
		return m;
	m = xcalloc(1, sizeof(*m));
	m->handle = handle;
	HASH_ADD(hh, p->all, handle, sizeof(handle), m);
	return m;
}

static void drop(struct communicators *c, struct nccl_program *p, struct communicator *m)
{
	HASH_DEL(p->all, m);
	quota_give(&c->quota, p->user, COMMUNICATOR_COST);
	free(m);
}

static void drop_program(struct communicators *c, struct nccl_program *p)
{
	while (p->all)
		drop(c, p, p->all);
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

bool nccl_event_failed(const struct nccl_event *e)
{
	return e->ret && e->ret != NCCL_IN_PROGRESS;
}

struct communicator communicators_call(struct communicators *c, const struct nccl_event *e)
{
	const struct cuda_fn *fn = &cuda_fns[e->head.kind];
	struct nccl_program *p = e->handle ? program_of(c, e->program, e->head.pid) : NULL;
	struct communicator *m = p ? find_or_add(c, p, e->handle) : NULL, is = { .handle = e->handle };

	if (!m)
		return is;
	if (e->made) {
		m->hash = e->hash;
		m->rank = e->rank;
		m->nranks = e->hash ? e->nranks : 0;	/* of others only these know */
		m->operations = 0;
		m->looked = 0;
		m->whole = true;
	}
	if (!m->nranks)
		look_for(c, p, m, e->code);
	m->operations += fn->class == CUDA_OPERATION && !e->captured && !nccl_event_failed(e);
	is = *m;
	if (fn->class == CUDA_COMM && fn->args.op == CUDA_DESTROY && !nccl_event_failed(e))
		drop(c, p, m);
	return is;
}

void communicators_ended(struct communicators *c, const struct process_event *e)
{
	struct nccl_program *p;

	HASH_FIND(hh, c->programs, &e->program, sizeof(e->program), p);
	if (p)
		drop_program(c, p);
}

void communicators_free(struct communicators *c)
{
	struct nccl_program *p, *next;

	HASH_ITER(hh, c->programs, p, next)
		drop_program(c, p);
	quota_free(&c->quota);
}
