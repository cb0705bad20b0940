/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The map launch_gates of bpf/lib/overhead.bpf.h: which links count the launches of a process, while links are exchanged. */
#ifndef PROBE_LAUNCH_GATES_H
#define PROBE_LAUNCH_GATES_H
#include <stdbool.h>

struct probes;

/* ns.  A launch that was counted at its entry has most likely returned after this time, also one whose thread has waited for a
 * CPU. */
#define LAUNCH_DRAIN_NS 20000000ull

/* From now on the process's launches are counted by its own links only.  Returns false if there are too many processes. */
bool launch_gate_own(struct probes *p, int pid);

/* Before probes of returns are detached in a process, or where one link is in all (0): launches are not counted there any more,
 * so that none stays in flight.  Or undoes this. */
void launch_gate_close(struct probes *p, int pid, bool closed);

/* Forget a process; all. */
void launch_gate_drop(struct probes *p, int pid);
void launch_gates_clear(struct probes *p);

#endif
