/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What the watcher reports: a process mapped something, forked or ended.  The kinds are its own
 * WATCH_MAPPED and those of struct process_event, of which only the head is used. */
#ifndef WATCH_EVENT_H
#define WATCH_EVENT_H
#include "abi/record.h"

enum { WATCH_MAPPED /* the dynamic linker loaded something */ };

struct watch_event {
	struct record head;	/* pid 0: some processes, unknown which */
	unsigned int stopped;	/* the process waits for SIGCONT */
};

/* How a process of the command of -c is probed (the map watched); neither: it has not been scanned. */
enum {
	WATCH_OWN = 1,		/* by links of its own; shared links skip it */
	WATCH_SHARED = 2,	/* all that it has mapped has shared links: so its children are probed from their start */
};

/* In the cookie of each probe of a shared link: see probe/share.h.  No id of a function has this bit. */
enum { COOKIE_SHARED = 1 << 30 };

/* … and of a process's own link for launches, where others are in all processes: see probe/split.h. */
enum { COOKIE_OWN = 1 << 29 };

#endif
