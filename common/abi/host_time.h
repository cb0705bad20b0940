/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Time of launching and copying threads between these calls: records of bpf/lib/host_time.bpf.h. */
#ifndef ABI_HOST_TIME_H
#define ABI_HOST_TIME_H
#include "abi/record.h"
#include "abi/stack_frames.h"

/* Values of host_time.head.kind. */
enum host_what {
	HOST_OFF_CPU = 0xfd00,	/* the thread slept from from to to */
	HOST_PREEMPTED,		/* it could have run, but another thread had its CPU */
	HOST_RUNNING,		/* a sample: it ran at from, which is to */
	HOST_CALL,		/* it called a copy or memset at from, which is to */
	HOST_WHAT_END
};

/* Shorter times off the CPU count as running: their records would cost more than they took.  A thread is followed for so long
 * after its last launch or copy. */
#define HOST_SHORT_NS 50000ull
#define HOST_FOLLOWED_NS 60000000000ull

/* Samples are so far apart: not a divisor of usual periods. */
#define HOST_SAMPLE_NS 2003009ull

struct host_time {
	struct record head;
	unsigned long long from, to;	/* CLOCK_MONOTONIC, ns */
	unsigned int tid, own_tid;	/* own: in the program's own pid namespace */
	unsigned long long stack[STACK_FRAMES];
};

#endif
