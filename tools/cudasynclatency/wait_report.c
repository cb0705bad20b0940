/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include "abi/cudasynclatency.h"
#include "base/clock.h"
#include "cli/out.h"
#include "cudasynclatency/wait_report.h"
#include "session/session.h"
#include "view/inflight_view.h"

int wait_report_record(void *report, void *data, size_t size)
{
	const struct aggregate_record *record = data;
	struct wait_report *r = report;

	if (aggregate_record(&r->aggregates, record, size) && r->view.off_cpu)
		aggregate_add_value(aggregate_of(&r->aggregates, record, WAIT_OFF_CPU), record->ns, 0, record->ns);
	return 0;
}

static void show(struct wait_report *r, const struct aggregate *group, unsigned long long now)
{
	struct wait_row row = wait_row(&r->aggregates, group);

	row.calls.time = now;
	row.calls.complete = preexisting_complete(&r->session->preexisting, row.calls.pid);
	if (r->view.pids)
		row.calls.container = containers_of(&r->session->containers, row.calls.pid);
	wait_view_row(&r->view, &row);
}

static void rows(struct wait_report *r, unsigned long long now)
{
	struct aggregate **groups;
	size_t n;

	groups = aggregate_sorted(&r->aggregates, true, &n);
	for (size_t i = 0; i < n; i++)
		devices_see(&r->view.devices, groups[i]->key.device);
	for (size_t i = 0; i < n; i++)
		show(r, groups[i], now);
	if (!n && !out_is_json() && !r->view.folded)
		puts(r->inflight.n ? "no waits have ended" : "no waits");
	free(groups);
}

void wait_report(void *report)
{
	struct wait_report *r = report;
	unsigned int epoch = aggregate_flip(r->epoch);
	unsigned long long now = clock_ns();

	aggregate_collect(&r->aggregates, r->rest, epoch);
	wait_threads_collect(&r->threads, epoch);
	preexisting_tidy(&r->session->preexisting);
	inflight_collect(&r->inflight);
	if (!out_is_json() && !r->view.folded)
		preexisting_head(&r->session->preexisting, "", "waits");
	rows(r, now);
	if (r->view.folded) {
		wait_threads_clear(&r->threads);
	} else {
		wait_view_threads(&r->threads, &r->session->containers, now);
		inflight_view(&r->inflight);
	}
	aggregate_clear(&r->aggregates);
}

void wait_report_free(struct wait_report *r)
{
	inflight_free(&r->inflight);
	aggregate_free(&r->aggregates);
}
