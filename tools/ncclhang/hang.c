/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdlib.h>
#include "api/cuda_fn.h"
#include "base/die.h"
#include "base/hash.h"
#include "inflight/inflight.h"
#include "nccl/communicators.h"
#include "ncclhang/hang.h"

const char *const hang_words[HANG_VERDICTS] = {
	"idle", "moving", "init", "call", "mismatch", "behind", "message", "pending", "suspect",
};

struct hang_place {
	struct { unsigned long long hash; unsigned user; int nranks; } key;
	size_t at;
	UT_hash_handle hh;
};

static void forget_places(struct hangs *h)
{
	HASH_FREE(h->places);
}

struct hang *hangs_find(const struct hangs *h, unsigned long long hash, int nranks, unsigned user)
{
	struct hang_place *place, want = { .key = { hash, user, nranks } };

	HASH_FIND(hh, h->places, &want.key, sizeof(want.key), place);
	return place ? &h->all[place->at] : NULL;
}

struct hang *hangs_add(struct hangs *h, unsigned long long hash, int nranks, unsigned user)
{
	struct hang *known = hangs_find(h, hash, nranks, user);
	struct hang_place *place;

	if (known)
		return known;
	if (hash) {
		place = xcalloc(1, sizeof(*place));
		place->key.hash = hash;
		place->key.user = user;
		place->key.nranks = nranks;
		place->at = h->n;
		HASH_ADD(hh, h->places, key, sizeof(place->key), place);
	}
	ALLOC_GROW(h->all, h->n, h->room);
	h->all[h->n] = (struct hang){ .hash = hash, .nranks = nranks, .user = user, .whole = true, .func = -1 };
	return &h->all[h->n++];
}

bool hang_is_hung(const struct hang *h)
{
	return h->verdict != HANG_IDLE && h->verdict != HANG_MOVING;
}

bool hang_is_unused(const struct hang *h)
{
	bool used = h->verdict != HANG_IDLE || !h->whole;

	for (size_t i = 0; i < h->n; i++)
		used |= h->ranks[i].last || h->ranks[i].call;
	return !used;
}

struct hang_rank *hang_rank_of(const struct hang *h, int rank)
{
	if (rank < 0)
		return NULL;
	if (h->by_rank)
		return rank < (int)h->n ? &h->ranks[rank] : NULL;
	for (size_t i = 0; i < h->n; i++)
		if (h->ranks[i].rank == rank)
			return &h->ranks[i];
	return NULL;
}

struct hang_rank *hang_add(struct hang *h)
{
	ALLOC_GROW(h->ranks, h->n, h->room);
	h->by_rank = false;
	h->ranks[h->n] = (struct hang_rank){ .rank = -1, .name = { -1, -1, "" } };
	return &h->ranks[h->n++];
}

int hang_func_of(const struct inflight_row *row)
{
	return row ? cuda_fn_find(row->func) : -1;
}

bool hang_is_of(int func, enum cuda_class class)
{
	return func >= 0 && cuda_fns[func].class == class;
}

bool hang_is_collective(int func)
{
	return hang_is_of(func, CUDA_OPERATION) && cuda_fns[func].args.count && !cuda_fns[func].args.peer;
}

bool hang_waits(const struct hang_rank *r)
{
	if (r->call || r->is_unread || (r->is_missing && r->wait) || r->complete == COMPLETE_NOT)
		return true;
	if (r->m && r->m->whole && !r->last && !r->report && !communicator_has_unknown(r->m))	/* in other communicators */
		return false;
	return r->wait && (r->complete == COMPLETE_UNKNOWN ||
			   (r->m && communicator_has_unknown(r->m)));
}

static int by_rank(const void *a, const void *b)
{
	const struct hang_rank *p = a, *q = b;

	return p->rank != q->rank ? p->rank - q->rank : p->pid - q->pid;
}

static int by_hash(const void *a, const void *b)
{
	const struct hang *p = a, *q = b;

	if (p->hash != q->hash)
		return p->hash < q->hash ? -1 : 1;
	return p->nranks - q->nranks;
}

void hang_sort(struct hang *h)
{
	h->by_rank = true;
	qsort(h->ranks, h->n, sizeof(*h->ranks), by_rank);
	for (size_t i = 0; i < h->n; i++)
		h->by_rank &= h->ranks[i].rank == (int)i;
}

void hangs_sort(struct hangs *h)
{
	for (size_t i = 0; i < h->n; i++)
		hang_sort(&h->all[i]);
	forget_places(h);
	if (h->n)
		qsort(h->all, h->n, sizeof(*h->all), by_hash);
}

void hangs_free(struct hangs *h)
{
	for (size_t i = 0; i < h->n; i++)
		free(h->all[i].ranks);
	forget_places(h);
	free(h->all);
	*h = (struct hangs){ 0 };
}
