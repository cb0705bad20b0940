/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <string.h>
#include "base/hash.h"
#include "sym/kernels.h"
#include "proc/vm_read.h"
#include "sym/syms.h"

/* A program that names more is not believed. */
enum { MAX_ENTRIES = 1 << 20, BATCH = 512, MAX_STEPS = 4 };

struct entry {
	unsigned long long addr;
	const struct kernel *kernel;
	unsigned long long alias, pair;	/* 0 = none */
	bool launched;			/* it is the driver's, and pair's launches launched it */
	UT_hash_handle hh;
};

struct kernels {
	int pid;
	const struct kernels *parent;
	struct entry *entries;
};

struct kernels *kernels_new(int pid, const struct kernels *parent)
{
	struct kernels *k = xcalloc(1, sizeof(*k));

	k->pid = pid;
	k->parent = parent;
	return k;
}

void kernels_free(struct kernels *k)
{
	struct entry *e, *next;

	HASH_ITER(hh, k->entries, e, next) {
		HASH_DEL(k->entries, e);
		free(e);
	}
	free(k);
}

/* The program's own. */
static struct entry *find(const struct kernels *k, unsigned long long addr)
{
	struct entry *e;

	HASH_FIND(hh, k->entries, &addr, sizeof(addr), e);
	return e;
}

/* The program's own entry, made if it has none; NULL if it has too many. */
static struct entry *entry_of(struct kernels *k, unsigned long long addr)
{
	struct entry *e = find(k, addr);

	if (e || HASH_COUNT(k->entries) >= MAX_ENTRIES)
		return e;
	e = xcalloc(1, sizeof(*e));
	e->addr = addr;
	HASH_ADD(hh, k->entries, addr, sizeof(addr), e);
	return e;
}

void kernels_name(struct kernels *k, unsigned long long addr, const struct kernel *kernel)
{
	struct entry *e = entry_of(k, addr);

	if (e)
		e->kernel = kernel;
}

void kernels_alias(struct kernels *k, unsigned long long addr, unsigned long long other)
{
	struct entry *e = addr == other ? NULL : entry_of(k, addr);

	if (!e)
		return;
	e->alias = other;
	if (kernels_find(k, other))	/* else a name of its own is better than none */
		e->kernel = NULL;
}

void kernels_pair(struct kernels *k, unsigned long long handle, unsigned long long function)
{
	struct entry *h = handle == function ? NULL : entry_of(k, handle);
	struct entry *f = h ? entry_of(k, function) : NULL;

	if (!f)
		return;
	h->pair = function;
	f->pair = handle;
	f->launched = true;
}

unsigned long long kernels_handle(const struct kernels *k, unsigned long long function)
{
	for (; k; k = k->parent) {
		const struct entry *e = find(k, function);

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
		const struct entry *e = find(of, addr);

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

struct handles {		/* variables to be read, some at a time */
	struct kernels *k;
	struct iovec at[BATCH];
	const char *names[BATCH];
	int n;
};

/* The variable of a kernel's stub, "_ZZ25__device_stub__Z5scalePfiPfiE8__handle", holds the
 * kernel's symbol: 25 characters from __device_stub_ on that are without it "_Z5scalePfi". */
static void name_by_variable(struct kernels *k, unsigned long long handle, const char *variable)
{
	static const char prefix[] = "__device_stub_";
	const char *at = strstr(variable, prefix), *digit = at;
	size_t skip = sizeof(prefix) - 1, len;
	char *symbol;

	while (digit && digit > variable && digit[-1] >= '0' && digit[-1] <= '9')
		digit--;
	len = at ? strtoul(digit, NULL, 10) : 0;
	if (len <= skip || len > strlen(at) || !handle || kernels_find(k, handle))
		return;
	symbol = xprintf("%.*s", (int)(len - skip), at + skip);
	kernels_name(k, handle, kernel_named(symbol));
	free(symbol);
}

static void read_handles(struct handles *h)
{
	unsigned long long values[BATCH] = { 0 };
	ssize_t n;

	for (int from = 0, count; from < h->n; from += count) {
		count = h->n - from;
		/* stops at the first that cannot be read */
		n = vm_read(&kernels_reader, h->k->pid, h->at + from, count, values,
			    count * sizeof(*values));
		n = n < 0 ? 0 : n / (ssize_t)sizeof(*values);
		for (int i = 0; i < n; i++)
			name_by_variable(h->k, values[i], h->names[from + i]);
		count = n < count ? n + 1 : n;
	}
	h->n = 0;
}

static void on_variable(void *ctx, const char *name, unsigned long long addr)
{
	struct handles *h = ctx;

	h->at[h->n] = (struct iovec){ (void *)(unsigned long)addr, 8 };
	h->names[h->n++] = name;
	if (h->n == BATCH)
		read_handles(h);
}

void kernels_resolve_handles(struct kernels *k)
{
	struct handles h = { .k = k };

	syms_variables(k->pid, "E8__handle", on_variable, &h);
	read_handles(&h);
}

void kernels_resolve(struct kernels *k, unsigned long long addr)
{
	unsigned long long stub = addr;
	const struct kernels *of;
	const struct entry *e;
	const char *symbol;

	for (of = k; of && stub == addr; of = of->parent) {
		e = find(of, addr);
		if (e && e->alias)
			stub = e->alias;
	}
	symbol = syms_function(k->pid, stub);
	if (symbol) {
		kernels_name(k, stub, kernel_named(symbol));
		return;
	}
	kernels_resolve_handles(k);
}
