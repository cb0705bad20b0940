/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The command of -c. */
#ifndef COMMAND_H
#define COMMAND_H
#include <stdbool.h>

struct command_user;

/* Forks a child of that user that runs `/bin/sh -c text`, or argv if it is not NULL, once command_go() is
 * called; returns its PID.  The child exits if the tool ends before that.  It has the descriptors, limits and signals
 * that the tool has now: call this before the tool changes any.  Exits if the child cannot change to
 * the user.  Another user's is in a session of its own, without the caller's terminal, as with su -c. */
int command_prepare(const char *text, char **argv, const struct command_user *user);
void command_go(void);

/* Sets a variable in the command's environment.  Call before command_go(). */
void command_setenv(const char *name, const char *value);

/* Return true if the command has ended. */
bool command_ended(void);

/* Returns the process group that the terminal has sent the caught signal to, the command's and the tool's; 0: none. */
int command_has_signal(void);

/* Sends the command a signal, if it has not ended and does not have it from the terminal: to its process group, if it is
 * in a session of its own.  Returns the group that has it now; 0: none. */
int command_signal(int sig);

/* Waits for the command to end and returns its exit status, 128 + N if signal N killed it. */
int command_finish(void);

#endif
