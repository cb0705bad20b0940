/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The signals that end a tool. */
#ifndef SIGNALS_H
#define SIGNALS_H
#include <stdbool.h>

/* From now on SIGINT, SIGTERM and SIGHUP do nothing but show in signal_caught(). */
void signals_catch(void);

/* Returns the last one that came; 0: none. */
int signal_caught(void);

/* Return true if it came from the kernel: Ctrl-C, or the terminal is gone. */
bool signal_of_terminal(void);

#endif
