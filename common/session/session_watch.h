/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Follows the mappings of the traced processes. */
#ifndef SESSION_WATCH_H
#define SESSION_WATCH_H

struct session;

/* Creates t->probes.watch and makes it report the command, or every process.  Warns if the kernel
 * does not report mappings: then session_tick() polls.  With --attach inject there is nothing to watch. */
void session_watch(struct session *t);

/* Probes what a watched process has mapped; 0: what any has. */
void session_scan_new(struct session *t, int pid);

/* Call regularly: goes on detaching, and polls for new mappings, once a second, if the kernel does not
 * report them. */
void session_tick(struct session *t);

#endif
