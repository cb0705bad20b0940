/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include "abi/cudaexporter.h"
#include "api/cuda_fn.h"
#include "cudaexporter/calls_inflight.h"
#include "model/inflight.h"

static enum export_group group_of(const struct inflight_row *row)
{
	int id = cuda_fn_find(row->func);

	switch (id < 0 ? CUDA_ALLOC : cuda_fns[id].class) {
	case CUDA_COPY:
		return EXPORT_GROUP_COPY;
	case CUDA_LAUNCH:
		return EXPORT_GROUP_LAUNCH;
	case CUDA_SYNC:
		return EXPORT_GROUP_SYNC;
	default:
		return EXPORT_GROUP_ALLOC;
	}
}

void calls_inflight_collect(struct inflight *r, struct clients *c, struct series_table *t)
{
	const struct client *client;

	for (client = c->by_pid; client; client = client->hh_pid.next)
		for (unsigned g = 0; g < EXPORT_GROUPS; g++) {
			series_add(t, client->owner, METRIC_CALLS_RUNNING, (struct metric_labels){ g, 0 }, 0);
			series_max(t, client->owner, METRIC_CALL_RUNNING, (struct metric_labels){ g, 0 }, 0);
		}
	inflight_collect(r);
	for (size_t i = 0; i < r->n; i++) {
		const struct metric_labels group = { group_of(&r->rows[i]), 0 };

		client = clients_find(c, r->rows[i].pid);
		if (!client)
			client = clients_mapped(c, r->rows[i].pid);
		series_add(t, client->owner, METRIC_CALLS_RUNNING, group, 1);
		series_max(t, client->owner, METRIC_CALL_RUNNING, group, r->rows[i].age);
	}
	inflight_clear(r);
}
