/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The processes of -p. */
#ifndef PIDS_H
#define PIDS_H
#include <stdbool.h>

struct pids {
	int *pids;		/* 0-terminated */
	int *fds;		/* a pidfd of each, or -1 */
};

/* Opens the processes of a list, "12,34".  Exits if one is none, or a thread. */
struct pids pids_open(const char *list);

/* Return true if all of them have ended. */
bool pids_ended(const struct pids *p);

/* A number that is seen inside a container may have been meant: the end of a sentence that says
 * which one to use, or "".  The caller's to free(). */
char *pids_hint(int pid);

#endif
