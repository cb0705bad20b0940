/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Leaves out the return probes of processes that would die of them: see uretprobe.h. */
#ifndef PROBE_SECCOMP_URETPROBE_H
#define PROBE_SECCOMP_URETPROBE_H
#include <stdbool.h>

struct dso;
struct probes;

/* Return true if no return probe of this file must be placed in process pid, or in all processes (0): then
 * only its probes without one may be.  Says so, for a process unless said is set.  If nothing of the
 * file is left for all processes, sets p->failure. */
bool uretprobe_unsafe(struct probes *p, const struct dso *d, int pid, bool said);

/* The same for probes in all processes for one whose first thread has ended; leaves p->failure. */
bool uretprobe_unsafe_elsewhere(struct probes *p, const struct dso *d, int pid, bool said);

/* Return true if nothing of what the tool shows is left in this file without return probes. */
bool uretprobe_is_all(const struct probes *p, const struct dso *d);

/* Return true if a return probe in all processes would kill those that have a filter. */
bool uretprobe_kills(struct probes *p);

#endif
