/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Finds kernels in a process itself: its symbols, variables and memory. */
#ifndef KERNEL_LOOKUP_H
#define KERNEL_LOOKUP_H
#include "sym/demangle.h"

struct kernel_names;
struct kernels;
struct helper_pool;
struct syms;

struct kernel_lookup {
	struct helper_pool *helpers;
	struct syms *syms;
	struct kernel_names *names;
	struct demangler demangler;	/* starts zeroed; kept, as it counts what was slow */
};

/* Looks up an address in the process, which must be alive: if it is the start of a function or the
 * value of a variable in which nvcc's code keeps a handle, then kernels_find() will know it.
 * Variables are read once a second at most. */
void kernel_lookup(struct kernel_lookup *l, int pid, struct kernels *k,
		   unsigned long long addr);

/* Only looks up variables, and records all of their handles. */
void kernel_lookup_handles(struct kernel_lookup *l, int pid, struct kernels *k);

#endif
