/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* How far the helpers of a link pool are that place and remove probes. */
#ifndef PROBE_PROGRESS_H
#define PROBE_PROGRESS_H
#include <stdbool.h>

struct helper_pool;

struct probe_progress {
	struct helper_pool *helpers;
	int *live;		/* links in the kernel now: for struct attacher, in memory that helpers share */
	const char *file;	/* that is being probed, or NULL */
	bool removing;
	int before, total;	/* of live when this began; links to be placed or removed, 0: unknown */
};

/* Call before the first helper is forked.  What is shown goes to the progress of looks, which must outlive it. */
void probe_progress_init(struct probe_progress *p, struct helper_pool *helpers);
void probe_progress_free(struct probe_progress *p);

/* Call before total links (0: unknown) are placed in a file, afterwards with NULL; before all that there are are
 * removed. */
void probe_progress_place(struct probe_progress *p, const char *file, int total);
void probe_progress_remove(struct probe_progress *p);

/* The idle() of struct helper: shows it, and calls that of the looks. */
bool probe_progress_idle(void *ctx);

#endif
