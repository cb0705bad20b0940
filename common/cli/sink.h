/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Output that waits for nobody: while its reader takes nothing, as a pager does or a terminal after
 * Ctrl-S, what is printed is kept.  A tool that waited would hold up the program of -c, and not
 * hear Ctrl-C. */
#ifndef SINK_H
#define SINK_H
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* A stream that ends in the file behind fd.  To be called once. */
FILE *sink_open(int fd);

/* Writes on what was kept, as far as it is taken; 0, or the error that has ended the output. */
int sink_write(void);

/* So much is kept that no more should be printed if it can wait. */
bool sink_is_full(void);

/* Waits until all is taken, or a signal is caught; how many bytes are left. */
size_t sink_finish(void);

#endif
