/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The report on a process, as text and JSON. */
#ifndef CUDALEAK_LEAK_VIEW_H
#define CUDALEAK_LEAK_VIEW_H
#include "cli/field.h"
#include "cudaleak/leak.h"
#include "proc/process_table.h"
#include "session/preexisting.h"
#include "view/columns.h"

enum { LEAK_FIELDS = 22 };

struct leak_view {
	/* set by the tool */
	struct leak_options options;
	long top;		/* at most this many groups; folded output has all */
	bool totals;		/* no call stacks */
	bool folded;		/* one line per stack, for flame graphs */
	bool growth;		/* only groups that grew between two reports */
	bool handles;		/* of handles, each of one byte: bytes and counts are the same */
	struct process_table *processes;
	bool filtered;		/* some allocations are not recorded: unknown frees are normal */
	unsigned long long began;	/* when tracing began: CLOCK_MONOTONIC, ns */
	struct devices_seen devices;	/* several: shown in text */
	/* state */
	unsigned long long marks[MEM_SNAPSHOTS];	/* when the earlier reports were made; 0: not yet */
	struct field fields[LEAK_FIELDS + 1];	/* for JSON, with a terminator */
};

/* Chooses the fields; call once the options are final. */
void leak_view_init(struct leak_view *view);

/* Notes the devices that a process has memory of. */
void leak_view_devices(struct leak_view *view, const struct mem_process *process);

/* Records the memory held now, at options.now: a later report shows growth since this one. */
void leak_view_mark(struct leak_view *view, struct memory *memory, enum mem_snapshot mark);

/* Returns the seconds from the report that growth is shown since to options.now. */
double leak_interval(const struct leak_view *view);

/* Return "3.0 KiB" of memory, or "3072" handles; and "+3.0 KiB" or "+3072.0".  text: room for the latter. */
const char *leak_amount(const struct leak_view *view, unsigned long long bytes, char text[32]);
const char *leak_change(const struct leak_view *view, double bytes, char text[32]);

/* Prints the time and the process, up to the colon; at as below. */
void leak_view_head(const struct leak_view *view, const struct mem_process *process, const char *at);

/* Prints what one process holds, or how it grew; at is "interval", "end" or "exit". */
void leak_view_process(const struct leak_view *view, const struct mem_process *process, const char *at);

/* Adds what the process holds, at options.now, to a profile with the values bytes and allocations. */
struct profile;
void leak_view_profile(const struct leak_view *view, const struct mem_process *process, struct profile *profile);

/* Prints in JSON that a process holds nothing that was allocated since tracing began; complete: nor
 * anything from before.  With pid 0 and no name: no process does. */
void leak_view_nothing(const struct leak_view *view, int pid, const char *comm, const char *at, bool complete);

#endif
