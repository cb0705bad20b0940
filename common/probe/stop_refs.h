/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Which tools hold a stopped process.  SIGCONT cancels every SIGSTOP, so a tool that runs under
 * another one, or beside it, would let go what the other still holds.  Each has a BPF map of this
 * name, of the processes that it holds: bpf/watch.bpf.c adds them.  Reading the others' takes
 * CAP_SYS_ADMIN; without it they are not seen. */
#ifndef PROBE_STOP_REFS_H
#define PROBE_STOP_REFS_H
#include <stdbool.h>

struct deferred;

#define HOLDS_MAP "cuda_bpf_held"	/* at most 15 bytes */

struct stop_refs {			/* starts zeroed */
	int map;		/* our own one */
	unsigned own, last;	/* ids: of our own one, of the newest that was looked at */
	unsigned *others;	/* ids */
	int nothers;
	struct deferred *deferred;
	int ndeferred;
};

struct cont_guard {
	int fd, pid;		/* pid 0: not running */
};

/* Call when the map is made; map is its descriptor. */
void stop_refs_open(struct stop_refs *h, int map);
void stop_refs_free(struct stop_refs *h);

/* Return true if SIGSTOP has taken effect or the process is gone. */
bool process_is_stopped(int pid);

/* Sends a signal to a process if it is in the map, of a tool's that the kernel takes ended processes out of: a process that
 * has got its number since gets none. */
void stop_ref_signal(int map, int pid, int sig);

/* Lets go of a stopped process, and resumes it unless it has ended or another tool holds it: then that one will. */
void stop_ref_put(struct stop_refs *h, int pid);

/* Call regularly: resumes what other tools held and did not resume. */
void stop_refs_tick(struct stop_refs *h);

/* Forks the child.  map: the descriptor of the map of watched processes; holds: the tool's, so that the
 * child resumes none that other tools hold.  If it cannot fork, the tool runs without the child. */
void cont_guard_start(struct cont_guard *r, int map, const struct stop_refs *stop_refs);

/* Ends the child.  Call before dropping the events of the watched processes. */
void cont_guard_end(struct cont_guard *r);

/* Sends a signal to each process in the map with this descriptor but those of a process group that has it already
 * (0: none). */
void cont_guard_signal(int map, int sig, int group);

#endif
