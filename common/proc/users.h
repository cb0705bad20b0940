/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Whom to charge for each process, looked up once, as it may not live long. */
#ifndef USERS_H
#define USERS_H

struct users {		/* starts zeroed */
	struct user_of *by_pid;
};

/* Returns proc_user() of the process, as of the first call. */
unsigned users_of(struct users *users, int pid);

/* Call when the process has ended. */
void users_forget(struct users *users, int pid);

void users_free(struct users *users);

#endif
