/* SPDX-License-Identifier: GPL-2.0 */
/* BPF programs compiled for the machine, and the kernel's part for them.  bpf/TOOL.bpf.c gets agent/bpf/helpers.h for libbpf's
 * headers, and agent/bpf/task_user.h for the kernel's data (lib/task.bpf.h).  The result is linked with its caller
 * (agent/inject) and with common/shmmap.
 *
 * It runs in any thread of any program, anywhere: nothing here calls the C library, allocates memory, blocks, or touches a
 * vector register; and no address from the program is read before a check that it is readable. */
#ifndef AGENT_BPF_TASK_H
#define AGENT_BPF_TASK_H
#include <stdbool.h>
#include "agent/inject/programs.h"
#include "machine/page.h"
#include "shmmap/shmmap.h"

/* A thread, as its programs see it: a private copy of its constant data, which no other process can change. */
struct task_struct {
	int pid, tgid;			/* tgid: as the tool sees it */
	const char *comm;		/* of 16 bytes, in shared memory */
	__u64 start_time;
	struct task_struct *group_leader;	/* the process: has an element of its own, as its first thread may make no
						 * call */
	struct inject_thread *thread;	/* NULL: there was no room */
	char *own;			/* its storages; NULL for another process's, which are in shared memory */
	__u32 used;			/* bit n: map n has storage in own */
	__u32 index, lane, uid, parent;
	__u32 slots;			/* its lane of arrays: of this thread only if own_slots */
	bool own_slots;
};

enum { INJECT_PAGES = 8 };

/* A thread's state, in static TLS, which programs have little of. */
struct inject_self {
	struct task_struct task;
	__u64 now;			/* when the running program last read the clock; 0: not yet */
	/* readable for the life of the thread: the checked part of its stack, up to its beginning; stack_top 0: unknown */
	__u64 stack_low, stack_top;
	/* readable while the program runs: the stack it is on */
	__u64 stack, stack_end;
};
extern __thread struct inject_self inject_self __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* The rarely used part, before the thread's own memory. */
struct inject_rest {
	__u64 random;
	/* inject_now.pages of them: readable while the program runs */
	__u64 page[INJECT_PAGES];
	__u32 stack_tries;
};

static inline __attribute__((always_inline)) struct inject_rest *inject_rest(void)
{
	return (struct inject_rest *)(inject_now.own - INJECT_REST);
}

/* In the thread's first program: sets up its state. */
void inject_first(void);

/* Up to where the stack with this address is readable. */
__u64 inject_stack_end(__u64 here);

/* As inject_begin(), for a thread without state, or on an unchecked part of a stack. */
void inject_begin_slowly(__u64 here);

/* Begins a program in this thread; here: an address in a frame of it.  It runs at each call: rare work is out of line, so that
 * no register is saved for it. */
static inline __attribute__((always_inline)) void inject_begin(__u64 here)
{
	if (!LIKELY(inject_now.begun && here >= inject_self.stack_low &&
		    here < inject_self.stack_top)) {
		inject_begin_slowly(here);
		return;
	}
	inject_self.stack = here & -(__u64)SMALLEST_PAGE;
	inject_self.stack_end = inject_self.stack_top;
	inject_now.pages = 0;
	inject_self.now = 0;
}

/* Runs a program of type iter/task for inject_now.thread. */
struct bpf_iter_meta { struct inject_each_call *seq; };
struct bpf_iter__task { struct bpf_iter_meta *meta; struct task_struct *task; };
int inject_each_thread(struct inject_each_call *each, int (*program)(struct bpf_iter__task *));

/* The thread's comm, and that of its process's first thread, of 16 bytes, as the tool has read them some time ago. */
const char *inject_comm(void);
const char *inject_leader_comm(void);

__u32 inject_random(void);

static inline void inject_copy(void *to, const void *from, __u64 n)
{
	__builtin_memcpy(to, from, n);
}

/* The same for a few words, without a loop: n is a constant multiple of 4. */
static inline __attribute__((always_inline)) void inject_copy_words(void *to, const void *from, const __u32 n)
{
	char *t = to;
	const char *f = from;

	for (__u32 i = 0; i < n / 8; i++)
		((volatile __u64 *)t)[i] = ((const __u64 *)f)[i];	/* volatile: compilers make a call of memcpy() of it */
	if (n % 8)
		*(volatile __u32 *)(t + n - 4) = *(const __u32 *)(f + n - 4);
}

#endif
