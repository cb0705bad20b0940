/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Which call launched what: the k-th launch of a kernel in a context is of the k-th call that names it there.  Where
 * there are not as many launches as calls, as a graph launches kernels without calls, nothing is said. */
#ifndef LAUNCH_CALLS_H
#define LAUNCH_CALLS_H
#include "base/hash.h"
#include "cudakerneltime/kernel_rows.h"
#include "cudakerneltime/launch_keep.h"

struct syms;

/* Calls and kernels with their contexts that are kept, and the bytes of their names. */
enum { LAUNCH_CALLS_MAX = 1 << 20, LAUNCH_CALL_NAMES_MAX = 1 << 16, LAUNCH_CALL_BYTES_MAX = 32 << 20 };

/* Starts zeroed but for syms. */
struct launch_calls {
	struct syms *syms;
	struct call_list *lists;
	size_t calls, bytes;
	unsigned long long dropped;	/* beyond the limits */
	unsigned long long unmatched;	/* launches whose call is not known, set by launch_calls_match() */
};

/* Takes a frame GPUPROBE_LAUNCHES of a process: its connection, and its pid.  Reads the process's mappings.  Returns
 * NULL, or what is wrong with the frame. */
const char *launch_calls_frame(struct launch_calls *calls, unsigned process, int pid, const void *data, size_t size);

/* Adds all launches to rows, with the stacks of their calls.  Sorts what is kept. */
void launch_calls_match(struct launch_calls *calls, struct launch_keep *keep, struct kernel_rows *rows);

void launch_calls_free(struct launch_calls *calls);

#endif
