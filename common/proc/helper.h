/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Processes of ours for what traced programs can delay forever: opening and reading their files,
 * reading their memory, probing them.  Such a call waits in the kernel where no signal reaches it
 * (FUSE, once its daemon has the request), and a thread that waits keeps its process from ending.
 * A hung helper process is abandoned.
 *
 * A helper is forked at its first call and has the tool's memory as it was then, so functions and
 * whatever existed then have the same addresses in it.  It ends with the tool. */
#ifndef PROC_HELPER_H
#define PROC_HELPER_H
#include <stdbool.h>
#include <stddef.h>

struct helper_job {
	const void *in;		/* the caller's bytes */
	size_t size;
	int fd;			/* that came with it, closed afterwards; -1 if none */
	char *out;		/* the answer so far: see helper_put() */
	size_t out_size, room;
	int out_fd;
};

typedef void helper_fn(struct helper_job *job);

/* The rest is private to helper.c. */

struct helper_answer {
	char *bytes;		/* the caller frees it */
	size_t size;
	int fd;			/* -1 if none; the caller closes it */
};

/* Set keep and idle, the rest starts zeroed. */
struct helper {
	const int *keep;	/* descriptors that it needs, ending with -1, or NULL; it has no others */
	size_t memory;		/* in bytes: a limit on what it may allocate, and answer; 0 = none */
	/* It is never killed, and ends when it has done what it was asked for.  A process that is killed
	 * while it places or removes a probe leaves the breakpoint in the file's pages until nobody maps
	 * them (Linux 6.18: "failed to unregister, leaking uprobe" in the kernel's log). */
	bool not_killed;
	/* Called every few milliseconds during a wait; false ends the wait.  May be NULL. */
	bool (*idle)(void *ctx);
	void *ctx;
	int pid, socket;	/* pid 0: not running */
	bool waiting;		/* for an answer */
};

/* Starts the helper, if it is not running.  Return false with errno set if that fails. */
bool helper_start(struct helper *h);

/* Sends a request with a descriptor (-1: none), and starts the helper if needed.  Return false with
 * errno set if that fails. */
bool helper_send(struct helper *h, helper_fn *fn, const void *in, size_t size, int fd);

/* Waits up to ms milliseconds for the answer.  Returns 0, or -errno: -ETIME if it has not come yet,
 * -ECANCELED if idle() said so, -EPIPE if the helper died. */
int helper_receive(struct helper *h, long ms, struct helper_answer *a);

/* Frees the bytes and closes the descriptor. */
void helper_drop(struct helper_answer *a);

/* Lets go of the helper without waiting: one that waits for nothing ends immediately, any other is
 * killed (but see not_killed).  Returns its pid, for waitpid(); 0 if none was running. */
int helper_leave(struct helper *h);

/* Appends bytes to the answer. */
void helper_put(struct helper_job *job, const void *bytes, size_t size);

/* Sends a descriptor with the answer, and closes it. */
void helper_put_fd(struct helper_job *job, int fd);

/* Ends the helper if it takes more than this many seconds of CPU time from now on; 0: no limit.  For libraries
 * that trust what they read. */
void helper_limit_cpu(unsigned seconds);

#endif
