/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "pprof/profile.h"
#include "proc/process_table.h"

/* Their bytes on the heap, with the place in the table. */
enum { SAMPLE_COST = sizeof(struct profile_sample) + 64 };

struct profile_leaf {
	UT_hash_handle hh;
	char name[];
};

void profile_begin(struct profile *p)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	p->began = now.tv_sec * 1000000000ull + now.tv_nsec;
}

/* Returns our copy of a name; NULL if the user has too many. */
static const char *leaf_of(struct profile *p, unsigned user, int pid, const char *name)
{
	size_t size = strlen(name) + 1;
	struct profile_leaf *leaf;

	HASH_FIND_STR(p->leaves, name, leaf);
	if (leaf)
		return leaf->name;
	if (!quota_take(&p->quota, user, pid, sizeof(*leaf) + size + 64))
		return NULL;
	leaf = xcalloc(1, sizeof(*leaf) + size);
	memcpy(leaf->name, name, size);
	HASH_ADD_STR(p->leaves, name, leaf);
	return leaf->name;
}

static struct profile_sample *sample_of(struct profile *p, unsigned user, const struct profile_key *key)
{
	struct profile_sample *sample;

	HASH_FIND(hh, p->samples, key, sizeof(*key), sample);
	if (sample || !quota_take(&p->quota, user, key->pid, SAMPLE_COST))
		return sample;
	sample = xcalloc(1, sizeof(*sample));
	sample->key = *key;
	HASH_ADD(hh, p->samples, key, sizeof(sample->key), sample);
	return sample;
}

void profile_add(struct profile *p, int pid, const char *comm, const struct stack *stack, const char *leaf,
		 unsigned int device, const unsigned long long *values)
{
	struct profile_sample *sample;
	struct profile_key key;
	unsigned user;

	if (!p->path)
		return;
	memset(&key, 0, sizeof(key));	/* it is compared by its bytes */
	user = process_user(p->processes, pid);
	key.leaf = leaf_of(p, user, pid, leaf);
	key.stack = stack;
	key.pid = pid;
	key.device = device;
	memcpy(key.comm, comm, strnlen(comm, sizeof(key.comm) - 1));
	sample = key.leaf ? sample_of(p, user, &key) : NULL;
	for (int i = 0; sample && i < PROFILE_VALUES; i++)
		sample->values[i] += values[i];
}

void profile_free(struct profile *p)
{
	struct profile_sample *sample, *next;
	struct profile_leaf *leaf, *next_leaf;

	HASH_ITER(hh, p->samples, sample, next) {
		HASH_DEL(p->samples, sample);
		free(sample);
	}
	HASH_ITER(hh, p->leaves, leaf, next_leaf) {
		HASH_DEL(p->leaves, leaf);
		free(leaf);
	}
	quota_free(&p->quota);
}
