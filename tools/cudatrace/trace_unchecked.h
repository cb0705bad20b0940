/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Failed calls that nobody asked CUDA about before the thread made its next one. */
#ifndef TRACE_UNCHECKED_H
#define TRACE_UNCHECKED_H
#include <stdbool.h>

struct cuda_proto;
struct trace_call;
struct trace_lines;

/* Return true if the function returns the error of an earlier call, or says what one means. */
bool trace_asks(const struct cuda_proto *proto);

struct trace_unchecked {
	const struct trace_lines *lines;	/* how calls are printed; stays the caller's */
	struct trace_failure *by_tid;	/* each thread's last call, if it failed; NULL at first */
};

/* To be called for each call at its return, in order, asking ones too: prints the thread's
 * failure before it, if there is one that this call does not ask about. */
void trace_unchecked_call(struct trace_unchecked *u, const struct trace_call *call);

/* The process ended, or exec replaced its program: a failure before that was heeded.  -1: frees
 * what is left. */
void trace_unchecked_forget(struct trace_unchecked *u, int pid);

#endif
