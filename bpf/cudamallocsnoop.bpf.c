// SPDX-License-Identifier: GPL-2.0
/* ten thousand threads that begin at once leave the tool no time */
#define RECORDS_BYTES (8 * 1024 * 1024)
#include "lib/memory.bpf.h"

struct running_call;
static __always_inline bool memory_running(const struct task_struct *task, const struct thread *t,
					   struct running_call *to);
#define RUNNING_TAKE memory_running
#include "lib/running.bpf.h"

static __always_inline bool memory_running(const struct task_struct *task, const struct thread *t,
					   struct running_call *to)
{
	to->device = running_in(task, &t->device, running_stream(&t->call));
	to->memory = t->call.data.ptr;
	return running_outermost(t, to);
}
