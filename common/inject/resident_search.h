/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Finds running programs that have inject/resident.so: those of -p; or all of a user's, which are looked for in /proc, and
 * which connect when they start (abi/agent_resident.h). */
#ifndef INJECT_RESIDENT_SEARCH_H
#define INJECT_RESIDENT_SEARCH_H
#include <stdbool.h>
#include <sys/types.h>
#include "inject/resident_processes.h"

struct inject_peers;
struct resident_candidate;

struct resident {
	struct resident_processes processes;
	/* private: all of a user's */
	struct resident_candidate *candidates;	/* processes that cannot be asked, and may be later */
	unsigned long long scanned;	/* when those were looked for, ns */
	int *pids, pids_n, pids_at;	/* of all processes, then; the next one to look at */
	unsigned scans;
	bool name_taken;		/* another process listens in our place, which was reported */
};

/* Finds the memory of all these processes (0-terminated), and reserves it.  Returns NULL; or why they cannot be traced so, which the
 * caller frees: then there is nothing to close. */
char *resident_open(struct resident **r, const int *pids);

/* The same of all processes of a user, in a cgroup unless that is 0, of which there may be none yet: resident_tick() finds further
 * ones, within seconds. */
struct resident *resident_open_all(uid_t user, unsigned long long cgroup);

/* Asks the processes to connect to this tool, whose library this is, as peers, which are open. */
void resident_ask(struct resident *r, const char *library, struct inject_peers *peers);

/* Return true if it is one of the processes, or becomes one.  parent: it says to be its child; 0: it was not forked since it
 * connected. */
bool resident_takes(struct resident *r, int pid, int parent);

/* Call for a process that has just made its memory: asks it.  Its earlier ones are those of another program. */
void resident_came(struct resident *r, int pid);

/* Return true if resident_tick() has more to do. */
bool resident_is_scanning(const struct resident *r);

/* Call regularly: looks for further ones, and warns of those that refuse. */
void resident_tick(struct resident *r);

/* Call when the probes do nothing any more: the programs drop what they have of the tool. */
void resident_close(struct resident *r);

#endif
