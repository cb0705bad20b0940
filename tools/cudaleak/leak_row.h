/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What cudaleak shows, and its rows of JSON. */
#ifndef LEAK_ROW_H
#define LEAK_ROW_H
#include "cli/field.h"
#include "cudaleak/leak.h"
#include "proc/containers.h"
#include "session/process.h"
#include "view/columns.h"

enum { LEAK_FIELDS = 22 };

struct leak_view {
	/* set by the tool */
	struct leak_options options;
	long top;		/* at most this many groups; folded output has all */
	bool totals;		/* no call stacks */
	bool folded;		/* one line per stack, for flame graphs */
	bool growth;		/* only what grew between two reports */
	const struct preexisting *preexisting;	/* the target's; so is … */
	struct containers *containers;
	bool filtered;		/* some allocations are unrecorded: their frees mean nothing */
	/* state */
	unsigned long long began;	/* when tracing began: CLOCK_MONOTONIC, ns */
	struct devices_seen devices;	/* several: shown in text; the tool sets it, too */
	unsigned long long marks[MEM_SNAPSHOTS];	/* when the earlier reports were made; 0: not yet */
	struct field fields[LEAK_FIELDS + 1];	/* for JSON, with a terminator */
};

struct leak_row {
	unsigned long long time, since, bytes, count, oldest, peak, ptr, sample;
	long long growth, growth_count;
	double rate;		/* of growth, bytes/s */
	int pid, tid;
	unsigned int device;
	const char *comm, *container, *at, *memory, *func;
	bool complete;
	const struct stack *stack;
};

/* Chooses the fields; call once the options are known. */
void leak_row_init(struct leak_view *view);

/* Returns the seconds from the report that growth is shown since to options.now. */
double leak_interval(const struct leak_view *view);

/* Returns the row of a group, which it refers to; at is "interval", "end" or "exit". */
struct leak_row leak_row(const struct leak_view *view, const struct leak_group *g, const char *at);

/* Notes the devices that a process has memory of. */
void leak_row_devices(struct leak_view *view, const struct mem_process *process);

/* Returns " on device 3", or "" if there is only one; in text or not. */
const char *leak_row_device(const struct leak_view *view, unsigned int device, char text[32]);

void leak_row_print(const struct leak_view *view, const struct leak_row *row);

/* Prints that a process holds nothing that was allocated since tracing began; complete: nor anything from
 * before.  With pid 0 and no name: no process does. */
void leak_row_nothing(const struct leak_view *view, int pid, const char *comm, const char *at, bool complete);

#endif
