/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Processes that bpf/watch.bpf.c has stopped, and a child process of ours that resumes them if
 * the tool is killed. */
#ifndef CONT_GUARD_H
#define CONT_GUARD_H
#include <stdbool.h>

struct stop_refs;

struct cont_guard {
	int fd, pid;		/* pid 0: not running */
};

/* Forks the child.  map: the descriptor of the map of watched processes; holds: the tool's, so that the
 * child resumes none that other tools hold.  If it cannot fork, the tool runs without the child. */
void cont_guard_start(struct cont_guard *r, int map, const struct stop_refs *stop_refs);

/* Ends the child.  Call before dropping the events of the watched processes. */
void cont_guard_end(struct cont_guard *r);

/* Sends a signal to each process in the map with this descriptor but those of a process group that has it already
 * (0: none). */
void cont_guard_signal(int map, int sig, int group);

#endif
