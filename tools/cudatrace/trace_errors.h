/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#ifndef TRACE_ERRORS_H
#define TRACE_ERRORS_H
#include <stdbool.h>
#include <stdio.h>
#include "base/quota.h"
#include "cudatrace/trace_call.h"

struct cuda_proto;
struct trace_call;
struct trace_lines;
struct users;

struct trace_sticky {
	struct sticky_process *by_pid;	/* NULL at first */
	struct users *users;		/* of the processes; owned by the caller */
	struct quota quota;		/* in bytes; as trace_sticky_quota() at first */
};

struct trace_unchecked {
	struct trace_lines *lines;	/* how to print calls; owned by the caller */
	struct users *users;		/* of the processes; likewise */
	struct quota quota;		/* bytes of the calls; as trace_unchecked_quota() at first */
	struct trace_failure *by_tid;	/* each thread's last call, if it failed; NULL at first */
};

struct quota trace_sticky_quota(void);

/* Call for each call at its return, in order, after its kernel is known: records launches and
 * successful waits.  Returns what to say about this call or NULL, valid until the next call. */
const struct sticky_error *trace_sticky_note(struct trace_sticky *s, const struct trace_call *call);

/* Call when the process ends or exec replaces its program. */
void trace_sticky_forget(struct trace_sticky *s, int pid);

void trace_sticky_free(struct trace_sticky *s);

/* Return true if the function returns the error of an earlier call, or describes an error. */
bool trace_asks(const struct cuda_proto *proto);

struct quota trace_unchecked_quota(void);

/* Call for each call at its return, in order, including those that check errors: prints the
 * thread's last failure if there is one that this call does not check. */
void trace_unchecked_call(struct trace_unchecked *u, const struct trace_call *call);

/* Call when the process ends or exec replaces its program: a failure before that counts as checked.
 * -1: frees what is left. */
void trace_unchecked_forget(struct trace_unchecked *u, int pid);

#endif
