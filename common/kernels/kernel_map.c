/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdlib.h>
#include <sys/queue.h>
#include "base/clock.h"
#include "base/die.h"
#include "base/hash.h"
#include "base/quota.h"
#include "proc/helper_pool.h"
#include "proc/vm_read.h"
#include "kernels/kernel_map.h"
#include "sym/syms.h"

enum { MAX_STEPS = 4 };

/* How often to look up the kernel of an address: its variable may not be set yet. */
enum { MAX_LOOKS = 4, MAX_LOOKED = 1 << 16 };

static const unsigned long long SCAN_NS = 1000000000;

struct kernel_entry {
	unsigned long long addr;
	const struct kernel *kernel;	/* held */
	unsigned long long alias, pair;	/* 0 = none */
	unsigned long long name_at;	/* its name, not yet read; 0: none is there */
	bool launched;			/* a driver function, launched by launches of pair */
	bool unloaded;
	int looks;
	struct kernel_owner *owner;	/* NULL: unknown */
	unsigned long long time;	/* of the owner's call, ns */
	TAILQ_ENTRY(kernel_entry) in_owner, in_unloaded;
	UT_hash_handle hh;
};

TAILQ_HEAD(entry_list, kernel_entry);

/* A module, library or registered binary. */
struct kernel_owner {
	unsigned long long addr;
	struct entry_list entries;	/* by in_owner; never empty */
	UT_hash_handle hh;
};

struct kernel_map {
	const struct kernel_map *parent;
	struct kernel_entry *entries;
	struct kernel_owner *owners;
	struct entry_list unloaded;	/* by in_unloaded, the longest first */
	int nunloaded;
	struct quota *quota;
	unsigned user;
	int pid;
	int nlooked;			/* entries with looks */
	unsigned long long scanned;	/* when its variables were read, ns */
};

/* Bytes on the heap, with the place in the table. */
enum { ENTRY_COST = sizeof(struct kernel_entry) + 32, OWNER_COST = sizeof(struct kernel_owner) + 32 };

struct kernel_map *kernel_map_new(const struct kernel_map *parent, struct quota *quota, unsigned user, int pid)
{
	struct kernel_map *k = xcalloc(1, sizeof(*k));

	k->parent = parent;
	k->quota = quota;
	k->user = user;
	k->pid = pid;
	TAILQ_INIT(&k->unloaded);
	return k;
}

bool kernel_map_are_none(const struct kernel_map *k)
{
	return !k->entries;
}

/* User charged for the kernel names. */
static unsigned kernel_map_user(const struct kernel_map *k)
{
	return k->user;
}

/* Finds the program's own entry, not a parent's. */
static struct kernel_entry *kernel_map_own_entry(const struct kernel_map *k, unsigned long long addr)
{
	struct kernel_entry *e;

	HASH_FIND(hh, k->entries, &addr, sizeof(addr), e);
	return e;
}

static void leave_owner(struct kernel_map *k, struct kernel_entry *e)
{
	struct kernel_owner *o = e->owner;

	if (e->unloaded) {
		TAILQ_REMOVE(&k->unloaded, e, in_unloaded);
		k->nunloaded--;
	}
	e->unloaded = false;
	e->owner = NULL;
	if (o)
		TAILQ_REMOVE(&o->entries, e, in_owner);
	if (!o || !TAILQ_EMPTY(&o->entries))
		return;
	HASH_DEL(k->owners, o);
	quota_give(k->quota, k->user, OWNER_COST);
	free(o);
}

/* The entry is another kernel's than before, or no kernel's. */
static void unpair(const struct kernel_map *k, struct kernel_entry *e)
{
	struct kernel_entry *other = e->pair ? kernel_map_own_entry(k, e->pair) : NULL;

	if (other && other->pair == e->addr) {
		other->pair = 0;
		other->launched = false;
	}
	e->pair = 0;
	e->launched = false;
}

static void free_entry(struct kernel_map *k, struct kernel_entry *e)
{
	leave_owner(k, e);
	unpair(k, e);
	k->nlooked -= !!e->looks;
	HASH_DEL(k->entries, e);
	kernel_put(e->kernel);
	quota_give(k->quota, k->user, ENTRY_COST);
	free(e);
}

void kernel_map_clear(struct kernel_map *k)
{
	while (k->entries)
		free_entry(k, k->entries);
}

void kernel_map_free(struct kernel_map *k)
{
	kernel_map_clear(k);
	free(k);
}

/* Returns the program's own entry, a new one if needed; NULL if it has too many. */
static struct kernel_entry *entry_of(struct kernel_map *k, unsigned long long addr)
{
	struct kernel_entry *e = kernel_map_own_entry(k, addr);

	if (e || !quota_take(k->quota, k->user, k->pid, ENTRY_COST))
		return e;
	e = xcalloc(1, sizeof(*e));
	e->addr = addr;
	HASH_ADD(hh, k->entries, addr, sizeof(addr), e);
	return e;
}

static void set_kernel(const struct kernel_map *k, struct kernel_entry *e, const struct kernel *kernel)
{
	const struct kernel *old = e->kernel;

	if (old && kernel && old != kernel)
		unpair(k, e);
	e->kernel = kernel_get(kernel);
	e->name_at = 0;
	kernel_put(old);
}

void kernel_map_name(struct kernel_map *k, unsigned long long addr, const struct kernel *kernel)
{
	struct kernel_entry *e = entry_of(k, addr);

	if (e)
		set_kernel(k, e, kernel);
}

void kernel_map_alias(struct kernel_map *k, unsigned long long addr, unsigned long long other)
{
	struct kernel_entry *e = addr == other ? NULL : entry_of(k, addr);
	const struct kernel_entry *of = kernel_map_own_entry(k, other);
	const struct kernel *named;

	if (!e)
		return;
	e->alias = other;
	named = kernel_map_find(k, other);
	if (named) {		/* otherwise its own name is better than none */
		set_kernel(k, e, named);
		set_kernel(k, e, NULL);
	}
	if (of)
		kernel_map_own(k, addr, of->owner ? of->owner->addr : 0, of->time);
}

void kernel_map_name_at(struct kernel_map *k, unsigned long long addr, unsigned long long at)
{
	struct kernel_entry *e = entry_of(k, addr);

	if (!e)
		return;
	set_kernel(k, e, NULL);
	unpair(k, e);
	e->alias = 0;
	e->name_at = at;
}

/* Returns where that name is; 0 if it is nowhere, or is known. */
static unsigned long long kernel_map_named_at(const struct kernel_map *k, unsigned long long addr)
{
	for (; k; k = k->parent) {
		const struct kernel_entry *e = kernel_map_own_entry(k, addr);

		if (e && (e->name_at || e->kernel || e->alias))	/* else only looked for: a parent may know */
			return e->name_at;
	}
	return 0;
}

static struct kernel_owner *owner_of(struct kernel_map *k, unsigned long long addr)
{
	struct kernel_owner *o;

	HASH_FIND(hh, k->owners, &addr, sizeof(addr), o);
	if (o)
		return o;
	if (!quota_take(k->quota, k->user, k->pid, OWNER_COST))
		return NULL;
	o = xcalloc(1, sizeof(*o));
	o->addr = addr;
	TAILQ_INIT(&o->entries);
	HASH_ADD(hh, k->owners, addr, sizeof(addr), o);
	return o;
}

/* Returns the address that the program declared this one the same as; itself if none. */
static unsigned long long original(const struct kernel_map *k, unsigned long long addr)
{
	for (; k; k = k->parent) {
		const struct kernel_entry *e = kernel_map_own_entry(k, addr);

		if (e && e->alias)
			return e->alias;
	}
	return addr;
}

void kernel_map_own(struct kernel_map *k, unsigned long long addr, unsigned long long owner,
		 unsigned long long time)
{
	struct kernel_entry *e = kernel_map_own_entry(k, addr);

	if (!e)
		return;
	leave_owner(k, e);
	e->owner = owner ? owner_of(k, original(k, owner)) : NULL;
	e->time = time;
	if (e->owner)
		TAILQ_INSERT_TAIL(&e->owner->entries, e, in_owner);
}

void kernel_map_unload(struct kernel_map *k, unsigned long long owner, unsigned long long time,
		    void (*fn)(void *ctx, unsigned long long addr), void *ctx)
{
	struct kernel_owner *o;
	struct kernel_entry *e;

	HASH_FIND(hh, k->owners, &owner, sizeof(owner), o);
	if (!o)
		return;
	TAILQ_FOREACH(e, &o->entries, in_owner) {
		if (e->unloaded || e->time >= time)
			continue;
		if (fn)
			fn(ctx, e->addr);
		e->unloaded = true;
		TAILQ_INSERT_TAIL(&k->unloaded, e, in_unloaded);
		k->nunloaded++;
	}
	while (k->nunloaded > KERNELS_UNLOADED)
		free_entry(k, TAILQ_FIRST(&k->unloaded));
}

void kernel_map_pair(struct kernel_map *k, unsigned long long handle, unsigned long long function)
{
	struct kernel_entry *h = handle == function ? NULL : entry_of(k, handle);
	struct kernel_entry *f = h ? entry_of(k, function) : NULL;

	if (!f)
		return;
	h->pair = function;
	f->pair = handle;
	f->launched = true;
}

unsigned long long kernel_map_handle(const struct kernel_map *k, unsigned long long function)
{
	for (; k; k = k->parent) {
		const struct kernel_entry *e = kernel_map_own_entry(k, function);

		if (e && e->launched)
			return e->pair;
	}
	return function;
}

static const struct kernel *follow(const struct kernel_map *k, unsigned long long addr, int steps)
{
	const struct kernel *found = NULL;
	const struct kernel_map *of;

	for (of = k; of && addr && steps && !found; of = of->parent) {
		const struct kernel_entry *e = kernel_map_own_entry(of, addr);

		if (!e)
			continue;
		found = e->kernel ? e->kernel : follow(k, e->alias, steps - 1);
		if (!found)
			found = follow(k, e->pair, steps - 1);
	}
	return found;
}

const struct kernel *kernel_map_find(const struct kernel_map *k, unsigned long long addr)
{
	return follow(k, addr, MAX_STEPS);
}

bool kernel_map_may_look(struct kernel_map *k, unsigned long long addr)
{
	struct kernel_entry *e = k->nlooked < MAX_LOOKED ? entry_of(k, addr) : kernel_map_own_entry(k, addr);

	if (!e || e->looks == MAX_LOOKS || (!e->looks && k->nlooked == MAX_LOOKED))
		return false;
	k->nlooked += !e->looks++;
	return true;
}

/* Return true once a second, when the variables of the process may be read. */
static bool kernel_map_may_scan(struct kernel_map *k)
{
	unsigned long long now = clock_ns();

	if (k->scanned && now - k->scanned < SCAN_NS)
		return false;
	k->scanned = now;
	return true;
}

/* Finds kernels in a process itself: its symbols, variables and memory. */

/* Handles named between two checks of the time: some names take milliseconds to demangle. */
enum { BATCH = 64, MAX_NAME = 8192 };

struct handles {		/* the variables of a process */
	struct kernel_lookup *lookup;
	struct kernel_map *kernels;
	int pid;
	unsigned long long *at;
	const char **names;
	size_t n, room;
};

static void name_by_variable(struct handles *h, unsigned long long handle, const char *variable)
{
	char *symbol;

	if (!handle || kernel_map_find(h->kernels, handle))
		return;
	symbol = kernel_of_handle(&h->lookup->demangler, variable);
	if (symbol)
		kernel_map_name(h->kernels, handle,
			     kernel_named(h->lookup->names, kernel_map_user(h->kernels), h->pid, symbol));
	free(symbol);
}

static void on_variable(void *ctx, const char *name, unsigned long long addr)
{
	struct handles *h = ctx;

	if (h->n == h->room) {
		h->room = h->room ? 2 * h->room : BATCH;
		h->at = xrealloc(h->at, h->room, sizeof(*h->at));
		h->names = xrealloc(h->names, h->room, sizeof(*h->names));
	}
	h->at[h->n] = addr;
	h->names[h->n++] = name;
}

static void read_handles(struct handles *h)
{
	unsigned long long *values = xcalloc(h->n, sizeof(*values)), since;
	struct helper_pool *helpers = h->lookup->helpers;

	if (!vm_read_words(helpers, h->pid, h->at, h->n, values)) {
		since = clock_ns();
		for (size_t i = 0; i < h->n && (i % BATCH || helper_pool_charge(helpers, h->pid, &since)); i++)
			name_by_variable(h, values[i], h->names[i]);
	}
	free(values);
}

void kernel_lookup_handles(struct kernel_lookup *l, int pid, struct kernel_map *k)
{
	struct handles h = { .lookup = l, .kernels = k, .pid = pid };

	if (!kernel_map_may_scan(k))
		return;
	syms_variables(l->syms, pid, "E8__handle", on_variable, &h);
	if (h.n)
		read_handles(&h);
	free(h.at);
	free(h.names);
}

void kernel_lookup(struct kernel_lookup *l, int pid, struct kernel_map *k,
		   unsigned long long addr)
{
	unsigned long long stub = original(k, addr), at = kernel_map_named_at(k, stub);
	const char *symbol = NULL;
	char name[MAX_NAME];

	if (at && vm_read_string(l->helpers, pid, at, name, sizeof(name)))
		symbol = name;
	if (!symbol)
		symbol = syms_function(l->syms, pid, stub);
	if (symbol)
		kernel_map_name(k, stub, kernel_named(l->names, kernel_map_user(k), pid, symbol));
	else
		kernel_lookup_handles(l, pid, k);
}
