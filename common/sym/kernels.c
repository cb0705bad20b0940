/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include "base/clock.h"
#include "base/hash.h"
#include "base/quota.h"
#include "sym/kernels.h"

enum { MAX_STEPS = 4 };

/* How often to look up the kernel of an address: its variable may not be set yet. */
enum { MAX_LOOKS = 4, MAX_LOOKED = 1 << 16 };

static const unsigned long long SCAN_NS = 1000000000;

struct kernel_entry {
	unsigned long long addr;
	const struct kernel *kernel;
	unsigned long long alias, pair;	/* 0 = none */
	bool launched;			/* a driver function, launched by launches of pair */
	int looks;
	UT_hash_handle hh;
};

struct kernels {
	const struct kernels *parent;
	struct kernel_entry *entries;
	struct quota *quota;
	unsigned user;
	int pid;
	int nlooked;			/* entries with looks */
	unsigned long long scanned;	/* when its variables were read, ns */
};

/* An entry's bytes on the heap, with its place in the table. */
enum { ENTRY_COST = sizeof(struct kernel_entry) + 32 };

struct kernels *kernels_new(const struct kernels *parent, struct quota *quota, unsigned user, int pid)
{
	struct kernels *k = xcalloc(1, sizeof(*k));

	k->parent = parent;
	k->quota = quota;
	k->user = user;
	k->pid = pid;
	return k;
}

bool kernels_are_none(const struct kernels *k)
{
	return !k->entries;
}

unsigned kernels_user(const struct kernels *k)
{
	return k->user;
}

void kernels_free(struct kernels *k)
{
	struct kernel_entry *e, *next;

	quota_give(k->quota, k->user, HASH_COUNT(k->entries) * ENTRY_COST);
	HASH_ITER(hh, k->entries, e, next) {
		HASH_DEL(k->entries, e);
		free(e);
	}
	free(k);
}

/* Finds the program's own entry, not a parent's. */
static struct kernel_entry *find(const struct kernels *k, unsigned long long addr)
{
	struct kernel_entry *e;

	HASH_FIND(hh, k->entries, &addr, sizeof(addr), e);
	return e;
}

/* Returns the program's own entry, a new one if needed; NULL if it has too many. */
static struct kernel_entry *entry_of(struct kernels *k, unsigned long long addr)
{
	struct kernel_entry *e = find(k, addr);

	if (e || !quota_take(k->quota, k->user, k->pid, ENTRY_COST))
		return e;
	e = xcalloc(1, sizeof(*e));
	e->addr = addr;
	HASH_ADD(hh, k->entries, addr, sizeof(addr), e);
	return e;
}

void kernels_name(struct kernels *k, unsigned long long addr, const struct kernel *kernel)
{
	struct kernel_entry *e = entry_of(k, addr);

	if (e)
		e->kernel = kernel;
}

void kernels_alias(struct kernels *k, unsigned long long addr, unsigned long long other)
{
	struct kernel_entry *e = addr == other ? NULL : entry_of(k, addr);

	if (!e)
		return;
	e->alias = other;
	if (kernels_find(k, other))	/* otherwise its own name is better than none */
		e->kernel = NULL;
}

void kernels_pair(struct kernels *k, unsigned long long handle, unsigned long long function)
{
	struct kernel_entry *h = handle == function ? NULL : entry_of(k, handle);
	struct kernel_entry *f = h ? entry_of(k, function) : NULL;

	if (!f)
		return;
	h->pair = function;
	f->pair = handle;
	f->launched = true;
}

unsigned long long kernels_handle(const struct kernels *k, unsigned long long function)
{
	for (; k; k = k->parent) {
		const struct kernel_entry *e = find(k, function);

		if (e && e->launched)
			return e->pair;
	}
	return function;
}

static const struct kernel *follow(const struct kernels *k, unsigned long long addr, int steps)
{
	const struct kernel *found = NULL;
	const struct kernels *of;

	for (of = k; of && addr && steps && !found; of = of->parent) {
		const struct kernel_entry *e = find(of, addr);

		if (!e)
			continue;
		found = e->kernel ? e->kernel : follow(k, e->alias, steps - 1);
		if (!found)
			found = follow(k, e->pair, steps - 1);
	}
	return found;
}

const struct kernel *kernels_find(const struct kernels *k, unsigned long long addr)
{
	return follow(k, addr, MAX_STEPS);
}

unsigned long long kernels_original(const struct kernels *k, unsigned long long addr)
{
	for (; k; k = k->parent) {
		const struct kernel_entry *e = find(k, addr);

		if (e && e->alias)
			return e->alias;
	}
	return addr;
}

bool kernels_may_look(struct kernels *k, unsigned long long addr)
{
	struct kernel_entry *e = k->nlooked < MAX_LOOKED ? entry_of(k, addr) : find(k, addr);

	if (!e || e->looks == MAX_LOOKS || (!e->looks && k->nlooked == MAX_LOOKED))
		return false;
	k->nlooked += !e->looks++;
	return true;
}

bool kernels_may_scan(struct kernels *k)
{
	unsigned long long now = clock_ns();

	if (k->scanned && now - k->scanned < SCAN_NS)
		return false;
	k->scanned = now;
	return true;
}
