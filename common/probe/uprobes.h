/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The probes in files, each for one process or for all. */
#ifndef PROBE_UPROBES_H
#define PROBE_UPROBES_H
#include <stdbool.h>

struct dso;
struct probes;

/* Probes the file's functions in process pid, or everywhere (0); with p->linkers a dynamic linker
 * too, to learn of libraries.  Does nothing if they are already probed, or if there is nothing to
 * probe.  Returns 0, or -errno if the kernel refuses; -EAGAIN: the time of the process's user is used
 * up for now, see helper_pool.h. */
int uprobes_attach(struct probes *p, struct dso *d, int pid);

/* Probes only the file's launches in process pid, by links with COOKIE_OWN: see budget/split.h.  Returns as uprobes_attach(). */
int uprobes_attach_own(struct probes *p, struct dso *d, int pid);

/* Detaches all of these. */
void uprobes_drop_own(struct probes *p);

/* With -c: the same for all processes, by links with COOKIE_SHARED.  Returns false if that is not possible. */
bool uprobes_share(struct probes *p, struct dso *d);

/* uprobes_share() for all files that are probed. */
bool uprobes_share_all(struct probes *p);

/* Return true if the file probed last has the links of so many processes. */
bool uprobes_crowded(const struct probes *p, int processes);

/* Probes that toggle (struct function) are attached with the others, but for those of late_classes.  This detaches them
 * asynchronously, or reattaches them; returns false if that has to wait because they are still
 * being detached. */
bool uprobes_toggle(struct probes *p, bool in);

/* Attaches those of late_classes in a process, and in files that it maps from now on; with --attach inject, or where its links are
 * shared, in others too.  Returns true if it has attached some. */
bool uprobes_late(struct probes *p, int pid);

/* Return true if some of them are attached. */
bool uprobes_toggled_in(const struct probes *p);

/* How launches of kernels are probed, with p->sheds: as the tool does it, from the start; at the entry of the driver's function,
 * by the program cuda_launch; not at all. */
enum launch_level { LAUNCHES_FULL, LAUNCHES_ENTRIES, LAUNCHES_OUT };

/* Changes this in a process with links of its own, or where one link is in all (0), also in files that it maps from now on.
 * Detaches asynchronously; returns false if more is to be attached once that is done: call it again. */
bool uprobes_shed(struct probes *p, int pid, enum launch_level how);

/* Return true if the process has links of its own. */
bool uprobes_has_own(const struct probes *p, int pid);

/* Replaces the process's own links after its first thread has ended (leaderless), or another one
 * has executed a program.  No call is counted twice; calls are missed only while the process runs
 * without breakpoints: after such an exec, with perf events also after its first thread's end.
 * Returns false if some links cannot be made now: the process lives, and the next scan makes them. */
bool uprobes_renew(struct probes *p, int pid, bool leaderless);

/* Return true if probes are still being detached: their programs may run. */
bool uprobes_detaching(const struct probes *p);

/* Detaches the probes of a process that has ended, or the shared ones (0), asynchronously. */
void uprobes_detach(struct probes *p, int pid);

/* Call regularly: goes on detaching. */
void uprobes_tick(struct probes *p);

/* Detaches all probes, for good.  Waits up to ms milliseconds for it, and says how many are left to
 * the kernel. */
void uprobes_end(struct probes *p, long ms);

#endif
