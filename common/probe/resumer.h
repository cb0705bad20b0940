/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Processes that bpf/watch.bpf.c has stopped, and a process of ours that, should the tool be
 * killed, lets them go. */
#ifndef RESUMER_H
#define RESUMER_H
#include <stdbool.h>

struct resumer {
	int fd, pid;		/* pid 0: there is none */
};

/* Forks it.  map: the descriptor of the watched processes.  Without it if it cannot be had. */
void resumer_start(struct resumer *r, int map);

/* Ends it, before the watched processes are told of no more. */
void resumer_end(struct resumer *r);

/* Return true if SIGSTOP has taken effect, or the process is gone. */
bool resumer_is_stopped(int pid);

/* Sends a signal to each process in the map of this descriptor. */
void resumer_signal(int map, int sig);

#endif
