/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The command of -c. */
#ifndef COMMAND_H
#define COMMAND_H
#include <stdbool.h>

/* Makes a child that will run `/bin/sh -c text` once command_go() is called; its pid.
 * It ends if the tool does before that. */
int command_prepare(const char *text);
void command_go(void);

/* Return true if it has ended. */
bool command_ended(void);

/* Waits for the command to end and returns its exit status, 128 + N if signal N ended it. */
int command_finish(void);

#endif
