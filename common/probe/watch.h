/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Reports processes that map code, fork or end while the tool runs. */
#ifndef PROBE_WATCH_H
#define PROBE_WATCH_H
#include <stdbool.h>
#include "abi/watch_event.h"
#include "probe/attach.h"

struct rescan_process;
struct watch;

/* Starts zeroed. */
struct rescan_queue {
	struct rescan_process *processes;
};

typedef void watch_fn(void *ctx, const struct watch_event *e);
typedef bool watch_wanted_fn(void *ctx, int pid, const char *path);

/* Creates a watcher that calls fn(ctx) for each event; there are none before watch_tree() or
 * watch_all().  attacher must outlive it. */
struct watch *watch_new(struct attacher *attacher, watch_fn *fn, void *ctx);
void watch_free(struct watch *w);

/* Watches one process and its descendants.  Each is stopped (SIGSTOP) after it is forked, unless its
 * parent is WATCH_SHARED, after exec, and after its dynamic linker, given to watch_linker(), has
 * mapped libraries; fn must inspect it and call watch_continue().  If the tool is killed, a small process of ours resumes
 * it.  Returns 0, or -errno: then nothing is watched. */
int watch_tree(struct watch *w, int pid);

/* Reports every process on the machine that maps code from a file whose name is_wanted(ctx)
 * accepts; none is stopped.  Several mappings of a process may be reported as one event, and lost
 * records as an event of an unknown process.  cuda_only: it accepts names by watch_is_cuda() alone; then the kernel selects them,
 * if it can, and the tool sleeps while other programs start.  Otherwise uses the kernel's perf mmap records, which cost
 * nothing unless something is mapped.  Returns 0, or -errno. */
int watch_all(struct watch *w, watch_wanted_fn *is_wanted, bool cuda_only);

/* Return true if the kernel selects, for watch_all(). */
bool watch_selects(const struct watch *w);

/* From now on processes that end leave the map watched of the tool: the next one with the pid is another.  Returns false if that
 * is not possible. */
bool watch_ends(struct watch *w);

/* Probes a dynamic linker in a watched process, or in all (0); offset is that of its _dl_debug_state().  Returns
 * the attachment, or NULL with errno set. */
struct attachment *watch_linker(struct watch *w, int fd, int pid, unsigned long long offset);

/* Returns how a process of the tree is probed, see abi/watch_event.h; -1 if it is none of them. */
int watch_probed(const struct watch *w, int pid);
void watch_set_probed(struct watch *w, int pid, int how);

/* The same for all that have links of their own. */
void watch_set_own(struct watch *w, int how);

/* Return true if all processes of the tree have links of their own. */
bool watch_all_own(const struct watch *w);

/* While set, children rely on no shared links: they are stopped. */
void watch_unshare(struct watch *w, bool set);

/* Waits up to ms milliseconds for events, or until one of two descriptors (-1: none) is readable, and handles the
 * events.  Returns 1 if records has become readable, or there was an event or will be soon, 0 if not, or -errno. */
int watch_poll(struct watch *w, int records, int wake, int ms);

/* Takes new mappings out of the kernel's buffers, for the next watch_poll(): for long waits. */
void watch_collect(struct watch *w);

/* Reports this process again in a tenth of a second, as if it had mapped something. */
void watch_again(struct watch *w, int pid);

/* Resumes the process, if the event stopped it, once watch_poll() has no more events of it. */
void watch_continue(struct watch *w, const struct watch_event *e);

/* Sends a signal to every process of the tree but those of a process group that has it already (0: none). */
void watch_signal(struct watch *w, int sig, int group);

/* Returns how many events were lost. */
unsigned long long watch_lost(const struct watch *w);

/* watch_detach() stops watching; fn is still called for pending events until watch_stop().
 * Between the two, remove the attachments of watch_linker(), so that no process is left stopped. */
void watch_detach(struct watch *w);

#endif
