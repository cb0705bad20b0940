/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What cudasynclatency shows, and its rows. */
#ifndef WAIT_ROW_H
#define WAIT_ROW_H
#include <stdbool.h>
#include "base/log2_hist.h"
#include "cli/field.h"
#include "model/call_stats.h"
#include "view/columns.h"

enum { WAIT_FIELDS = 25 };

struct wait_view {
	/* set by the tool */
	bool pids, streams, stacks;	/* waits are grouped by these, too */
	bool off_cpu;		/* show how long threads were off the CPU */
	bool folded;		/* one line per stack, for flame graphs */
	struct devices_seen devices;	/* several: shown in text; the tool sets it, too */
	/* state */
	struct field fields[WAIT_FIELDS + 1];	/* for JSON, with a terminator */
};

struct wait_row {
	struct call_stats calls;	/* time, complete and container are set by the caller */
	unsigned int device;		/* as in abi/device.h */
	unsigned long long stream;	/* as in abi/stream.h; 0: not told apart */
	unsigned long long off;		/* ns of calls.total off the CPU */
	struct hist_spread off_spread;	/* of that time for each call, as is … */
	const unsigned long long *off_slots;
};

/* Chooses the fields; call once the options are known. */
void wait_row_init(struct wait_view *view);

/* Returns the row of a group, which it refers to. */
struct wait_row wait_row(const struct aggregates *aggregates, const struct aggregate *group);

#endif
