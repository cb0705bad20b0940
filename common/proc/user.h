/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The user of a process. */
#ifndef PROC_USER_H
#define PROC_USER_H

/* A process that is gone, or whose user cannot be found out. */
#define USER_UNKNOWN ((unsigned)-1)

/* Returns the user id to charge for what a process makes us do: its real one or, inside a user
 * namespace, that of the user who created the outermost one, as its root can have many others.
 * Never blocks. */
unsigned proc_user(int pid);

/* Returns its real user id. */
unsigned proc_real_user(int pid);

#endif
