/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The reports of cudamemcpysize. */
#ifndef COPY_REPORT_H
#define COPY_REPORT_H
#include "cudamemcpysize/copy_view.h"
#include "model/aggregate.h"
#include "model/inflight.h"

struct session;

/* Starts zeroed. */
struct copy_report {
	/* set by the tool */
	struct copy_view view;
	struct session *session;
	struct bpf_map *rest;	/* of the BPF object: aggregates … */
	volatile unsigned int *epoch;	/* … and aggregate_epoch */
	struct aggregates aggregates;
	struct inflight inflight;
};

/* For event_loop.record and .report, with a struct copy_report *: add a copy from its record; print what is
 * new since the last report. */
int copy_report_record(void *report, void *data, size_t size);
void copy_report(void *report);

/* Frees the groups and the calls in flight; before the session's helpers. */
void copy_report_free(struct copy_report *r);

#endif
