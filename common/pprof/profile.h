/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Samples by call stack of a run, or of the time between two pages, written as pprof, Parca and Pyroscope read it. */
#ifndef PPROF_PROFILE_H
#define PPROF_PROFILE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include "base/hash.h"
#include "base/quota.h"

struct process_table;
struct stack;

enum { PROFILE_VALUES = 3 };

/* Values of a profile for each stack. */
struct profile_kind {
	struct profile_value { const char *type, *unit; } values[PROFILE_VALUES];	/* the first one is shown by
											 * default; .type NULL: no more */
	const char *leaf;	/* label of a sample that has the leaf's name, too: "kernel"; NULL: none */
};

struct profile_key {
	const struct stack *stack;	/* NULL: none was taken */
	const char *leaf;		/* the innermost frame: a function, "[device]" */
	int pid;
	unsigned int device;		/* see abi/device.h */
	char comm[16];
};

struct profile_sample {
	struct profile_key key;		/* leaf is the profile's own copy */
	unsigned long long values[PROFILE_VALUES];
	struct profile_leaf *leaf;
	unsigned user;			/* who is charged */
	unsigned long long ended;	/* when profile_sweep() first found no such process: CLOCK_MONOTONIC, ns; or 0 */
	UT_hash_handle hh;
};

struct profile {		/* starts as PROFILE_INIT(kind, the session's table) */
	const char *path;	/* --pprof FILE; NULL: nothing is added */
	const struct profile_kind *kind;
	bool (*write)(const struct profile *p, FILE *f);	/* a tool without profiles is not linked with protobuf-c */
	unsigned long long period;	/* one event in so many is counted, and counts for as many */
	/* state */
	struct process_table *processes;
	struct profile_sample *samples;
	struct profile_leaf *leaves;
	struct quota quota;	/* bytes */
	unsigned long long lost;	/* that profile_add() had no room for */
	unsigned long long began;	/* clock_ns() */
};

#define PROFILE_INIT(kind_, table) {							\
	.kind = (kind_), .write = pprof_write, .period = 1, .processes = (table),		\
	.quota = { .limit = 32 << 20, .what = "samples of the profile",			\
		   .loss = "further call stacks are missing in the profile" } }

#define OPT_PPROF(profile)									\
	OPT_STR(0, "pprof", "FILE", &(profile)->path, "also write a profile of call stacks for pprof to FILE, at the end")

/* Starts the profile's time. */
void profile_begin(struct profile *p);

/* The stack must live as long as the profile; the strings are copied. */
struct profile_event {
	int pid;
	const char *comm, *leaf;	/* leaf: the function or kernel in which the stack ends */
	const struct stack *stack;
	unsigned int device;		/* as in abi/device.h; 0: unknown */
	unsigned long long values[PROFILE_VALUES];
};

/* Adds the values to those of the stack, unless there are too many.  Does nothing without a path. */
void profile_add(struct profile *p, const struct profile_event *e);

/* For a tool that runs forever: drops the samples of processes that ended at least ns before.  Calls kill(2) for each
 * process. */
void profile_sweep(struct profile *p, unsigned long long ns);

/* Writes profile.proto, compressed by gzip, of a profile that ends now; what f has buffered must have been flushed.  Reads
 * symbols.  Warns of what a profile has no room for.  Returns false with errno set on a write error. */
bool pprof_write(const struct profile *p, FILE *f);

/* Frees the samples. */
void profile_free(struct profile *p);

#endif
