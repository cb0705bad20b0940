/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* A process's command line, short enough for a column. */
#ifndef CUDATOP_COMMAND_LINE_H
#define CUDATOP_COMMAND_LINE_H
#include <stddef.h>

struct helper_pool;

enum { TOP_COMMAND = 160 };

/* Sets text to the program without its folders and its arguments, as they are in its memory; of an interpreter's script, module or
 * program that has changed its title that; "" if it has none, or cannot be read. */
void command_line_read(struct helper_pool *helpers, int pid, char text[TOP_COMMAND]);

/* The same of size bytes of arguments, each with a 0 byte after it; one more 0 byte follows. */
void command_line_set(const char *args, size_t size, char text[TOP_COMMAND]);

#endif
