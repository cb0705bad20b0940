/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Helper processes that attach and hold links.  For each link closed the kernel waits tens of
 * milliseconds, until no CPU can be running it: one link after the other within a process, but in
 * parallel across processes, even when the tool is killed (measured on 6.18: 300 links take 12.7 s
 * in one, 1.0 s in 64; perf events close one by one in any case, as the kernel closes all under one
 * lock).  Attaching waits for the memory locks of all processes that map the file, which any of them
 * can keep.  Meanwhile the event loop keeps running. */
#ifndef PROBE_LINK_POOL_H
#define PROBE_LINK_POOL_H
#include <stdbool.h>
#include "proc/helper.h"

struct attachment;
struct helper_pool;
struct link_pool;
struct pooled_link;

/* Answer of a function that attaches: see helper_put(). */
struct attached {
	struct attachment *attachment;	/* in the helper; NULL: failed */
	int nlinks, error;
};

struct probe_progress {
	struct helper_pool *helpers;
	int *live;		/* links in the kernel now: for struct attacher, in memory that helpers share */
	const char *file;	/* that is being probed, or NULL */
	bool removing;
	int before, total;	/* of live when this began; links to be placed or removed, 0: unknown */
};

/* Creates a pool without processes.  model: what each of them starts as, see struct helper.  limit:
 * how long attaching may take, in ms. */
struct link_pool *link_pool_new(const struct helper *model, long limit);

/* Calls attach, which answers a struct attached, in the process that will hold the link, and waits
 * for it.  Returns NULL with errno set if attach() failed, to ETIME or ECANCELED if it did not answer,
 * to EAGAIN if an earlier one has not answered yet, or if no process can be created. */
struct pooled_link *link_pool_attach(struct link_pool *p, helper_fn *attach, const void *in,
				     size_t size, int fd);

/* Return true if an attach has not answered in time.  The kernel lets no process fork until it has
 * (dup_mmap_sem), so the tool must not fork either. */
bool link_pool_stuck(struct link_pool *p);

/* Returns the number of links held. */
int link_pool_count(const struct link_pool *p);

/* Detaches and frees the link asynchronously. */
void link_pool_remove(struct pooled_link *link);

/* Call regularly: goes on detaching.  Return true if links are still being detached. */
bool link_pool_busy(struct link_pool *p);

/* Waits up to ms milliseconds until all removed links are detached, and frees the pool.  Returns
 * the number of links that the kernel still removes; its processes are left to that.  The model's idle() may end
 * the wait. */
int link_pool_free(struct link_pool *p, long ms);

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
