/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The command of -c. */
#ifndef PROC_COMMAND_H
#define PROC_COMMAND_H
#include <stdbool.h>
#include "proc/user_entry.h"

/* The user that the command runs as: never with more privileges than the caller of the tool has. */
struct command_user {
	bool other;		/* not the one the tool was run by */
	uid_t uid;
	gid_t gid;
	struct user_entry entry;	/* of the other one, with the groups to take on; or all zero */
};

/* Chooses the user of -u: a name, a UID, or UID:GID.  If name is NULL, the caller of sudo or,
 * without sudo, the caller of the tool.  Exits with the reason if there is no such user or the
 * tool may not change to it. */
void command_user_choose(struct command_user *u, const char *name);

/* Makes this process one of that user's, for good, with its environment.  Returns false after a
 * message: nothing must be run then. */
bool command_user_become(const struct command_user *u);

void command_user_free(struct command_user *u);

/* Forks a child of that user that runs `/bin/sh -c text`, or argv if it is not NULL, once command_go() is
 * called; returns its PID.  The child exits if the tool ends before that.  It has the descriptors, limits and signals
 * that the tool has now: call this before the tool changes any.  Exits if the child cannot change to
 * the user.  Another user's is in a session of its own, without the caller's terminal, as with su -c. */
int command_prepare(const char *text, char **argv, const struct command_user *user);
void command_go(void);

/* Sets a variable in the command's environment; NULL: unsets it.  Call before command_go(). */
void command_setenv(const char *name, const char *value);

/* Return true if the command has ended. */
bool command_ended(void);

/* Return true if it has ended by a signal, or a shell has whose child did. */
bool command_killed(void);

/* Returns the process group that the terminal has sent the caught signal to, the command's and the tool's; 0: none. */
int command_has_signal(void);

/* Sends the command a signal, if it has not ended and does not have it from the terminal: to its process group, if it is
 * in a session of its own.  Returns the group that has it now; 0: none. */
int command_signal(int sig);

/* The status of shells, env(1) and dynamic linkers if a program cannot be run, or it or a library of
 * it is not found. */
enum { COMMAND_NOT_RUN = 126, COMMAND_NOT_FOUND = 127 };

/* Waits for the command to end and returns its exit status, 128 + N if signal N killed it. */
int command_finish(void);

#endif
