/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* How long each thread waited, and which share of the time that was. */
#ifndef WAIT_THREADS_H
#define WAIT_THREADS_H

struct bpf_map;

/* Where the probes keep it: the first threads of an epoch in the array quick, of which used[] are
 * taken by epoch, odd and even; the others in rest.  The time of the first report begins here. */
void wait_threads_init(struct bpf_map *quick, struct bpf_map *rest,
		       unsigned long long *used);

/* Takes those of an epoch that is over. */
void wait_threads_collect(unsigned int epoch);

/* Prints them, the longest waits first: in text the first ten, in JSON all.  now: CLOCK_MONOTONIC
 * in ns, from which the next report's time counts. */
void wait_threads_report(unsigned long long now);

#endif
