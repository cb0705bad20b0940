/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Calls counted in groups with a histogram each, as the probes keep and send them. */
#ifndef ABI_AGGREGATE_GROUP_H
#define ABI_AGGREGATE_GROUP_H
#include <stddef.h>
#include "abi/record.h"
#include "abi/shares.h"
#include "abi/slot.h"
#include "abi/stack_frames.h"
#include "base/hist_slot.h"

struct aggregate_key {
	unsigned int epoch;	/* which interval, see aggregate_collect() */
	unsigned int pid;	/* 0 = all processes together */
	unsigned int key, series;	/* the tool's own: what was called, which figure; series: see below */
	unsigned short device;	/* see abi/device.h; 0 also if the tool does not follow devices */
	unsigned short peer;	/* of a copy between two devices: that of the destination */
	unsigned int unused;
	unsigned long long stream;	/* see abi/stream.h; 0 also if streams are not distinguished */
};

/* The series of a key: each call's value; and its second value, which is in ns of the first series, too. */
enum { AGGREGATE_FIRST, AGGREGATE_SECOND };

/* How many calls succeeded is the sum of the histogram's slots: each number costs a call an atomic operation. */
struct aggregate_values {
	unsigned long long unused, failed;	/* unused: so that the slots begin a cache line */
	unsigned long long sum, ns;
	unsigned long long least, most;	/* of the values in the histogram; least: its complement,
					 * so that both start at 0 */
	char comm[16];
	struct hist hist;
};

/* In an array, for the first groups on each CPU. */
enum { AGGREGATE_SLOTS = 32 };

struct aggregate_slot {
	struct slot slot;
	struct aggregate_key key;
	unsigned long long unused[3];	/* so that the slots of a power of two are in one cache line */
	struct aggregate_values values;
};

_Static_assert(sizeof(struct aggregate_slot) % 64 == 0 && offsetof(struct aggregate_slot, values.hist.slots) % 64 == 0,
	       "whole cache lines");

/* Values of aggregate_record.head.kind. */
enum { AGGREGATE_CALL, AGGREGATE_FAILED };

/* One call, sent if calls are grouped by call stack. */
struct aggregate_record {
	struct record head;
	struct aggregate_key key;
	unsigned long long value, ns;
	unsigned long long shown;	/* the value for the histogram */
	unsigned long long more;	/* ns of the second series */
	char comm[16];
	unsigned long long stack[STACK_FRAMES];
};

/* How long a thread waited. */
struct wait_thread_key { unsigned int epoch, pid, tid; };
struct wait_thread { unsigned long long count, ns; char comm[16]; };

/* The same in an array, for the first threads of an epoch: each takes the next element. */
enum { WAIT_SLOTS = 1024 };

struct wait_slot {
	struct slot slot;
	struct wait_thread_key key;
	unsigned int unused;
	struct wait_thread thread;
};

#endif
