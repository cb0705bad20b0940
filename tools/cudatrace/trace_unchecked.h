/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Failed calls that nobody asked CUDA about before the thread made its next one. */
#ifndef TRACE_UNCHECKED_H
#define TRACE_UNCHECKED_H
#include <stdbool.h>

struct cuda_proto;
struct trace_call;

/* Is it one that asks for an error, or for what one means? */
bool trace_asks(const struct cuda_proto *proto);

/* To be called for each call at its return, in order, asking ones too: prints the thread's
 * failure before it, if there is one that this call does not ask about. */
void trace_unchecked_call(const struct trace_call *call);

/* The process ended, or exec replaced its program: a failure before that was heeded. */
void trace_unchecked_forget(int pid);

#endif
