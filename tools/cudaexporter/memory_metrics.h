/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Memory held, allocated and freed: from records to series. */
#ifndef CUDAEXPORTER_MEMORY_METRICS_H
#define CUDAEXPORTER_MEMORY_METRICS_H
#include "cudaexporter/labelled_processes.h"
#include "model/memory.h"

enum { MEMORY_AGES = 8 };

struct memory_metrics {
	struct memory model;
	struct processes *processes;
	unsigned ages[MEMORY_AGES];	/* s, --ages; 0 ends it */
	unsigned long long ignored;	/* allocations over the model's limit */
	struct memory_groups {
		struct memory_group *list;
		unsigned n, room;
	} before, after;		/* a record */
	unsigned long long aged;	/* when the ages were last collected, ns */
};

/* Reads --ages, "60,600,3600".  Exits 2 on anything else. */
void memory_metrics_parse_ages(struct memory_metrics *h, const char *list);

/* Call when the ages are set.  table: the session's. */
void memory_metrics_init(struct memory_metrics *h, struct processes *processes,
			 struct process_table *table);

/* Handles the record of a call. */
void memory_metrics_record(struct memory_metrics *h, const struct memory_event *e);

/* Call in a round: sets the gauges. */
void memory_metrics_collect(struct memory_metrics *h);

/* Returns the bytes that a process holds on a device (as in abi/device.h), without memory of other processes. */
unsigned long long memory_metrics_on_device(const struct memory_metrics *h, int pid, unsigned device);

/* Call when a process has ended. */
void memory_metrics_forget(struct memory_metrics *h, int pid);

void memory_metrics_free(struct memory_metrics *h);

#endif
