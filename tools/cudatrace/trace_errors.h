/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Errors caused by earlier work, and errors that were never checked. */
#ifndef CUDATRACE_TRACE_ERRORS_H
#define CUDATRACE_TRACE_ERRORS_H
#include <stdbool.h>
#include "base/quota.h"
#include "cudatrace/trace_call.h"

struct trace_repeats;
struct process_table;

/* A kernel faults while the program goes on; the next call, often one that waits, returns the fault. */
struct trace_sticky {
	struct sticky_process *by_pid;
	struct process_table *processes;
	struct quota quota;		/* in bytes */
};

/* The caller owns processes. */
struct trace_sticky trace_sticky_init(struct process_table *processes);

/* Returns true if the function may be a wait, or records an event that a thread may wait for: such are recorded also where
 * failures alone are printed. */
bool trace_waits(const struct cuda_fn *fn);

/* Return true if the function enqueues work: likewise. */
bool trace_is_work(const struct cuda_fn *fn);

/* Call for each call at its return, in order, with its kernel set: records launches and successful
 * waits.  Returns the cause of the call's error or NULL, valid until the next call. */
const struct sticky_error *trace_sticky_note(struct trace_sticky *s, const struct trace_call *call);

/* Returns a process's launches and copies since its last wait; NULL: none. */
const struct sticky_error *trace_sticky_outstanding(const struct trace_sticky *s, int pid);

/* Call when the process ends or exec replaces its program. */
void trace_sticky_forget(struct trace_sticky *s, int pid);

void trace_sticky_free(struct trace_sticky *s);

/* Return true if the function returns the error of an earlier call, or describes an error. */
bool trace_checks_errors(const struct cuda_proto *proto);

/* Failed calls whose error was not checked before the thread's next call. */
struct trace_unchecked {
	struct trace_repeats *repeats;
	struct process_table *processes;
	struct quota quota;		/* bytes of the calls */
	struct trace_failure *by_tid;	/* each thread's last call, if it failed */
};

/* The caller owns repeats and processes. */
struct trace_unchecked trace_unchecked_init(struct trace_repeats *repeats, struct process_table *processes);

/* Call for each call at its return, in order, including those that check errors: prints the thread's
 * last failure unless this call checks it. */
void trace_unchecked_call(struct trace_unchecked *u, const struct trace_call *call);

/* Call when the process ends or exec replaces its program: a failure before that counts as checked.
 * -1: all. */
void trace_unchecked_forget(struct trace_unchecked *u, int pid);

#endif
