/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The memory of a running program that has inject/resident.so (abi/agent_resident.h): locks it, writes requests, reads the answers.
 * The program's part of it is untrusted. */
#ifndef INJECT_RESIDENT_MEMORY_H
#define INJECT_RESIDENT_MEMORY_H
#include <stdbool.h>
#include <sys/types.h>

struct resident_memory {
	struct resident_control *control;	/* mapped; NULL: not locked */
	int fd;			/* with the lock */
	ino_t ino;		/* every memfd is in one file system */
	unsigned generation;	/* of our request */
	int users;		/* the caller's: processes that have it */
};

struct resident_request {
	const char *library;	/* the tool's, in a folder */
	const char *socket;	/* where the tool listens: an abstract name */
	unsigned long long stamp;	/* resident_library_stamp() */
};

/* Distinguishes builds of the tool's library.  Exits 1 if it cannot be read. */
unsigned long long resident_library_stamp(const char *library);

/* Opens the memory of a process.  mount: process_memfd_mount().  Returns NULL; or why not, which the caller frees: then there is
 * nothing to close. */
char *resident_memory_open(struct resident_memory *m, int pid, long long mount);

/* Maps an open one and locks it.  Returns NULL; or why not, which the caller frees: then it is closed. */
char *resident_memory_lock(struct resident_memory *m, int pid);

void resident_memory_close(struct resident_memory *m);

/* The functions below need a locked one. */

/* Asks the program to connect, at its next call. */
void resident_memory_ask(struct resident_memory *m, const struct resident_request *request);

/* The same again, of processes that have refused. */
void resident_memory_ask_again(struct resident_memory *m);

/* Asks no further process. */
void resident_memory_pause(struct resident_memory *m);

/* The request ends: the program drops what it has of the tool. */
void resident_memory_end(struct resident_memory *m);

/* Return true if this process has refused our request, with an enum resident_refusal, or any number, in *why. */
bool resident_memory_refused(const struct resident_memory *m, int pid, unsigned *why);

/* Return true if our request came before the program's first call. */
bool resident_memory_is_complete(const struct resident_memory *m);

#endif
