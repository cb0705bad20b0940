/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "pprof/profile.h"
#include "proc/process_table.h"

/* Their bytes on the heap, with the place in the table. */
enum { SAMPLE_COST = sizeof(struct profile_sample) + 64 };

struct profile_leaf {
	unsigned user;		/* who is charged */
	unsigned long long uses;	/* samples that have it */
	UT_hash_handle hh;
	char name[];
};

void profile_begin(struct profile *p)
{
	p->began = clock_ns();
}

static size_t leaf_cost(const char *name)
{
	return sizeof(struct profile_leaf) + strlen(name) + 1 + 64;
}

static void leaf_put(struct profile *p, struct profile_leaf *leaf)
{
	if (--leaf->uses)
		return;
	HASH_DEL(p->leaves, leaf);
	quota_give(&p->quota, leaf->user, leaf_cost(leaf->name));
	free(leaf);
}

/* Returns our copy of a name, which leaf_put() gives back; NULL if the user has too many. */
static struct profile_leaf *leaf_get(struct profile *p, unsigned user, int pid, const char *name)
{
	size_t size = strlen(name) + 1;
	struct profile_leaf *leaf;

	HASH_FIND_STR(p->leaves, name, leaf);
	if (!leaf && !quota_take(&p->quota, user, pid, leaf_cost(name)))
		return NULL;
	if (!leaf) {
		leaf = xcalloc(1, sizeof(*leaf) + size);
		leaf->user = user;
		memcpy(leaf->name, name, size);
		HASH_ADD_STR(p->leaves, name, leaf);
	}
	leaf->uses++;
	return leaf;
}

static void sample_drop(struct profile *p, struct profile_sample *sample)
{
	HASH_DEL(p->samples, sample);
	quota_give(&p->quota, sample->user, SAMPLE_COST);
	leaf_put(p, sample->leaf);
	free(sample);
}

/* Takes over the leaf; NULL if the user has too many samples. */
static struct profile_sample *sample_of(struct profile *p, unsigned user, const struct profile_key *key,
					struct profile_leaf *leaf)
{
	struct profile_sample *sample;

	HASH_FIND(hh, p->samples, key, sizeof(*key), sample);
	if (sample || !quota_take(&p->quota, user, key->pid, SAMPLE_COST)) {
		leaf_put(p, leaf);
		return sample;
	}
	sample = xcalloc(1, sizeof(*sample));
	sample->key = *key;
	sample->user = user;
	sample->leaf = leaf;
	HASH_ADD(hh, p->samples, key, sizeof(sample->key), sample);
	return sample;
}

void profile_add(struct profile *p, const struct profile_event *e)
{
	struct profile_sample *sample = NULL;
	struct profile_leaf *copy;
	struct profile_key key;
	unsigned user;

	if (!p->path)
		return;
	memset(&key, 0, sizeof(key));	/* it is compared by its bytes */
	user = process_user(p->processes, e->pid);
	copy = leaf_get(p, user, e->pid, e->leaf);
	if (copy) {
		key.leaf = copy->name;
		key.stack = e->stack;
		key.pid = e->pid;
		key.device = e->device;
		memcpy(key.comm, e->comm, strnlen(e->comm, sizeof(key.comm) - 1));
		sample = sample_of(p, user, &key, copy);
	}
	p->lost += !sample;
	for (int i = 0; sample && i < PROFILE_VALUES; i++)
		if (__builtin_add_overflow(sample->values[i], e->values[i], &sample->values[i]))
			sample->values[i] = ~0ull;
}

/* Return true if there is no such process; those of one process usually come in sequence. */
static bool has_ended(int pid, int *last, bool *ended)
{
	if (pid == *last)
		return *ended;
	*last = pid;
	*ended = kill(pid, 0) && errno == ESRCH;
	return *ended;
}

void profile_sweep(struct profile *p, unsigned long long ns)
{
	struct profile_sample *sample, *next;
	unsigned long long now = clock_ns();
	bool ended = false;
	int last = 0;

	HASH_ITER(hh, p->samples, sample, next) {
		if (!has_ended(sample->key.pid, &last, &ended))
			sample->ended = 0;
		else if (!sample->ended)
			sample->ended = now;
		else if (now - sample->ended >= ns)
			sample_drop(p, sample);
	}
}

void profile_free(struct profile *p)
{
	struct profile_sample *sample, *next;

	HASH_ITER(hh, p->samples, sample, next)
		sample_drop(p, sample);
	quota_free(&p->quota);
}
