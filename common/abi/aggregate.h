/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Calls counted in groups, with a histogram each: what probes keep and send. */
#ifndef TALLY_H
#define TALLY_H
#include <stdbool.h>

enum { AGGREGATE_BINS = 64 /* powers of two: slot n counts values with n + 1 binary digits */,
       AGGREGATE_FRAMES = 127 /* the kernel's default limit, kernel.perf_event_max_stack */ };

/* In a record: its process ended, or exec replaced its program. */
#define AGGREGATE_GONE (~0u)

struct aggregate_key {
	unsigned int epoch;	/* which interval, see aggregate_collect() */
	unsigned int pid;	/* 0 = of all processes together */
	unsigned int key, series;	/* the tool's own: what was called, and which of its figures */
};

/* One for each CPU. */
struct aggregate_values {
	unsigned long long count, failed;
	unsigned long long sum, ns;
	unsigned long long least, most;	/* least: its complement, so that 0 is the start of both */
	char comm[16];
	unsigned long long slots[AGGREGATE_BINS];
};

/* The same in an array: of each CPU, the groups that came first. */
enum { AGGREGATE_SLOTS = 32 };
enum { SLOT_FREE, SLOT_TAKING, SLOT_TAKEN };

struct aggregate_slot {
	unsigned long long state;
	struct aggregate_key key;
	struct aggregate_values values;
};

/* One call, where groups are by call stack. */
struct aggregate_record {
	struct aggregate_key key;
	unsigned long long value, ns;
	unsigned long long shown;	/* what the histogram is of */
	unsigned int pid;
	unsigned short failed, frames;	/* how many follow */
	char comm[16];
	unsigned long long stack[AGGREGATE_FRAMES];	/* from the caller outwards */
};

/* What a thread keeps for its records. */
struct aggregate_state {
	bool known;	/* its process is in processes */
	struct aggregate_record record;
};

/* How long a thread waited. */
struct wait_thread_key { unsigned int epoch, pid, tid; };
struct wait_thread { unsigned long long count, ns; char comm[16]; };

/* The same in an array: the first threads of an epoch; count 0 = not used. */
enum { WAIT_SLOTS = 1024 };

struct wait_slot {
	struct wait_thread_key key;
	unsigned int unused;
	struct wait_thread thread;
};

#endif
