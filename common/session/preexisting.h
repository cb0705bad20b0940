/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Notes on processes that used CUDA before tracing began. */
#ifndef SESSION_PREEXISTING_H
#define SESSION_PREEXISTING_H

struct process_table;

/* Call when tracing begins: keeps the time. */
void preexisting_begin(struct process_table *t);

/* Prints "; ALLOCATIONS before TIME are unknown", the end of a line about such processes. */
void preexisting_text(const struct process_table *t, const char *allocations);

/* Prints the line at the head of a report: "[TIME]", none, which reports that there is nothing or is empty, and
 * preexisting_text() if there are such processes. */
void preexisting_head(const struct process_table *t, const char *none, const char *allocations);

#endif
