/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Whom to charge for each process, looked up once, as it may not live long. */
#ifndef USERS_H
#define USERS_H

/* A process that is gone, or whose user cannot be found out. */
#define USER_UNKNOWN ((unsigned)-1)

struct users {		/* starts zeroed */
	struct user_of *by_pid;
};

/* Returns proc_user() of the process, as of the first call. */
unsigned users_of(struct users *users, int pid);

/* Call when the process has ended. */
void users_forget(struct users *users, int pid);

void users_free(struct users *users);

/* Returns the user id to charge for what a process makes us do: its real one or, inside a user
 * namespace, that of the user who created the outermost one, as its root can have many others.
 * Never blocks. */
unsigned proc_user(int pid);

/* Returns its real user id. */
unsigned proc_real_user(int pid);

#endif
