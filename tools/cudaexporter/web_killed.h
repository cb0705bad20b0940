/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Servers that were killed, until the kernel says how they ended: nobody waits for them. */
#ifndef WEB_KILLED_H
#define WEB_KILLED_H
#include <stdbool.h>
#include "cudaexporter/web_process.h"

enum { WEB_KILLED = 8 };

/* A list of these has WEB_KILLED, and starts zeroed. */
struct web_killed {
	int pid;	/* 0: none */
	bool say;	/* how it ended */
};

/* Kills p and takes it over. */
void web_killed_add(struct web_killed *list, struct web_process *p, bool say);

/* Call often: forgets those that have ended, with a warning for those of which it is to be said. */
void web_killed_reap(struct web_killed *list);

#endif
