/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* In which container each process is, looked up once, as it may not live long. */
#ifndef CONTAINERS_H
#define CONTAINERS_H
#include "proc/cgroup.h"

struct containers {		/* starts zeroed */
	struct container_of *by_pid, *last;	/* last: that was asked about */
};

/* Returns the short id of the process's container, as of the first call; NULL if it is in none, or was gone then.
 * Valid until the next call for *c. */
const char *containers_of(struct containers *c, int pid);

/* Call when the process has ended, or is to be looked up again. */
void containers_forget(struct containers *c, int pid);

void containers_free(struct containers *c);

#endif
