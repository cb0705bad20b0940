/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The signals that end a tool. */
#ifndef PROC_SIGNALS_H
#define PROC_SIGNALS_H
#include <stdbool.h>

/* Call once.  From now on SIGINT, SIGTERM and SIGHUP do nothing but show in signal_caught(), with a command the first one in
 * signal_passed().  What the caller ignores stays
 * ignored: SIGHUP, as nohup(1) does; SIGINT, as sh(1) does for background jobs, of the terminal, while kill(1) works, as with
 * perf(1) and bpftrace(8). */
void signals_catch(bool has_command);

/* Returns the one that is for the command, at whose end the tool ends; 0: none. */
int signal_passed(void);

/* Returns the last one that ends the tool; 0: none. */
int signal_caught(void);

/* Return true if the last of both came from the kernel: Ctrl-C, or the terminal is gone. */
bool signal_of_terminal(void);

#endif
