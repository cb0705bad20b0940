/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Running programs that have inject/resident.so: asks them to connect (abi/resident.h).  What they have written is untrusted. */
#ifndef SESSION_RESIDENT_H
#define SESSION_RESIDENT_H
#include <stdbool.h>
#include <sys/types.h>

struct resident_memory;
struct resident_process;

struct resident {
	struct resident_process *processes;	/* of -p */
	struct resident_memory *memories;	/* of them, each once: forked processes share one */
	int n, memories_n;
	int waits;		/* processes that have not connected */
	uid_t user;		/* of all processes */
	bool runtime;		/* all have a runtime whose calls their libraries see */
	int net;		/* their network namespace, a descriptor; 0: it is the tool's */
	unsigned long long looked;	/* at the processes' filters, ns */
};

/* Finds the memory of all these processes (0-terminated), and reserves it.  Returns NULL; or why they cannot be traced so, which the
 * caller frees: then there is nothing to close. */
char *resident_open(struct resident **r, const int *pids);

/* Asks the processes to connect to this tool, whose library this is; socket: its abstract name. */
void resident_ask(struct resident *r, const char *library, const char *socket);

/* Return true if it is one of the processes. */
bool resident_has(const struct resident *r, int pid);

/* Call when a process is traced. */
void resident_connected(struct resident *r, int pid);

/* Call regularly: warns of processes that refuse. */
void resident_tick(struct resident *r);

/* Call when the probes do nothing any more: the programs drop what they have of the tool. */
void resident_close(struct resident *r);

#endif
