/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Threads that attach and detach links, each with a descriptor table of its own.  For each link
 * closed the kernel waits tens of milliseconds, until no CPU can be running it: one link after
 * the other within a table, but in parallel across tables, even when the tool is killed (measured
 * on 6.18: 300 links take 12.7 s in one table, 1.0 s in 64; perf events close one by one in any
 * case, as the kernel closes all under one lock).  Meanwhile the event loop keeps running: it reads
 * records and resumes stopped processes. */
#ifndef LINK_POOL_H
#define LINK_POOL_H
#include <errno.h>
#include <stdbool.h>

struct attachment;
struct link_pool;
struct pooled_link;

/* Creates a pool without threads. */
struct link_pool *link_pool_new(void);

/* The errno of a pool that cannot create its first thread. */
#define LINK_POOL_NO_THREAD EDEADLK

/* Calls attach(ctx) in the thread that will own its result, and waits for it.  attach() can use
 * the descriptors that this process opened before the first call, and all others by path
 * (/proc/self/fd).  Returns NULL if attach() did, with its errno, or with errno set to
 * LINK_POOL_NO_THREAD. */
struct pooled_link *link_pool_attach(struct link_pool *p, struct attachment *(*attach)(void *ctx),
				     void *ctx);

/* Detaches and frees the link asynchronously. */
void link_pool_remove(struct pooled_link *link);

/* Return true if links are still being detached. */
bool link_pool_busy(struct link_pool *p);

/* Waits until all removed links are detached, ends the threads and frees the pool. */
void link_pool_free(struct link_pool *p);

#endif
