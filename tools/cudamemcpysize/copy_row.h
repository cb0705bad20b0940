/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What cudamemcpysize shows, and its rows. */
#ifndef COPY_ROW_H
#define COPY_ROW_H
#include <stdbool.h>
#include "abi/cudamemcpysize.h"
#include "base/log2_hist.h"
#include "cli/field.h"
#include "cli/out.h"
#include "view/columns.h"

struct aggregate;
struct stack;

enum { COPY_FIELDS = 35 };

struct copy_view {
	/* set by the tool */
	bool pids, streams, stacks;	/* copies are grouped by these, too */
	bool folded;		/* one line per stack, for flame graphs */
	enum copy_shown shown;	/* in histograms */
	struct devices_seen devices;	/* several: shown in text; the tool sets it, too */
	/* state */
	struct field fields[COPY_FIELDS + 1];	/* for JSON, with a terminator */
};

struct copy_row {
	unsigned long long time;	/* of the report: CLOCK_MONOTONIC, ns */
	unsigned long long stream;	/* as in abi/stream.h; 0: not told apart */
	unsigned long long count, failed, bytes;	/* count and bytes: of calls that succeeded */
	unsigned long long total, rate;	/* ns; bytes/s; NO_VALUE if asynchronous */
	struct hist_spread spread;	/* of what the histogram shows */
	int pid;			/* 0 = all processes together; so is comm */
	unsigned int device, peer;	/* as in abi/device.h; peer: DEVICE_NONE unless between devices */
	bool async;
	bool complete;			/* set by the caller, as is … */
	const char *container;		/* … short id; NULL: none, or not shown */
	const char *comm, *direction;
	const unsigned long long *slots;
	const struct stack *stack;
};

/* Chooses the fields; call once the options are known. */
void copy_row_init(struct copy_view *view);

/* Returns the row of a group, which it refers to, at this time. */
struct copy_row copy_row(const struct aggregate *group, unsigned long long time);

/* The unit of what the histograms show. */
enum out_unit copy_row_unit(const struct copy_view *view);

#endif
