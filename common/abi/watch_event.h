/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What the watcher tells: something was mapped, forked or ended. */
#ifndef WATCH_EVENT_H
#define WATCH_EVENT_H

enum watch_what {
	WATCH_MAPPED,	/* exec, or the dynamic linker has loaded something */
	WATCH_FORKED,
	WATCH_ENDED
};

struct watch_event {
	unsigned int what, pid;	/* pid 0: some processes, and it is not known which */
	unsigned int stopped;	/* the process waits for SIGCONT */
};

/* Which processes are watched. */
enum watch_mode { WATCH_ALL, WATCH_PIDS, WATCH_TREE };

#endif
