/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Who a process is, as /proc says. */
#ifndef IDENTITY_H
#define IDENTITY_H
#include "proc/cgroup.h"

enum { IDENTITY_COMM = 16, IDENTITY_EXE = 256 };

struct identity {
	char comm[IDENTITY_COMM];
	char exe[IDENTITY_EXE];		/* its program's path as it sees it, the last bytes of a longer one */
	unsigned uid;			/* the real one; USER_UNKNOWN (proc/user.h): not known */
	struct cgroup_names in;
};

/* Reads it; what cannot be read, as of a process that is gone, stays "" and USER_UNKNOWN.  Reads
 * /proc/PID/comm, exe (the link), status and cgroup, and opens nothing of the process, so it does not block. */
void identity_read(int pid, struct identity *id);

#endif
