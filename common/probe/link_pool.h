/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Threads that put attachments in and take them out, each with a table of descriptors of its
 * own.  The kernel waits tens of milliseconds for each that is closed, until no processor can be
 * in it: for those of one table one after the other, for those of several at the same time, and
 * so it is, too, when the tool is killed (measured on 6.18: 300 links in one table 12.7 s, in 64
 * tables 1.0 s; perf events go one by one in any case, as the kernel closes each under one lock).
 * The loop goes on meanwhile: it reads records and lets processes go. */
#ifndef LINK_POOL_H
#define LINK_POOL_H
#include <errno.h>
#include <stdbool.h>

struct attachment;
struct link_pool;
struct pooled_link;

/* Without threads yet. */
struct link_pool *link_pool_new(void);

/* The error of a pool that cannot have its first thread. */
#define LINK_POOL_NO_THREAD EDEADLK

/* Calls attach(ctx) in the thread that will hold what it returns, and waits for it.  The
 * descriptors that this process opened before the first call can be used there, and by path all
 * others (/proc/self/fd).  NULL with errno set if attach() returned that, or
 * LINK_POOL_NO_THREAD. */
struct pooled_link *link_pool_attach(struct link_pool *p, struct attachment *(*attach)(void *ctx),
				     void *ctx);

/* Takes it out, some time soon. */
void link_pool_remove(struct pooled_link *link);

/* Return true if something is still to be taken out. */
bool link_pool_busy(struct link_pool *p);

/* Waits until all that is to be removed is, and ends the threads. */
void link_pool_free(struct link_pool *p);

#endif
