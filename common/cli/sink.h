/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Non-blocking output: while the reader takes nothing, such as a pager or a terminal after Ctrl-S,
 * output is buffered.  A tool that waited would block the -c program and ignore Ctrl-C. */
#ifndef SINK_H
#define SINK_H
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Returns a stream that writes to the file behind fd.  Call once. */
FILE *sink_open(int fd);

/* Writes as much buffered output as the reader takes; 0, or the error that ended the output. */
int sink_write(void);

/* Return true if so much is buffered that output that can wait should wait. */
bool sink_is_full(void);

/* Waits until all is written or a signal is caught; returns the number of bytes left. */
size_t sink_finish(void);

#endif
