/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

/* CLOCK_MONOTONIC of the initial time namespace in nanoseconds, in whichever namespace the process is: what
 * bpf_ktime_get_ns() gives the probes.  Nothing may be waited for by it: system calls want the process's own. */
unsigned long long clock_ns(void);

/* CLOCK_REALTIME in nanoseconds.  It may be set at any time: only for times that are printed, never for durations. */
unsigned long long clock_wall_ns(void);

/* Returns the CPU time of a process so far, ns; 0 if there is none with this id. */
unsigned long long clock_process_ns(int pid);

#endif
