/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdlib.h>
#include "base/clock.h"
#include "cudamemcpysize/copy_report.h"
#include "session/target.h"
#include "view/running_view.h"

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

		row.complete = early_complete(&r->target->early, row.pid);
		if (r->view.pids)
			row.container = containers_of(&r->target->containers, row.pid);
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
	early_tidy(&r->target->early);
	running_collect(&r->running);
	if (!out_is_json() && !r->view.folded)
		early_head(&r->target->early, n ? "" : r->running.n ? " no copies have ended" : " no copies", "copies");
	rows(r, groups, n);
	free(groups);
	if (!r->view.folded)
		running_view(&r->running);
	aggregate_clear(&r->aggregates);
}

void copy_report_free(struct copy_report *r)
{
	running_free(&r->running);
	aggregate_free(&r->aggregates);
}
