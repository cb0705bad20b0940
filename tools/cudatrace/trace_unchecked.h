/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Failed calls whose error nobody checked before the thread made its next call. */
#ifndef TRACE_UNCHECKED_H
#define TRACE_UNCHECKED_H
#include <stdbool.h>
#include "base/quota.h"

struct cuda_proto;
struct trace_call;
struct trace_lines;
struct users;

/* Return true if the function returns the error of an earlier call, or describes an error. */
bool trace_asks(const struct cuda_proto *proto);

struct trace_unchecked {
	struct trace_lines *lines;	/* how to print calls; owned by the caller */
	struct users *users;		/* of the processes; likewise */
	struct quota quota;		/* bytes of the calls; as trace_unchecked_quota() at first */
	struct trace_failure *by_tid;	/* each thread's last call, if it failed; NULL at first */
};

struct quota trace_unchecked_quota(void);

/* Call for each call at its return, in order, including those that check errors: prints the
 * thread's last failure if there is one that this call does not check. */
void trace_unchecked_call(struct trace_unchecked *u, const struct trace_call *call);

/* Call when the process ends or exec replaces its program: a failure before that counts as checked.
 * -1: frees what is left. */
void trace_unchecked_forget(struct trace_unchecked *u, int pid);

#endif
