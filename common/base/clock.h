/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#ifndef CLOCK_H
#define CLOCK_H

/* CLOCK_MONOTONIC in nanoseconds: what bpf_ktime_get_ns() gives the probes. */
unsigned long long clock_ns(void);

/* Returns the CPU time of a process so far, ns; 0 if there is none with this id. */
unsigned long long clock_process_ns(int pid);

#endif
