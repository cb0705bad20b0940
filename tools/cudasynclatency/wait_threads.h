/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* How long each thread waited, and which share of the time. */
#ifndef WAIT_THREADS_H
#define WAIT_THREADS_H
#include <stddef.h>

struct bpf_map;
struct shares;
struct wait_slot;

struct wait_thread_row {
	unsigned long long time;	/* of the report: CLOCK_MONOTONIC, ns */
	unsigned long long count, total;	/* number of waits; their time, ns */
	int pid, tid;
	char *comm;
	const char *container;		/* set by the view; NULL: none */
	double share;			/* of the time since the previous report: 1 is all of it */
};

struct wait_threads {
	/* where the probes keep it: the first threads of an epoch in the array slots, the others in
	 * rest; of even and odd epochs used[] counts the elements taken of the array, shares[] the
	 * others by user */
	struct bpf_map *slots, *rest;
	unsigned long long *used;
	struct shares *shares;
	struct wait_slot *elements;	/* of slots, mapped at the first read */
	unsigned long long since;	/* when the interval began: CLOCK_MONOTONIC, ns */
	struct wait_thread_row *rows;
	size_t n;
};

/* The first report's interval begins here.  The caller owns the maps. */
void wait_threads_init(struct wait_threads *threads, struct bpf_map *slots, struct bpf_map *rest,
		       unsigned long long *used, struct shares *shares);

/* Collects the threads of an epoch that is over. */
void wait_threads_collect(struct wait_threads *threads, unsigned int epoch);

/* Ends the interval at now, CLOCK_MONOTONIC in ns: sets the rows' times and shares and sorts them,
 * longest waits first.  Returns the length of the interval in ns. */
unsigned long long wait_threads_finish(struct wait_threads *threads, unsigned long long now);

/* Forgets the rows. */
void wait_threads_clear(struct wait_threads *threads);

#endif
