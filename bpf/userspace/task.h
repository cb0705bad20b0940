/* SPDX-License-Identifier: GPL-2.0 */
/* BPF programs as C for the machine they run on: what the kernel does for them.  bpf/TOOL.bpf.c is compiled with
 * bpf/userspace and bpf/userspace/bpf searched first: for libbpf's headers, and for those of bpf/lib that say what only the
 * kernel knows.  The result is linked with what calls it (tools/inject) and with common/shmmap.
 *
 * It runs in any thread of any program, at any place: nothing here calls the C library, takes memory, blocks, or touches
 * a vector register; and no address, whatever the program passes, is read before it is known that it can be. */
#ifndef INJECT_H
#define INJECT_H
#include <stdbool.h>
#include <linux/ptrace.h>
#include "inject/probes.h"
#include "shmmap/shmmap.h"

/* A thread, as its programs see it: a copy of what never changes, so that no other process can. */
struct task_struct {
	int pid, tgid;			/* tgid: as the tool sees it */
	char comm[16];
	__u64 start_time;
	struct task_struct *group_leader;	/* what is kept of the process: an element of its own, as its first thread
						 * may make no call */
	struct inject_thread *thread;	/* NULL: there was no room */
	char *own;			/* its storages; NULL: of another process, whose storages are read in shared memory */
	__u32 used;			/* bit n: map n has storage in own */
	__u32 index, lane, uid, parent;
};

enum { INJECT_PAGES = 8 };

/* What is kept of a thread. */
struct inject_local {
	struct task_struct task;
	bool other;			/* it is another process's, whose memory is not here */
	__u64 now;			/* when the program that runs has read the clock last; 0: it has not */
	__u64 random;
	const struct shmmap_map *ring;	/* of the record that was reserved last */
	/* that can be read, for as long as the thread lives: the part of its own stack that was looked at, which goes up to
	 * where it began; stack_top 0: not known */
	__u64 stack_low, stack_top;
	__u32 stack_tries;
	/* that can be read, for as long as the program runs: the stack it is on; other pages */
	__u64 stack, stack_end;
	__u64 page[INJECT_PAGES];
	__u32 pages;
};
extern __thread struct inject_local inject_local __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* In the thread's first program: who it is. */
void inject_first(void);

/* Where the stack that this address is on may be read up to. */
__u64 inject_stack_end(__u64 here);

/* As inject_begin(), where the thread has no state yet, or is on a part of a stack that was not looked at. */
void inject_begin_slowly(__u64 here);

/* Begins a program in this thread; here: an address in a frame of it.  Once for each call: what is rare is out of the way,
 * and no register is saved for it. */
static inline __attribute__((always_inline)) void inject_begin(__u64 here)
{
	if (!LIKELY(inject_now.task && here >= inject_local.stack_low && here < inject_local.stack_top)) {
		inject_begin_slowly(here);
		return;
	}
	inject_local.stack = here & -4096ull;
	inject_local.stack_end = inject_local.stack_top;
	inject_local.pages = 0;
	inject_local.now = 0;
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

#endif
