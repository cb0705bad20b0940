/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Errors that a call reports but earlier work caused: a kernel faults while the program goes on,
 * and whichever call comes next, often one that waits, returns the fault. */
#ifndef TRACE_STICKY_H
#define TRACE_STICKY_H
#include <stdbool.h>
#include <stdio.h>
#include "base/quota.h"
#include "cudatrace/sticky_error.h"

struct trace_call;
struct users;

struct trace_sticky {
	struct sticky_process *by_pid;	/* NULL at first */
	struct users *users;		/* of the processes; owned by the caller */
	struct quota quota;		/* in bytes; as trace_sticky_quota() at first */
};

struct quota trace_sticky_quota(void);

/* Call for each call at its return, in order, after its kernel is known: records launches and
 * successful waits.  Returns what to say about this call or NULL, valid until the next call. */
const struct sticky_error *trace_sticky_note(struct trace_sticky *s, const struct trace_call *call);

/* Call when the process ends or exec replaces its program. */
void trace_sticky_forget(struct trace_sticky *s, int pid);

void trace_sticky_free(struct trace_sticky *s);

/* Print " [...]", or a JSON array of the kernels launched since the last wait, null for NULL. */
void trace_sticky_text(FILE *f, const struct sticky_error *cause);
void trace_sticky_json(FILE *f, const struct sticky_error *cause);

#endif
