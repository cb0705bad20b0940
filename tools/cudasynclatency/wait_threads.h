/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* How long each thread waited, and which share of the time. */
#ifndef CUDASYNCLATENCY_WAIT_THREADS_H
#define CUDASYNCLATENCY_WAIT_THREADS_H
#include <stddef.h>

struct bpf_map;
struct process_table;
struct shares;
struct wait_slot;
struct wait_thread_row;

struct wait_threads {
	/* The probes keep the first threads of an epoch in the array slots, the others in rest.
	 * used[] counts the elements taken of the array in even and odd epochs, shares[] the others
	 * by user. */
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

/* Prints the threads, longest waits first, and clears them: the first ten in text, all in JSON.
 * Ends the interval at now, CLOCK_MONOTONIC in ns. */
void wait_threads_print(struct wait_threads *threads, struct process_table *processes, unsigned long long now);

void wait_threads_clear(struct wait_threads *threads);

#endif
