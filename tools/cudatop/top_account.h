/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* cudatop -m: the account of a process's memory. */
#ifndef CUDATOP_TOP_ACCOUNT_H
#define CUDATOP_TOP_ACCOUNT_H

struct event_loop;
struct session;

/* Runs cudaleak --account -p PIDS in place of this tool, with these options of the session and this interval and count: its
 * probes know more than cudatop's, which take no call stacks.  Exits on a usage error, or if it is not installed. */
_Noreturn void account_run(const struct session *session, const struct event_loop *events, const char *pids);

#endif
