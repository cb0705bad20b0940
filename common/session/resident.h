/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Running programs that have inject/resident.so: asks them to connect (abi/resident.h).  What they have written is untrusted. */
#ifndef SESSION_RESIDENT_H
#define SESSION_RESIDENT_H
#include <stdbool.h>
#include <sys/types.h>

struct inject_peers;
struct resident_candidate;
struct resident_memory;
struct resident_net;
struct resident_process;

struct resident {
	struct resident_process *processes;	/* of -p; or all of the user's that were found, of which others are looked for */
	struct resident_memory *memories;	/* of them, each once: forked processes share one */
	struct resident_net *nets;		/* the other network namespaces that they are in */
	int n, memories_n, nets_n;
	bool all;
	int waits;		/* processes that have not connected */
	uid_t user;		/* of all processes */
	bool runtime;		/* all have a runtime whose calls their libraries see */
	unsigned long long looked;	/* at the processes' filters, ns */
	/* private */
	struct inject_peers *peers;	/* once they are asked */
	char *object;
	unsigned long long stamp;	/* of the tool's library */
	long long mount;
	unsigned long long cgroup;
	bool name_taken;		/* and reported */
	struct resident_candidate *candidates;	/* processes that cannot be asked, and may be later */
	unsigned long long scanned;	/* when those were looked for, ns */
	int *pids, pids_n, pids_at;	/* of all processes, then; the next one to look at */
	int look;			/* the next one whose filters are read */
	unsigned scans, warned, untold;	/* untold: refusals without a warning, as there were many */
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

/* Return true if no call of the process was missed. */
bool resident_is_complete(const struct resident *r, int pid);

/* Call when a process is traced. */
void resident_connected(struct resident *r, int pid);

/* Call when a process has ended, or has executed another program. */
void resident_ended(struct resident *r, int pid);
void resident_executed(struct resident *r, int pid);

/* Return true if resident_tick() has more to do. */
bool resident_is_scanning(const struct resident *r);

/* Call regularly: warns of processes that refuse. */
void resident_tick(struct resident *r);

/* Call when the probes do nothing any more: the programs drop what they have of the tool. */
void resident_close(struct resident *r);

#endif
