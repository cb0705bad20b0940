/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Links that many processes of the command of -c, or of -p, share. */
#ifndef PROBE_SHARE_H
#define PROBE_SHARE_H
#include <stdbool.h>

struct probes;

/* Return true if -p lists so many processes that they are to share links: the map watched must have room for them. */
bool share_wanted(const struct probes *p);

/* Returns from how many processes with links of their own in a file on processes are to share them. */
int share_at(const struct probes *p);

/* Call before the first scan: the processes of -p share links from now on, if that is wanted and possible. */
void share_list(struct probes *p);

/* Returns how a process that is to be scanned is to be probed: WATCH_OWN, WATCH_SHARED or both. */
int share_choose(struct probes *p, int pid);

/* Call after the scan, with what of it was possible in all of the process's files. */
void share_scanned(struct probes *p, int pid, int how);

/* Call regularly: removes shared links that no process needs any more. */
void share_tick(struct probes *p);

#endif
