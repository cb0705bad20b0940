/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Processes that bpf/watch.bpf.c has stopped, and a child process of ours that resumes them if
 * the tool is killed. */
#ifndef RESUMER_H
#define RESUMER_H
#include <stdbool.h>

struct holds;

struct resumer {
	int fd, pid;		/* pid 0: not running */
};

/* Forks the child.  map: the descriptor of the map of watched processes; holds: the tool's, so that the
 * child resumes none that other tools hold.  If it cannot fork, the tool runs without the child. */
void resumer_start(struct resumer *r, int map, const struct holds *holds);

/* Ends the child.  Call before dropping the events of the watched processes. */
void resumer_end(struct resumer *r);

/* Sends a signal to each process in the map with this descriptor but those of a process group that has it already
 * (0: none). */
void resumer_signal(int map, int sig, int group);

#endif
