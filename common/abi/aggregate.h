/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Calls counted in groups, with a histogram each: what probes keep and send. */
#ifndef TALLY_H
#define TALLY_H
#include <stdbool.h>

enum { TALLY_SLOTS = 64 /* powers of two: slot n counts values with n + 1 binary digits */,
       TALLY_FRAMES = 127 /* the kernel's default limit, kernel.perf_event_max_stack */ };

/* In a record: its process ended, or exec replaced its program. */
#define TALLY_GONE (~0u)

struct tally_key {
	unsigned int epoch;	/* which interval, see tally_collect() */
	unsigned int pid;	/* 0 = of all processes together */
	unsigned int what, part;	/* the tool's own */
};

/* One for each CPU. */
struct tally {
	unsigned long long count, failed;
	unsigned long long sum, ns;
	unsigned long long least, most;	/* least: its complement, so that 0 is the start of both */
	char comm[16];
	unsigned long long slots[TALLY_SLOTS];
};

/* The same in an array: of each CPU, the groups that came first. */
enum { TALLY_QUICK = 32 };
enum { TALLY_FREE, TALLY_TAKING, TALLY_TAKEN };

struct tally_quick {
	unsigned long long state;
	struct tally_key key;
	struct tally tally;
};

/* One call, where groups are by call stack. */
struct tally_record {
	struct tally_key key;
	unsigned long long value, ns;
	unsigned long long shown;	/* what the histogram is of */
	unsigned int pid;
	unsigned short failed, frames;	/* how many follow */
	char comm[16];
	unsigned long long stack[TALLY_FRAMES];	/* from the caller outwards */
};

/* What a thread keeps for its records. */
struct tally_state {
	bool known;	/* its process is in processes */
	struct tally_record record;
};

/* How long a thread waited. */
struct tally_thread_key { unsigned int epoch, pid, tid; };
struct tally_thread { unsigned long long count, ns; char comm[16]; };

/* The same in an array: the first threads of an epoch; count 0 = not used. */
enum { WAITING_QUICK = 1024 };

struct waiting_quick {
	struct tally_thread_key key;
	unsigned int unused;
	struct tally_thread thread;
};

#endif
