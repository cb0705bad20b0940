/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What the watcher tells: something was mapped, forked or ended.  A kind of its own, and those of
 * struct process_event, of which it needs the head alone. */
#ifndef WATCH_EVENT_H
#define WATCH_EVENT_H
#include "abi/record.h"

enum { WATCH_MAPPED /* the dynamic linker has loaded something */ };

struct watch_event {
	struct record head;	/* pid 0: some processes, and it is not known which */
	unsigned int stopped;	/* the process waits for SIGCONT */
};

/* Which processes are watched. */
enum watch_mode { WATCH_ALL, WATCH_PIDS, WATCH_TREE };

#endif
