/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Tells of processes that map code, fork or end while the tool runs. */
#ifndef WATCH_H
#define WATCH_H
#include <stdbool.h>
#include "abi/watch_event.h"
#include "probe/attach.h"

struct ring_buffer;
struct watch;

typedef void watch_fn(void *ctx, const struct watch_event *e);
typedef bool watch_wanted_fn(void *ctx, int pid, const char *path);

/* What calls fn(ctx) with what there is to tell: nothing, before watch_tree() or watch_all().
 * attacher must outlive it. */
struct watch *watch_new(struct attacher *attacher, watch_fn *fn, void *ctx);
void watch_free(struct watch *w);

/* Watches one process and its descendants.  Each is stopped (SIGSTOP) when it was forked, when
 * it has called exec, and when its dynamic linker, given to watch_linker(), has mapped
 * libraries; fn is to look at it and call watch_continue().  Should the tool be killed, a small
 * process of ours lets it go.  0, or -errno: then nothing is watched. */
int watch_tree(struct watch *w, int pid);

/* Tells of every process on the machine that maps code from a file whose name is_wanted(ctx)
 * accepts; none is stopped.  Several mappings of a process may be told as one, and where records
 * were lost it is said that some process has mapped something.  From the kernel's perf records of
 * mappings, which cost nothing where nothing is mapped.  0, or -errno. */
int watch_all(struct watch *w, watch_wanted_fn *is_wanted);

/* A dynamic linker in a watched process: where its _dl_debug_state() is.  The attachment,
 * or NULL with errno set. */
struct attachment *watch_linker(struct watch *w, int fd, int pid, unsigned long long offset);

/* Waits up to so many milliseconds for something to tell, also of the loop's own (rb may be
 * NULL), and tells it.  0, or -errno. */
int watch_poll(struct watch *w, struct ring_buffer *rb, int ms);

/* The process may go on, if it was stopped, once watch_poll() has nothing more to tell of it. */
void watch_continue(struct watch *w, const struct watch_event *e);

/* Sends every process of the tree a signal. */
void watch_signal(struct watch *w, int sig);

/* How often something could not be told. */
unsigned long long watch_lost(const struct watch *w);

/* Watches no more; fn is still called for what waits, until watch_stop().  Between the two
 * the attachments of watch_linker() are to be removed, so that nobody is left stopped. */
void watch_detach(struct watch *w);
void watch_stop(struct watch *w);

#endif
