/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Processes with new mappings, waiting to be scanned.  A program makes many mappings in a row, and
 * one scan covers all mappings of a process. */
#ifndef RESCAN_QUEUE_H
#define RESCAN_QUEUE_H

struct rescan_process;

/* Starts zeroed. */
struct rescan_queue {
	struct rescan_process *processes;
};

/* pid 0: an unknown process.  rescan_later(): not before a tenth of a second has passed.  Both may be
 * called by helper_call(). */
void rescan_add(struct rescan_queue *p, int pid);
void rescan_later(struct rescan_queue *p, int pid);

/* Calls look(ctx, pid) for each process that waits; delays one whose last scan took so long that
 * it would use more than a fifth of our time. */
void rescan_handle(struct rescan_queue *p, void (*look)(void *ctx, int pid), void *ctx);

void rescan_free(struct rescan_queue *p);

#endif
