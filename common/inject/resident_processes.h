/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The processes that are asked to connect to the tool, by their memory (inject/resident_memory.h): which can be, and which
 * refuse. */
#ifndef INJECT_RESIDENT_PROCESSES_H
#define INJECT_RESIDENT_PROCESSES_H
#include <stdbool.h>
#include <sys/types.h>
#include "inject/resident_memory.h"
#include "proc/proc.h"

struct inject_peers;
struct resident_net;

struct resident_process {
	int pid;
	struct proc_identity is;
	ino_t memory, net;	/* net 0: the tool's */
	bool connected, refused;
	int tries;
	unsigned long long again;	/* when it is asked again, ns; 0: need not be */
};

/* How long one turn may take: a user may have thousands of processes with thousands of descriptors each. */
enum { RESIDENT_TURN_NS = 3000000 };

struct resident_processes {
	/* set first */
	bool all;		/* of a user, who may have none yet; or those of -p */
	uid_t user;		/* of all processes; unless all, set by resident_processes_add() */
	unsigned long long cgroup;	/* all are in it; 0: in any */
	/* state */
	struct resident_process *list;
	struct resident_memory *memories;	/* of them, each once: forked processes share one */
	struct resident_net *nets;		/* the other network namespaces that they are in */
	int n, memories_n, nets_n;
	int waits;		/* processes that have not connected */
	bool runtime;		/* all have a runtime whose calls their libraries see */
	struct inject_peers *peers;	/* NULL until they are asked */
	/* private */
	struct resident_request request;
	long long mount;
	unsigned long long looked;	/* at the processes' filters, ns */
	int look;			/* the next one whose filters are read */
	unsigned warned, unwarned;	/* unwarned: refusals without a warning, as there were many */
};

void resident_processes_open(struct resident_processes *r);

/* Finds and locks the memory of a process, and asks it if resident_processes_ask() was called.  Returns NULL; or why it cannot be
 * traced so, which the caller frees.  *has: it has memory. */
char *resident_processes_add(struct resident_processes *r, int pid, bool *has);

/* Adds a process that another one has forked, which has its memory. */
void resident_processes_add_child(struct resident_processes *r, int pid, const struct resident_process *parent);

/* Returns NULL if it is none of them.  Valid until one is added, or has ended. */
struct resident_process *resident_processes_find(const struct resident_processes *r, int pid);

/* Asks them to connect to this tool, whose library this is, as peers, which are open; both stay the caller's, until the end. */
void resident_processes_ask(struct resident_processes *r, const char *library, struct inject_peers *peers);

/* Return true if no call of the process was missed. */
bool resident_processes_is_complete(const struct resident_processes *r, int pid);

/* Call when a process is traced. */
void resident_processes_connected(struct resident_processes *r, int pid);

/* Call when a process has ended, or has executed another program: drops it, if all. */
void resident_processes_ended(struct resident_processes *r, int pid);
void resident_processes_executed(struct resident_processes *r, int pid);

/* Warns that a process is not traced, unless there were many warnings. */
void resident_processes_warn(struct resident_processes *r, int pid, const char *why);

/* Call regularly: warns of processes that refuse. */
void resident_processes_tick(struct resident_processes *r);

/* The programs drop what they have of the tool. */
void resident_processes_end(struct resident_processes *r);

/* Unlocks their memory. */
void resident_processes_close(struct resident_processes *r);

#endif
