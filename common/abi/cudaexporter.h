/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The counts and records of cudaexporter's probes. */
#ifndef ABI_CUDAEXPORTER_H
#define ABI_CUDAEXPORTER_H
#include "abi/record.h"
#include "abi/slot.h"
#include "abi/stack_frames.h"

/* Kinds of counts: export_key.what. */
enum { EXPORT_LAUNCH, EXPORT_COPY, EXPORT_SYNC, EXPORT_LOAD, EXPORT_CALL };

/* The groups of calls in flight, and of probe_hits. */
enum export_group { EXPORT_GROUP_ALLOC, EXPORT_GROUP_COPY, EXPORT_GROUP_LAUNCH, EXPORT_GROUP_SYNC, EXPORT_GROUP_LOAD, EXPORT_GROUPS };

/* Elements of export_hits; further CPUs share them. */
enum { EXPORT_HITS = SLOT_OWN_LANES + 64 };

struct export_key {
	unsigned long long program;	/* one execution of a program in a process: when it was first
					 * seen, ns */
	unsigned int pid;
	unsigned int id;		/* with --sync-functions, EXPORT_SYNC: enum cuda_id + 1; EXPORT_CALL: 1 + that of cuda_error_source() */
	unsigned short device;		/* of a launch; see abi/device.h */
	unsigned char what;
	unsigned char detail;		/* enum launch_kind; enum cuda_direction and EXPORT_ASYNC */
	unsigned int bucket;		/* of an exemplar, else 0: EXPORT_OF_SIZES or EXPORT_OF_TIMES + the bucket */
};

enum { EXPORT_ASYNC = 8 };

/* The largest plausible numbers of bytes, and of kernels in one launch. */
#define EXPORT_BYTES_MAX	(1ull << 48)
enum { EXPORT_LAUNCHES_MAX = 1024 };
enum { EXPORT_OF_SIZES = 0x100, EXPORT_OF_TIMES = 0x200 };

/* Buckets of copies' sizes and of durations; the last ones are for all larger values. */
enum { EXPORT_SIZES = 8, EXPORT_TIMES = 14 };

struct export_values {
	unsigned long long count;
	unsigned long long bytes;	/* of copies */
	unsigned long long ns;		/* of copies that are not asynchronous, waits, loads of code and EXPORT_CALL */
	unsigned long long off_ns;	/* of waits: off the CPU */
	unsigned long long last;	/* of launches: when, CLOCK_MONOTONIC, ns */
	unsigned long long sizes[EXPORT_SIZES];
	unsigned long long times[EXPORT_TIMES];
};

/* In a map for the keys without a slot; share: the user's number in export_shares. */
struct export_entry {
	struct export_values values;
	unsigned int share, unused;
};

/* For the first keys of each CPU, in an array of EXPORT_SLOTS elements per CPU. */
enum { EXPORT_SLOT_BITS = 7, EXPORT_SLOTS = 1 << EXPORT_SLOT_BITS };

struct export_slot {
	struct slot slot;
	struct export_key key;
	struct export_values values;
};

/* The last call that fell into a bucket. */
struct export_exemplar {
	unsigned long long value;	/* bytes or ns */
	unsigned long long time;	/* of its return: CLOCK_MONOTONIC, ns */
	unsigned int tid, id;		/* id: enum cuda_id */
	unsigned int share, unused;	/* share: of exemplar_shares */
};

/* Calls that returned an error; id EXPORT_STICKY + enum cuda_lib: those that first reported a sticky error. */
struct export_error {
	unsigned long long program;
	unsigned int pid;
	unsigned int id;		/* of cuda_error_source() */
	int ret;
	unsigned int unused;
};

struct export_error_count {
	unsigned long long n;
	unsigned int share, unused;	/* share: as above, in export_error_shares */
};

enum { EXPORT_STICKY = 0x10000 };

/* The record of the first call of a program in a process; its head's kind is this. */
enum { EXPORT_SEEN = 0xff00 };

struct export_seen {
	struct record head;
	unsigned long long program;
	unsigned int uid;		/* the real one */
	unsigned int user;		/* charged for it, as by proc_user() */
	char comm[16];			/* of the process: its first thread's */
};

/* The record of a wait that ended, with --profiles. */
enum { EXPORT_WAIT = 0xff01 };

struct export_wait {
	struct record head;
	unsigned long long ns;
	unsigned int id, unused;	/* enum cuda_id */
	char comm[16];			/* of the thread */
	unsigned long long stack[STACK_FRAMES];
};

/* Return the bucket of a size: its upper bound is 256 × 16^n bytes, inclusive. */
static inline unsigned int export_size_bucket(unsigned int bits)
{
	unsigned int n = bits <= 8 ? 0 : (bits - 8 + 3) / 4;

	return n < EXPORT_SIZES ? n : EXPORT_SIZES - 1;
}

/* The same for a duration: 1024 × 4^n ns.  bits: how many binary digits the value less one has, 0 for a
 * value of 0 or 1, so that the bounds are inclusive. */
static inline unsigned int export_time_bucket(unsigned int bits)
{
	unsigned int n = bits <= 10 ? 0 : (bits - 10 + 1) / 2;

	return n < EXPORT_TIMES ? n : EXPORT_TIMES - 1;
}

static inline unsigned long long export_size_bound(unsigned int bucket)
{
	return 256ull << 4 * bucket;
}

static inline unsigned long long export_time_bound(unsigned int bucket)
{
	return 1024ull << 2 * bucket;
}

#endif
