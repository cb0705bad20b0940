/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Turns fields on and off by their JSON keys, for options that several tools have. */
#ifndef COLUMNS_H
#define COLUMNS_H
#include <stdbool.h>
#include "cli/field.h"

/* Copies a table of fields, including the terminator.  Without times the field "time" has no text
 * column; without stacks the field "stack" is left out. */
void columns_of_calls(struct field *to, const struct field *from, bool times, bool stacks);

/* The same for groups of calls: without pids the fields "pid", "comm" and "container" are left
 * out. */
void columns_of_groups(struct field *to, const struct field *from, bool pids, bool stacks);

/* Gives the field with this key a text column with this head.  Returns false if it has one. */
bool columns_show(struct field *fields, const char *key, const char *head);

/* Removes the field with this key, if there is one. */
void columns_remove(struct field *fields, const char *key);

#endif
