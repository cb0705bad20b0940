/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* As whom the command of -c runs: never with more than the caller of the tool has. */
#ifndef COMMAND_USER_H
#define COMMAND_USER_H
#include "session/user_entry.h"

struct command_user {
	bool other;		/* not the one the tool was run by */
	uid_t uid;
	gid_t gid;
	struct user_entry entry;	/* of the other one, with the groups to take on; or all zero */
};

/* Chooses the user of -u: a name, a UID, or UID:GID.  If name is NULL, the one who called sudo or,
 * without sudo, the one who called the tool.  Exits with the reason if there is no such user or the
 * tool may not change to it. */
void command_user_choose(struct command_user *u, const char *name);

/* Makes this process one of that user's, for good, with its environment.  Returns false after a
 * message: nothing must be run then. */
bool command_user_become(const struct command_user *u);

void command_user_free(struct command_user *u);

#endif
