/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The processes of -p. */
#ifndef SESSION_PIDS_H
#define SESSION_PIDS_H
#include <stdbool.h>

struct pids {
	int *pids;		/* 0-terminated */
	int *fds;		/* a pidfd for each, or -1 */
};

/* Opens the processes of a list, "12,34 train": process ids, and names, each of which selects all
 * processes of that name.  Exits if there is no such process, or if one is a thread. */
struct pids pids_open(const char *list);

/* Returns "pid 12,34"; the caller frees it. */
char *pids_text(const struct pids *p);

/* Return true if the i-th of them has ended, and if all have. */
bool pid_ended(const struct pids *p, int i);
bool pids_ended(const struct pids *p);

/* The user may have meant a PID as seen inside a container: returns the end of a message that names
 * the one to use, or "".  The caller frees it. */
char *pids_hint(int pid);

#endif
