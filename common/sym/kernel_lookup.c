/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdlib.h>
#include "base/clock.h"
#include "base/die.h"
#include "proc/helper_pool.h"
#include "proc/vm_read.h"
#include "sym/kernel_handle.h"
#include "sym/kernel_lookup.h"
#include "sym/kernels.h"
#include "sym/syms.h"

/* Handles named between two checks of the time: some names take milliseconds to demangle. */
enum { BATCH = 64, MAX_NAME = 8192 };

struct handles {		/* the variables of a process */
	struct kernel_lookup *lookup;
	struct kernels *kernels;
	int pid;
	unsigned long long *at;
	const char **names;
	size_t n, room;
};

static void name_by_variable(struct handles *h, unsigned long long handle, const char *variable)
{
	char *symbol;

	if (!handle || kernels_find(h->kernels, handle))
		return;
	symbol = kernel_of_handle(&h->lookup->demangler, variable);
	if (symbol)
		kernels_name(h->kernels, handle,
			     kernel_named(h->lookup->names, kernels_user(h->kernels), h->pid, symbol));
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

void kernel_lookup_handles(struct kernel_lookup *l, int pid, struct kernels *k)
{
	struct handles h = { .lookup = l, .kernels = k, .pid = pid };

	if (!kernels_may_scan(k))
		return;
	syms_variables(l->syms, pid, "E8__handle", on_variable, &h);
	if (h.n)
		read_handles(&h);
	free(h.at);
	free(h.names);
}

void kernel_lookup(struct kernel_lookup *l, int pid, struct kernels *k,
		   unsigned long long addr)
{
	unsigned long long stub = kernels_original(k, addr), at = kernels_named_at(k, stub);
	const char *symbol = NULL;
	char name[MAX_NAME];

	if (at && vm_read_string(l->helpers, pid, at, name, sizeof(name)))
		symbol = name;
	if (!symbol)
		symbol = syms_function(l->syms, pid, stub);
	if (symbol)
		kernels_name(k, stub, kernel_named(l->names, kernels_user(k), pid, symbol));
	else
		kernel_lookup_handles(l, pid, k);
}
