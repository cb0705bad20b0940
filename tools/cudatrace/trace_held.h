/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The memory that programs hold, from the calls that allocate and free it. */
#ifndef TRACE_HELD_H
#define TRACE_HELD_H
#include "model/memory.h"

struct cuda_proto;
struct trace_call;
struct users;

struct trace_held {
	struct memory memory;
	struct held_thread *threads;	/* that chose a device or context */
	struct users *users;	/* of the processes; owned by the caller */
	struct quota quota;	/* bytes of threads */
};

/* As it starts, but for users. */
struct trace_held trace_held_init(void);

/* Return true if the function allocates or frees memory, or says where. */
bool trace_held_by(const struct cuda_proto *proto);

/* Applies a call of such a function; returns its process, NULL if there is no room for it or if the
 * call is another one. */
struct mem_process *trace_held_call(struct trace_held *h, const struct trace_call *call);

/* Call when a process ends or exec replaces its program; -1: all. */
void trace_held_forget(struct trace_held *h, int pid);

void trace_held_free(struct trace_held *h);

#endif
