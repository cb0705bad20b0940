/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The one place where the end of a process, or of the program that it runs, is handled: parts that keep state by pid
 * register what drops it, so that the next process with this pid, or the next program, starts without. */
#ifndef SESSION_PROCESS_H
#define SESSION_PROCESS_H

struct process_event;
struct process_part;

/* Starts zeroed. */
struct process_ends {
	struct process_part *parts;
	int n;
};

/* Has fn called for each RECORD_EXIT and RECORD_EXEC, before the tool handles the records that follow.  The order is that of
 * registration: a part that uses another one at the end of a process registers first. */
void process_on_end(struct process_ends *ends, void (*fn)(void *ctx, const struct process_event *event), void *ctx);

/* Call for each such record. */
void process_ended(const struct process_ends *ends, const struct process_event *event);

void process_ends_free(struct process_ends *ends);

#endif
