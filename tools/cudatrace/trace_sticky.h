/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Errors that a call reports but earlier work caused: a kernel faults while the program goes on,
 * and whichever call comes next, often one that waits, returns the fault. */
#ifndef TRACE_STICKY_H
#define TRACE_STICKY_H
#include <stdbool.h>
#include <stdio.h>

struct kernel;
struct trace_call;

/* If a program launches more kernels between two waits, the rest are counted, not named. */
enum { STICKY_LAUNCHES = 64 };

struct sticky_launch {
	unsigned long long func, stream;
	const struct kernel *kernel;
	unsigned long long count;
};

/* What may have caused the error. */
struct sticky_error {
	bool again;		/* it was reported before */
	int n;
	struct sticky_launch launched[STICKY_LAUNCHES];
	unsigned long long others;	/* launches that did not fit */
	struct sticky_error *next;
};

struct trace_sticky {
	struct sticky_process *by_pid;	/* NULL at first */
};

/* Call for each call at its return, in order, after its kernel is known: records launches and
 * successful waits.  Returns what to say about this call or NULL, valid until the process is
 * forgotten. */
const struct sticky_error *trace_sticky_note(struct trace_sticky *s, const struct trace_call *call);

/* Call when the process ends or exec replaces its program. */
void trace_sticky_forget(struct trace_sticky *s, int pid);

void trace_sticky_free(struct trace_sticky *s);

/* Print " [...]", or a JSON array of the kernels launched since the last wait, null for NULL. */
void trace_sticky_text(FILE *f, const struct sticky_error *cause);
void trace_sticky_json(FILE *f, const struct sticky_error *cause);

#endif
