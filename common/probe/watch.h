/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Tells of processes that map code, fork or end while the tool runs. */
#ifndef WATCH_H
#define WATCH_H
#include <stdbool.h>
#include "probe/attach.h"
#include "abi/watch_event.h"

typedef void watch_fn(void *ctx, const struct watch_event *e);

/* Watches one process and its descendants.  Each is stopped (SIGSTOP) when it was forked, when
 * it has called exec, and when its dynamic linker, given to watch_linker(), has mapped
 * libraries; fn is to look at it and say watch_continue().  Should the tool be killed, a small
 * process of ours lets it go.  0, or -errno: then nothing is watched. */
int watch_tree(int pid, enum attach_kind kind, watch_fn *fn, void *ctx);

/* Tells of every process on the machine that maps code from a file whose name is_wanted()
 * accepts; none is stopped.  Several mappings of a process may be told as one, and where records
 * were lost it is said that some process has mapped something.  From the kernel's perf records of
 * mappings, which cost nothing where nothing is mapped.  0, or -errno. */
int watch_all(bool (*is_wanted)(int pid, const char *path), watch_fn *fn, void *ctx);

/* A dynamic linker in a watched process: where its _dl_debug_state() is.  The attachment,
 * or NULL with errno set. */
struct attachment *watch_linker(int fd, int pid, unsigned long long offset);

/* Waits up to so many milliseconds for something to tell, also of the loop's own (rb may be
 * NULL), and tells it. */
struct ring_buffer;
int watch_poll(struct ring_buffer *rb, int ms);

/* The process may go on, if it was stopped, once watch_poll() has nothing more to tell of it. */
void watch_continue(const struct watch_event *e);

/* Sends every process of the tree a signal. */
void watch_signal(int sig);

/* How often something could not be told. */
unsigned long long watch_lost(void);

/* Watches no more; fn is still called for what waits, until watch_stop().  Between the two
 * the attachments of watch_linker() are to be removed, so that nobody is left stopped. */
void watch_detach(void);
void watch_stop(void);

#endif
