/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* How links are bound to a process.  The kernel's filter of a link by process compares memory
 * with that of one task (uprobe_multi_link_filter(), __uprobe_perf_filter(), Linux 6.18): the
 * first thread when the link was made.  If that has ended, or another thread has executed a
 * program, which makes it the first, the kernel places no more breakpoints for the link, and
 * removes those that are there. Then the process gets links of another generation: of its new
 * first thread, or if it has none in all processes.  bpf/lib/generation.bpf.h lets one
 * generation count. */
#ifndef PROBE_BINDINGS_H
#define PROBE_BINDINGS_H
#include <stdbool.h>
#include "base/hash.h"

struct probes;

/* Of a process whose links were renewed. */
struct binding {
	int pid;
	unsigned generation;
	bool everywhere;	/* its links are in all processes */
	UT_hash_handle hh;
};

/* Starts zeroed. */
struct bindings {
	struct binding *all;
	unsigned last;		/* generation */
};

/* Returns that of the process, or NULL: its links are of the first generation. */
const struct binding *binding_find(const struct bindings *b, int pid);

/* Makes the next one of the process; the former links count until binding_publish(). */
const struct binding *binding_next(struct bindings *b, int pid, bool everywhere);

/* Lets links of the process's binding count, and no others.  Returns false if that is not possible:
 * too many processes. */
bool binding_publish(const struct probes *p, const struct bindings *b, int pid);

/* Returns a process with links in all processes that has ended; 0: there is none. */
int binding_ended(const struct bindings *b);

/* Forgets the process, which has ended; -1: all. */
void binding_drop(const struct probes *p, struct bindings *b, int pid);

#endif
