/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdlib.h>
#include "base/clock.h"
#include "cudamemcpysize/copy_report.h"
#include "session/session.h"
#include "view/inflight_view.h"

int copy_report_record(void *report, void *data, size_t size)
{
	struct copy_report *r = report;

	aggregate_record(&r->aggregates, data, size);
	return 0;
}

static void rows(struct copy_report *r, struct aggregate *const *groups, size_t n)
{
	unsigned long long now = clock_ns();

	for (size_t i = 0; i < n; i++)
		devices_see(&r->view.devices, groups[i]->key.device);
	for (size_t i = 0; i < n; i++) {
		struct copy_row row = copy_row(groups[i], now);

		row.complete = preexisting_complete(&r->session->preexisting, row.pid);
		if (r->view.pids)
			row.container = containers_of(&r->session->containers, row.pid);
		copy_view_row(&r->view, &row);
	}
}

void copy_report(void *report)
{
	struct copy_report *r = report;
	struct aggregate **groups;
	size_t n;

	aggregate_collect(&r->aggregates, r->rest, aggregate_flip(r->epoch));
	groups = aggregate_sorted(&r->aggregates, r->view.stacks, &n);
	preexisting_tidy(&r->session->preexisting);
	inflight_collect(&r->inflight);
	if (!out_is_json() && !r->view.folded)
		preexisting_head(&r->session->preexisting, n ? "" : r->inflight.n ? " no copies have ended" : " no copies", "copies");
	rows(r, groups, n);
	free(groups);
	if (!r->view.folded)
		inflight_view(&r->inflight);
	aggregate_clear(&r->aggregates);
}

void copy_report_free(struct copy_report *r)
{
	inflight_free(&r->inflight);
	aggregate_free(&r->aggregates);
}
