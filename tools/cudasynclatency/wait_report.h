/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The reports of cudasynclatency. */
#ifndef WAIT_REPORT_H
#define WAIT_REPORT_H
#include "cudasynclatency/wait_threads.h"
#include "cudasynclatency/wait_view.h"
#include "model/aggregate.h"
#include "model/inflight.h"

struct session;

/* Starts zeroed. */
struct wait_report {
	/* set by the tool */
	struct wait_view view;
	struct session *session;
	struct bpf_map *rest;	/* of the BPF object: aggregates … */
	volatile unsigned int *epoch;	/* … and aggregate_epoch */
	struct aggregates aggregates;
	struct wait_threads threads;
	struct inflight inflight;
};

/* For event_loop.record and .report, with a struct wait_report *: add a wait from its record; print what is
 * new since the last report. */
int wait_report_record(void *report, void *data, size_t size);
void wait_report(void *report);

/* Frees the groups and the calls in flight; before the session's helpers. */
void wait_report_free(struct wait_report *r);

#endif
