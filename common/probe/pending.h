/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Processes with new mappings, waiting to be scanned.  A program makes many mappings in a row, and
 * one scan covers all mappings of a process. */
#ifndef PENDING_H
#define PENDING_H

struct pending_process;

/* Starts zeroed. */
struct pending {
	struct pending_process *processes;
};

/* pid 0: an unknown process.  pending_later(): not before a tenth of a second has passed.  Both may be
 * called by look(). */
void pending_add(struct pending *p, int pid);
void pending_later(struct pending *p, int pid);

/* Calls look(ctx, pid) for each process that waits; delays one whose last scan took so long that
 * it would use more than a fifth of our time. */
void pending_handle(struct pending *p, void (*look)(void *ctx, int pid), void *ctx);

void pending_free(struct pending *p);

#endif
