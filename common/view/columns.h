/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The fields that options of several tools turn on and off, by their JSON keys. */
#ifndef COLUMNS_H
#define COLUMNS_H
#include <stdbool.h>
#include "cli/field.h"

/* Copies a table of fields with its end.  Without times the field "time" has no column of text;
 * without stacks there is no field "stack". */
void columns_of_calls(struct field *to, const struct field *from, bool times, bool stacks);

/* The same for groups of calls: without pids there are no fields "pid" and "comm". */
void columns_of_groups(struct field *to, const struct field *from, bool pids, bool stacks);

/* Removes the field of this key, if there is one; gives it another one. */
void columns_remove(struct field *fields, const char *key);
void columns_rename(struct field *fields, const char *key, const char *other);

#endif
